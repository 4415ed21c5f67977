import { expect, it } from 'vitest';
import { lifetimeOf } from '../../../src/server/cluster-auth/token-lifetime.ts';

const WISHES = { increment: 0, ttl: 0, period: 0, maxTtl: 0, explicitMaxTtl: 0 };
const LIMITS = { defaultTtl: 100, maxTtl: 1000 };
const format = 'short';

it.each([
  ['that of the mount by default', {}, 0, 100],
  ['that of the role', { ttl: 50 }, 0, 50],
  ['that of the renewal request before that of the role', { ttl: 50, increment: 70 }, 0, 70],
  ['the period, with any renewal request', { period: 30, increment: 70 }, 5000, 30],
  ['the rest of the maximum of the role', { ttl: 50, maxTtl: 60 }, 40, 20],
  ['the rest of the explicit maximum, also with a period', { period: 50, explicitMaxTtl: 60 }, 40, 20],
  ['zero in its last second', { ttl: 50, maxTtl: 60 }, 60, 0],
])('a lifetime is %s', (_case, wishes, age, ttl) => {
  expect(lifetimeOf({ ...WISHES, ...wishes }, LIMITS, age, format)?.ttl).toBe(ttl);
});

it('a lifetime is over after the maximum', () => {
  expect(lifetimeOf({ ...WISHES, maxTtl: 60 }, LIMITS, 61, format)).toBeUndefined();
  expect(lifetimeOf({ ...WISHES, period: 50, explicitMaxTtl: 60 }, LIMITS, 61, format)).toBeUndefined();
});

it('a capped lifetime has a warning', () => {
  expect(lifetimeOf({ ...WISHES, ttl: 2000 }, LIMITS, 0, format)).toEqual({
    ttl: 1000,
    warnings: ['TTL of "33m20s" exceeded the effective max_ttl of "16m40s"; TTL value is capped accordingly'],
  });
  expect(lifetimeOf({ ...WISHES, period: 80, maxTtl: 60 }, LIMITS, 0, format)).toEqual({
    ttl: 60,
    warnings: [
      'period of "1m20s" exceeded the effective max_ttl of "1m"; period value is capped accordingly',
    ],
  });
});
