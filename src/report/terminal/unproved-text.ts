/**
 * What the plan that is made after an apply still wants: each field with what was sent and what the service returned
 * since. In that plan `before` is what was returned and `after` what was sent.
 */
import { formatAddress } from '../../model/resource/address.ts';
import type { Change } from '../../model/plan/change.ts';
import { counted } from '../../model/counted.ts';
import type { FieldChange } from '../../model/kind/field.ts';
import type { Outcome } from '../../model/plan/outcome.ts';
import type { Plan } from '../../model/plan/plan.ts';
import { formatPlace } from './change-text.ts';
import { fieldLines } from './field-text.ts';
import { fieldViews, formatPath } from '../format/format-field.ts';
import { formatInline, unknown } from '../format/format-value.ts';
import { columns, inColumn, indent, labelled, nameColumn } from './layout.ts';
import type { Paint } from './paint.ts';
import { printable } from '../format/printable.ts';
import { incompleteReasons } from '../format/plan-summary.ts';

export interface ResidueOptions {
  readonly paint: Paint;
  readonly width?: number;
}

/** Empty when the plan is: everything converged, and all of it could be looked at. */
export function renderResidue(plan: Plan, { paint, width = 100 }: ResidueOptions): string {
  const blocks = plan.changes.map((change) => changeLines(change, paint, width));
  const count = plan.changes.length;
  const summary = count === 0 ? [] : [paint.error(`${counted(count, 'resource')} did not converge`)];
  const doubts = incompleteReasons(plan).flatMap((reason) => labelled('because ', reason, width - 2));
  const unproven = plan.coverage.complete
    ? []
    : [
        paint.warning('It could not be proved that nothing is left: the look was incomplete'),
        ...indent(doubts, 2),
      ];
  return [...blocks, unproven, summary]
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

function changeLines(change: Change, paint: Paint, width: number): string[] {
  const { address, action, reason, place, fields } = change;
  const where = place === undefined ? '' : `  ${paint.dim(formatPlace(place))}`;
  const column = nameColumn(fields.map(({ path }) => formatPath(path)));
  const body = [
    paint.dim(`still to ${action}: ${printable(reason)}`),
    ...fields.flatMap((field) => residueLines(field, { paint, width: width - 4, column })),
  ];
  return [`${paint.bold(printable(formatAddress(address)))}${where}`, ...indent(body, 4)];
}

interface FieldResidueLayout {
  readonly paint: Paint;
  readonly width: number;
  /** where values begin */
  readonly column: number;
}

/** Short values as they are; long ones as their difference. */
function residueLines(field: FieldChange, layout: FieldResidueLayout): string[] {
  const { paint, width, column } = layout;
  const name = inColumn(formatPath(field.path), column);
  const sent = formatInline(field.after, field.shape);
  const returned = field.unknown === undefined ? formatInline(field.before, field.shape) : unknown;
  const line = `${name}sent ${sent}, returned ${returned}`;
  if (columns(line) <= width) return [line];
  const views = fieldViews(field);
  return [...fieldLines(views, { paint, width, whole: false }), paint.dim('  (- returned, + sent)')];
}

/** What did not happen is still to do, as its outcome has said: only what was done and is not true did not converge. */
export function withoutTold(proof: Plan, outcomes: readonly Outcome[]): Plan {
  const open = outcomes.filter(({ kind }) => kind !== 'applied' && kind !== 'unchanged');
  const told = new Set(open.map(({ address }) => formatAddress(address)));
  return { ...proof, changes: proof.changes.filter(({ address }) => !told.has(formatAddress(address))) };
}
