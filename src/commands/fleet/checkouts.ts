/**
 * Checkouts of the repositories of a fleet on this machine. Each repository is asked once for its newest commit, and each commit is
 * fetched once and shared by all of its stacks.
 */
import { createHash } from 'node:crypto';
import { lstat, mkdir, mkdtemp, readdir, realpath, rm, utimes } from 'node:fs/promises';
import { join, posix, sep } from 'node:path';
import picomatch from 'picomatch';
import { type GitContext, runGit } from '../../ledger/git/git-command.ts';
import { LedgerError } from '../../model/ledger.ts';
import { quoted } from '../../model/quoted.ts';
import { maskUrls } from '../../redaction/mask-text.ts';
import type { FleetRepository } from './fleet-file.ts';

interface CheckedOutStack {
  /** of its file, from the root of the repository */
  readonly path: string;
  /** id of the git tree of its folder, which changes with the files */
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
  #fetches = 0;
  /** how many checks use each checkout */
  readonly #uses = new Map<string, number>();

  /** @param folder that only this worker uses */
  constructor(folder: string, git: Omit<GitContext, 'directory'>) {
    this.#folder = folder;
    this.#git = git;
  }

  /** Marks the folder as in use, so that `makeFolder` of other workers keeps it. */
  async touch(now: number): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await utimes(this.#folder, new Date(now), new Date(now));
  }

