/**
 * What an apply writes into the ledger besides records: the identities of the targets, the id of the stack, its repository, and
 * the commit of the manifests.
 */
import { realpath } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { LedgerHead } from '../apply/keep-ledger.ts';
import {
  type NoCommit,
  type RepositoryCommit,
  stackRepository,
  type StackRepository,
  uncommittedPaths,
} from '../ledger/git/checkout.ts';
import { exists, findRepository, slashes, standardInput } from '../manifest/files/find-stack.ts';
import type { CommitOrder } from '../model/checkout.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { AppliedCommit, AppliedRepository, HistoryStore, Ledger } from '../model/ledger.ts';
import type { Plan } from '../model/plan.ts';
import type { Stack } from '../model/stack.ts';
import { identitiesAfter } from '../plan/moved-targets.ts';
import { createHash } from 'node:crypto';
import type { GitContext } from '../ledger/git/git-command.ts';
import type { CliHost } from './host.ts';
import { matchStackFiles } from '../manifest/files/match-files.ts';
import { formatAddress } from '../model/address.ts';
import { canonicalText, type Json } from '../model/json.ts';
import type { DesiredResource } from '../model/resource.ts';
import { fieldsSetUncommitted } from './past-applies.ts';

export interface HeadInput {
  readonly ledger: Ledger;
  readonly stack: Stack;
  readonly plan: Plan;
  /** where the manifests come from */
  readonly from: RepositoryCommit | NoCommit;
  /** how our commit is ordered relative to the ledger's commit, and then to its other commits */
  readonly orders: readonly CommitOrder[];
  readonly stackId?: string | undefined;
  /** the repository of this run; undefined outside of a repository */
  readonly repository?: AppliedRepository | undefined;
}

export function ledgerHead({
  ledger,
  stack,
  plan,
  from,
  orders,
  stackId,
  repository: found = ledger.repository,
}: HeadInput): LedgerHead {
  // A checkout without a remote does not replace the repository in the ledger.
  const repository = found?.remote === undefined ? (ledger.repository ?? found) : found;
  // What was not read may differ: an apply that found nothing to do has not applied its commit.
  const isUnread = plan.changes.length === 0 && !plan.coverage.complete;
  return {
    targets: identitiesAfter(ledger, stack.targets),
    ...(stackId === undefined ? {} : { stackId }),
    ...(repository === undefined ? {} : { repository }),
    ...(isUnread
      ? commitsOf(ledger)
      : commitsAfter({ ledger, plan, from, orders: ordersIn(ledger, orders) })),
  };
}

/** How our commit is ordered relative to the ledger's commit, and to each of the ledger's other commits. */
interface Orders {
  readonly ofCommit: CommitOrder | undefined;
  readonly ofOthers: readonly CommitOrder[];
}

/** A ledger without a commit may still have other commits, from which parts were applied. */
function ordersIn({ commit }: Ledger, orders: readonly CommitOrder[]): Orders {
  if (commit === undefined) return { ofCommit: undefined, ofOthers: orders };
  const [ofCommit, ...ofOthers] = orders;
  return { ofCommit, ofOthers };
}

function commitsOf({ commit, otherCommits = [] }: Ledger): Pick<LedgerHead, 'commit' | 'otherCommits'> {
  return { ...(commit === undefined ? {} : { commit }), otherCommits };
}

interface CommitInput extends Pick<HeadInput, 'ledger' | 'plan' | 'from'> {
  readonly orders: Orders;
}

/**
 * The commit of this apply, and those of earlier applies that it does not follow. Those are kept until an apply proves that nothing is
 * left to do, because a later plan could otherwise revert them without a guard. An apply of a part does not change the ledger's commit:
 * the commit of the part is kept as another one.
 */
function commitsAfter(input: CommitInput): Pick<LedgerHead, 'commit' | 'otherCommits'> {
  const { ledger, plan, from, orders } = input;
  const { commit, otherCommits = [] } = ledger;
  const own = ownCommit(input);
  if (own === undefined || isNotRecorded(input)) return commitsOf(ledger);
  const notFollowed = otherCommits.filter(
    (other, index) => !isFollowed(orders.ofOthers[index]) && !isSameCommit(other, own),
  );
  if (plan.part !== undefined) return besideCommit(ledger, own, notFollowed);
  if (from.commit === undefined) return { commit: own, otherCommits };
  const isReplaced = commit === undefined || isFollowed(orders.ofCommit) || isSameCommit(commit, own);
  return { commit: own, otherCommits: [...(isReplaced ? [] : [commit]), ...notFollowed].slice(0, maxOther) };
}

