/**
 * The stacks of a commit, read from git objects: their files, and what each stack declares. Their files are written as data into a
 * temporary folder, where they are read like those of a work tree. Links and submodules are not followed.
 */
import { basename, dirname, join, posix } from 'node:path';
import { dialects } from '../../api/dialects.ts';
import type { CommitReader, TreeEntry } from '../../ledger/git/read-commits.ts';
import { writeCommit, type WrittenCommit } from '../../ledger/git/write-commit.ts';
import { stackFileName } from '../../manifest/files/find-stack.ts';
import { matchRefs, matchStackFiles } from '../../manifest/files/match-files.ts';
import { type Manifests, readManifests } from '../../manifest/read-manifests.ts';
import type { Stack } from '../../model/stack.ts';
import type { CliHost } from '../host.ts';
import { filesOf } from './stack-files.ts';

export interface StackOfCommit extends Manifests {
  /** links and submodules that may hold files of the stack */
  readonly refused: readonly string[];
}

export class CommitStacks {
  readonly commit: string;
  readonly #entries: ReadonlyMap<string, TreeEntry>;
  readonly #written: WrittenCommit;
  readonly #host: Pick<CliHost, 'kinds' | 'now'>;
  readonly #read = new Map<string, Promise<StackOfCommit | undefined>>();

  private constructor(
    commit: string,
    about: {
      readonly entries: ReadonlyMap<string, TreeEntry>;
      readonly written: WrittenCommit;
      readonly host: Pick<CliHost, 'kinds' | 'now'>;
    },
  ) {
    this.commit = commit;
    this.#entries = about.entries;
    this.#written = about.written;
    this.#host = about.host;
  }

  /** With `isRepository`, git works in the folder as in a clone with this commit, so that plans can be made there. */
  static async open(
    reader: CommitReader,
    commit: string,
    { host, isRepository }: { readonly host: Pick<CliHost, 'kinds' | 'now'>; readonly isRepository: boolean },
  ): Promise<CommitStacks> {
    const entries = new Map((await reader.tree(commit)).map((entry) => [entry.path, entry]));
    const written = await writeCommit(reader, commit, { isRepository });
    return new CommitStacks(commit, { entries, written, host });
  }

  /** The files with the usual name of a stack file, from the top of the repository, sorted. */
  files(): readonly string[] {
    const named = [...this.#entries.values()].filter(
      ({ path, type }) => type === 'file' && basename(path) === stackFileName,
    );
    return named.map(({ path }) => path).sort();
  }

  /** The id of a file's content; undefined where the commit has no such file. */
  idOf(path: string): string | undefined {
    return this.#entries.get(path)?.id;
  }

  /** @param file from the top of the repository. @returns undefined where the commit has no such file */
  read(file: string): Promise<StackOfCommit | undefined> {
    const known = this.#read.get(file) ?? this.#readStack(file);
    this.#read.set(file, known);
    return known;
  }

  /** The file of the stack with this name. */
  async fileOf(name: string): Promise<string | undefined> {
    for (const file of this.files()) if ((await this.read(file))?.stack?.name === name) return file;
    return undefined;
  }

  /** Where the files are, and the environment in which git knows them. */
  get place(): Pick<WrittenCommit, 'directory' | 'env'> {
    return this.#written;
  }

  close(): Promise<void> {
    return this.#written.close();
  }

  async #readStack(file: string): Promise<StackOfCommit | undefined> {
    const entry = this.#entries.get(file);
    if (entry?.type !== 'file') return undefined;
    await this.#written.add([entry]);
    const first = await this.#load(file);
    const { stack = first.partial } = first;
    if (stack === undefined) return { ...first, refused: [] };
    const found = await this.#addFiles(stack, file);
    const loaded = await this.#load(file);
    if (loaded.lists.length === 0) return { ...loaded, refused: found };
    // The files of lists are known only after the manifests that name them have been read.
    const refused = await this.#addFiles({ ...stack, lists: loaded.lists }, file);
    return { ...(await this.#load(file)), refused };
  }

  /** @returns links and submodules that may hold files of the stack */
  async #addFiles(stack: Stack, file: string): Promise<readonly string[]> {
    const { isFile, isAncestor } = matchStackFiles(stack, false);
    const named = new Set(filesOf(stack, file));
    const isPolicy = matchRefs(stack);
    const fromStack = (path: string) => posix.relative(`/${posix.dirname(file)}`, `/${path}`);
    const all = [...this.#entries.values()];
    const wanted = all.filter(
      ({ path, type }) => type === 'file' && (isFile(fromStack(path)) || named.has(path) || isPolicy(path)),
    );
    await this.#written.add(wanted);
    const refused = all.filter(
      ({ path, type }) =>
        type !== 'file' && (isFile(fromStack(path)) || isAncestor(fromStack(path)) || named.has(path)),
    );
    return refused.map(({ path }) => path);
  }

  #load(file: string): Promise<Manifests> {
    const { directory } = this.#written;
    return readManifests({
      path: join(directory, file),
      cwd: join(directory, dirname(file)),
      kinds: this.#host.kinds,
      dialects,
      now: this.#host.now(),
    });
  }
}
