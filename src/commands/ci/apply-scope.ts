/** What an apply of a commit covers: the commits since the last apply, and the stricter one of each setting then and now. */
import { basename, join, posix } from 'node:path';
import { dialects } from '../../api/dialects.ts';
import { loosenedSigners } from '../../approvals/loosened-signers.ts';
import {
  type CommitRange,
  commitsSince,
  commitThatAdded,
  zeroCommitId,
  stepAt,
} from '../../ledger/git/commits-since.ts';
import type { GitContext } from '../../ledger/git/git-command.ts';
import { fileAtCommit, openCommits } from '../../ledger/git/read-commits.ts';
import { checkSources } from '../../manifest/check-secret-sources.ts';
import { readManifests } from '../../manifest/read-manifests.ts';
import { approvalMethods, type ApprovalRules } from '../../model/approval.ts';
import { formatAddress } from '../../model/address.ts';
import { hasErrors } from '../../model/diagnostic.ts';
import type { LoosenedSetting } from '../../model/guard.ts';
import { LedgerError, WaitEnded } from '../../model/ledger.ts';
import { quoted, quoteSome } from '../../model/quoted.ts';
import type { Stack } from '../../model/stack.ts';
import { stricterOf } from '../../plan/loosened.ts';
import { CommitStacks } from '../../run/ci/commit-stacks.ts';
import { changedFiles, filesOfSigners } from '../../run/ci/stack-files.ts';
import { CommandStop } from '../../run/command-stop.ts';
import { exitCodes } from '../../run/exit-codes.ts';
import type { CliHost } from '../../run/host.ts';
import { policiesBetween, withEarlierPolicies } from '../../run/ci/loosened-policies.ts';
import type { StricterStack, StackSettingsInput } from '../../run/prepare-run.ts';
import type { MergedBranch } from './count-approvals.ts';
import { type RangeAuthors, readRangeAuthors, type StackPlace } from './signature-source.ts';
import { refuseChosenLedger } from './trusted-ledger.ts';

interface ScopeOptions {
  readonly host: CliHost;
  /** the stack's argument on the command line */
  readonly path: string | undefined;
  /** whether the run applies, and does not only plan */
  readonly applies?: boolean;
}

export interface ApplyScope {
  readonly stricter: StricterStack;
  /** the commit that is applied */
  readonly head: string;
  /** the commits whose approvals count; includes those of an earlier apply that did not succeed */
  readonly range: CommitRange;
  readonly rules: ApprovalRules;
  /** whether no apply of the stack has succeeded yet */
  readonly isFirst: boolean;
  /** the clone */
  readonly at: GitContext;
  readonly authors: RangeAuthors;
  /** path of the stack file, from the root of the repository */
  readonly path: string;
  /** settings and signers are compared with this version: the last applied one, or the one before the head; undefined without one */
  readonly baseline: StackPlace | undefined;
  /** the stack as it was applied last; undefined if that is not known, as before its first apply */
  readonly applied: StackVersion | undefined;
}

/** A stack, as a commit has it. */
export interface StackVersion {
  readonly stack: Stack;
  readonly commit: string;
  /** path of the stack file, from the root of the repository */
  readonly path: string;
}

/** @throws CommandStop, LedgerError if files differ from the commit, or its history is not known: then nothing is applied */
export async function findApplyScope(
  stack: Stack,
  about: StackSettingsInput,
  { host, path, applies = false }: ScopeOptions,
): Promise<ApplyScope> {
  const { ledger, time } = about;
  const at = { directory: stack.directory, env: host.env, secrets: host.secrets, signal: time.runEnded };
  const { head, repository } = await cleanCommit(about, { stack, at });
  await refuseChosenLedger(stack, about, { host, applies });
  const search = { at, stack, host };
  const after = { commit: head, path: repository.path };
  const { range, authors, isFirst } = await readRange(about, after, search);
  const lastApplied = isFirst ? ledger.commit?.id : range.base;
  const earlier = lastApplied ?? (await stepAt(at, head)).parent;
  const { before, path: stackPath } = await stackBefore(earlier, {
    ...{ ...search, argument: path, path: ledger.repository?.path ?? repository.path },
    mayBeInvalid: lastApplied === undefined,
  });
  const stricter = before === undefined ? { stack, loosened: [] } : stricterOf(before, stack);
  refuseSources(stricter.stack, about, host);
  const rules = stricter.stack.approvals ?? {};
  const baseline =
    before === undefined || earlier === undefined ? undefined : { commit: earlier, path: stackPath };
  const versions = [before && baseline && { ...baseline, stack: before }, { ...after, stack }] as const;
  const loosened = [...stricter.loosened, ...(await newSigners(versions, at))];
  const withPolicies = await withEarlierPolicies({ ...stricter, loosened }, versions, search);
  return {
    ...{ stricter: withPolicies, head, range, at, authors, baseline, isFirst },
    rules: before === undefined || isFirst ? rulesOfFirstApply(rules) : rules,
    path: repository.path,
    applied:
      before === undefined || baseline === undefined || isFirst ? undefined : { stack: before, ...baseline },
  };
}

