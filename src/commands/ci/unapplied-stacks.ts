/**
 * Finds the stacks of a repository that have something to apply: those whose files differ from the commit of their last apply. Reads git
 * and the ledgers, and sends nothing to a target. A stack whose state cannot be read counts as unapplied: its apply reports the error.
 */
import { dirname, join } from 'node:path';
import { runGit } from '../../ledger/git/git-command.ts';
import type { ChangedEntry } from '../../ledger/git/read-commits.ts';
import { ownEntries } from '../../ledger/ledger-store.ts';
import { exists, stackFileName, standardInput } from '../../manifest/files/find-stack.ts';
import { formatAddress } from '../../model/address.ts';
import { hasErrors } from '../../model/diagnostic.ts';
import { type HistoryEntry, type Ledger, LedgerError } from '../../model/ledger.ts';
import { quoted } from '../../model/quoted.ts';
import { isDeclaration } from '../../model/resource.ts';
import type { Stack } from '../../model/stack.ts';
import type { CommitStacks, StackOfCommit } from '../../run/ci/commit-stacks.ts';
import { type CiClone, headOf, openClone, unreadable } from '../../run/ci/scope.ts';
import { CommandStop } from '../../run/command-stop.ts';
import type { CliHost } from '../../run/host.ts';
import { openLedger } from '../../run/open-ledger.ts';
import { beginRun, listenForEnd, type RunTime, stoppedRun } from '../../run/stop-signals.ts';
import { type ChosenStack, hasChanged, sameNames, stackAt } from './choose-stacks.ts';

interface UnappliedStack extends ChosenStack {
  /** why the stack cannot be applied, if that is known before it is tried */
  readonly problem?: CommandStop;
}

interface ReplacedStack extends ChosenStack {
  /** the newest commit of the branch */
  readonly by: string;
}

export interface RemovedStack {
  /** the stack file, from the top of the repository */
  readonly file: string;
  /** a commit that has the file */
  readonly commit: string;
  /** absent if the file had errors */
  readonly name?: string;
  /** the number of its resources in the ledger; absent if the ledger cannot be read */
  readonly resources?: number;
}

export interface UnappliedStacks {
  /** the top of the work tree */
  readonly root: string;
  /** stacks with something to apply, in the order of their paths */
  readonly chosen: readonly UnappliedStack[];
  readonly unchanged: readonly ChosenStack[];
  /** stacks with something to apply that a newer commit of the branch changes again: the job of that commit applies them */
  readonly replaced: readonly ReplacedStack[];
  /** stacks of earlier commits that still have resources */
  readonly removed: readonly RemovedStack[];
  /** stack files in the work tree that git does not track, from the top of the work tree */
  readonly uncommitted: readonly string[];
}

/**
 * @param about.timeout in seconds
 * @param about.branch the protected branch; undefined if it is not known
 * @throws CommandStop if there is no stack, or the commits cannot be read
 */
export async function findUnapplied(
  host: CliHost,
  { timeout, branch }: { readonly timeout?: number | undefined; readonly branch: string | undefined },
): Promise<UnappliedStacks> {
  const stops = listenForEnd(host);
  const time = beginRun({ stack: timeout === undefined ? {} : { timeout } }, stops, host);
  const { runEnded: signal } = time;
  try {
    const clone = await openClone(host, signal);
    try {
      const head = await clone.open(await headOf(clone.reader));
      return await new Search(clone, head, { host, time, branch }).run();
    } finally {
      await clone.close();
    }
  } catch (error) {
    if (signal.aborted) throw stoppedRun(signal, { done: 'nothing was written', mustPrint: true });
    throw error instanceof LedgerError ? unreadable('the commits of this job', error) : error;
  } finally {
    time.deadline.clear();
    stops.dispose();
  }
}

/** The number of ledgers that are read at once. */
const atOnce = 8;

interface SearchContext {
  readonly branch: string | undefined;
  readonly host: CliHost;
  readonly time: RunTime;
}

interface AppliedState {
  readonly ledger: Ledger;
  /** the newest apply; undefined if there was none, an error if its entry cannot be read */
  readonly newest: HistoryEntry | LedgerError | undefined;
}

interface ReadStack {
  readonly file: string;
  readonly read: StackOfCommit | undefined;
  /** absent if it cannot be read */
  readonly applied?: AppliedState | undefined;
}

interface FoundStack extends Pick<ReadStack, 'read'> {
  readonly stack: ChosenStack;
  readonly isChosen: boolean;
}

class Search {
  readonly #clone: CiClone;
  readonly #head: CommitStacks;
  readonly #context: SearchContext;
  readonly #changed = new Map<string, readonly ChangedEntry[]>();
  /** earlier commits, such as those of the last applies, by their ids */
  readonly #opened = new Map<string, CommitStacks>();

  constructor(clone: CiClone, head: CommitStacks, context: SearchContext) {
    this.#clone = clone;
    this.#head = head;
    this.#context = context;
  }

