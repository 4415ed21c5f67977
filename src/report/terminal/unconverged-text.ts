/**
 * The changes in the plan that is made after an apply: each field with the sent value and the one that the service returned.
 * In that plan `before` is the returned value and `after` the sent one.
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

interface UnconvergedOptions {
  readonly paint: Paint;
  readonly width?: number;
}

/** Empty when the plan is empty and its look was complete: everything converged. */
export function renderUnconverged(plan: Plan, { paint, width = 100 }: UnconvergedOptions): string {
  const blocks = plan.changes.map((change) => changeLines(change, paint, width));
  const count = plan.changes.length;
  const summary = count === 0 ? [] : [paint.error(`${counted(count, 'resource')} did not converge`)];
  const reasons = incompleteReasons(plan).flatMap((reason) => labelled('because ', reason, width - 2));
  const unproven = plan.coverage.complete
    ? []
    : [
        paint.warning('It could not be proved that nothing is left: the look was incomplete'),
        ...indent(reasons, 2),
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
    ...fields.flatMap((field) => unconvergedLines(field, { paint, width: width - 4, column })),
  ];
  return [`${paint.bold(printable(formatAddress(address)))}${where}`, ...indent(body, 4)];
}

interface FieldLayout {
  readonly paint: Paint;
  readonly width: number;
  /** the column where values begin */
  readonly column: number;
}

/** Short values on one line; long ones as a difference. */
function unconvergedLines(field: FieldChange, layout: FieldLayout): string[] {
  const { paint, width, column } = layout;
  const name = inColumn(formatPath(field.path), column);
  const sent = formatInline(field.after, field.shape);
  const returned = field.unknown === undefined ? formatInline(field.before, field.shape) : unknown;
  const line = `${name}sent ${sent}, returned ${returned}`;
  if (columns(line) <= width) return [line];
  const views = fieldViews(field);
  return [...fieldLines(views, { paint, width, whole: false }), paint.dim('  (- returned, + sent)')];
}

/** Drops changes whose outcome already said that they were not carried out: only carried-out changes can fail to converge. */
export function withoutReported(proof: Plan, outcomes: readonly Outcome[]): Plan {
  const open = outcomes.filter(({ kind }) => kind !== 'applied' && kind !== 'unchanged');
  const reported = new Set(open.map(({ address }) => formatAddress(address)));
  return { ...proof, changes: proof.changes.filter(({ address }) => !reported.has(formatAddress(address))) };
}
