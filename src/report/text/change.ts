/**
 * Changes as terminal lines, with their calls for `plan --calls` and who last modified the resource. Equal changes share one
 * block below all their names.
 */
import { stripVTControlCharacters } from 'node:util';
import { formatAddress } from '../../model/address.ts';
import type { LastModified } from '../../model/audit-trail.ts';
import type { Call } from '../../model/call.ts';
import type { Action, Change } from '../../model/change.ts';
import type { Place } from '../../model/diagnostic.ts';
import type { Risk } from '../../model/guard.ts';
import { canonicalText } from '../../model/json.ts';
import { bodyLines, formatCallPath } from '../view/call.ts';
import { type FieldView, fieldViews } from '../view/field.ts';
import { lastModifiedLines } from '../view/format-last-modified.ts';
import { printable } from '../view/printable.ts';
import { fieldLines } from './field.ts';
import { columns, flow, indent, labelled, pad, type Paint, wrap } from './layout.ts';

export interface PlanLayout {
  readonly paint: Paint;
  readonly width: number;
  /** with the exact requests */
  readonly calls: boolean;
  /** milliseconds since 1970, for how long ago a resource was modified */
  readonly now?: number;
  /** The API root of a target, which precedes the paths: `/v1`. */
  rootOf?(target: string): string;
}

/** The symbol of each action, which is always shown with its word. */
export const actionSymbols: Readonly<Record<Action, string>> = {
  create: '+',
  update: '~',
  delete: '-',
  release: '<',
  adopt: '>',
  none: '=',
};

/** How an action is painted. */
export function paintAction(action: Action, paint: Paint): Paint['bold'] {
  if (action === 'create' || action === 'adopt') return paint.added;
  if (action === 'delete' || action === 'release') return paint.removed;
  return action === 'update' ? paint.changed : paint.dim;
}

/** `manifests/network.yaml:4` */
export function formatPlace({ file, line }: Place): string {
  return `${printable(file)}:${line}`;
}

/** Groups neighbouring changes with the same action, reason, fields and notes, so that these are shown once. */
export function groupEqual(changes: readonly Change[]): Change[][] {
  const groups: Change[][] = [];
  let last: string | undefined;
  for (const change of changes) {
    const { action, reason, fields, notes, risks, lastModified } = change;
    const text = JSON.stringify([
      action,
      reason,
      notes,
      risks,
      lastModified,
      fields.map((field) => canonicalText({ ...field })),
    ]);
    const group = groups.at(-1);
    if (group !== undefined && text === last) group.push(change);
    else groups.push([change]);
    last = text;
  }
  return groups;
}

const bodyIndent = 4;

/** One block for equal changes: the name of each, then their common details. */
export function changeLines(changes: readonly Change[], layout: PlanLayout): string[] {
  const [first] = changes;
  if (first === undefined) return [];
  const { paint, width, rootOf = () => '' } = layout;
  const inner = width - bodyIndent;
  const all = changes.length === 1 ? '' : ` (each of these ${changes.length})`;
  const body = [
    ...wrap(`${printable(first.reason)}${all}`, inner).map(paint.dim),
    ...withLastModified(changedFields(first, paint, inner), first.lastModified, {
      ...layout,
      width: inner,
      beside: first.action === 'update',
    }),
    ...(first.risks ?? []).flatMap((risk) => riskLines(risk, paint, inner)),
    ...first.notes.flatMap((note) => labelled('note: ', printable(note), inner)),
    ...(layout.calls ? callLines(first, { paint, width: inner, rootOf }) : []),
  ];
  return [...changes.map((change) => headerLine(change, layout)), ...indent(body, bodyIndent)];
}

/** Symbol, action, address, and at the right edge the place in the manifest. */
function headerLine({ action, address, place }: Change, { paint, width }: PlanLayout): string {
  const verb = `${actionSymbols[action]} ${pad(action, 7)}`;
  const name = printable(formatAddress(address));
  const where = place === undefined ? '' : formatPlace(place);
  const gap = Math.max(2, width - columns(`${verb} ${name}`) - columns(where));
  const right = where === '' ? '' : ' '.repeat(gap) + paint.dim(where);
  // A resource that is still to be created has no page.
  const shown = action === 'create' ? name : paint.link(name, address);
  return `${paintAction(action, paint)(verb)} ${paint.bold(shown)}${right}`;
}

/** `widens: "api" in "payments" gains the policy "write"` */
function riskLines({ effect, message }: Risk, paint: Paint, width: number): string[] {
  const lines = labelled(`${effect}: `, printable(message), width);
  return effect === 'narrows' ? lines : lines.map(paint.warning);
}

