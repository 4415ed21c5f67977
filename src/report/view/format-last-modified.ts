/**
 * Who last modified a resource, as lines before any layout. The audit trail has the resource and the action, never the field.
 * All text is printable.
 */
import type { LastModified, Modification, TrailActor } from '../../model/audit-trail.ts';
import { counted, quotedUnlessPlain } from '../../model/quoted.ts';
import { firstFew, printable } from './printable.ts';

/** Maximum number of listed actors; more are only counted. */
const mostActors = 5;

/** The first line may be shown alone; further lines belong below it. @param here the local time in milliseconds since 1970 */
export function lastModifiedLines(
  { modifications, unknown, clockAhead = 0 }: LastModified,
  here: number,
): string[] {
  const now = here + clockAhead;
  const caveat = unknown === undefined ? [] : [printable(unknown)];
  const actors = [...Map.groupBy(modifications, ({ actor }) => formatActor(actor)).values()];
  const [only] = actors;
  if (only === undefined)
    return unknown === undefined
      ? ['not modified since the last apply, according to the audit trail']
      : [`modified by: unknown, ${caveat.join('')}`];
  const more = unknown === undefined ? [] : [`or by others: ${caveat.join('')}`];
  if (actors.length === 1) return [`modified ${agoOf(only, now)} by ${formatModifications(only)}`, ...more];
  const each = actors.map((some) => `${agoOf(some, now)} · ${formatModifications(some)}`);
  return ['modified by one of', ...firstFew(each, mostActors).map((line) => `  ${line}`), ...more];
}

/** `2 h ago`, for the latest modification. */
function agoOf([last]: readonly Modification[], now: number): string {
  return formatAgo(Date.parse(last?.at ?? ''), now);
}

/** `user-… (ann), workspace update`; all of one actor, newest first. */
function formatModifications(modifications: readonly Modification[]): string {
  const [first] = modifications;
  if (first === undefined) return '';
  const actions = [
    ...Map.groupBy(modifications, ({ resource }) => quotedUnlessPlain(`${resource.type} ${resource.action}`)),
  ].map(([action, some]) => (some.length === 1 ? action : `${action} (${counted(some.length, 'time')})`));
  const maybe = modifications.every(({ maybeOurs }) => maybeOurs) ? ' (maybe ours)' : '';
  return `${formatActor(first.actor)}, ${printable(actions.join(', '))}${maybe}`;
}

/** `user-… (team platform)`; without what the trail lacks. */
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

/** Two clocks may differ by this many milliseconds: a time in the near future counts as now. */
const soon = 60_000;

/** `2 h ago`, rounded down; a time in the future is printed in full. */
export function formatAgo(at: number, now: number): string {
  if (at > now + soon) return `at ${new Date(at).toISOString()} (in the future)`;
  const found = units.find(({ length }) => now - at >= length);
  return found === undefined ? 'just now' : `${Math.floor((now - at) / found.length)} ${found.unit} ago`;
}
