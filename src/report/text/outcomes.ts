/** Outcomes for a terminal: a line for each change while apply works, and a report at the end. */
import { formatAddress } from '../../model/address.ts';
import { counted, quoted } from '../../model/quoted.ts';
import { type ApplyEvent, type Outcome, type OutcomeKind, runStopped } from '../../model/change.ts';
import type { Plan } from '../../model/plan.ts';
import { actionSymbols, formatPlace } from './change.ts';
import { indent, pad, type Paint } from './layout.ts';
import { withoutSelection } from '../view/plan-summary.ts';
import { printable } from '../view/printable.ts';

const outcomeKinds: readonly OutcomeKind[] = [
  'applied',
  'unchanged',
  'stale',
  'skipped',
  'unknown',
  'failed',
];

/** `applied   ~ Kind/acme/network-prod  (3/12)`; undefined for starts, and for skipped changes, which only the final report lists. */
export function renderEvent(event: ApplyEvent, { paint }: { paint: Paint }): string | undefined {
  switch (event.type) {
    case 'begin':
      return `Applying ${counted(event.changes, 'change')} with ${counted(event.calls, 'call')}`;
    case 'start':
      return undefined;
    case 'end': {
      if (isUnsent(event.outcome)) return undefined;
      const progress = paint.dim(`(${event.finished}/${event.changes})`);
      return `${titleOf(event.outcome, paint)}  ${progress}${detailAfter(event.outcome)}`;
    }
  }
}

interface OutcomesTextOptions {
  readonly paint: Paint;
  /** leaves out successful changes, which were shown already; the counts include them */
  readonly openOnly?: boolean;
  /** maximum number of listed failures; successful changes are listed only if they fit into the room that these leave */
  readonly most?: number;
}

