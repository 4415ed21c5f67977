/** What apply tells for a terminal: a line for each change while it works, and what became of every change at the end. */
import { formatAddress } from '../../model/resource/address.ts';
import { counted } from '../../model/counted.ts';
import type { ApplyEvent, Outcome, OutcomeKind } from '../../model/plan/outcome.ts';
import { actionSymbols, formatPlace } from './change-text.ts';
import { indent, pad } from './layout.ts';
import type { Paint } from './paint.ts';
import { printable } from '../format/printable.ts';

const outcomeKinds: readonly OutcomeKind[] = [
  'applied',
  'unchanged',
  'stale',
  'skipped',
  'unknown',
  'failed',
];

/** `applied   ~ Kind/acme/network-prod  (3/12)`; undefined for what is not worth a line (the start of a change). */
export function renderEvent(event: ApplyEvent, { paint }: { paint: Paint }): string | undefined {
  switch (event.type) {
    case 'begin':
      return `Applying ${counted(event.changes, 'change')} with ${counted(event.calls, 'call')}`;
    case 'start':
      return undefined;
    case 'end': {
      const progress = paint.dim(`(${event.finished}/${event.changes})`);
      return `${titleOf(event.outcome, paint)}  ${progress}${detailBehind(event.outcome)}`;
    }
  }
}

export interface OutcomesTextOptions {
  readonly paint: Paint;
  /** leaves out what went well, where that had a line of its own already; the counts are of all the same */
  readonly openOnly?: boolean;
}

/** Every change, those that need a person last, where they stay on the screen; then the counts. */
export function renderOutcomes(
  outcomes: readonly Outcome[],
  { paint, openOnly = false }: OutcomesTextOptions,
): string {
  const smooth = outcomes.filter(isSmooth);
  const rough = outcomes.filter((outcome) => !isSmooth(outcome));
  const blocks = [
    openOnly ? [] : smooth.flatMap((outcome) => outcomeLines(outcome, paint)),
    ...rough.map((outcome) => outcomeLines(outcome, paint)),
    [paint.bold(outcomeSummary(outcomes))],
  ];
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

/** What was and was not done, where an apply was stopped: in one line, above or below the outcomes one by one. */
export function whatWasDone(outcomes: readonly Outcome[]): string {
  const open = outcomes.filter(isOpen).length;
  return isAllDone(outcomes)
    ? 'all changes were carried out, and the plan that proves it was not made'
    : `${outcomes.length - open} of ${counted(outcomes.length, 'change')} were carried out`;
}

/** Whether nothing is left but to plan again. */
export function isAllDone(outcomes: readonly Outcome[]): boolean {
  return !outcomes.some(isOpen);
}

function isOpen({ kind }: Outcome): boolean {
  return kind !== 'applied' && kind !== 'unchanged';
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

function isSmooth({ kind }: Outcome): boolean {
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

/** What needs a person is told once, at the end, where it stays on the screen. */
function detailBehind(outcome: Outcome): string {
  const { detail, warnings = [] } = outcome;
  if (!isSmooth(outcome)) return '';
  const words = [...(detail === undefined ? [] : [detail]), ...warnings.map(warned)];
  return words.map((word) => `  ${printable(word)}`).join('');
}

function warned(warning: string): string {
  return `the service warns: ${warning}`;
}

/** Of what failed, or was lost on its way. */
const foundTrueWords = 'it happened all the same: looked at afterwards, all of it was found true';

/** A service's words are not wrapped: they are copied and searched for. */
function outcomeLines(outcome: Outcome, paint: Paint): string[] {
  const { detail, done = [], foundTrue, place, warnings = [] } = outcome;
  const where = place === undefined || isSmooth(outcome) ? '' : `  ${paint.dim(formatPlace(place))}`;
  return [
    `${titleOf(outcome, paint)}${where}`,
    ...indent(
      [
        ...(detail === undefined ? [] : [printable(detail)]),
        ...warnings.map((warning) => printable(warned(warning))),
        ...(isSmooth(outcome) || foundTrue
          ? []
          : done.map((what) => `done before it stopped: ${printable(what)}`)),
        ...(foundTrue ? [foundTrueWords] : []),
      ],
      4,
    ),
  ];
}
