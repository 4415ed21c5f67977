/** Changes as terminal lines; equal changes share one block below all their names. */
import { formatAddress } from '../../model/resource/address.ts';
import type { Action, Change } from '../../model/plan/change.ts';
import type { Place } from '../../model/diagnostic.ts';
import { canonicalText } from '../../model/json/json.ts';
import type { Risk } from '../../model/plan/risk.ts';
import { callLines } from './call-text.ts';
import { fieldLines } from './field-text.ts';
import { type FieldView, fieldViews } from '../format/format-field.ts';
import { columns, flow, indent, labelled, pad, wrap } from './layout.ts';
import type { Paint } from './paint.ts';
import { withLastModified } from '../touched/touch-text.ts';
import { printable } from '../format/printable.ts';

export interface PlanLayout {
  readonly paint: Paint;
  readonly width: number;
  /** with the exact requests */
  readonly calls: boolean;
  /** milliseconds since 1970, for how long ago something was touched */
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
    const { action, reason, fields, notes, risks, touched } = change;
    const text = JSON.stringify([
      action,
      reason,
      notes,
      risks,
      touched,
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

/** A block: the name of each change, then once what happens to them. */
export function changeLines(changes: readonly Change[], layout: PlanLayout): string[] {
  const [first] = changes;
  if (first === undefined) return [];
  const { paint, width, rootOf = () => '' } = layout;
  const inner = width - bodyIndent;
  const all = changes.length === 1 ? '' : ` (each of these ${changes.length})`;
  const body = [
    ...wrap(`${printable(first.reason)}${all}`, inner).map(paint.dim),
    ...withLastModified(changedFields(first, paint, inner), first.touched, {
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
  return `${paintAction(action, paint)(verb)} ${paint.bold(name)}${right}`;
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
