/** The calls of a change as terminal lines, for `plan --calls`. */
import type { Call } from '../../model/plan/call.ts';
import type { Change } from '../../model/plan/change.ts';
import { bodyLines, formatCallPath } from '../format/format-call.ts';
import { flow, indent } from './layout.ts';
import type { Paint } from './paint.ts';
import { printable } from '../format/printable.ts';

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
    ...(already.length === 0 ? [] : [`${already.join(' or ')} means that it was so already`]),
    ...(permission === undefined ? [] : [`needs the right ${printable(permission)}`]),
    ...(createsId === undefined ? [] : [`gives the id of ${printable(createsId.address)}`]),
    repeatable ? 'repeatable' : 'not repeatable',
  ];
}
