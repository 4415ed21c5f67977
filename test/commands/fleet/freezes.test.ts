// Freezes of a fleet: when they are active, in their own time zone, and until when.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { activeFreeze, type Freeze } from '../../../src/commands/fleet/apply/freezes.ts';
import { respectFreeze } from '../../../src/run/fleet-process.ts';

const hour = 3_600_000;

function freeze(given: Partial<Freeze> = {}): Freeze {
  return {
    ...{ name: 'weekend', schedule: '0 18 * * 5', timeZone: 'Europe/Berlin', duration: 62 * hour },
    ...{ includes: () => true, except: [] },
    ...given,
  };
}

const activeAt = (time: string, ...freezes: readonly Freeze[]) =>
  activeFreeze(freezes, 'infra/one/trueup.yaml', Date.parse(time));
const endAt = (time: string, ...freezes: readonly Freeze[]) => {
  const { until } = activeAt(time, ...freezes) ?? {};
  return until === undefined ? undefined : new Date(until).toISOString();
};

describe('A freeze', () => {
  it('is active from its first moment to its last, in its own time zone', () => {
    const end = '2026-11-30T07:00:00.000Z';
    expect(endAt('2026-11-27T16:59:59.999Z', freeze())).toBeUndefined();
    expect(endAt('2026-11-27T17:00:00.000Z', freeze())).toBe(end);
    expect(endAt('2026-11-30T06:59:59.999Z', freeze())).toBe(end);
    expect(endAt('2026-11-30T07:00:00.000Z', freeze())).toBeUndefined();
    // In summer, Berlin is two hours ahead.
    expect(endAt('2026-07-03T16:00:00.000Z', freeze())).toBe('2026-07-06T06:00:00.000Z');
  });

  it('starts after the hour that daylight saving skips, if it is scheduled in that hour', () => {
    const sunday = freeze({ schedule: '30 2 * * 0', duration: 20 * hour });
    expect(endAt('2026-03-29T00:59:59Z', sunday)).toBeUndefined();
    expect(endAt('2026-03-29T12:00:00Z', sunday)).toBe('2026-03-29T21:30:00.000Z');
  });

  it('lasts as long as its windows follow each other', () => {
    const nights = freeze({ schedule: '0 0 * * 1-5', duration: 24 * hour, timeZone: 'UTC' });
    expect(endAt('2026-11-24T12:00:00Z', nights)).toBe('2026-11-28T00:00:00.000Z');
  });

  it('is only for the stacks that it names', () => {
    const other = freeze({ includes: (stack) => stack.startsWith('other/') });
    expect(activeAt('2026-11-28T12:00:00Z', other)).toBeUndefined();
  });

  it('with other active freezes lets only people apply that all of them except', () => {
    const weekend = freeze({ except: ['ann', 'bob'] });
    const always = freeze({ name: 'all', schedule: '0 0 1 1 *', duration: 400 * 24 * hour, except: ['Bob'] });
    expect(activeAt('2026-11-28T12:00:00Z', weekend, always)).toMatchObject({ name: 'all', except: ['Bob'] });
    expect(activeAt('2026-11-28T12:00:00Z', weekend, freeze({ except: [] }))?.except).toEqual([]);
  });

  it('lets excepted people apply only plans that they approved after its begin', () => {
    const begin = '2026-11-27T17:00:00.000Z';
    const { since = 0 } = activeAt('2026-11-28T12:00:00Z', freeze({ except: ['ann'] })) ?? {};
    expect(new Date(since).toISOString()).toBe(begin);
    const frozen = { name: 'weekend', begin, end: '2026-11-30T07:00:00.000Z', except: ['ann'] };
    const approved = (at: string, by = 'Ann', digest = 'd1') => ({ at, by, digest });
    const respect = (...approvals: ReturnType<typeof approved>[]) =>
      respectFreeze(approvals, { fleet: { apply: { freeze: frozen, approvedBy: () => {} } } } as never);
    expect(() => respect(approved('2026-11-27T16:59:59Z'))).toThrow(
      'the freeze "weekend" lasts until 2026-11-30T07:00:00.000Z, and until then only what "ann" approved after 2026-11-27T17:00:00.000Z is applied',
    );
    expect(() => respect(approved('2026-11-27T18:00:00Z', 'bob'))).toThrow('the freeze');
    expect(() => respect(approved('2026-11-27T17:00:00Z'))).not.toThrow();
    // Each plan needs such an approval.
    const other = approved('2026-11-27T16:00:00Z', 'ann', 'd2');
    expect(() => respect(approved('2026-11-27T18:00:00Z'), other)).toThrow('the freeze');
  });

  it('that begins during another freeze needs approvals after its own beginning', () => {
    const always = freeze({ name: 'all', schedule: '0 0 1 1 *', duration: 400 * 24 * hour });
    expect(activeAt('2026-11-28T12:00:00Z', freeze(), always)?.since).toBe(
      Date.parse('2026-11-27T17:00:00Z'),
    );
  });

  it('is active exactly from a time of its schedule until its duration is over', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: Date.UTC(2024, 0), max: Date.UTC(2028, 0) }),
        fc.integer({ min: 0, max: 23 }),
        fc.integer({ min: 1, max: 30 }),
        (now, hourOfDay, hours) => {
          const daily = freeze({ schedule: `0 ${hourOfDay} * * *`, timeZone: 'UTC', duration: hours * hour });
          const begun = Math.floor((now - hourOfDay * hour) / (24 * hour)) * 24 * hour + hourOfDay * hour;
          const isActive = now < begun + hours * hour;
          const active = activeFreeze([daily], 'a', now);
          expect(active !== undefined).toBe(isActive);
          if (active !== undefined) expect(active.until).toBeGreaterThan(now);
        },
      ),
    );
  });
});
