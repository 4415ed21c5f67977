/** The risk list: what a plan is stopped for or warned of, with its numbers, before anything else of it is shown. */
import { formatAddress } from '../../model/resource/address.ts';
import { counted } from '../../model/counted.ts';
import { blockingIds, type Concern, type Guard, isBlocking } from '../../model/plan/guard.ts';
import type { Plan } from '../../model/plan/plan.ts';
import { columns, flow, indent, labelled, pad, wrap } from './layout.ts';
import type { Paint } from './paint.ts';
import { printable } from '../format/printable.ts';

interface GuardLayout {
  readonly paint: Paint;
  readonly width: number;
}

/** Beyond this many resources the rest is counted: each is told with its own change. What blocks by its words is told whole. */
const fewConcerns = 20;

/** A heading and each guard below it; nothing when none fires. */
export function guardLines({ guards }: Plan, layout: GuardLayout): string[] {
  if (guards.length === 0) return [];
  const column = Math.max(...guards.map(({ id }) => columns(id))) + 2;
  const each = guards.flatMap((guard) => oneGuard(guard, column, layout));
  return [layout.paint.heading('Risks'), ...indent(each, 2)];
}

function oneGuard(guard: Guard, column: number, { paint, width }: GuardLayout): string[] {
  const [symbol, emphasis] = isBlocking(guard) ? ['!', paint.error] : ['?', paint.warning];
  const sign = emphasis(`${symbol} ${pad(guard.effect, 7)}`);
  const room = width - 2 - 10;
  const [first = '', ...more] = labelled(pad(guard.id, column), printable(guard.message), room);
  const concerns = concernLines(guard, room - 2);
  return [`${sign} ${first}`, ...indent([...more, ...indent(concerns, 2)], 10)];
}

function concernLines(guard: Guard, width: number): string[] {
  const { concerns } = guard;
  const isTold = isBlocking(guard) && concerns.some(({ says }) => says.length > 0);
  const shown = isTold ? concerns : concerns.slice(0, fewConcerns);
  const left = concerns.length - shown.length;
  const nameOf = nameIn(guard);
  const more = left === 0 ? [] : [`and ${left} more, each told with its change`];
  return [
    ...flow(shown.filter(isBare).map(nameOf), ', ', width),
    ...shown
      .filter((concern) => !isBare(concern))
      .flatMap((concern) => hanging(`${nameOf(concern)}: ${concern.says.map(printable).join('; ')}`, width)),
    ...more,
  ];
}

/** Further lines begin two columns in: names are of any length, and what is said needs the room. */
function hanging(text: string, width: number): string[] {
  const [first = '', ...more] = wrap(text, width - 2);
  return [first, ...indent(more, 2)];
}

function isBare({ says }: Concern): boolean {
  return says.length === 0;
}

/** Where a guard is about several kinds or targets, a name alone says too little. */
function nameIn({ kind, target }: Guard): (concern: Concern) => string {
  if (kind !== undefined) return ({ address }) => printable(address.name);
  return ({ address }) =>
    printable(target === undefined ? formatAddress(address) : `${address.kind} ${address.name}`);
}

/** The whole list in one line, for the end of a report; undefined when no guard fires. */
export function guardSummary({ guards }: Plan): string | undefined {
  const blocking = blockingIds(guards);
  const warned = [...new Set(guards.filter((guard) => !isBlocking(guard)).map(({ id }) => id))];
  const parts = [
    ...(blocking.length === 0 ? [] : [`${blocks(blocking.length)}: ${blocking.join(', ')}`]),
    ...(warned.length === 0 ? [] : [`warned of: ${warned.join(', ')}`]),
  ];
  return parts.length === 0 ? undefined : parts.join('; ');
}

function blocks(count: number): string {
  const [verb, they] = count === 1 ? ['blocks', 'it is'] : ['block', 'they are'];
  return `${counted(count, 'guard')} ${verb} applying until ${they} acknowledged`;
}

/**
 * How a person who has read the plan lets its guards pass; undefined when none blocks.
 * @param stack what names the stack on the command line; nothing for the one that is here
 */
export function acknowledgement(
  { guards, digest }: Pick<Plan, 'guards' | 'digest'>,
  stack?: string,
): string | undefined {
  const blocking = blockingIds(guards);
  if (blocking.length === 0) return undefined;
  const command = ['trueup apply', ...(stack === undefined ? [] : [stack])].join(' ');
  return `${command} --approve ${digest} --ack ${blocking.join(',')}`;
}