  async run(): Promise<UnappliedStacks> {
    const files = this.#head.files();
    const found: FoundStack[] = [];
    for (let at = 0; at < files.length; at += atOnce) {
      const some = files.slice(at, at + atOnce);
      const ledgers = await Promise.all(some.map((file) => this.#readStack(file)));
      // Not in parallel: git locks the list of the commits at which a shallow clone ends.
      for (const one of ledgers) found.push(await this.#check(one));
    }
    const clashes = sameNames(found.map(({ stack }) => stack));
    const replaced = await this.#findReplaced(found);
    const replacedFiles = new Set(replaced.map(({ file }) => file));
    const chosen = found.flatMap(({ stack, isChosen, read }) => {
      if (replacedFiles.has(stack.file)) return [];
      const problem = clashes.get(stack.file) ?? (isChosen ? inputProblem(stack, read) : undefined);
      if (problem !== undefined) return [{ ...stack, problem }];
      return isChosen ? [stack] : [];
    });
    const isOther = ({ stack, isChosen }: FoundStack) => !isChosen && !clashes.has(stack.file);
    const unchanged = found.filter(isOther).map(({ stack }) => stack);
    const { root } = this.#clone;
    const removed = await this.#findRemoved(found);
    const uncommitted = await this.#findUncommitted();
    if (files.length + removed.length === 0) throw noStack(this.#head.commit, uncommitted);
    return { root, chosen, unchanged, replaced, removed, uncommitted };
  }

  async #readStack(file: string): Promise<ReadStack> {
    const read = await this.#head.read(file);
    const about = { file, read };
    if (read?.stack === undefined) return about;
    return {
      ...about,
      applied: await this.#readLedger(file, read.stack).catch((error) => this.#ignore(error)),
    };
  }

  async #check({ file, read, applied }: ReadStack): Promise<FoundStack> {
    const isChosen =
      read === undefined ||
      applied === undefined ||
      (await this.#isUnapplied(file, read, applied).catch((error) => this.#ignore(error))) !== false;
    return { stack: stackAt(file, read), isChosen, read };
  }

  /** Ignores an error, because the apply reports it as well. @throws the error if the run was ended */
  #ignore(error: unknown): undefined {
    if (this.#context.time.runEnded.aborted) throw error;
  }

  /** Whether the stack has something to apply. @throws errors of git */
  async #isUnapplied(file: string, read: StackOfCommit, { ledger, newest }: AppliedState): Promise<boolean> {
    const { commit, repository } = ledger;
    if (commit === undefined || !isFullyApplied(ledger, newest, read)) return true;
    const lastCommit = await this.#open(commit.id);
    const [now, then] = [this.#head.commit, commit.id];
    const changed = this.#changed.get(then) ?? (await this.#clone.reader.changed(then, now));
    this.#changed.set(then, changed);
    const about = { changed, host: this.#context.host };
    const path = repository?.path ?? file;
    const before = await lastCommit.read(path);
    return hasChanged(read, file, about) || (before !== undefined && hasChanged(before, path, about));
  }

  /**
   * The chosen stacks that a newer commit of the branch changes again. An old job that runs again must not apply what a newer commit has
   * reverted, even if no apply of the newer commit is recorded yet.
   */
  async #findReplaced(found: readonly FoundStack[]): Promise<readonly ReplacedStack[]> {
    const chosen = found.filter(({ isChosen }) => isChosen);
    const newest = chosen.length === 0 ? undefined : await this.#findNewer();
    if (newest === undefined) return [];
    const changed = await this.#clone.reader.changed(this.#head.commit, newest.commit);
    const about = { changed, host: this.#context.host };
    const replaced: ReplacedStack[] = [];
    for (const { stack, read } of chosen)
      if (read !== undefined && hasChanged(read, stack.file, about))
        replaced.push({ ...stack, by: newest.commit });
    return replaced;
  }

  /** The newest commit of the branch; undefined if that is the one of this job, or an earlier one. */
  async #findNewer(): Promise<CommitStacks | undefined> {
    const { branch } = this.#context;
    const { reader, open } = this.#clone;
    if (branch === undefined) return undefined;
    const [here, newest] = [this.#head.commit, await reader.tipOf(branch)];
    if (newest === here || (await reader.mergeBase(here, newest)) === newest) return undefined;
    return open(newest);
  }

  async #open(commit: string): Promise<CommitStacks> {
    const { reader, open } = this.#clone;
    await reader.obtainFiles(commit);
    const stacks = await open(commit);
    this.#opened.set(commit, stacks);
    return stacks;
  }

  async #readLedger(file: string, stack: Stack): Promise<AppliedState> {
    const { host, time } = this.#context;
    const { root } = this.#clone;
    const beside = join(root, dirname(file));
    // The stack was read from a commit, in a temporary folder. In the work tree, the folder of a removed stack may be gone.
    const isLocal = (stack.ledger?.in ?? 'local') === 'local';
    const directory = isLocal || (await exists(beside)) ? beside : root;
    const store = await openLedger({ ...stack, directory }, host, time);
    try {
      const ledger = await store.read();
      const [newest] = ledger.known ? await ownEntries(store, 1) : [];
      return { ledger, newest };
    } finally {
      await store.close();
    }
  }

  /** Searches the commit before a push, and the commits of the last applies. */
  async #findRemoved(found: readonly FoundStack[]): Promise<readonly RemovedStack[]> {
    const { job, reader } = this.#clone;
    const base = job.base ?? (await reader.parentsOf(this.#head.commit))[0];
    // After a forced push, the commit before it may be gone.
    if (base !== undefined) await this.#open(base).catch((error) => this.#ignore(error));
    const here = new Set(found.map(({ stack }) => stack.file));
    const names = new Set(
      found.flatMap(({ read }) => {
        const stack = read?.stack ?? read?.partial;
        return [stack?.name, stack?.renamedFrom].filter((name) => name !== undefined);
      }),
    );
    const removed = new Map<string, RemovedStack>();
    for (const commitStacks of this.#opened.values())
      for (const file of commitStacks.files()) {
        if (here.has(file) || removed.has(file)) continue;
        const one = await this.#describeRemoved(file, commitStacks, names);
        if (one !== undefined) removed.set(file, one);
      }
    return [...removed.values()].toSorted((one, other) => (one.file < other.file ? -1 : 1));
  }

  /** @returns undefined for a stack that was moved to another path, or has no resource */
  async #describeRemoved(
    file: string,
    commitStacks: CommitStacks,
    names: ReadonlySet<string>,
  ): Promise<RemovedStack | undefined> {
    const { stack, partial = stack } = (await commitStacks.read(file)) ?? {};
    const about = { file, commit: commitStacks.commit };
    if (partial === undefined) return about;
    const { name } = partial;
    if (names.has(name)) return undefined;
    const { ledger } = await this.#readLedger(file, partial).catch((error) => ({
      ledger: this.#ignore(error),
    }));
    // The file of a local ledger may have been removed with the folder.
    const isUnknown = ledger === undefined || (!ledger.known && (partial.ledger?.in ?? 'local') === 'local');
    if (isUnknown) return { ...about, name };
    const resources = ledger.closedFor === undefined ? ledger.records.size : 0;
    return resources === 0 ? undefined : { ...about, name, resources };
  }

