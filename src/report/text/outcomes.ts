/** Outcomes for a terminal: a line for each change while apply works, and a report at the end. */
import { formatAddress } from '../../model/address.ts';
import { counted } from '../../model/quoted.ts';
import type { ApplyEvent, Outcome, OutcomeKind } from '../../model/change.ts';
import { actionSymbols, formatPlace } from './change.ts';
import { indent, pad, type Paint } from './layout.ts';
import { printable } from '../view/printable.ts';

const outcomeKinds: readonly OutcomeKind[] = [
  'applied',
  'unchanged',
  'stale',
  'skipped',
  'unknown',
  'failed',
];

/** `applied   ~ Kind/acme/network-prod  (3/12)`; undefined for events without a line (the start of a change). */
export function renderEvent(event: ApplyEvent, { paint }: { paint: Paint }): string | undefined {
  switch (event.type) {
    case 'begin':
      return `Applying ${counted(event.changes, 'change')} with ${counted(event.calls, 'call')}`;
    case 'start':
      return undefined;
    case 'end': {
      const progress = paint.dim(`(${event.finished}/${event.changes})`);
      return `${titleOf(event.outcome, paint)}  ${progress}${detailAfter(event.outcome)}`;
    }
  }
}

interface OutcomesTextOptions {
  readonly paint: Paint;
  /** leaves out successful changes, which were shown already; the counts include them */
  readonly openOnly?: boolean;
}

/** All changes, those that need attention last, where they stay visible; then the counts. */
export function renderOutcomes(
  outcomes: readonly Outcome[],
  { paint, openOnly = false }: OutcomesTextOptions,
): string {
  const successful = outcomes.filter(isSuccessful);
  const others = outcomes.filter((outcome) => !isSuccessful(outcome));
  const blocks = [
    openOnly ? [] : successful.flatMap((outcome) => outcomeLines(outcome, paint)),
    ...others.map((outcome) => outcomeLines(outcome, paint)),
    [paint.bold(outcomeSummary(outcomes))],
  ];
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

/**
 * What to do after an apply, in a sentence.
 * @param proof whether the plan that was made afterwards is empty; undefined when there was nothing to prove
 */
export function stepAfterApply(
  outcomes: readonly Outcome[],
  proof: 'empty' | 'not-empty' | undefined,
): string {
  const kinds = new Set(outcomes.filter((outcome) => !isSuccessful(outcome)).map(({ kind }) => kind));
  if (kinds.has('failed') || kinds.has('unknown') || kinds.has('skipped'))
    return 'Next: correct what is reported above, then run the same command again. It continues with what is left.';
  if (kinds.has('stale'))
    return 'Next: "trueup plan" shows the changes that are left. Review and approve them again.';
  if (proof === 'not-empty') return 'Next: "trueup plan" shows what is left.';
  return 'Next: "trueup drift" shows later changes in the targets, and "trueup history" lists this apply.';
}

/** One line about how much of an interrupted apply was done. */
export function doneText(outcomes: readonly Outcome[]): string {
  const open = outcomes.filter((outcome) => !isSuccessful(outcome)).length;
  return isAllDone(outcomes)
    ? 'all changes were carried out, and the plan that proves it was not made'
    : `${outcomes.length - open} of ${counted(outcomes.length, 'change')} were carried out`;
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

function titleOf({ kind, action, address }: Outcome, paint: Paint): string {
  const word = pad(kind, 'unchanged'.length + 1);
  return `${paintOutcome(kind, paint)(word)}${actionSymbols[action]} ${printable(formatAddress(address))}`;
}

function paintOutcome(kind: OutcomeKind, paint: Paint): Paint['bold'] {
  if (kind === 'applied') return paint.added;
  if (kind === 'unchanged') return paint.dim;
  return kind === 'failed' || kind === 'unknown' ? paint.error : paint.warning;
}

/** Details of a successful change; others are shown once, at the end, where they stay visible. */
function detailAfter(outcome: Outcome): string {
  const { detail, warnings = [] } = outcome;
  if (!isSuccessful(outcome)) return '';
  const words = [...(detail === undefined ? [] : [detail]), ...warnings.map(warningText)];
  return words.map((word) => `  ${printable(word)}`).join('');
}

function warningText(warning: string): string {
  return `the service warns: ${warning}`;
}

/** For a change that failed, or whose answer was lost. */
const foundTrueText = 'it happened all the same: looked at afterwards, all of it was found true';

/** A service's words are not wrapped, because users copy them and search for them. */
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
