/**
 * The planner: context in, plan out. Pure: no clock, no I/O, no code for one kind. It works in three passes, because the calls of
 * one change may depend on other changes: compare everything, then make the calls, then order them.
 */
import { type Address, type AddressText, formatAddress, parseAddress } from '../model/address.ts';
import type { CallId } from '../model/call.ts';
import type { Change, DigestedChange, Notice } from '../model/change.ts';
import { asReported, type Diagnostic } from '../model/diagnostic.ts';
import type { Inheritable } from '../model/kind-specs.ts';
import { type ChangedName, type Plan, type PlanTarget, planVersion } from '../model/plan.ts';
import type { DesiredResource, LiveResource, Spec } from '../model/resource.ts';
import type { RemovedByPart } from '../model/part.ts';
import { identityOf, type Target } from '../model/stack.ts';
import type { Answer } from '../model/http.ts';
import { quoted } from '../model/quoted.ts';
import { digestOf, digestVersion } from './digest.ts';
import { type Draft, draftDeclared, findDanglingReferences } from './draft-declared.ts';
import { draftRemoval, findLosses, type RemovalAction } from './draft-removal.ts';
import {
  findUnverifiedWrites,
  orderChanges,
  type UnverifiedWrites,
  waitingForOwnershipTags,
  withCalls,
} from './plan-calls.ts';
import { coverageOf } from './coverage.ts';
import { contentOf, findGuards, withRisks } from './find-guards.ts';
import type { ResponseCheck } from './verify-responses.ts';
import { changedNamesOf, type ExchangedName, findChangedNames, idNow } from './exchanged-names.ts';
import { liveSecretNames } from './secret-names.ts';
import { joinProblems } from './join-problems.ts';
import { type RemainingWork, remainingWork } from './remaining-work.ts';
import {
  decidesAbout,
  isInPart,
  isRemoval,
  partOf,
  restrictToPart,
  selectionOf,
} from './restrict-to-part.ts';
import { type OpenWrites, openWrites } from './begun-writes.ts';
import { removalOfUndeclared } from './no-longer-declared.ts';
import { isCarriedOut, mayExpire, type Recheck, recheckAt, type RecheckMoment } from './recheck.ts';
import { predictedRefusals, withPredictedRefusals } from './permission-check.ts';
import { type PlanContext, type PlanContextInput, makePlanContext } from './plan-context.ts';
import { doneMoves, moveProblems } from './moved-ownership.ts';
import { withIdsOfCreated, withNamesOfIds } from './names.ts';
import { type RecordDraft, recordsOf, responseCheck } from './planned-records.ts';

export interface PlanInput extends PlanContextInput {
  readonly files: number;
  readonly documents: number;
  /** what earlier applies of parts (`--select`) have deleted or released within a day */
  readonly removedByParts?: readonly RemovedByPart[] | undefined;
}