  async #findUncommitted(): Promise<readonly string[]> {
    const { host, time } = this.#context;
    const at = { directory: this.#clone.root, env: host.env, signal: time.runEnded };
    const args = ['ls-files', '--others', '--exclude-standard', '-z', '--', `:(glob)**/${stackFileName}`];
    const { code, out } = await runGit(args, at);
    return code === 0 ? out.toString().split('\0').filter(Boolean).toSorted() : [];
  }
}

function noStack(commit: string, uncommitted: readonly string[]): CommandStop {
  const [file] = uncommitted;
  const fix =
    file === undefined
      ? 'name the stack file if it has another name; "trueup init" writes a first stack'
      : `commit ${quoted(file)}`;
  return new CommandStop('no-stack', `commit ${commit} has no ${stackFileName}: ${fix}`);
}

function inputProblem({ file }: ChosenStack, read: StackOfCommit | undefined): CommandStop | undefined {
  const manifests = (read?.stack ?? read?.partial)?.manifests ?? [];
  return manifests.includes(standardInput)
    ? new CommandStop(
        'no-input',
        `${quoted(file)} takes manifests from standard input: apply it with "trueup apply -"`,
      )
    : undefined;
}

/**
 * Whether the ledger proves that the last apply applied the whole stack, from a commit without other changes, and left nothing to do.
 * The commit alone does not prove it, because it is recorded before the first request.
 */
function isFullyApplied(
  ledger: Ledger,
  newest: HistoryEntry | LedgerError | undefined,
  { resources, diagnostics, refused }: StackOfCommit,
): boolean {
  const { approved, incoming, closedFor, takenIds = [], otherCommits = [], commit, records } = ledger;
  if (approved !== undefined || incoming !== undefined || closedFor !== undefined) return false;
  if (takenIds.length + otherCommits.length > 0 || commit?.uncommitted !== undefined) return false;
  if (newest !== undefined && (newest instanceof Error || newest.proved !== true)) return false;
  // Files behind a link or in a submodule were not read, so the records cannot be compared, and only the commit counts.
  if (refused.length > 0) return true;
  const kept = resources.filter((one) => isDeclaration(one) || one.metadata.movedTo !== undefined);
  const declared = new Set(kept.map(({ address }) => formatAddress(address)));
  // A removal may still be open, such as that of a locked workspace.
  return !hasErrors(diagnostics) && [...records.keys()].every((address) => declared.has(address));
}
