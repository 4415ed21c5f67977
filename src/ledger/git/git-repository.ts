/**
 * Reads and replaces the files of one ref of a remote, with git's plumbing commands. Objects are kept in a temporary
 * directory, so the user's repository, its index and its work tree are not changed, also in a shallow clone. A new state is a
 * commit without parents, so a fetch stays small, however often the state was replaced.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { messageOf } from '../../model/error-message.ts';
import { LedgerError } from '../../model/ledger.ts';
import { quoted } from '../../model/quoted.ts';
import { waitFor } from '../ledger-store.ts';
import { type GitAnswer, type GitContext, runGit } from './git-command.ts';
import { addressOf, learnSecrets, locate, NoRepository } from './git-place.ts';
import { writeBlob, writeCommitObject, writeTree } from './loose-objects.ts';

/** One state of the ref. */
export interface Snapshot {
  /** undefined: the ref does not exist */
  readonly commit: string | undefined;
  /** ids of the blobs by path, `history/x.json` */
  readonly blobs: ReadonlyMap<string, string>;
}

/** New texts by path; `undefined` removes a file. */
export type Edits = Readonly<Record<string, string | undefined>>;

interface RemoteRef {
  readonly remote: string;
  readonly ref: string;
  /** how messages name the content of the ref; by default, the ledger */
  readonly words?: RefWords;
}

interface RefWords {
  /** `the ledger` */
  readonly kept: string;
  /** what needs the repository: `"ledger: git"` */
  readonly needs: string;
  /** where the user names another remote: `in spec.ledger` */
  readonly whereNamed: string;
}

const ledgerWords: RefWords = { kept: 'the ledger', needs: '"ledger: git"', whereNamed: 'in spec.ledger' };

/** An entry of a state: a file, or something else, such as a symbolic link. */
export interface RefEntry {
  readonly path: string;
  readonly id: string;
  readonly isFile: boolean;
  /** in bytes; 0 for anything but a file */
  readonly size: number;
}

const absentRef: Snapshot = { commit: undefined, blobs: new Map() };

/** How often a read may find that the ref moved between the query and the fetch. */
const maxReads = 10;

interface Objects {
  readonly directory: string;
  readonly format: string;
}

/** The temporary directory, and how git works with it. */
interface Opened {
  readonly at: GitContext;
  readonly directory: string;
  readonly objects: Objects;
}

const author = 'trueup <trueup@localhost>';

export class GitRepository {
  readonly #at: GitContext;
  readonly #where: RemoteRef;
  #opened: Promise<Opened> | undefined;
  /** the state that was read or written last: the content of a commit never changes */
  #last: Snapshot = absentRef;

  constructor(at: GitContext, where: RemoteRef) {
    this.#at = at;
    this.#where = where;
  }

  /** The current state on the remote. @throws LedgerError when the remote cannot be read, WaitEnded */
  async read(signal: AbortSignal): Promise<Snapshot> {
    for (let attempt = 1; attempt <= maxReads; attempt += 1) {
      const commit = await this.#tip(signal);
      if (commit === undefined) return absentRef;
      if (commit === this.#last.commit) return this.#last;
      await this.#fetch(signal);
      const blobs = await this.#list(commit, signal);
      if (blobs !== undefined) {
        this.#last = { commit, blobs };
        return this.#last;
      }
      await this.#expectCommit(commit, signal);
    }
    throw new LedgerError(`${this.#name} changes faster than it can be read: try again`);
  }

  /** All entries of a state, also those that are not files, such as symbolic links. @throws LedgerError when it is incomplete */
  async entries({ commit }: Snapshot, signal: AbortSignal): Promise<RefEntry[]> {
    if (commit === undefined) return [];
    const { code, out, message } = await this.#git(
      ['ls-tree', '-r', '-l', '-z', '--full-tree', commit],
      signal,
    );
    if (code !== 0) throw new LedgerError(`${this.#name} cannot be read: ${message}`);
    const lines = out.toString().split('\0').filter(Boolean);
    return lines.map((line) => {
      const end = line.indexOf('\t');
      const [mode = '', , id = '', size = ''] = line.slice(0, end).split(/ +/);
      const isFile = mode === '100644' || mode === '100755';
      return { path: line.slice(end + 1), id, isFile, size: isFile ? Number(size) : 0 };
    });
  }