/** A plan, and the records and functions that apply needs besides it. */
export interface PlanResult extends OpenWrites {
  readonly plan: Plan;
  /** the problems of the plan before those with the same cause were joined */
  readonly problemsOfEach: readonly Diagnostic[];
  /** the record that each declared resource gets once it is as declared; without ids and marks */
  readonly records: ReadonlyMap<AddressText, RecordDraft>;
  /** addresses whose records are to be dropped although nothing is sent for them */
  readonly forget: readonly AddressText[];
  /** A resource as the plan read it; undefined when it does not exist. */
  live(address: Address): LiveResource | undefined;
  /** All resources of a kind in a target as the plan read them, also undeclared ones. */
  liveOfKind(kind: string, target: string): readonly LiveResource[];
  /** The address that a recorded resource has now, as its name may have changed; undefined if it was not found. */
  addressNow(recorded: Address, id: string): AddressText | undefined;
  /** The complete content of a resource once the plan is carried out; undefined for one that the plan does not know. */
  contentOf(address: Address): Spec | undefined;
  /**
   * Tags that come from a parent which the stack does not manage, if policies asked for them; undefined if they are not known.
   * @param parent null: the service does not show which one; undefined: the parent of a created resource that names none
   */
  inheritedTags?(
    target: string,
    parent: string | null | undefined,
  ): Readonly<Record<string, string>> | undefined;
  /** Resources that have the names of other resources, because names were changed in the service. */
  exchangedNames(): readonly ExchangedName[];
  /** The id that a changed name of an earlier plan resolves to now; undefined if nothing has it any more. */
  idNow(name: ChangedName): string | undefined;
  /** Compares a live resource that was read again just before a call of its change is sent. */
  recheck(change: Change, live: LiveResource | undefined, about: RecheckMoment): Recheck;
  /** The values that the resource of a change inherits, if the plan relied on them. */
  inheritable(change: Change): Inheritable | undefined;
  /** when the targets were read, at the earliest; milliseconds since 1970 */
  readonly readAt: number | undefined;
  /** Whether the resource, read again, shows that the call that writes these fields was carried out. */
  isCarriedOut(
    change: Change,
    about: Pick<RecheckMoment, 'created'> & { readonly written: ReadonlySet<string> },
    live: LiveResource | undefined,
  ): boolean;
  /** Whether a resource as it was read has an ownership tag of another stack, or of a stack with the same name and another id. */
  isOwnedByAnother(live: LiveResource): boolean;
  /**
   * Whether the resource is read again before the first call. A resource that the plan creates is not, if it is a child, or if the service
   * would refuse a second one; but it is read if it can become too late for its change.
   */
  needsRecheck(change: Change): boolean;
  /** What a change has to verify, if it is not known yet whether the service keeps ownership tags and children. */
  unverifiedBy(change: Change): UnverifiedWrites | undefined;
  /** what the service will refuse to the token of this plan; these are errors only when this run applies it */
  readonly refusals: readonly Diagnostic[];
  /** What the responses to the writes of a change prove. */
  checkResponses(
    change: Change,
    answers: ReadonlyMap<CallId, Answer>,
    created?: RecheckMoment['created'],
  ): ResponseCheck;
  /** What is left to do of an approved change, regardless of the current manifests. */
  remainingWork(approved: DigestedChange): RemainingWork;
  /** Approved changes with ids in place of the addresses of what they create, if this stack has created it by now. */
  asOfNow<C extends DigestedChange>(approved: readonly C[]): readonly C[];
}