  /** The newest commit of the branch. @throws LedgerError when the remote cannot be read, or has no such branch */
  async newest(repository: FleetRepository): Promise<string> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const ref = `refs/heads/${repository.ref}`;
    const listing = ['ls-remote', '--quiet', '--end-of-options', repository.url, ref];
    const out = await this.#run(this.#folder, repository, listing, longestListing);
    const line = out.split('\n').find((one) => one.endsWith(`\t${ref}`));
    if (line === undefined)
      throw new LedgerError(`repository ${quoted(repository.name)} has no branch ${quoted(repository.ref)}`);
    return line.split('\t')[0] ?? '';
  }

  /** The files of a commit, fetched if this worker does not have them. */
  at(repository: FleetRepository, commit: string): Promise<Checkout> {
    const key = keyOf(repository, commit);
    const known = this.#open.get(key) ?? this.#fetch(repository, commit);
    this.#open.set(key, known);
    known.catch(() => this.#open.delete(key));
    return known;
  }

  /** Does the work with the checkout of a commit, which is not removed meanwhile. */
  async use<T>(
    repository: FleetRepository,
    commit: string,
    work: (checkout: Checkout) => Promise<T>,
  ): Promise<T> {
    const key = keyOf(repository, commit);
    this.#uses.set(key, (this.#uses.get(key) ?? 0) + 1);
    try {
      return await work(await this.at(repository, commit));
    } finally {
      const left = (this.#uses.get(key) ?? 1) - 1;
      if (left === 0) this.#uses.delete(key);
      else this.#uses.set(key, left);
    }
  }

  /** Does the work with a checkout that nothing else uses: an apply fetches earlier commits into it. */
  async withOwn<T>(
    repository: FleetRepository,
    commit: string,
    work: (checkout: Checkout) => Promise<T>,
  ): Promise<T> {
    const checkout = await this.#fetch(repository, commit);
    try {
      return await work(checkout);
    } finally {
      await rm(checkout.directory, { recursive: true, force: true });
    }
  }

  /** Removes the checkouts of other commits of the repository. Those in use are left for a later call. */
  async keepOnly(repository: FleetRepository, commit: string): Promise<void> {
    const kept = keyOf(repository, commit);
    for (const [key, checkout] of this.#open) {
      const isOther = key !== kept && key.slice(0, key.lastIndexOf('-')) === repository.name;
      if (!isOther || this.#uses.has(key)) continue;
      this.#open.delete(key);
      const { directory } = await checkout.catch(() => ({ directory: undefined }));
      if (directory !== undefined) await rm(directory, { recursive: true, force: true });
    }
  }

  async #fetch(repository: FleetRepository, commit: string): Promise<Checkout> {
    // Each fetch has its own folder: an older one of the same commit may be about to be removed.
    this.#fetches += 1;
    const directory = join(this.#folder, `${keyOf(repository, commit)}-${this.#fetches}`);
    await mkdir(directory, { recursive: true, mode: 0o700 });
    try {
      return await this.#fill(directory, repository, commit);
    } catch (error) {
      await rm(directory, { recursive: true, force: true });
      throw error;
    }
  }

  async #fill(directory: string, repository: FleetRepository, commit: string): Promise<Checkout> {
    const git = (...args: string[]) => this.#run(directory, repository, args);
    await git('init', '--quiet', '--template=');
    await git('remote', 'add', 'origin', repository.url);
    await git('fetch', '--quiet', '--no-tags', '--depth=1', 'origin', commit);
    await git('checkout', '--quiet', '--detach', commit);
    const trees = await git('ls-tree', '-r', '-t', '-z', '--full-tree', commit);
    const root = (await git('rev-parse', `${commit}^{tree}`)).trim();
    await removeUnsafeFiles(directory, trees);
    return { commit, directory, stacks: stacksIn(trees, root, repository.stacks) };
  }

  /** @param timeout in milliseconds; that of git commands when absent */
  async #run(
    directory: string,
    repository: FleetRepository,
    args: readonly string[],
    timeout?: number,
  ): Promise<string> {
    const { name, url } = repository;
    const settings = { ...this.#git.settings, ...sshSettings(repository) };
    const limit = timeout === undefined ? {} : { timeout };
    const { code, out, message } = await runGit(args, { ...this.#git, directory, settings, ...limit });
    if (code !== 0)
      throw new LedgerError(`repository ${quoted(name)} (${maskUrls(url)}) cannot be read: ${message}`);
    return out.toString();
  }
}

/** Milliseconds that a code host has to answer with the newest commit. */
const longestListing = 60_000;

const folderPrefix = 'trueup-fleet-';

/** A folder that was not touched for this many milliseconds was left by a worker that was killed. */
const longestUntouched = 86_400_000;

/** Makes a folder for one worker, and removes the folders of workers that were killed. */
export async function makeFolder(parent: string, now: number): Promise<string> {
  for (const name of await readdir(parent).catch(() => [])) {
    if (!name.startsWith(folderPrefix)) continue;
    const path = join(parent, name);
    // It may belong to another user, or be removed right now.
    const touched = await lstat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => now,
    );
    if (now - touched > longestUntouched) await rm(path, { recursive: true, force: true }).catch(() => {});
  }
  return mkdtemp(join(parent, folderPrefix));
}

/** Environment variables for git. Git logs in with this key only, and accepts only the given host keys. */
export function sshSettings({ ssh }: Pick<FleetRepository, 'ssh'>): Record<string, string> {
  if (ssh === undefined) return {};
  const options = [
    'IdentitiesOnly=yes',
    'BatchMode=yes',
    'StrictHostKeyChecking=yes',
    'GlobalKnownHostsFile=/dev/null',
    `UserKnownHostsFile="${ssh.knownHosts}"`,
  ];
  return {
    GIT_SSH_COMMAND: ['ssh', `-i '${ssh.key}'`, ...options.map((option) => `-o '${option}'`)].join(' '),
    GIT_SSH_VARIANT: 'ssh',
  };
}

/**
 * The key of a checkout. It contains the address, because the ledgers of stacks are at "origin", and the patterns, which choose the stacks.
 */
function keyOf({ name, url, stacks }: FleetRepository, commit: string): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([url, stacks]))
    .digest('hex')
    .slice(0, 8);
  return `${name}-${commit}${hash}`;
}

/**
 * Removes files that could let a check leave its checkout: symbolic links that lead out of it, which Node's permission model follows, and
 * files named `HEAD`, which can make git take a folder for a repository and run commands from its configuration.
 * @param listed by `git ls-tree -t -z`
 */
async function removeUnsafeFiles(directory: string, listed: string): Promise<void> {
  const inside = `${await realpath(directory)}${sep}`;
  const unsafe: string[] = [];
  for (const line of listed.split('\0').filter(Boolean)) {
    const path = join(directory, line.slice(line.indexOf('\t') + 1));
    const isLink = line.startsWith('120000');
    if (posix.basename(path).toLowerCase() === 'head' && !line.startsWith('040000')) unsafe.push(path);
    // A link to a missing file may lead somewhere later.
    else if (isLink && !`${await realpath(path).catch(() => '')}${sep}`.startsWith(inside)) unsafe.push(path);
  }
  for (const path of unsafe) await rm(path, { force: true });
}

/** @param listed by `git ls-tree -t -z`; @param root id of the tree of the repository */
function stacksIn(listed: string, root: string, patterns: readonly string[]): CheckedOutStack[] {
  // With the flag "s", "*" also matches a line break in a name.
  const isStack = picomatch([...patterns], { dot: true, flags: 's' });
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
