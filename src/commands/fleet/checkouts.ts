/**
 * Checkouts of the repositories of a fleet on this machine. Each repository is asked once for its newest commit, and each commit is
 * fetched once and shared by all of its stacks.
 */
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join, posix } from 'node:path';
import picomatch from 'picomatch';
import { type GitContext, runGit } from '../../ledger/git/git-command.ts';
import { LedgerError } from '../../model/ledger.ts';
import { quoted } from '../../model/quoted.ts';
import { maskAddresses } from '../../redaction/mask-text.ts';
import type { FleetRepository } from './fleet-file.ts';

interface CheckedOutStack {
  /** of its file, from the root of the repository */
  readonly path: string;
  /** changes with the files in its folder */
  readonly tree: string;
}

export interface Checkout {
  readonly commit: string;
  /** with the files of the commit, and the repository as the remote "origin" */
  readonly directory: string;
  readonly stacks: readonly CheckedOutStack[];
}

export class Checkouts {
  readonly #folder: string;
  readonly #git: Omit<GitContext, 'directory'>;
  readonly #open = new Map<string, Promise<Checkout>>();

  /** @param folder of this worker alone */
  constructor(folder: string, git: Omit<GitContext, 'directory'>) {
    this.#folder = folder;
    this.#git = git;
  }

  /** The newest commit of the branch. @throws LedgerError when the remote cannot be read, or has no such branch */
  async newest(repository: FleetRepository): Promise<string> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const ref = `refs/heads/${repository.ref}`;
    const out = await this.#run(this.#folder, repository, [
      'ls-remote',
      '--quiet',
      '--end-of-options',
      repository.url,
      ref,
    ]);
    const line = out.split('\n').find((one) => one.endsWith(`\t${ref}`));
    if (line === undefined)
      throw new LedgerError(`repository ${quoted(repository.name)} has no branch ${quoted(repository.ref)}`);
    return line.split('\t')[0] ?? '';
  }

  /** The files of a commit, fetched if this worker does not have them. */
  at(repository: FleetRepository, commit: string): Promise<Checkout> {
    const key = `${repository.name}-${commit}`;
    const known = this.#open.get(key) ?? this.#fetch(repository, commit, join(this.#folder, key));
    this.#open.set(key, known);
    known.catch(() => this.#open.delete(key));
    return known;
  }

  /** Removes the checkouts of other commits of the repository. No stack of them may be in a check. */
  async keepOnly({ name }: FleetRepository, commit: string): Promise<void> {
    const others = (await readdir(this.#folder)).filter(
      (folder) =>
        folder !== `${name}-${commit}` && /^[0-9a-f]{40,64}(\.new)?$/.test(folder.slice(name.length + 1)),
    );
    for (const folder of others.filter((one) => one.startsWith(`${name}-`))) {
      this.#open.delete(folder);
      await rm(join(this.#folder, folder), { recursive: true, force: true });
    }
  }

  async #fetch(repository: FleetRepository, commit: string, directory: string): Promise<Checkout> {
    const begun = `${directory}.new`;
    await rm(begun, { recursive: true, force: true });
    await mkdir(begun, { recursive: true, mode: 0o700 });
    const git = (...args: string[]) => this.#run(begun, repository, args);
    await git('init', '--quiet', '--template=');
    await git('remote', 'add', 'origin', repository.url);
    await git('fetch', '--quiet', '--no-tags', '--depth=1', 'origin', commit);
    await git('checkout', '--quiet', '--detach', commit);
    const trees = await git('ls-tree', '-r', '-t', '-z', '--full-tree', commit);
    const root = (await git('rev-parse', `${commit}^{tree}`)).trim();
    await rm(directory, { recursive: true, force: true });
    await rename(begun, directory);
    return { commit, directory, stacks: stacksIn(trees, root, repository.stacks) };
  }

  async #run(directory: string, { name, url }: FleetRepository, args: readonly string[]): Promise<string> {
    const { code, out, message } = await runGit(args, { ...this.#git, directory });
    if (code !== 0)
      throw new LedgerError(`repository ${quoted(name)} (${maskAddresses(url)}) cannot be read: ${message}`);
    return out.toString();
  }
}

/** @param listed by `git ls-tree -t -z`; @param root id of the tree of the repository */
function stacksIn(listed: string, root: string, patterns: readonly string[]): CheckedOutStack[] {
  const isStack = picomatch([...patterns], { dot: true });
  const trees = new Map([['.', root]]);
  const files: string[] = [];
  for (const line of listed.split('\0').filter(Boolean)) {
    const path = line.slice(line.indexOf('\t') + 1);
    const [mode = '', type, id = ''] = line.split(/[ \t]/, 3);
    if (type === 'tree') trees.set(path, id);
    else if (mode.startsWith('100') && isStack(path)) files.push(path);
  }
  return files.sort().map((path) => ({ path, tree: trees.get(posix.dirname(path)) ?? root }));
}
