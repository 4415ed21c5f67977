/**
 * The planner: context in, plan out. Pure: no clock, no I/O, no kind's name. Three passes, because calls of one change
 * may depend on what becomes of another: judge and compare everything, then make the calls, then order them.
 */
import { type Address, type AddressText, formatAddress, parseAddress } from '../model/resource/address.ts';
import type { CallId } from '../model/plan/call.ts';
import type { Change, MeantChange, Mention } from '../model/plan/change.ts';
import { type Diagnostic, sortDiagnostics } from '../model/diagnostic.ts';
import type { LedgerRecord } from '../model/stack/ledger.ts';
import { type Coverage, type Plan, type PlanTarget, planVersion } from '../model/plan/plan.ts';
import type { LiveResource } from '../model/resource/resource.ts';
import type { Target } from '../model/stack/target.ts';
import { identityOf } from '../model/stack/target-identity.ts';
import type { Answer } from '../model/wire.ts';
import { digestOf } from './approval/digest.ts';
import { type Draft, draftDeclared } from './draft/draft-declared.ts';
import { type RemovalAction, draftRemoval } from './draft/draft-removal.ts';
import { orderChanges } from './calls/order-changes.ts';
import { findGuards } from './guards/find-guards.ts';
import { type AnswersVerdict, judgeAnswers } from './approval/judge-answers.ts';
import { ledgerNotes } from './context/ledger-notes.ts';
import { type RemainingWork, remainingWork } from './approval/remaining-work.ts';
import { findLosses } from './ownership/losses.ts';
import { withCalls } from './calls/plan-calls.ts';
import { judgeUndeclared } from './ownership/judge-undeclared.ts';
import { isCarriedOut, type Recheck, recheckDraft } from './approval/recheck.ts';
import { findDanglingReferences } from './draft/dangling-references.ts';
import { predictedRefusals, withPredictedRefusals } from './calls/predicted-refusals.ts';
import { withRisks } from './guards/draft-risks.ts';
import { type PlanContext, type PlanContextInput, makePlanContext } from './context/plan-context.ts';

export interface PlanInput extends PlanContextInput {
  readonly files: number;
  readonly documents: number;
}

/** A plan, and what apply needs beside it that is no data. */
export interface Planning {
  readonly plan: Plan;
  /** what the ledger shall say of each declared resource once it is true; without ids and marks */
  readonly records: ReadonlyMap<AddressText, RecordDraft>;
  /** addresses whose records are to be dropped although nothing is sent for them */
  readonly forget: readonly AddressText[];
  /** the id of a live resource; undefined when there is none, or none yet */
  idOf(address: Address): string | undefined;
  /** judges a live resource that was read again just before its change is sent (rule 29) */
  recheck(change: Change, live: LiveResource | undefined): Recheck;
  /** whether live, read again, is as a call of the change was to make it that writes these fields */
  isCarriedOut(change: Change, written: ReadonlySet<string>, live: LiveResource | undefined): boolean;
  /** whether a change has to be rechecked at all: not when the plan itself creates what it writes to */
  needsRecheck(change: Change): boolean;
  /** what the service will refuse to the token that this plan was made with: errors only to whoever wants to apply it */
  readonly refusals: readonly Diagnostic[];
  /** what the answers to the writes of a change prove of it (rule 40) */
  judgeAnswers(change: Change, answers: ReadonlyMap<CallId, Answer>): AnswersVerdict;
  /** what live still lacks of a change that was approved, whatever the manifests say today (rule 28) */
  remainingWork(approved: MeantChange): RemainingWork;
}

export interface RecordDraft {
  readonly draft: Draft;
  readonly record: LedgerRecord;
  /** what the ledger knows of this very resource; absent for what is to be created, whatever had its name before */
  readonly known?: LedgerRecord;
  /** nothing has to be done for it to be true */
  readonly settled: boolean;
}