function changedFields({ action, fields }: Change, paint: Paint, width: number): string[] {
  const whole = action === 'create' || action === 'delete';
  const views = fields.flatMap(fieldViews);
  const single = whole ? views.filter((view) => !isGrouped(view)) : views;
  const grouped = whole ? groupByRemark(views.filter(isGrouped)) : [];
  return [
    ...fieldLines(single, { paint, width, whole }),
    ...grouped.flatMap(({ remark, items }) => {
      const [head = '', ...more] = flow(items, ', ', width - columns(remark) - 4);
      return [`(${remark})  ${head}`, ...indent(more, columns(remark) + 4)].map(paint.dim);
    }),
  ];
}

/** Whether a field is shown in a common paragraph instead of its own line: a one-word value with a remark, such as a default. */
function isGrouped({ difference, remarks }: FieldView): boolean {
  return (
    remarks.length === 1 &&
    (difference.as === 'added' || difference.as === 'removed') &&
    difference.value.as === 'word'
  );
}

function groupByRemark(views: readonly FieldView[]): { remark: string; items: string[] }[] {
  const paragraphs = new Map<string, string[]>();
  for (const { name, difference, remarks } of views) {
    if (difference.as !== 'added' && difference.as !== 'removed') continue;
    const [remark = ''] = remarks;
    const text = difference.value.as === 'word' ? difference.value.text : '';
    paragraphs.set(remark, [...(paragraphs.get(remark) ?? []), `${name}: ${text}`]);
  }
  return [...paragraphs].map(([remark, items]) => ({ remark, items }));
}

// The calls of a change as terminal lines, for `plan --calls`.

interface CallLayout {
  readonly paint: Paint;
  readonly width: number;
  /** The API root of a target, which precedes the paths: `/v1`. */
  rootOf(target: string): string;
}

/** All calls of the change, with a blank line before each; and the shared call that carries it out, if any. Not indented. */
export function callLines({ calls, sharedCall }: Change, layout: CallLayout): string[] {
  const shared =
    sharedCall === undefined ? [] : ['', `carried out by call ${printable(sharedCall)} of another change`];
  return [...shared, ...calls.flatMap((call) => ['', ...oneCall(call, layout)])];
}

function oneCall(call: Call, { paint, width, rootOf }: CallLayout): string[] {
  const terms = flow(callTerms(call), '; ', width - 2).map(paint.dim);
  const body = call.body === undefined ? [] : bodyLines(call.body);
  const path = `${rootOf(call.target)}${formatCallPath(call.path)}`;
  return [`${paint.bold(call.method)} ${path}`, ...indent([...terms, ...body], 2)];
}

/** What a reader must know about a call besides its request. */
export function callTerms(call: Call): string[] {
  const { id, description, needs, success, already = [], repeatable, createsId, order, permission } = call;
  return [
    `call ${printable(id)}`,
    ...(description === undefined ? [] : [printable(description)]),
    ...(needs.length === 0 ? [] : [`waits for ${needs.map(printable).join(', ')}`]),
    `order ${order}`,
    `success is ${success.join(' or ')}`,
    ...(already.length === 0 ? [] : [`${already.join(' or ')} means already done`]),
    ...(permission === undefined ? [] : [`needs the permission ${printable(permission)}`]),
    ...(createsId === undefined ? [] : [`returns the id of ${printable(createsId.address)}`]),
    repeatable ? 'repeatable' : 'not repeatable',
  ];
}

// Who last modified a resource: beside its only changed line if there is room, otherwise below its fields.

interface LastModifiedLayout {
  readonly paint: Paint;
  /** milliseconds since 1970 */
  readonly now?: number;
  /** available columns */
  readonly width: number;
  /** whether it may be put beside a line */
  readonly beside: boolean;
}

/** Adds the lines about who last modified a resource to the lines of its fields. */
export function withLastModified(
  fields: readonly string[],
  lastModified: LastModified | undefined,
  { paint, now = 0, width, beside }: LastModifiedLayout,
): string[] {
  if (lastModified === undefined) return [...fields];
  const [first = '', ...more] = lastModifiedLines(lastModified, now);
  const nested = (line: string) => (line.startsWith(' ') ? [line] : indent(wrap(line, width - 2), 2));
  const below = more.flatMap(nested).map(paint.dim);
  const [field] = fields;
  if (beside && fields.length === 1 && field !== undefined && !more.some((line) => line.startsWith(' '))) {
    const joined = `${field}${paint.dim(` · ${first}`)}`;
    if (columns(stripVTControlCharacters(joined)) <= width) return [joined, ...below];
  }
  const [head = '', ...rest] = wrap(first, width);
  return [...fields, ...[head, ...indent(rest, 2)].map(paint.dim), ...below];
}
