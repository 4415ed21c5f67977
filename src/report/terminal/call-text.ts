/** The requests of a change as terminal lines: what `plan --calls` shows. */
import type { Call } from '../../model/plan/call.ts';
import type { Change } from '../../model/plan/change.ts';
import { bodyLines, formatCallPath } from '../format/format-call.ts';
import { flow, indent } from './layout.ts';
import type { Paint } from './paint.ts';
import { printable } from '../format/printable.ts';

export interface CallLayout {
  readonly paint: Paint;
  readonly width: number;
  /** what stands before the path of a target's requests: `/v1` */
  rootOf(target: string): string;
}

/** Every call of the change in order, a blank line before each, or which other call carries it out; unindented. */
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

/** All that a reader must know besides the request itself. */
function callTerms(call: Call): string[] {
  const { id, description, needs, success, already = [], repeatable, createsId, order, permission } = call;
  return [
    `call ${printable(id)}`,
    ...(description === undefined ? [] : [printable(description)]),
    ...(needs.length === 0 ? [] : [`waits for ${needs.map(printable).join(', ')}`]),
    `order ${order}`,
    `success is ${success.join(' or ')}`,
    ...(already.length === 0 ? [] : [`${already.join(' or ')} means that it was so already`]),
    ...(permission === undefined ? [] : [`needs the right ${printable(permission)}`]),
    ...(createsId === undefined ? [] : [`gives the id of ${printable(createsId.address)}`]),
    repeatable ? 'repeatable' : 'not repeatable',
  ];
}