export function buildPlan(input: PlanInput): Planning {
  const context = makePlanContext(input);
  const unread = input.targets.flatMap((found) => found.unread ?? []);
  const unfit = context.former?.problems ?? [];
  const sketch: PlanDraft = { drafts: new Map(), problems: [...unread, ...unfit], mentions: [], forget: [] };
  draftAllDeclared(context, sketch);
  draftAllUndeclared(context, sketch);
  const { drafts, problems, forget } = sketch;
  problems.push(...findDanglingReferences(context, drafts));
  const pending = [...drafts.values()].filter(({ change }) => change.action !== 'none');
  const losses = findLosses(context, drafts);
  const { changes, cycle } = orderChanges(
    pending.map((draft) =>
      withLosses(withPredictedRefusals(context, withCalls(context, draft, drafts), drafts), losses),
    ),
  );
  if (cycle !== undefined) problems.push(cycleProblem(cycle));
  const targets = input.targets.map(({ target }) => planTarget(target));
  const selection = selectionOf(input);
  const plan: Plan = {
    version: planVersion,
    stack: input.stack.name,
    targets,
    ...selection,
    changes,
    unchanged: drafts.size - pending.length,
    mentions: sortMentions([...sketch.mentions, ...notedOnly(drafts)]),
    problems: sortDiagnostics(problems),
    guards: findGuards(context, drafts),
    coverage: coverageOf(input, context),
    digest: digestOf({ stack: input.stack.name, targets, ...selection, changes }),
  };
  const idOf = (address: Address) => context.live.get(formatAddress(address))?.id;
  return {
    plan,
    forget,
    records: recordsOf(context, drafts),
    idOf,
    ...rechecks(context, drafts),
    refusals: predictedRefusals(context, changes, drafts),
    judgeAnswers: (change, answers) =>
      judgeAnswers({
        kind: context.kind(change.address.kind),
        change,
        answers,
        record: context.record(change.address),
        drafted: drafts.get(formatAddress(change.address))?.record,
      }),
    remainingWork: (approved) => remainingWork(context, approved),
  };
}

function withLosses(change: Change, losses: ReturnType<typeof findLosses>): Change {
  const told = losses.get(formatAddress(change.address)) ?? [];
  return told.length === 0 ? change : { ...change, notes: [...change.notes, ...told] };
}

/** What is to be known of resources with nothing to do, which are no changes of the plan. */
function notedOnly(drafts: ReadonlyMap<AddressText, Draft>): Mention[] {
  return [...drafts.values()]
    .filter(({ change }) => change.action === 'none')
    .flatMap(({ change: { address, notes } }) => notes.map((message) => ({ address, message })));
}

function sortMentions(mentions: readonly Mention[]): Mention[] {
  const key = ({ address, message }: Mention) => `${formatAddress(address)}\0${message}`;
  return mentions.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
}

/** What the first pass finds. */
interface PlanDraft {
  readonly drafts: Map<AddressText, Draft>;
  readonly problems: Diagnostic[];
  readonly mentions: Mention[];
  readonly forget: AddressText[];
}

function draftAllDeclared(context: PlanContext, sketch: PlanDraft): void {
  for (const [text, resource] of context.desired) {
    const { draft, problems } = draftDeclared(context, resource);
    sketch.problems.push(...problems);
    if (draft !== undefined) sketch.drafts.set(text, withRisks(context, draft));
  }
}

function draftAllUndeclared(context: PlanContext, sketch: PlanDraft): void {
  for (const [text, removal] of judgeUndeclared(context)) {
    switch (removal.is) {
      case 'problem':
        sketch.problems.push(removal.problem);
        break;
      case 'mention':
        sketch.mentions.push(removal.mention);
        break;
      case 'forget':
        sketch.forget.push(recordedAt(context, parseAddress(text)));
        if (removal.mention !== undefined) sketch.mentions.push(removal.mention);
        break;
      default:
        draftOneRemoval(context, sketch, parseAddress(text), removal);
    }
  }
}