function besideCommit(
  ledger: Ledger,
  own: AppliedCommit,
  notFollowed: readonly AppliedCommit[],
): Pick<LedgerHead, 'commit' | 'otherCommits'> {
  const { commit } = ledger;
  if (commit !== undefined && isSameCommit(commit, own)) return commitsOf(ledger);
  return { ...commitsOf(ledger), otherCommits: [own, ...notFollowed].slice(0, maxOther) };
}

/** Whether our commit is not recorded: without changes for a part; without changes or differences if it is older than the ledger's. */
function isNotRecorded({ plan, from, orders: { ofCommit } }: CommitInput): boolean {
  const isEmpty = plan.changes.length === 0;
  if (isEmpty && plan.part !== undefined) return true;
  if (from.commit === undefined || ofCommit?.is !== 'behind') return false;
  return isEmpty || (!ofCommit.differs && from.uncommitted === undefined);
}

/** The commit that this apply is made from. Without git, the ledger's commit with the hash of what is uncommitted. */
function ownCommit({ ledger: { commit }, plan, from }: CommitInput): AppliedCommit | undefined {
  if (from.commit === undefined) {
    const { uncommitted } = from;
    if (commit === undefined || uncommitted === undefined || plan.changes.length === 0) return undefined;
    const { ignored: _, ...rest } = commit;
    return { ...rest, uncommitted };
  }
  return {
    id: from.commit,
    ...(from.dirty ? { dirty: true } : {}),
    ...(from.uncommitted === undefined ? {} : { uncommitted: from.uncommitted }),
    ...(from.ignored ? { ignored: true } : {}),
  };
}

/** How many other commits are kept. More are not expected: each is a branch, or a set of edits, that was applied and not merged. */
const maxOther = 20;

/** Whether our commit lacks nothing of the recorded one, so that the recorded one need not be kept. */
function isFollowed(order: CommitOrder | undefined): boolean {
  return order === undefined || order.is === 'ahead' || (order.is === 'diverged' && !order.differs);
}

function isSameCommit(one: AppliedCommit, other: AppliedCommit): boolean {
  return one.id === other.id && one.uncommitted === other.uncommitted;
}

// Compares the repository of this run with the one that the ledger was written from.

/**
 * A conflict if the ledger was written from another repository, or from another stack file that still exists: a stack file that was moved
 * is the same stack. Undefined also if one of the two is not known.
 */
export async function repositoryProblem(
  recorded: AppliedRepository | undefined,
  place: StackRepository | undefined,
): Promise<Diagnostic | undefined> {
  if (recorded === undefined || place === undefined) return undefined;
  const { applied, remotes, root, isLeftOut } = place;
  const isOther = recorded.remote !== undefined && remotes.length > 0 && !remotes.includes(recorded.remote);
  if (!isOther) {
    const isElsewhere = recorded.path !== applied.path;
    const isThere = async () => (await exists(join(root, recorded.path))) || (await isLeftOut(recorded.path));
    if (!isElsewhere || !(await isThere())) return undefined;
  }
  return {
    code: 'other-repository',
    severity: 'error',
    class: 'conflict',
    message: isOther
      ? "the ledger was written from another repository: two repositories with one ledger undo each other's changes"
      : "the ledger was written from another stack file of this repository: two stacks with one ledger undo each other's changes",
    found: describeRepository(applied),
    allowed: describeRepository(recorded),
    fix: 'rename one of the two stacks; if this one continues the other one: trueup recover --adopt-repository',
  };
}

/** Where the stack file is now. */
export async function repositoryMember(
  { directory, file }: Stack,
  { env }: Pick<CliHost, 'env'>,
): Promise<Pick<Ledger, 'repository'>> {
  const { root, isGit } = await findRepository(directory);
  const found = isGit ? await stackRepository({ directory, env }, root, file) : undefined;
  return found === undefined ? {} : { repository: found.applied };
}

export function describeRepository({ remote, path }: AppliedRepository): string {
  return remote === undefined ? path : `${remote}, ${path}`;
}

// Records that an apply was made from uncommitted changes, and detects a plan that reverts them. The commits alone do not show that: the
// ledger's commit is the same as that of the plan, or an earlier one.

export interface Declared {
  readonly resources: readonly DesiredResource[];
  /** absolute paths of the files that the resources come from */
  readonly paths: readonly string[];
  /** manifests come from standard input, so that no file of the work tree shows what they were made from */
  readonly isPiped: boolean;
}

