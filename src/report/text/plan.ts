/**
 * A plan for a terminal: guards, changes in the order in which apply starts them, notices, problems, the summary with the digest
 * and the next step, and what was checked; and what is left in the plan that is made after an apply.
 */
import { type AddressText, formatAddress } from '../../model/address.ts';
import type { Change, Notice } from '../../model/change.ts';
import type { ShownDiagnostic } from '../../model/diagnostic.ts';
import type { FieldChange } from '../../model/field.ts';
import { isBlocking } from '../../model/guard.ts';
import type { Plan, PlanTarget } from '../../model/plan.ts';
import { counted } from '../../model/quoted.ts';
import { apiRootIn } from '../view/call.ts';
import { fieldViews, formatPath, withShownNames } from '../view/field.ts';
import {
  acknowledgement,
  blockedLine,
  countActions,
  coverageRows,
  formatCounts,
  incompleteReasons,
  partCounts,
  partDetails,
  selectionText,
  summaryLine,
  targetCounts,
} from '../view/plan-summary.ts';
import { firstFew, printable } from '../view/printable.ts';
import { formatInline, unknown } from '../view/value.ts';
import { changeLines, formatPlace, groupEqual, type PlanLayout } from './change.ts';
import { renderDiagnostics } from './diagnostics.ts';
import { fieldLines } from './field.ts';
import { guardLines, guardSummary } from './guards.ts';
import { columns, flow, inColumn, indent, labelled, nameColumn, pad, type Paint, wrap } from './layout.ts';

interface PlanTextOptions {
  readonly paint: Paint;
  /** adds the exact requests below each change */
  readonly calls?: boolean;
  /** columns of the terminal; default 100 */
  readonly width?: number;
  /** milliseconds since 1970 */
  readonly now?: number;
  /** the stack's argument on the command line, for proposed commands */
  readonly stack?: string;
  /** diagnostics of the command that are not part of the plan; they are printed elsewhere, but counted in the summary */
  readonly diagnostics?: readonly ShownDiagnostic[];
  /** the plan is applied: each guard that blocks it was acknowledged */
  readonly isAcknowledged?: boolean;
  /** next steps, one sentence each; they replace the command that acknowledges the guards */
  readonly next?: readonly string[] | undefined;
}

/** With more changes, the end of the report repeats the totals by kind, and the names of removed resources. */
const maxWithoutRecap = 20;

