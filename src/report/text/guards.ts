/** The guards of a plan with their resources, as text that is shown before the changes. */
import { formatAddress } from '../../model/address.ts';
import { counted } from '../../model/quoted.ts';
import { acknowledgeableIds, type Concern, deniedIds, type Guard, isBlocking } from '../../model/guard.ts';
import type { Plan } from '../../model/plan.ts';
import { columns, flow, indent, labelled, pad, type Paint, wrap } from './layout.ts';
import { printable } from '../view/printable.ts';

interface GuardLayout {
  readonly paint: Paint;
  readonly width: number;
}

/** Maximum number of resources listed at a guard; others are counted. A blocking guard with messages lists all of them. */
const maxConcerns = 20;

/** A heading and each guard below it; empty when no guard fires. */
export function guardLines({ guards }: Plan, layout: GuardLayout): string[] {
  if (guards.length === 0) return [];
  const idWidth = Math.max(...guards.map(({ id }) => columns(id))) + 2;
  const each = guards.flatMap((guard) => formatGuard(guard, idWidth, layout));
  return [layout.paint.heading('Risks'), ...indent(each, 2)];
}

function formatGuard(guard: Guard, idWidth: number, { paint, width }: GuardLayout): string[] {
  const [symbol, emphasis] = isBlocking(guard) ? ['!', paint.error] : ['?', paint.warning];
  const sign = emphasis(`${symbol} ${pad(guard.effect, 7)}`);
  const room = width - 2 - 10;
  const [first = '', ...more] = labelled(pad(guard.id, idWidth), printable(guard.message), room);
  const concerns = concernLines(guard, room - 2);
  return [`${sign} ${first}`, ...indent([...more, ...indent(concerns, 2)], 10)];
}

function concernLines(guard: Guard, width: number): string[] {
  const { concerns } = guard;
  const showAll = isBlocking(guard) && concerns.some(({ messages }) => messages.length > 0);
  const shown = showAll ? concerns : concerns.slice(0, maxConcerns);
  const left = concerns.length - shown.length;
  const nameOf = nameFormatter(guard);
  const more = left === 0 ? [] : [`and ${left} more, listed with their changes`];
  return [
    ...flow(shown.filter(hasNoMessages).map(nameOf), ', ', width),
    ...shown
      .filter((concern) => !hasNoMessages(concern))
      .flatMap((concern) =>
        hanging(`${nameOf(concern)}: ${concern.messages.map(printable).join('; ')}`, width),
      ),
    ...more,
  ];
}

/** Wraps with a fixed indent of two, because names may be long. */
function hanging(text: string, width: number): string[] {
  const [first = '', ...more] = wrap(text, width - 2);
  return [first, ...indent(more, 2)];
}

function hasNoMessages({ messages }: Concern): boolean {
  return messages.length === 0;
}

/** Shows kind or target with the name where the guard is about several of them. */
function nameFormatter({ kind, target }: Guard): (concern: Concern) => string {
  if (kind !== undefined) return ({ address }) => printable(address.name);
  return ({ address }) =>
    printable(target === undefined ? formatAddress(address) : `${address.kind} ${address.name}`);
}

/**
 * The ids of all guards in one line, for the end of a report; undefined when no guard fires.
 * @param isAcknowledged the plan is applied: each guard that blocks it was acknowledged
 */
export function guardSummary({ guards }: Plan, isAcknowledged = false): string | undefined {
  const [denied, blocking] = [deniedIds(guards), acknowledgeableIds(guards)];
  const warned = [...new Set(guards.filter((guard) => !isBlocking(guard)).map(({ id }) => id))];
  const parts = [
    ...(denied.length === 0
      ? []
      : [`denied by policies, which cannot be acknowledged: ${denied.join(', ')}`]),
    ...(blocking.length === 0
      ? []
      : [`${isAcknowledged ? 'acknowledged' : describeBlocking(blocking.length)}: ${blocking.join(', ')}`]),
    ...(warned.length === 0 ? [] : [`warnings: ${warned.join(', ')}`]),
  ];
  return parts.length === 0 ? undefined : parts.join('; ');
}

function describeBlocking(count: number): string {
  const [verb, subject] = count === 1 ? ['blocks', 'it is'] : ['block', 'they are'];
  return `${counted(count, 'guard')} ${verb} applying until ${subject} acknowledged`;
}
