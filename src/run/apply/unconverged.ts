/**
 * The changes in the plan that is made after an apply: each field with the sent value and the one that the service returned. In that
 * plan `before` is the returned value and `after` the sent one.
 */
import { type AddressText, formatAddress } from '../../model/address.ts';
import type { Change } from '../../model/change.ts';
import type { FieldChange } from '../../model/field.ts';
import type { Plan } from '../../model/plan.ts';
import { counted } from '../../model/quoted.ts';
import { formatPlace } from '../../report/text/change.ts';
import { fieldLines } from '../../report/text/field.ts';
import { columns, inColumn, indent, labelled, nameColumn, type Paint } from '../../report/text/layout.ts';
import { fieldViews, formatPath, withShownNames } from '../../report/view/field.ts';
import { incompleteReasons } from '../../report/view/plan-summary.ts';
import { firstFew, printable } from '../../report/view/printable.ts';
import { formatInline, unknown } from '../../report/view/value.ts';

interface UnconvergedOptions {
  readonly paint: Paint;
  readonly width?: number;
}

/** Empty when the plan is empty and its read was complete: everything converged. */
export function renderUnconverged(plan: Plan, { paint, width = 100 }: UnconvergedOptions): string {
  const blocks = plan.changes.map((change) => changeLines(change, paint, width));
  const count = plan.changes.length;
  const summary = count === 0 ? [] : [paint.error(`${counted(count, 'resource')} did not converge`)];
  const reasons = incompleteReasons(plan).flatMap((reason) => labelled('because ', reason, width - 2));
  const unverified = plan.coverage.complete
    ? []
    : [
        paint.warning('Could not verify that nothing is left: the read was incomplete'),
        ...indent(reasons, 2),
      ];
  return [...blocks, renamedLines(plan, paint, width), unverified, summary]
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

/** With more of them, the plan is easier to read. */
const mostNames = 10;

/** Names that somebody changed during the apply: the resources may be as declared, and nothing more was recorded. */
function renamedLines({ changedNames }: Plan, paint: Paint, width: number): string[] {
  const about = [...new Set(changedNames.map(({ address }): AddressText => formatAddress(address)))];
  if (about.length === 0) return [];
  const names = firstFew(about.map(printable), mostNames).join(', ');
  return [
    paint.error('Names were changed in the service during this apply'),
    ...indent(labelled('of ', names, width - 2), 2),
  ];
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
  const { before, after } = withShownNames(field);
  const sent = formatInline(after, field.shape);
  const returned = field.unknown === undefined ? formatInline(before, field.shape) : unknown;
  // What has a name may have got it since, and then its id was not sent.
  const line =
    field.names === undefined
      ? `${name}sent ${sent}, returned ${returned}`
      : `${name}declared ${sent}, live ${returned}`;
  if (columns(line) <= width) return [line];
  const views = fieldViews(field);
  return [...fieldLines(views, { paint, width, whole: false }), paint.dim('  (- returned, + sent)')];
}