/** The whole report, without a final line end. */
export function renderPlan(plan: Plan, options: PlanTextOptions): string {
  const layout = {
    paint: options.paint,
    calls: options.calls ?? false,
    width: Math.max(40, options.width ?? 100),
    ...(options.now === undefined ? {} : { now: options.now }),
    rootOf: apiRootIn(plan.targets),
  };
  const sections = [
    partLines(plan, layout),
    ...limitSections(plan, layout),
    guardLines(plan, layout),
    ...targetSections(plan, layout),
    noticeLines(plan.notices, layout),
    problemLines(plan, layout),
    recapLines(plan.changes, layout),
    closingLines(plan, layout, options),
    coverageLines(plan, layout),
  ];
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

/** Says at the beginning that a plan covers only a part of the stack; empty for other plans. */
export function partLines(
  plan: Pick<Plan, 'stack' | 'selection' | 'part'>,
  { paint, width }: Pick<PlanLayout, 'paint' | 'width'>,
): string[] {
  if (plan.part === undefined) return [];
  const details = partDetails(plan).flatMap((text) => wrap(text, width - 2));
  return [
    paint.heading(`A part of stack ${printable(plan.stack)}: ${partCounts(plan)}`),
    ...indent(details, 2),
  ];
}

/** What the service of a target lacks. It comes first, because it limits the whole plan. */
export function limitSections(
  { coverage }: Pick<Plan, 'coverage'>,
  { paint, width }: PlanLayout,
): string[][] {
  return coverage.targets.flatMap(({ target, limits }) => {
    if (limits.length === 0) return [];
    const lines = limits.flatMap((text) => labelled('- ', printable(text), width - 2));
    return [[paint.heading(`What ${printable(target)} lacks`), ...indent(lines, 2)]];
  });
}

/** A heading for each target with changes, and the changes below. */
function targetSections(plan: Plan, layout: PlanLayout): string[][] {
  const names = new Set([
    ...plan.targets.map(({ name }) => name),
    ...plan.changes.map(({ address }) => address.target),
  ]);
  return [...names].flatMap((name) => {
    const changes = plan.changes.filter(({ address }) => address.target === name);
    if (changes.length === 0) return [];
    const target = plan.targets.find((candidate) => candidate.name === name);
    const heading = target === undefined ? printable(name) : targetHeading(target, layout.paint);
    const blocks = layout.calls ? changes.map((change) => [change]) : groupEqual(changes);
    return [[heading], ...blocks.map((block) => changeLines(block, layout))];
  });
}

export function targetHeading({ name, service, place, url, dialect }: PlanTarget, paint: Paint): string {
  const where = printable(`${service} ${place} at ${url}, dialect ${dialect}`);
  return `${paint.heading(printable(name))}  ${paint.dim(where)}`;
}

/** Resources with a message about each, below a heading. */
export function noticeLines(
  notices: readonly Notice[],
  { paint, width }: PlanLayout,
  heading = 'Not changed',
): string[] {
  if (notices.length === 0) return [];
  const each = notices.flatMap(({ address, message, fix }) => [
    printable(formatAddress(address)),
    ...indent(wrap(printable(message), width - 4), 2),
    ...(fix === undefined ? [] : indent(labelled('fix: ', printable(fix), width - 4), 2)),
  ]);
  return [paint.heading(heading), ...indent(each, 2)];
}

export function problemLines({ problems }: Pick<Plan, 'problems'>, { paint }: PlanLayout): string[] {
  if (problems.length === 0) return [];
  return [paint.heading('Problems'), '', ...renderDiagnostics(problems, { paint }).split('\n')];
}

/** For plans longer than the screen: totals by target and kind, and the names of all removed resources. */
function recapLines(changes: readonly Change[], { paint, width }: PlanLayout): string[] {
  if (changes.length <= maxWithoutRecap) return [];
  const kinds = Map.groupBy(changes, ({ address }) => printable(`${address.target}/${address.kind}`));
  const column = Math.max(...[...kinds.keys()].map(columns)) + 2;
  const totals = [...kinds].map(([kind, some]) => pad(kind, column) + formatCounts(countActions(some)));
  const removals = (['delete', 'release'] as const).flatMap((action) => {
    const names = changes
      .filter((change) => change.action === action)
      .map(({ address }) => formatAddress(address));
    if (names.length === 0) return [];
    return [`to ${action}`, ...indent(flow(names.map(printable), ', ', width - 4), 2).map(paint.removed)];
  });
  return [paint.heading('In short'), ...indent([...totals, ...removals], 2)];
}

export function coverageLines(
  plan: Pick<Plan, 'coverage' | 'policies'>,
  { paint, width }: PlanLayout,
): string[] {
  const rows = coverageRows(plan);
  const column = Math.max(...rows.map(({ label }) => columns(label))) + 2;
  const room = width - column - 2;
  const lines = rows.flatMap(({ label, details, incomplete }) => {
    const cells = [
      ...details.flatMap((text) => wrap(text, room).map(paint.dim)),
      ...incomplete.flatMap((text) => labelled('incomplete: ', text, room).map(paint.warning)),
    ];
    return cells.map((cell, index) => pad(index === 0 ? label : '', column) + cell);
  });
  return [paint.heading('Checked'), ...indent(lines, 2)];
}

function closingLines(
  plan: Plan,
  { paint, width }: PlanLayout,
  { stack, diagnostics, isAcknowledged = false, next }: PlanTextOptions,
): string[] {
  const reasons = incompleteReasons(plan).flatMap((reason) => labelled('because ', reason, width - 2));
  const warning = plan.coverage.complete
    ? []
    : ['The read was incomplete, so nothing undeclared is removed', ...indent(reasons, 2)];
  const blocked = blockedLine(plan);
  const guards = guardSummary(plan, isAcknowledged);
  const isOpen = !isAcknowledged && plan.guards.some(isBlocking);
  const hasCommand = blocked === undefined && next === undefined && isOpen;
  const acknowledge = hasCommand ? acknowledgement(plan, stack) : undefined;
  return [
    ...warning.map(paint.warning),
    ...(blocked === undefined ? [] : [paint.error(blocked)]),
    ...(guards === undefined ? [] : [(isOpen ? paint.error : paint.warning)(guards)]),
    ...wrap(summaryLine(plan, diagnostics), width).map(paint.bold),
    ...targetCountLines(plan),
    ...selectionLines(plan, paint),
    `${paint.dim('stack')} ${printable(plan.stack)}  ${paint.dim('digest')} ${printable(plan.digest)}`,
    ...(acknowledge === undefined ? [] : [`${paint.dim('to acknowledge')}  ${printable(acknowledge)}`]),
    // Not wrapped: they have commands to copy.
    ...(next ?? []).map(printable),
  ];
}

function targetCountLines(plan: Plan): string[] {
  const rows = targetCounts(plan).map(({ target, counts }) => [printable(target), counts] as const);
  const column = Math.max(0, ...rows.map(([target]) => columns(target))) + 2;
  return rows.map(([target, counts]) => `  ${pad(target, column)}${counts}`);
}

/** Says that the counts are about a selection only. */
export function selectionLines(plan: Pick<Plan, 'selection' | 'part'>, paint: Paint): string[] {
  const text = selectionText(plan);
  return text === undefined ? [] : [paint.bold(text)];
}

interface UnconvergedOptions {
  readonly paint: Paint;
  readonly width?: number;
}

/**
 * The plan after an apply: each field with the sent value, which is `after`, and the one that the service returned, which is `before`.
 * Empty when the plan is empty and its read was complete: everything converged.
 */
export function renderUnconverged(plan: Plan, { paint, width = 100 }: UnconvergedOptions): string {
  const blocks = plan.changes.map((change) => unconvergedChange(change, paint, width));
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

/** Maximum number of listed names: for more of them, the plan is easier to read. */
const mostNames = 10;

/** Names that were changed in the service during the apply: the resources may be as declared, but the apply recorded nothing more. */
function renamedLines({ changedNames }: Plan, paint: Paint, width: number): string[] {
  const about = [...new Set(changedNames.map(({ address }): AddressText => formatAddress(address)))];
  if (about.length === 0) return [];
  const names = firstFew(about.map(printable), mostNames).join(', ');
  return [
    paint.error('Names were changed in the service during this apply'),
    ...indent(labelled('of ', names, width - 2), 2),
  ];
}

function unconvergedChange(change: Change, paint: Paint, width: number): string[] {
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
  // An object may have got its name only after the write: then the declared id is not what was sent.
  const line =
    field.names === undefined
      ? `${name}sent ${sent}, returned ${returned}`
      : `${name}declared ${sent}, live ${returned}`;
  if (columns(line) <= width) return [line];
  const views = fieldViews(field);
  return [...fieldLines(views, { paint, width, whole: false }), paint.dim('  (- returned, + sent)')];
}