/** The hash of the declared resources, if files of the stack have uncommitted changes; undefined if none have. */
export async function uncommittedHash(
  { resources, paths, isPiped, hasIgnored }: Declared & Pick<UncommittedInput, 'hasIgnored'>,
  stack: Stack,
  at: GitContext,
): Promise<string | undefined> {
  // It is unknown from which files generated manifests were made.
  const isGenerated = isPiped || hasIgnored || stack.manifests.includes(standardInput);
  const { isFile, isAncestor } = matchStackFiles(stack, isGenerated);
  const directory = await realpath(stack.directory);
  // A file behind a symbolic link has another path in git.
  const real = await Promise.all(paths.map((path) => realpath(path).catch(() => path)));
  const files = new Set([
    ...paths.map((path) => slashes(relative(stack.directory, path))),
    ...real.map((path) => slashes(relative(directory, path))),
  ]);
  // Git reports a change in a submodule, and of a link to a folder, by the path of that folder.
  const places = new Set([...files, ...[...files].flatMap(foldersOf)]);
  const outside = [...places].filter((place) => place.startsWith('../'));
  const changed = await uncommittedPaths(at, outside);
  return changed.some(
    ({ path, isTracked, hadFiles }) =>
      // New files beside generated manifests are mostly those that a job wrote.
      ((isTracked || !isGenerated) && isFile(path)) || places.has(path) || (hadFiles && isAncestor(path)),
  )
    ? hashOf(resources)
    : undefined;
}

/** For `../a/b/c.yaml`: `../a` and `../a/b`. */
function foldersOf(file: string): string[] {
  const steps = file.split('/').slice(0, -1);
  return steps.flatMap((step, index) => (step === '..' ? [] : [steps.slice(0, index + 1).join('/')]));
}

/** A hash that does not depend on the spelling and the order of the resources. */
function hashOf(resources: readonly DesiredResource[]): string {
  const declared = resources.map(
    ({ address, metadata, spec }): Json => [formatAddress(address), { ...metadata }, spec],
  );
  const texts = declared.map(canonicalText).sort();
  const hash = createHash('sha256');
  // Hashes the canonical text of the list, one item after the other.
  for (const [index, text] of texts.entries())
    hash.update(`${index === 0 ? '[' : ','}${canonicalText(text)}`);
  return hash.update(texts.length === 0 ? '[]' : ']').digest('hex');
}

/** Adds the hash of uncommitted manifests. Without a commit, all that is declared may be uncommitted. */
export function withUncommitted(
  from: RepositoryCommit | NoCommit,
  {
    uncommitted,
    hasIgnored,
    resources,
  }: {
    readonly uncommitted?: string | undefined;
    /** manifests are declared in files that git ignores */
    readonly hasIgnored?: boolean;
    readonly resources: readonly DesiredResource[];
  },
): RepositoryCommit | NoCommit {
  if (from.commit === undefined) return { ...from, uncommitted: hashOf(resources) };
  if (uncommitted !== undefined) return { ...from, uncommitted };
  return hasIgnored ? { ...from, uncommitted: hashOf(resources), ignored: true as const } : from;
}

interface UncommittedInput extends Declared {
  readonly commit: NonNullable<Ledger['commit']>;
  readonly ours: RepositoryCommit | NoCommit;
  /** manifests are declared in files that git ignores */
  readonly hasIgnored: boolean;
  readonly history: Pick<HistoryStore, 'readEntries'>;
}

/** The order of the commits; or `uncommitted`, if the last apply was made from manifests that are in no commit and differ from these. */
export async function orderWithUncommitted(
  order: CommitOrder,
  { commit, ours, hasIgnored, resources, isPiped, history }: UncommittedInput,
): Promise<CommitOrder> {
  const tripsGuard = order.is === 'unknown' || ('differs' in order && order.differs);
  if (tripsGuard || commit.uncommitted === undefined) return order;
  // Generated again for this run: nothing is missing.
  if (commit.ignored && hasIgnored) return order;
  // Resources on standard input are in no commit, even if they are the same.
  if (!isPiped && commit.uncommitted === hashOf(resources)) return order;
  const appliedFields = await fieldsSetUncommitted(history);
  return {
    is: 'uncommitted',
    applied: commit.id,
    isEdited: ours.commit !== undefined && ours.uncommitted !== undefined && !ours.ignored,
    appliedFields,
  };
}
