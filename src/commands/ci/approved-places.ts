/**
 * Checks, before an apply connects to anything, where secrets would go: a person who merges a change of a target's address must not
 * receive its token before the change is approved. For a new place, a commit with the same place must have enough approvals.
 */
import { fileAtCommit } from '../../ledger/git/read-commits.ts';
import type { GitContext } from '../../ledger/git/git-command.ts';
import type { RefusedApproval } from '../../model/approval.ts';
import { messageOf } from '../../model/error-message.ts';
import { type Ledger, LedgerError } from '../../model/ledger.ts';
import { quoted } from '../../model/quoted.ts';
import type { Stack, Target } from '../../model/stack.ts';
import { proveContent } from '../../plan/approved-plans.ts';
import { planTarget } from '../../plan/build-plan.ts';
import { targetMeaning } from '../../plan/digest.ts';
import { changedPlaces, nameOf, secretPlaces } from '../../run/ci/compare-base.ts';
import { filesOfTargets } from '../../run/ci/stack-files.ts';
import type { CliHost } from '../../run/host.ts';
import { type ApprovalSources, type ApprovedCommit, approvedCommits } from './find-approval.ts';
import { type ApplyScope, mergeBaseOf, stackAt, type StackVersion } from './apply-scope.ts';

/** Each target and setting that decides where secrets go, by its name for people. Equal texts mean the same place and the same files. */
type Places = ReadonlyMap<string, string>;

interface NewPlaces {
  /** names for people, such as `url of the target "acme"` */
  readonly names: readonly string[];
  /** all places of the stack that is applied now */
  readonly now: Places;
}

/** The places that get secrets now and did not at the last apply. Before the first apply, all places. */
export async function findNewPlaces(
  stack: Stack,
  { head, at, path, applied }: Pick<ApplyScope, 'head' | 'at' | 'path' | 'applied'>,
): Promise<NewPlaces> {
  const now = await placesAt({ stack, commit: head, path }, at);
  if (applied === undefined) return { names: stack.targets.map(nameOf), now };
  const before = await placesAt(applied, at);
  const changed = changedPlaces(applied.stack, stack);
  const names = [...now].flatMap(([name, text]) => {
    if (before.get(name) === text) return [];
    const described = changed.filter((one) => one === name || one.endsWith(` of ${name}`));
    return described.length === 0 ? [`a file of ${name}`] : described;
  });
  return { names, now };
}

/** @throws LedgerError when a commit cannot be read */
async function placesAt({ stack, commit, path }: StackVersion, at: GitContext): Promise<Places> {
  const places = new Map(secretPlaces(stack));
  for (const target of stack.targets)
    for (const file of filesOfTargets({ targets: [target] }, path))
      places.set(nameOf(target), `${places.get(nameOf(target))} ${await contentAt(commit, file, at)}`);
  return places;
}

/** A path that is not a regular file, such as a link, counts as changed in each commit. A file that a job creates is in no commit: `null`. */
async function contentAt(commit: string, file: string, at: GitContext): Promise<string> {
  try {
    return JSON.stringify((await fileAtCommit(at, commit, file)) ?? null);
  } catch (error) {
    if (error instanceof LedgerError) return `unknown at ${commit}`;
    throw error;
  }
}

interface PlacesQuestion {
  readonly stack: Stack;
  readonly scope: ApplyScope;
  readonly ledger: Ledger;
  readonly sources: ApprovalSources;
  readonly host: CliHost;
  /** the stack's argument on the command line */
  readonly argument: string | undefined;
}

export interface UnapprovedPlaces {
  /** names of the targets and settings; empty if all are approved */
  readonly names: readonly string[];
  readonly refused: readonly RefusedApproval[];
  /** why approved commits do not count, as clauses */
  readonly unread: readonly string[];
}

/** The new places that are in no commit with enough approvals. @throws the error of a source that cannot be read */
export async function unapprovedPlaces(
  { now }: NewPlaces,
  question: PlacesQuestion,
): Promise<UnapprovedPlaces> {
  const { scope, ledger, sources } = question;
  const { rules, range, head, at, applied } = scope;
  const { commits, refused } = await approvedCommits({ rules, range, head, ledger, sources });
  const known: Places[] = applied === undefined ? [] : [await placesAt(applied, at)];
  const unread: string[] = [];
  for (const approved of commits) {
    const found = await placesOf(approved, question);
    if (typeof found === 'string') unread.push(found);
    else known.push(found);
  }
  const names = [...now].filter(([name, text]) => !known.some((places) => places.get(name) === text));
  return { names: names.map(([name]) => name), refused, unread };
}

/**
 * The places that the approved plan of a commit was made for. For a pull request, only those that it changed, because its plan showed
 * no others; before the first apply, all of them.
 * @returns a clause if they cannot be read
 */
async function placesOf(
  { commit, before, digest, contents }: ApprovedCommit,
  { stack, scope: { at, path, head, applied }, host, argument }: PlacesQuestion,
): Promise<Places | string> {
  if (commit === head) return placesAt({ stack, commit, path }, at);
  const version = await stackAt(commit, { at, stack, host, path, argument }).catch((error: unknown) => {
    if (error instanceof LedgerError) return messageOf(error);
    throw error;
  });
  if (typeof version === 'string') return `the approved commit ${quoted(commit)} cannot be read: ${version}`;
  if (version === undefined)
    return `the approved commit ${quoted(commit)} has no valid stack ${quoted(stack.name)}`;
  // The plan of an untrusted author was made for the targets of the base branch, so its reviewers did not see the changed targets.
  const [proved] = contents.flatMap(
    (content) => proveContent(content, { stack: version.stack.name, digest }) ?? [],
  );
  const planned = proved && new Set(proved.targets.map(targetMeaning));
  const isPlanned = (target: Target) => planned?.has(targetMeaning(planTarget(target))) ?? true;
  const unseen = new Set(version.stack.targets.filter((one) => !isPlanned(one)).map(nameOf));
  const approved = [...(await placesAt(version, at))].filter(([name]) => !unseen.has(name));
  if (applied === undefined || before === undefined) return new Map(approved);
  const mergeBase = await mergeBaseOf(commit, before, at);
  const former = await stackAt(mergeBase, { at, stack, host, path, argument });
  const formerPlaces: Places = former === undefined ? new Map() : await placesAt(former, at);
  return new Map(approved.filter(([name, text]) => formerPlaces.get(name) !== text));
}
