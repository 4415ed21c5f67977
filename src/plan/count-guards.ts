/** Guards that count: many deletes, going to zero, and percentages of what the stack owns (RULES 33). */
import type { Address } from '../model/address.ts';
import type { Guard } from '../model/guard.ts';
import type { Guards } from '../model/target.ts';
import type { Tally } from './tally.ts';

/** A guard before the stack has said whether it blocks. */
export type Finding = Omit<Guard, 'effect'>;

const usual = { maxDeletes: 3, maxDeletePercent: 10, maxUpdatePercent: 30 } as const;

/** Below this many owned resources a percentage says nothing that a number does not say better. */
const enoughForPercent = 10;

export function countGuards(tally: Tally, limits: Guards): Finding[] {
  const { maxDeletes, maxDeletePercent, maxUpdatePercent } = { ...usual, ...limits };
  return [
    ...tooMany(tally, maxDeletes),
    ...toZero(tally),
    ...tooLarge(tally, { id: 'delete-percent', some: tally.taken, limit: maxDeletePercent, done: taken }),
    ...tooLarge(tally, {
      id: 'update-percent',
      some: tally.updated,
      limit: maxUpdatePercent,
      done: 'updated',
    }),
  ];
}

const taken = 'deleted or released';

function tooMany(tally: Tally, limit: number): Finding[] {
  const counted = tally.taken.length;
  if (counted <= limit) return [];
  const message = `${share(tally, counted)} would be ${taken}, more than ${limit}`;
  return [finding(tally, tally.taken, { id: 'deletes', of: tally.owned, limit, message })];
}

function toZero(tally: Tally): Finding[] {
  const { kind, target, owned, gained } = tally;
  if (owned === 0 || tally.taken.length < owned || gained > 0) return [];
  const what = owned === 1 ? `the only ${kind}` : `all ${owned} ${kind}`;
  const message = `${what} that this stack owns in "${target}" would be ${taken}`;
  return [finding(tally, tally.taken, { id: 'zero', of: owned, limit: 0, message })];
}

interface Share {
  readonly id: 'delete-percent' | 'update-percent';
  readonly some: readonly Address[];
  /** percent */
  readonly limit: number;
  readonly done: string;
}

function tooLarge(tally: Tally, { id, some, limit, done }: Share): Finding[] {
  const { owned } = tally;
  // Multiplied out, so that no rounding moves the limit.
  if (owned < enoughForPercent || some.length * 100 <= limit * owned) return [];
  const percent = Math.round((some.length * 1000) / owned) / 10;
  const message = `${share(tally, some.length)} would be ${done}: ${percent} %, more than ${limit} %`;
  return [finding(tally, some, { id, of: owned, limit, message })];
}

function share({ kind, target, owned }: Tally, counted: number): string {
  return `${counted} of ${owned} ${kind} in "${target}"`;
}

function finding(
  { kind, target }: Tally,
  some: readonly Address[],
  about: Pick<Finding, 'id' | 'of' | 'limit' | 'message'>,
): Finding {
  const concerns = some.map((address) => ({ address, says: [] }));
  return { kind, target, counted: some.length, ...about, concerns };
}
