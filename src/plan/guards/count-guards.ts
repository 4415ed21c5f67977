/**
 * Guards that count: many deletes, going to zero, and percentages of what the stack owns (rule 33). Deletes are counted
 * of each kind, of each target and of the whole plan, so that no amount of spreading hides how many there are.
 */
import { type Address, formatAddress } from '../../model/resource/address.ts';
import type { Guard } from '../../model/plan/guard.ts';
import type { Guards } from '../../model/stack/target.ts';
import type { OwnershipCount } from './ownership-counts.ts';

/** A guard before the stack has said whether it blocks. */
export type CountedGuard = Omit<Guard, 'effect'>;

const usual = { maxDeletes: 3, maxDeletePercent: 10, maxUpdatePercent: 30 } as const;

/** Below this many owned resources a percentage says nothing that a number does not say better. */
const enoughForPercent = 10;

/** @param tallies of a whole plan */
export function countGuards(tallies: readonly OwnershipCount[], limits: Guards): CountedGuard[] {
  const { maxDeletes, maxDeletePercent, maxUpdatePercent } = { ...usual, ...limits };
  const each = tallies.flatMap((tally) => [
    ...toZero(tally),
    ...tooLarge(tally, { id: 'delete-percent', some: tally.taken, limit: maxDeletePercent, done: taken }),
    ...tooLarge(tally, {
      id: 'update-percent',
      some: tally.updated,
      limit: maxUpdatePercent,
      done: 'updated',
    }),
  ]);
  return [...tooMany(tallies, maxDeletes), ...each];
}

const taken = 'deleted or released';

/** What deletes are counted in: a kind in a target, a target, or the plan. */
interface Scope {
  readonly kind?: string;
  readonly target?: string;
  readonly tallies: readonly OwnershipCount[];
}

/** The wider scope tells only of what no narrower one has told. */
function tooMany(tallies: readonly OwnershipCount[], limit: number): CountedGuard[] {
  const byKind = tallies.map(
    (tally): Scope => ({ kind: tally.kind, target: tally.target, tallies: [tally] }),
  );
  const byTarget = [...Map.groupBy(tallies, ({ target }) => target)].map(
    ([target, some]): Scope => ({ target, tallies: some }),
  );
  const told = new Set<string>();
  return [byKind, byTarget, [{ tallies }]].flatMap((scopes) => {
    const findings = scopes
      .flatMap((scope) => tooManyIn(scope, limit))
      .filter(({ concerns }) => concerns.some(({ address }) => !told.has(formatAddress(address))));
    for (const { concerns } of findings) for (const { address } of concerns) told.add(formatAddress(address));
    return findings;
  });
}

function tooManyIn({ kind, target, tallies }: Scope, limit: number): CountedGuard[] {
  const some = tallies.flatMap((tally) => tally.taken);
  if (some.length <= limit) return [];
  const of = tallies.reduce((sum, { owned }) => sum + owned, 0);
  const where = target === undefined ? 'all targets' : `"${target}"`;
  const message = `${some.length} of ${of} ${kind ?? (of === 1 ? 'resource' : 'resources')} in ${where} would be ${taken}, more than ${limit}`;
  const scope = { ...(kind === undefined ? {} : { kind }), ...(target === undefined ? {} : { target }) };
  return [finding(scope, some, { id: 'deletes', of, limit, message })];
}

/** All of several are all that there was, whatever is made beside them; a single one may well be replaced. */
function toZero(tally: OwnershipCount): CountedGuard[] {
  const { kind, target, owned, created, strangers } = tally;
  if (owned === 0 || tally.taken.length < owned || (owned === 1 && created > 0)) return [];
  const what = owned === 1 ? `the only ${kind}` : `all ${owned} ${kind}`;
  const message =
    strangers === 0
      ? `${what} that this stack owns in "${target}" would be ${taken}`
      : `${what} that this stack owns or removes in "${target}" would be ${taken}, without a record of ${strangers < owned ? strangers : owned === 1 ? 'it' : 'any'}`;
  return [finding({ kind, target }, tally.taken, { id: 'zero', of: owned, limit: 0, message })];
}

interface Share {
  readonly id: 'delete-percent' | 'update-percent';
  readonly some: readonly Address[];
  /** percent */
  readonly limit: number;
  readonly done: string;
}

function tooLarge({ kind, target, owned }: OwnershipCount, { id, some, limit, done }: Share): CountedGuard[] {
  // Multiplied out, so that no rounding moves the limit.
  if (owned < enoughForPercent || some.length * 100 <= limit * owned) return [];
  const percent = Math.round((some.length * 1000) / owned) / 10;
  const message = `${some.length} of ${owned} ${kind} in "${target}" would be ${done}: ${percent} %, more than ${limit} %`;
  return [finding({ kind, target }, some, { id, of: owned, limit, message })];
}

function finding(
  scope: Pick<CountedGuard, 'kind' | 'target'>,
  some: readonly Address[],
  about: Pick<CountedGuard, 'id' | 'of' | 'limit' | 'message'>,
): CountedGuard {
  const concerns = some.map((address) => ({ address, says: [] }));
  return { ...scope, counted: some.length, ...about, concerns };
}