interface AppliedRange {
  readonly range: CommitRange;
  readonly authors: RangeAuthors;
  /** whether no apply of the stack has succeeded yet */
  readonly isFirst: boolean;
}

/** The commits since the last apply; before the first apply, since the stack was added. @throws CommandStop if they cannot be read */
async function readRange(
  { ledger: { approved, commit }, manifests }: StackSettingsInput,
  head: StackPlace,
  search: Omit<SearchContext, 'path'>,
): Promise<AppliedRange> {
  try {
    const lastApplied = approved?.since ?? commit?.id;
    // A stack that declares nothing needs no approval, however old it is.
    const since = lastApplied ?? (manifests.documents === 0 ? head.commit : await beginningOf(head, search));
    const found = await commitsSince(search.at, { since, head: head.commit, inspect: readRangeAuthors });
    const isFirst = lastApplied === undefined || approved?.first === true;
    return { range: found.range, authors: found.inspected, isFirst };
  } catch (error) {
    throw error instanceof LedgerError && !(error instanceof WaitEnded) ? unknownHistory(error) : error;
  }
}

/**
 * The commit before the one that added the stack, under this or another path. If the stack declared nothing in the commit that added
 * it, that commit itself, because a stack that declares nothing needs no approval.
 */
async function beginningOf(added: StackPlace, search: Omit<SearchContext, 'path'>): Promise<string> {
  const { id, parent = zeroCommitId } = await commitThatAdded(search.at, added.commit, added.path);
  if (parent !== zeroCommitId) {
    const former = await textBefore(parent, { ...search, path: added.path });
    if (former.text !== undefined) return beginningOf({ commit: parent, path: former.path }, search);
  }
  return (await declaresNothing({ commit: id, path: added.path }, search)) ? id : parent;
}

async function declaresNothing(
  { commit, path }: StackPlace,
  search: Omit<SearchContext, 'path'>,
): Promise<boolean> {
  const read = await withStacks(commit, search, (stacks) => stacks.read(path));
  return (
    read?.stack !== undefined &&
    read.documents === 0 &&
    read.refused.length === 0 &&
    !hasErrors(read.diagnostics)
  );
}

/** The error if commits since the last apply cannot be read, as after the history of the branch was rewritten. */
function unknownHistory({ message }: LedgerError): CommandStop {
  return new CommandStop(
    'commit-unreadable',
    `nothing was written: the commits since the last apply cannot be read: ${message}; if the history of the branch was rewritten, or is too long, apply once by hand with "trueup apply"`,
  );
}

/** @throws CommandStop if the files of the stack differ from the commit, or the commit is not known */
async function cleanCommit(
  { from, repository }: StackSettingsInput,
  { stack, at }: Pick<SearchContext, 'stack' | 'at'>,
) {
  if (from.commit === undefined || repository === undefined) {
    const why = from.commit === undefined ? from.why : 'git cannot be run';
    throw new CommandStop('commit-needed', `nothing was written: the commit is not known: ${why}`);
  }
  if (from.uncommitted !== undefined && from.ignored !== true) {
    const files = await changedFiles(stack, at);
    const named = files.length === 0 ? '' : `: ${quoteSome(files)}`;
    throw new CommandStop(
      'commit-needed',
      `nothing was written: files of the stack have changes that are not in commit ${from.commit}${named}`,
    );
  }
  return { head: from.commit, repository };
}

/**
 * A stack that was never applied may not waive the approval of another person by its own settings. Such settings in an earlier commit
 * do not count either: a person who can push one commit can push two, and a ledger in git can be removed.
 */
export function rulesOfFirstApply({ selfApprove: _, selfAck: __, ...rules }: ApprovalRules): ApprovalRules {
  return rules.accept?.includes('none') === true ? { ...rules, accept: approvalMethods } : rules;
}

/** The stack at an earlier commit; undefined if there was none. @throws CommandStop if its file was not valid */
async function stackBefore(
  commit: string | undefined,
  search: SearchContext & { readonly argument: string | undefined; readonly mayBeInvalid: boolean },
): Promise<{ readonly before: Stack | undefined; readonly path: string }> {
  const { stack, host, argument, mayBeInvalid } = search;
  const { text, path } = await textBefore(commit, search);
  const before = text === undefined ? undefined : await readBefore(text, stack, { host, path: argument });
  if (text !== undefined && before === undefined && !mayBeInvalid)
    throw new CommandStop(
      'commit-needed',
      `nothing was written: the stack file ${quoted(path)} of commit ${commit}, which was applied last, is not valid, so it is not known which approvals it asked for; apply once with "trueup apply"`,
    );
  return { before, path };
}

interface SearchContext {
  readonly at: GitContext;
  readonly stack: Stack;
  readonly host: CliHost;
  /** the expected path of the stack file */
  readonly path: string;
}