export function buildPlan(input: PlanInput): PlanResult {
  const context = makePlanContext(input);
  const found = input.targets.flatMap(({ unread = [], warnings = [] }) => [unread, warnings].flat());
  const planDraft = draftAll(context, found.concat(stackProblems(context, input)));
  const { drafts: all, forget, leftOut } = planDraft;
  const { drafts, along, problems: ofPart } = restrictToPart(context, planDraft);
  const problems = [planDraft.problems, ofPart, findDanglingReferences(context, drafts)].flat();
  problems.push(...liveSecretNames(context));
  const pending = [...drafts.values()].filter(({ change }) => change.action !== 'none');
  const losses = findLosses(context, drafts);
  const unordered = pending.map((draft) => {
    const withRefusals = withPredictedRefusals(context, withCalls(context, draft, drafts), drafts);
    return withNamesOfIds(context, withLosses(withRefusals, losses));
  });
  const { changes, cycle } = orderChanges(waitingForOwnershipTags(context, unordered));
  if (cycle !== undefined) problems.push(cycleProblem(cycle));
  const targets = input.targets.map(({ target }) => planTarget(target));
  const selection = { ...selectionOf(input), ...partOf(input, { along, leftOut }) };
  const names = findChangedNames(context, drafts);
  const meaning = {
    ...{ stack: input.stack.name, targets, ...selection },
    ...{ changes, changedNames: changedNamesOf(names) },
  };
  const plan: Plan = {
    version: planVersion,
    ...meaning,
    unchanged: drafts.size - pending.length,
    notices: sortNotices([
      ...planDraft.notices,
      ...noticesOfUnchanged(drafts),
      ...doneMoves(context).filter(({ address }) => isInPart(context, along)(address)),
    ]),
    problems: asReported(joinProblems(problems)),
    guards: findGuards(context, drafts, { all, removedByParts: input.removedByParts, names }),
    coverage: coverageOf(input, context, changes),
    digest: digestOf(meaning),
    digestVersion,
  };
  const records = recordsOf(context, drafts, all);
  return {
    plan,
    problemsOfEach: problems,
    ...{ forget, records, ...openWrites(context, input, records) },
    live: (address) => context.live.get(formatAddress(address)),
    liveOfKind: (kind, target) =>
      [...context.live.values()].filter(({ address }) => address.kind === kind && address.target === target),
    addressNow: (recorded, id) => {
      const live = context.liveWithId(recorded, id);
      return live && formatAddress(live.address);
    },
    exchangedNames: () => names.exchanged,
    idNow: (name) => idNow(context, name),
    contentOf: (address) => {
      const draft = drafts.get(formatAddress(address));
      return draft && contentOf(context, draft);
    },
    ...rechecks(context, drafts),
    inheritable: ({ address }) => context.inheritable(address),
    readAt: context.now,
    isOwnedByAnother: (live) => {
      const { ownershipTag } = context.withRecordedTag(live).evidence;
      return ownershipTag !== undefined && !context.isOurTag(ownershipTag);
    },
    unverifiedBy: findUnverifiedWrites(context, changes),
    refusals: predictedRefusals(context, changes, drafts),
    checkResponses: responseCheck(context, drafts),
    remainingWork: (approved) => remainingWork(context, approved),
    asOfNow: (approved) =>
      withIdsOfCreated(context, approved, (change) =>
        remainingWork(context, change).isOurs
          ? context.live.get(formatAddress(change.address))?.id
          : undefined,
      ),
  };
}

function stackProblems(context: PlanContext, { repositoryProblem }: PlanInput): readonly Diagnostic[] {
  return [context.former?.problems ?? [], moveProblems(context), repositoryProblem ?? []].flat();
}

function withLosses(change: Change, losses: ReturnType<typeof findLosses>): Change {
  const added = losses.get(formatAddress(change.address)) ?? [];
  return added.length === 0 ? change : { ...change, notes: [...change.notes, ...added] };
}

/** The notes of unchanged resources, as notices, because the plan has no changes for them. */
function noticesOfUnchanged(drafts: ReadonlyMap<AddressText, Draft>): Notice[] {
  return [...drafts.values()]
    .filter(({ change }) => change.action === 'none')
    .flatMap(({ change: { address, notes } }) => notes.map((message) => ({ address, message })));
}

function sortNotices(notices: readonly Notice[]): Notice[] {
  const key = ({ address, message }: Notice) => `${formatAddress(address)}\0${message}`;
  return notices.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
}

/** The result of the first pass. */
interface PlanDraft {
  readonly drafts: Map<AddressText, Draft>;
  /** problems that are not about a declared resource */
  readonly problems: Diagnostic[];
  readonly problemsOf: Map<AddressText, readonly Diagnostic[]>;
  readonly notices: Notice[];
  readonly forget: AddressText[];
  /** how many removals a plan of a part leaves out */
  leftOut: number;
}

function draftAll(context: PlanContext, problems: Diagnostic[]): PlanDraft {
  const about = { problems, problemsOf: new Map(), notices: [], forget: [], leftOut: 0 };
  const planDraft: PlanDraft = { drafts: new Map(), ...about };
  draftAllDeclared(context, planDraft);
  draftAllUndeclared(context, planDraft);
  return planDraft;
}

function draftAllDeclared(context: PlanContext, planDraft: PlanDraft): void {
  for (const [text, resource] of context.desired) {
    const { draft, problems } = draftDeclared(context, resource);
    if (draft === undefined) {
      planDraft.problemsOf.set(text, problems);
      continue;
    }
    const drafted = withRisks(context, draft);
    planDraft.problemsOf.set(text, [...problems, ...protectedDestroys(drafted, resource)]);
    planDraft.drafts.set(text, drafted);
  }
}