function draftOneRemoval(
  context: PlanContext,
  sketch: PlanDraft,
  address: Address,
  deed: RemovalAction,
): void {
  const removal = draftRemoval(context, address, deed);
  if (removal.is === 'draft') sketch.drafts.set(formatAddress(address), withRisks(context, removal.draft));
  else if (removal.is === 'mention') sketch.mentions.push(removal.mention);
  else sketch.forget.push(recordedAt(context, address));
}

/** Where the ledger has the record to forget: a resource that was renamed may still be known by its former name. */
function recordedAt(context: PlanContext, address: Address): AddressText {
  return context.recordedAt(address) ?? formatAddress(address);
}

function rechecks(
  context: PlanContext,
  drafts: ReadonlyMap<AddressText, Draft>,
): Pick<Planning, 'recheck' | 'isCarriedOut' | 'needsRecheck'> {
  const draftOf = (change: Change): Draft => {
    const draft = drafts.get(formatAddress(change.address));
    if (draft === undefined) throw new Error(`no draft for ${formatAddress(change.address)}`);
    return draft;
  };
  return {
    recheck: (change, live) => recheckDraft(context, draftOf(change), change, live),
    isCarriedOut: (change, written, live) =>
      isCarriedOut(context, draftOf(change), { change, written }, live),
    needsRecheck: (change) => {
      if (change.calls.length === 0) return false;
      const { ownership } = context.kind(change.address.kind);
      if (change.action !== 'create') return true;
      return ownership.by !== 'part' && change.calls.every((call) => call.repeatable);
    },
  };
}

function recordsOf(
  context: PlanContext,
  drafts: ReadonlyMap<AddressText, Draft>,
): ReadonlyMap<AddressText, RecordDraft> {
  const records = new Map<AddressText, RecordDraft>();
  for (const text of context.desired.keys()) {
    const draft = drafts.get(text);
    if (draft?.record === undefined) continue;
    const { action, address } = draft.change;
    const known = action === 'create' ? undefined : context.record(address);
    records.set(text, {
      draft,
      record: draft.record,
      ...(known === undefined ? {} : { known }),
      settled: action === 'none',
    });
  }
  return records;
}

/** The declared resources, tombstones among them, where they are a part of the stack: what the plan is about. */
export function selectionOf({
  isSelection,
  desired,
}: Pick<PlanContextInput, 'isSelection' | 'desired'>): Pick<Plan, 'selection'> {
  return isSelection ? { selection: desired.map(({ address }) => formatAddress(address)).sort() } : {};
}

export function planTarget(target: Target): PlanTarget {
  return { name: target.name, ...identityOf(target), dialect: target.dialect };
}

function coverageOf(input: PlanInput, context: PlanContext): Coverage {
  const targets = input.targets.map(({ target, sets, requests, unread }) => {
    const all = [...sets];
    return {
      target: target.name,
      ...(unread === undefined ? {} : { unread: true as const }),
      requests,
      read: all.map(([kind, { resources, total }]) => ({
        kind,
        count: resources.length,
        ...(total === undefined ? {} : { total }),
      })),
      incomplete: [...new Set(all.flatMap(([, set]) => set.incomplete))],
      invisible: [...new Set(all.flatMap(([kind, set]) => set.invisible.map((field) => `${kind}.${field}`)))],
      notes: [...new Set(all.flatMap(([, set]) => set.notes))],
    };
  });
  return {
    complete:
      input.manifestsComplete &&
      targets.every(({ unread, incomplete }) => unread === undefined && incomplete.length === 0),
    files: input.files,
    documents: input.documents,
    ledger: input.ledger.known ? 'found' : 'none',
    ledgerNotes: ledgerNotes(context),
    targets,
  };
}

function cycleProblem(cycle: readonly string[]): Diagnostic {
  return {
    code: 'cycle',
    severity: 'error',
    class: 'invalid',
    message: `these changes wait for each other: ${cycle.join(' → ')}`,
    fix: 'break the circle by removing one of the references',
  };
}