  /** The texts of blobs, in the order of `ids`. @throws LedgerError if git lacks one, so that a file never counts as absent */
  async readBlobs(ids: readonly string[], signal: AbortSignal): Promise<string[]> {
    if (ids.length === 0) return [];
    const input = ids.map((id) => `${id}\n`).join('');
    const { code, out, message } = await this.#git(['cat-file', '--batch'], signal, input);
    if (code !== 0) throw new LedgerError(`${this.#name} cannot be read: git cat-file failed: ${message}`);
    let at = 0;
    // Each object is `<id> blob <size>`, a line feed, its content, a line feed.
    return ids.map((id) => {
      const start = out.indexOf('\n', at) + 1;
      const [found, type, size] = out.toString('utf8', at, Math.max(at, start - 1)).split(' ');
      const end = start + Number(size);
      if (found !== id || type !== 'blob' || !(end < out.length))
        throw new LedgerError(`${this.#name} is damaged: a file of it is missing`);
      at = end + 1;
      return out.toString('utf8', start, end);
    });
  }

  /** Creates a new state in the temporary directory; `replace` pushes it. */
  async prepare(
    from: Snapshot,
    edits: Edits,
    { message, signal }: { readonly message: string; readonly signal: AbortSignal },
  ): Promise<Snapshot> {
    const blobs = new Map(from.blobs);
    return this.#write(signal, async (to) => {
      for (const [path, text] of Object.entries(edits)) {
        if (text === undefined) blobs.delete(path);
        else blobs.set(path, await writeBlob(to, text));
      }
      return { commit: await this.#commit(to, blobs, message), blobs };
    });
  }

  /**
   * Replaces one state by another if it is still the current one.
   * @returns false when another run has replaced it before
   * @param signal after it was aborted, either state may be the current one
   * @throws LedgerError when the remote refuses for another reason
   */
  async replace(from: Snapshot, by: Snapshot, signal: AbortSignal): Promise<boolean> {
    const { remote, ref } = this.#where;
    const pushing = [
      ...['push', '--quiet', '--no-verify', '--no-follow-tags', '--no-signed', '--recurse-submodules=no'],
      `--force-with-lease=${ref}:${from.commit ?? ''}`,
      remote,
      `${by.commit}:${ref}`,
    ];
    const pushed = await this.#git(pushing, signal);
    if (pushed.code === 0) {
      this.#last = by;
      return true;
    }
    // The current state is more reliable than the message: an answer may be lost, and servers report a lost race in many ways.
    const now = await this.#tip(signal);
    if (now === by.commit) return true;
    if (now !== from.commit) return false;
    throw new LedgerError(
      `${this.#name} cannot be written: ${pushed.message}; the run needs permission to push ${quoted(ref)}`,
    );
  }

  /**
   * Why this run cannot push to the remote; undefined if it can. A dry run asks the remote as a push does, and ends before it sends
   * anything, so it does not find rules of the remote for a single ref.
   */
  async whyUnpushable(signal: AbortSignal): Promise<string | undefined> {
    const { remote, ref } = this.#where;
    const empty = await this.#write(signal, (to) => this.#commit(to, new Map(), 'x'));
    const dryRun = [
      ...['push', '--dry-run', '--quiet', '--no-verify', '--no-follow-tags', '--no-signed'],
      ...['--recurse-submodules=no', remote, `+${empty}:${ref}`],
    ];
    const { code, message } = await this.#git(dryRun, signal);
    return code === 0
      ? undefined
      : `${quoted(ref)} cannot be pushed to the remote ${quoted(remote)}: ${message}`;
  }

  async close(): Promise<void> {
    const opened = await this.#opened?.catch(() => undefined);
    if (opened !== undefined) await rm(opened.directory, { recursive: true, force: true });
  }

  get #name(): string {
    const { kept } = this.#words;
    return `${kept} ${quoted(this.#where.ref)} of the remote ${quoted(this.#where.remote)}`;
  }

  get #words(): RefWords {
    return this.#where.words ?? ledgerWords;
  }

  async #tip(signal: AbortSignal): Promise<string | undefined> {
    const { remote, ref } = this.#where;
    const asked = await this.#git(['ls-remote', '--quiet', remote, ref], signal);
    if (asked.code !== 0) throw this.#unreachable(asked);
    const line = asked.out
      .toString()
      .split('\n')
      .find((candidate) => candidate.endsWith(`\t${ref}`));
    if (line === undefined) await this.#expectGit(signal);
    return line?.split('\t')[0];
  }

  /**
   * Git treats an empty HTTP answer, or one without a complete line, like a repository without refs. A real git server sends packets,
   * or a HEAD. @throws LedgerError when the server sent neither
   */
  async #expectGit(signal: AbortSignal): Promise<void> {
    const { remote } = this.#where;
    const { at } = await this.#place(signal);
    const address = await addressOf({ ...this.#at, signal }, remote);
    if (!/^https?:/i.test(address ?? '')) return;
    const traced = { ...at, signal, settings: { ...at.settings, GIT_TRACE_PACKET: '2' } };
    const asked = await runGit(['ls-remote', '--quiet', remote, 'HEAD'], traced);
    if (asked.code !== 0)
      throw new LedgerError(
        `${this.#name} cannot be read: the remote answered once and then failed; try again`,
      );
    if (asked.out.length > 0 || /\bpacket: +\S+< /.test(asked.message)) return;
    throw new LedgerError(
      `${this.#name} cannot be read: its address does not answer like a git server; check that ${quoted(`git remote get-url ${remote}`)} is the address of the repository itself, and that no login page or proxy answers instead`,
    );
  }

  #unreachable({ message }: GitAnswer): LedgerError {
    return new LedgerError(`${this.#name} cannot be read: ${message}`);
  }

  async #fetch(signal: AbortSignal): Promise<void> {
    const { remote, ref } = this.#where;
    const fetching = [
      ...['-c', 'fetch.negotiationAlgorithm=noop', '-c', 'fetch.writeCommitGraph=false'],
      ...['fetch', '--quiet', '--no-write-fetch-head', '--no-tags', '--no-prune', '--refmap='],
      ...['--no-auto-maintenance', '--no-recurse-submodules', '--no-filter', remote, ref],
    ];
    const fetched = await this.#git(fetching, signal);
    // When the ref was deleted meanwhile, the next read notices it.
    if (fetched.code !== 0 && !/couldn't find remote ref/.test(fetched.message))
      throw this.#unreachable(fetched);
  }

  /** @throws LedgerError if the object exists although its files could not be listed */
  async #expectCommit(id: string, signal: AbortSignal): Promise<void> {
    const { code, out } = await this.#git(['cat-file', '-t', id], signal);
    if (code !== 0) return;
    const isCommit = /^(commit|tag)$/.test(out.toString().trim());
    throw new LedgerError(
      isCommit
        ? `${this.#name} is damaged: a folder of it is missing, here or on the remote; "git fsck --full" shows where`
        : `${this.#name} cannot be read: the ref does not name a commit`,
    );
  }

  /** The blobs of a commit; undefined if the commit, or one of its folders, is missing. */
  async #list(commit: string, signal: AbortSignal): Promise<Snapshot['blobs'] | undefined> {
    const { code, out } = await this.#git(['ls-tree', '-r', '-z', '--full-tree', commit], signal);
    if (code !== 0) return undefined;
    const lines = out.toString().split('\0').filter(Boolean);
    return new Map(
      lines.map((line) => {
        const end = line.indexOf('\t');
        return [line.slice(end + 1), line.slice(0, end).split(' ')[2] ?? ''];
      }),
    );
  }

  async #commit(to: Objects, blobs: Snapshot['blobs'], message: string): Promise<string> {
    return writeCommitObject(to, { tree: await writeTree(to, blobs), message, by: author, at: Date.now() });
  }

  /** @throws LedgerError when nothing can be written, for example because the disk is full */
  async #write<T>(signal: AbortSignal, write: (to: Objects) => Promise<T>): Promise<T> {
    const { objects } = await this.#place(signal);
    try {
      return await write(objects);
    } catch (error) {
      throw new LedgerError(`${this.#name} cannot be prepared: ${messageOf(error)}`, { cause: error });
    }
  }

  async #git(args: readonly string[], signal: AbortSignal, input?: string): Promise<GitAnswer> {
    const { at } = await this.#place(signal);
    return runGit(args, { ...at, signal }, input);
  }

  #place(signal: AbortSignal): Promise<Opened> {
    this.#opened ??= this.#open();
    return waitFor(this.#opened, signal);
  }

  async #open(): Promise<Opened> {
    const { directory: from } = this.#at;
    const { needs } = this.#words;
    const place = await locate(this.#at).catch((error: unknown) => {
      if (!(error instanceof NoRepository)) throw error;
      throw new LedgerError(
        `${needs} needs a git repository, but ${quoted(from)} is not in one: ${error.message}`,
      );
    });
    await this.#expectRemote();
    const directory = await mkdtemp(resolve(tmpdir(), 'trueup-git-'));
    const objects = join(directory, 'objects');
    await mkdir(objects);
    const settings = {
      GIT_OBJECT_DIRECTORY: objects,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: quotedPath(place.objects),
    };
    const { format } = place;
    return { directory, objects: { directory: objects, format }, at: { ...this.#at, settings } };
  }

  /** Also collects the secrets that git sends to the remote. @throws LedgerError when the repository has no such remote */
  async #expectRemote(): Promise<void> {
    const { remote } = this.#where;
    if (await learnSecrets(this.#at, remote)) return;
    const { needs, whereNamed } = this.#words;
    throw new LedgerError(
      `${needs} needs the remote ${quoted(remote)}, which this repository does not have: add it with ${quoted(`git remote add ${remote} URL`)}, or name another one ${whereNamed}`,
    );
  }
}

/** Quotes a path that contains the separator of lists of paths. */
function quotedPath(path: string): string {
  return path.includes(delimiter) ? JSON.stringify(path) : path;
}