/** All changes, those that need attention last, where they stay visible; then the counts. */
export function renderOutcomes(
  outcomes: readonly Outcome[],
  { paint, openOnly = false, most = Number.POSITIVE_INFINITY }: OutcomesTextOptions,
): string {
  const successful = outcomes.filter(isSuccessful);
  const isUnsentByStop = unsentByStop(outcomes);
  const others = outcomes.filter((outcome) => !isSuccessful(outcome) && !isUnsentByStop(outcome));
  // A failure takes three lines.
  const isListed = !openOnly && successful.length <= 3 * (most - others.length);
  const more = others.length - most;
  const blocks = [
    isListed ? successful.flatMap((outcome) => outcomeLines(outcome, paint)) : [],
    ...unsentGroups(outcomes.filter(isUnsentByStop)).flatMap((group) => groupLines(group, paint)),
    ...byImportance(others)
      .slice(0, more > 1 ? most : undefined)
      .map((outcome) => outcomeLines(outcome, paint)),
    more > 1 ? [`and ${more} more: "trueup history show latest" lists each`] : [],
    [paint.bold(outcomeSummary(outcomes))],
  ];
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

/** Failures first, then skipped changes, so that a shortened list shows the failures. */
function byImportance(outcomes: readonly Outcome[]): readonly Outcome[] {
  const skipped = outcomes.filter(({ kind }) => kind === 'skipped');
  return [...outcomes.filter(({ kind }) => kind !== 'skipped'), ...skipped];
}

const doneWords: Readonly<Record<Outcome['action'], string>> = {
  create: 'created',
  adopt: 'adopted',
  update: 'updated',
  release: 'released',
  delete: 'deleted',
  none: 'recorded',
};

/** What an apply has written, as far as that is known. */
export interface Written {
  /** changes that were carried out, at least in part */
  readonly done: number;
  /** changes that may have been carried out: the response was lost or proves nothing, and no later plan shows that they are left */
  readonly maybeDone: number;
}

/** @param proof the plan that was made afterwards; undefined when there was none */
export function countWritten(
  outcomes: readonly Outcome[],
  proof: Pick<Plan, 'changes'> | undefined,
): Written {
  const left = new Map(proof?.changes.map(({ address, action }) => [formatAddress(address), action]));
  // A created resource that another change concerns now exists: this create may have made it.
  const isLeft = ({ address, action }: Outcome) => {
    const found = left.get(formatAddress(address));
    return action === 'create' ? found === 'create' : found !== undefined;
  };
  const open = outcomes.filter((outcome) => !isDone(outcome) && !isPartDone(outcome));
  const maybeDone = open.filter(
    (outcome) => outcome.kind === 'unknown' || ((outcome.inDoubt || outcome.refused) && !isLeft(outcome)),
  );
  const done = outcomes.filter((outcome) => isDone(outcome) || isPartDone(outcome));
  return { done: done.length, maybeDone: maybeDone.length };
}

/** `3 created, 1 deleted`: what was carried out. @param proof as for `countWritten` */
export function writtenText(outcomes: readonly Outcome[], proof: Pick<Plan, 'changes'> | undefined): string {
  const { maybeDone } = countWritten(outcomes, proof);
  const done = outcomes.filter(isDone);
  const counts = Object.entries(doneWords).flatMap(([action, word]) => {
    const count = done.filter((outcome) => outcome.action === action).length;
    return count === 0 ? [] : [`${count} ${word}`];
  });
  const inPart = outcomes.filter(isPartDone).length;
  const all = [
    ...counts,
    ...(inPart === 0 ? [] : [`${inPart} carried out in part`]),
    ...(maybeDone === 0 ? [] : [maybeDoneText(maybeDone)]),
  ];
  return all.length === 0 ? 'Nothing changed' : all.join(', ');
}

/** `3 changes may have been made` */
export function maybeDoneText(count: number): string {
  return `${counted(count, 'change')} may have been made`;
}

function isDone({ kind, foundTrue }: Outcome): boolean {
  return kind === 'applied' || foundTrue === true;
}

function isPartDone(outcome: Outcome): boolean {
  return !isDone(outcome) && outcome.done !== undefined && outcome.done.length > 0;
}

/**
 * What to do after an apply, in a sentence.
 * @param proof whether the plan that was made afterwards is empty; `not-kept`: a service did not keep what was written; undefined when
 * no plan was made
 * @param stack the stack's argument on the command line; absent for the one in the working directory
 */
export function stepAfterApply(
  outcomes: readonly Outcome[],
  proof: 'empty' | 'not-empty' | 'not-kept' | undefined,
  stack?: string,
  part?: Plan['part'],
): string {
  const commandWith = (name: string, argument: string | undefined) =>
    quoted(['trueup', name, ...(argument === undefined ? [] : [argument])].join(' '));
  const command = (name: string) => commandWith(name, stack);
  const ofWhole = (name: string) => commandWith(name, withoutSelection(stack, part));
  // If the plan after the apply is empty, nothing is left of a change that a later read found applied.
  const open = outcomes.filter(
    (outcome) => !isSuccessful(outcome) && !(proof === 'empty' && isDone(outcome)),
  );
  const kinds = new Set(open.map(({ kind }) => kind));
  if (open.length > 0 && open.every(unsentByStop(outcomes)))
    return 'Next: run the same command again. It continues with what is left.';
  if (kinds.has('unknown') && !kinds.has('failed'))
    return 'Next: run the same command again. It finds out which changes were made, and continues with what is left.';
  if (kinds.has('failed') || kinds.has('unknown') || kinds.has('skipped'))
    return 'Next: correct what is reported above, then run the same command again. It continues with what is left.';
  if (kinds.has('stale'))
    return `Next: ${command('plan')} shows the changes that are left. Review and approve them again.`;
  if (proof === 'not-empty') return `Next: ${command('plan')} shows what is left.`;
  if (proof === 'not-kept')
    return `Next: ${ofWhole('doctor')} checks whether the dialect of the target is that of the service, and ${command('plan')} shows what is left.`;
  return `Next: ${command('drift')} shows later changes in the targets, and ${ofWhole('history')} lists this apply.`;
}

/** One line about how much of an interrupted apply was done. */
export function doneText(outcomes: readonly Outcome[]): string {
  const open = outcomes.filter((outcome) => !isSuccessful(outcome)).length;
  const { maybeDone } = countWritten(outcomes, undefined);
  return isAllDone(outcomes)
    ? 'all changes were carried out, but no plan was made to verify them'
    : `${outcomes.length - open} of ${counted(outcomes.length, 'change')} were carried out${maybeDone === 0 ? '' : `, and ${maybeDoneText(maybeDone)}`}`;
}

/** Whether all changes were carried out. */
export function isAllDone(outcomes: readonly Outcome[]): boolean {
  return outcomes.every(isSuccessful);
}

export function countOutcomes(outcomes: readonly Pick<Outcome, 'kind'>[]): Record<OutcomeKind, number> {
  const counts = { applied: 0, unchanged: 0, stale: 0, skipped: 0, unknown: 0, failed: 0 };
  for (const { kind } of outcomes) counts[kind] += 1;
  return counts;
}

/** `9 applied, 1 skipped, 1 failed` */
export function outcomeSummary(outcomes: readonly Pick<Outcome, 'kind'>[]): string {
  if (outcomes.length === 0) return 'Nothing to apply';
  const counts = countOutcomes(outcomes);
  return outcomeKinds
    .filter((kind) => counts[kind] > 0)
    .map((kind) => `${counts[kind]} ${kind}`)
    .join(', ');
}

function isSuccessful({ kind }: Outcome): boolean {
  return kind === 'applied' || kind === 'unchanged';
}

// A stopped run may leave hundreds of changes unsent. They are grouped, so that outcomes that need attention stay visible; the
// JSON lists each of them.

function isUnsent({ kind, done = [] }: Outcome): boolean {
  return kind === 'skipped' && done.length === 0;
}

function isStopped(outcome: Outcome): boolean {
  return isUnsent(outcome) && outcome.detail === `not sent: ${runStopped}`;
}

/** Whether a change was not sent because the run was stopped, or because it depends on such a change. */
function unsentByStop(outcomes: readonly Outcome[]): (outcome: Outcome) => boolean {
  if (!outcomes.some(isStopped)) return () => false;
  const failed = outcomes.some(
    ({ kind }) => kind !== 'skipped' && kind !== 'applied' && kind !== 'unchanged',
  );
  return (outcome) => isStopped(outcome) || (!failed && isUnsent(outcome));
}

/** Two groups of changes: those not sent because the run was stopped, and those skipped because of another change. */
function unsentGroups(outcomes: readonly Outcome[]): Outcome[][] {
  return [...Map.groupBy(outcomes, (outcome) => isStopped(outcome)).values()];
}

/** Maximum length of a group that is listed in full. */
const maxListed = 5;

function groupLines(group: readonly Outcome[], paint: Paint): string[][] {
  if (group.length <= maxListed) return group.map((outcome) => outcomeLines(outcome, paint));
  const [first] = group;
  const reason =
    first !== undefined && isStopped(first)
      ? `not sent: ${runStopped}`
      : 'skipped: depends on a change that was not sent';
  const shown = group.slice(0, maxListed - 2).map((outcome) => titleOf(outcome, paint));
  const more = `and ${group.length - shown.length} more: "trueup history show latest" lists each`;
  return [[...shown, ...indent([more, `${counted(group.length, 'change')}: ${reason}`], 4)]];
}

function titleOf({ kind, action, address }: Outcome, paint: Paint): string {
  const name = printable(formatAddress(address));
  // A resource that was deleted, or may not have been created, has no page.
  const hasPage = kind === 'applied' ? action !== 'delete' : action !== 'create';
  const word = pad(kind, 'unchanged'.length + 1);
  return `${paintOutcome(kind, paint)(word)}${actionSymbols[action]} ${hasPage ? paint.link(name, address) : name}`;
}

function paintOutcome(kind: OutcomeKind, paint: Paint): Paint['bold'] {
  if (kind === 'applied') return paint.added;
  if (kind === 'unchanged') return paint.dim;
  return kind === 'failed' || kind === 'unknown' ? paint.error : paint.warning;
}

/** Details of a successful change. Those of other changes are shown only at the end, where they stay visible. */
function detailAfter(outcome: Outcome): string {
  const { detail, warnings = [] } = outcome;
  if (!isSuccessful(outcome)) return '';
  const words = [...(detail === undefined ? [] : [detail]), ...warnings.map(warningText)];
  return words.map((word) => `  ${printable(word)}`).join('');
}

function warningText(warning: string): string {
  return `the service warns: ${warning}`;
}

/** For a change that failed or got no response, but whose result was found live. */
const foundTrueText =
  'the request failed or its answer was lost, but a later read shows that the change is applied';

/** Messages of a service are not wrapped: users copy them and search for them. */
function outcomeLines(outcome: Outcome, paint: Paint): string[] {
  const { detail, done = [], foundTrue, place, warnings = [] } = outcome;
  const where = place === undefined || isSuccessful(outcome) ? '' : `  ${paint.dim(formatPlace(place))}`;
  return [
    `${titleOf(outcome, paint)}${where}`,
    ...indent(
      [
        ...(detail === undefined ? [] : [printable(detail)]),
        ...warnings.map((warning) => printable(warningText(warning))),
        ...(isSuccessful(outcome) || foundTrue
          ? []
          : done.map((what) => `done before it stopped: ${printable(what)}`)),
        ...(foundTrue ? [foundTrueText] : []),
      ],
      4,
    ),
  ];
}
