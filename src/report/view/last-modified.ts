/**
 * Who last modified a resource, as lines before any layout. The trail names resource and action and never the field (rule 50).
 * All text is printable.
 */
import type { LastModified, Modification, TrailActor } from '../../model/audit-trail.ts';
import { counted, quotedUnlessPlain } from '../../model/quoted.ts';
import { firstFew, printable } from './printable.ts';

/** Several actors are each named, up to so many. */
const mostActors = 5;

/** The first line stands for itself; further ones belong below it. @param here the time here, in milliseconds since 1970 */
export function lastModifiedLines(
  { touches, unknown, clockAhead = 0 }: LastModified,
  here: number,
): string[] {
  const now = here + clockAhead;
  const caveat = unknown === undefined ? [] : [printable(unknown)];
  const actors = [...Map.groupBy(touches, ({ actor }) => formatActor(actor)).values()];
  const [only] = actors;
  if (only === undefined)
    return unknown === undefined
      ? ['touched by nobody that the audit trail knows of, since the last apply']
      : [`touched by: unknown, ${caveat.join('')}`];
  const more = unknown === undefined ? [] : [`or by somebody else: ${caveat.join('')}`];
  if (actors.length === 1) return [`${agoOf(only, now)} · touched by ${formatModifications(only)}`, ...more];
  const each = actors.map((touches) => `${agoOf(touches, now)} · ${formatModifications(touches)}`);
  return ['touched by one of', ...firstFew(each, mostActors).map((line) => `  ${line}`), ...more];
}

/** `2 h ago`, of the last one. */
function agoOf([last]: readonly Modification[], now: number): string {
  return formatAgo(Date.parse(last?.at ?? ''), now);
}

/** `user-… (ann), workspace update`; all of one actor, newest first. */
function formatModifications(touches: readonly Modification[]): string {
  const [first] = touches;
  if (first === undefined) return '';
  const deeds = [
    ...Map.groupBy(touches, ({ resource }) => quotedUnlessPlain(`${resource.type} ${resource.action}`)),
  ].map(([deed, some]) => (some.length === 1 ? deed : `${deed} (${counted(some.length, 'time')})`));
  const maybe = touches.every(({ maybeOurs }) => maybeOurs) ? ' (maybe ours)' : '';
  return `${formatActor(first.actor)}, ${printable(deeds.join(', '))}${maybe}`;
}

/** `user-… (team platform)`; what the trail does not tell is left out. */
function formatActor(actor: TrailActor): string {
  const [id, name, kind] = [actor.id, actor.name, actor.kind].map(quotedUnlessPlain) as [
    string,
    string,
    string,
  ];
  const { impersonatorId } = actor;
  const who = id === '' ? name || kind : name === '' ? id : `${id} (${name})`;
  const other = id === '' || actor.kind === 'Client' || impersonatorId !== undefined ? '' : `, ${kind}`;
  const behind = impersonatorId === undefined ? '' : `, impersonated by ${quotedUnlessPlain(impersonatorId)}`;
  return printable(`${who}${other}${behind}`);
}

const units = [
  { unit: 'd', length: 86_400_000 },
  { unit: 'h', length: 3_600_000 },
  { unit: 'min', length: 60_000 },
  { unit: 's', length: 1000 },
] as const;

/** Two clocks may differ by so many milliseconds: what is to come sooner than that is now. */
const soon = 60_000;

/** `2 h ago`, rounded down; what is to come is told with its time. */
export function formatAgo(at: number, now: number): string {
  if (at > now + soon) return `at ${new Date(at).toISOString()}, a time to come`;
  const found = units.find(({ length }) => now - at >= length);
  return found === undefined ? 'just now' : `${Math.floor((now - at) / found.length)} ${found.unit} ago`;
}
