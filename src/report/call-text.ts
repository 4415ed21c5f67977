/** The requests of a change as terminal lines: what `plan --calls` shows. */
import type { Call } from '../model/call.ts';
import type { Change } from '../model/change.ts';
import { bodyLines, formatCallPath } from './format-call.ts';
import { flow, indent } from './layout.ts';
import type { Paint } from './paint.ts';
import { printable } from './printable.ts';

/** Every call of the change in order, a blank line before each, or which other call carries it out; unindented. */
export function callLines({ calls, sharedCall }: Change, paint: Paint, width: number): string[] {
  const shared =
    sharedCall === undefined ? [] : ['', `carried out by call ${printable(sharedCall)} of another change`];
  return [...shared, ...calls.flatMap((call) => ['', ...oneCall(call, paint, width)])];
}

function oneCall(call: Call, paint: Paint, width: number): string[] {
  const terms = flow(callTerms(call), '; ', width - 2).map(paint.dim);
  const body = call.body === undefined ? [] : bodyLines(call.body);
  return [`${paint.bold(call.method)} ${formatCallPath(call.path)}`, ...indent([...terms, ...body], 2)];
}

/** All that a reader must know besides the request itself. */
function callTerms(call: Call): string[] {
  const { id, says, needs, success, already = [], repeatable, gives, order, permission } = call;
  return [
    `call ${printable(id)}`,
    ...(says === undefined ? [] : [printable(says)]),
    ...(needs.length === 0 ? [] : [`waits for ${needs.map(printable).join(', ')}`]),
    `order ${order}`,
    `success is ${success.join(' or ')}`,
    ...(already.length === 0 ? [] : [`${already.join(' or ')} means that it was so already`]),
    ...(permission === undefined ? [] : [`needs the right ${printable(permission)}`]),
    ...(gives === undefined ? [] : [`gives the id of ${printable(gives.address)}`]),
    repeatable ? 'repeatable' : 'not repeatable',
  ];
}