/** A protected resource must not be destroyed by a schedule, either, and no acknowledgement allows it. */
function protectedDestroys(
  { change: { address, risks = [] } }: Draft,
  resource: DesiredResource,
): Diagnostic[] {
  const causes = risks.filter(({ effect }) => effect === 'destroys');
  if (resource.metadata.protect !== true || causes.length === 0) return [];
  return [
    {
      code: 'protected-destroy',
      severity: 'error',
      class: 'invalid',
      message: `${quoted(formatAddress(address))} is protected, and with this plan ${causes.map(({ message }) => message).join('; ')}`,
      place: resource.placeOf(
        causes.find(({ path }) => resource.spec[path[0] ?? ''] !== undefined)?.path ?? [],
      ),
      fix: 'leave out what schedules the destroy, or declare "protect: false", and acknowledge the guard "scheduled-destroy"',
    },
  ];
}

function draftAllUndeclared(context: PlanContext, planDraft: PlanDraft): void {
  const isOfThisPlan = decidesAbout(context);
  for (const [text, removal] of removalOfUndeclared(context)) {
    if (!isOfThisPlan(text, removal)) {
      // Removal requests count as declared resources that the part leaves out, so they are not counted here.
      if (isRemoval(removal) && !context.removalRequests.has(text)) planDraft.leftOut += 1;
      continue;
    }
    switch (removal.is) {
      case 'problem':
        planDraft.problems.push(removal.problem);
        break;
      case 'notice':
        planDraft.notices.push(removal.notice);
        break;
      case 'forget':
        planDraft.forget.push(context.recordedAt(parseAddress(text)) ?? text);
        if (removal.notice !== undefined) planDraft.notices.push(removal.notice);
        break;
      default:
        draftOneRemoval(context, planDraft, parseAddress(text), removal);
    }
  }
}

function draftOneRemoval(
  context: PlanContext,
  planDraft: PlanDraft,
  address: Address,
  action: RemovalAction,
): void {
  const removal = draftRemoval(context, address, action);
  if (removal.is === 'draft') planDraft.drafts.set(formatAddress(address), withRisks(context, removal.draft));
  else if (removal.is === 'notice') planDraft.notices.push(removal.notice);
  // A renamed resource may still be recorded under its former name.
  else planDraft.forget.push(context.recordedAt(address) ?? formatAddress(address));
}

function rechecks(
  context: PlanContext,
  drafts: ReadonlyMap<AddressText, Draft>,
): Pick<PlanResult, 'recheck' | 'isCarriedOut' | 'needsRecheck'> {
  const draftOf = (change: Change): Draft => {
    const draft = drafts.get(formatAddress(change.address));
    if (draft === undefined) throw new Error(`no draft for ${formatAddress(change.address)}`);
    return draft;
  };
  return {
    recheck: (change, live, moment) => recheckAt(context, draftOf(change), { change, ...moment }, live),
    isCarriedOut: (change, about, live) => isCarriedOut(context, draftOf(change), { change, ...about }, live),
    needsRecheck: (change) => {
      if (change.calls.length === 0) return false;
      const { ownership } = context.kind(change.address.kind);
      if (change.action !== 'create' || mayExpire(context, draftOf(change))) return true;
      return ownership.by !== 'child' && change.calls.every((call) => call.repeatable);
    },
  };
}

export function planTarget(target: Target): PlanTarget {
  return { name: target.name, ...identityOf(target), dialect: target.dialect };
}

function cycleProblem(cycle: readonly string[]): Diagnostic {
  return {
    code: 'cycle',
    severity: 'error',
    class: 'invalid',
    message: `these changes depend on each other in a cycle: ${cycle.join(' → ')}`,
    fix: 'remove one of the references',
  };
}