/** @param search.argument the stack's argument on the command line. @returns undefined if the commit has no valid stack of this name */
export async function stackAt(
  commit: string,
  search: SearchContext & { readonly argument: string | undefined },
): Promise<StackVersion | undefined> {
  const { stack: now, host, argument } = search;
  const { text, path } = await textBefore(commit, search);
  const stack = text === undefined ? undefined : await readBefore(text, now, { host, path: argument });
  return stack === undefined ? undefined : { stack, commit, path };
}

/** The merge base of a branch and the protected branch. @throws LedgerError when it cannot be found */
export async function mergeBaseOf(commit: string, before: string, at: GitContext): Promise<string> {
  const reader = await openCommits(at);
  try {
    for (const one of [commit, before]) await reader.obtain(one);
    return await reader.mergeBase(commit, before);
  } finally {
    await reader.close();
  }
}

/** The settings that a branch loosens: its plan shows only these. @throws LedgerError when a commit cannot be read */
export async function loosenedBy(
  { commit, before }: MergedBranch,
  search: SearchContext & { readonly argument: string | undefined },
): Promise<readonly LoosenedSetting[]> {
  const mergeBase = await mergeBaseOf(commit, before, search.at);
  const [was, is] = [await stackAt(mergeBase, search), await stackAt(commit, search)];
  if (was === undefined || is === undefined) return [];
  const { loosened } = stricterOf(was.stack, is.stack);
  const signers = await newSigners([was, is], search.at);
  return [...loosened, ...signers, ...(await policiesBetween(was, is, search)).loosened];
}

/** The stack file at an earlier commit, found by its path, else by the name of the stack, because a moved stack file is not a new stack. */
async function textBefore(
  commit: string | undefined,
  { at, stack, host, path }: SearchContext,
): Promise<{ readonly text: string | undefined; readonly path: string }> {
  if (commit === undefined) return { text: undefined, path };
  const text = await fileAtCommit(at, commit, path);
  if (text !== undefined) return { text, path };
  const moved = await pathOfNamed([stack.name, stack.renamedFrom], commit, { at, host });
  return moved === undefined
    ? { text: undefined, path }
    : { text: await fileAtCommit(at, commit, moved), path: moved };
}

async function pathOfNamed(
  names: readonly (string | undefined)[],
  commit: string,
  search: Pick<SearchContext, 'at' | 'host'>,
): Promise<string | undefined> {
  return withStacks(commit, search, async (stacks) => {
    for (const name of names) {
      const file = name === undefined ? undefined : await stacks.fileOf(name);
      if (file !== undefined) return file;
    }
    return undefined;
  });
}

async function withStacks<T>(
  commit: string,
  { at, host }: Pick<SearchContext, 'at' | 'host'>,
  use: (stacks: CommitStacks) => Promise<T>,
): Promise<T> {
  const reader = await openCommits(at);
  try {
    await reader.obtainFiles(commit);
    const stacks = await CommitStacks.open(reader, commit, { host, isRepository: false });
    try {
      return await use(stacks);
    } finally {
      await stacks.close();
    }
  } finally {
    await reader.close();
  }
}

/** The keys that were added to files of signers, and those in files that the earlier version did not name. */
async function newSigners(
  [before, after]: readonly [StackVersion | undefined, StackVersion],
  at: GitContext,
): Promise<LoosenedSetting[]> {
  if (before === undefined) return [];
  const known = filesOfSigners(before.stack);
  const textIn = ({ commit, path }: StackVersion, file: string) =>
    fileAtCommit(at, commit, posix.join(posix.dirname(path), file));
  const found: LoosenedSetting[] = [];
  for (const file of filesOfSigners(after.stack)) {
    const was = known.includes(file) ? await textIn(before, file) : undefined;
    found.push(...loosenedSigners(file, { before: was, after: await textIn(after, file) }));
  }
  return found;
}

/** The stack in the text of its file at an earlier commit; undefined if the text is not valid. */
async function readBefore(
  text: string,
  { directory, file }: Stack,
  { host, path }: { readonly host: CliHost; readonly path: string | undefined },
): Promise<Stack | undefined> {
  const { stack } = await readManifests({
    ...(path === undefined ? {} : { path }),
    cwd: host.cwd,
    userId: host.machine().userId,
    drafts: new Map([[join(directory, basename(file)), text]]),
    replacementText: '',
    kinds: host.kinds,
    dialects,
  });
  return stack;
}

/** Checks the manifests again, with the stricter limits. The first check used the current stack file, whose limits may be wider. */
function refuseSources(stack: Stack, { manifests }: StackSettingsInput, { kinds }: CliHost): void {
  for (const resource of manifests.resources) {
    const { address } = resource;
    const kind = kinds.get(address.kind);
    const [problem] = kind === undefined ? [] : checkSources(kind, resource, stack);
    if (problem !== undefined)
      throw new CommandStop(
        'plan-problems',
        `nothing was written: ${formatAddress(address)}: ${problem.message} (with the settings of the last apply); apply the wider limits first, without this change`,
        { exit: exitCodes.invalid },
      );
  }
}
