import { describe, expect, it } from 'vitest';
import { withRateLimit } from '../../../src/api/code-host.ts';
import { requestedWait } from '../../../src/api/transport/retry.ts';

const now = 1_800_000_000_000;

/** The seconds to wait; undefined if the response is not about a rate limit. */
function waitOf(
  status: number,
  headers: Readonly<Record<string, string>>,
  text = '',
  earlier = 0,
): number | undefined {
  const limited = withRateLimit({ kind: 'answered', status, headers, text }, earlier);
  if (limited.kind !== 'answered' || limited.status !== 429) return undefined;
  return (requestedWait(limited, now) ?? Number.NaN) / 1000;
}

describe('a rate limit', () => {
  const inTenMinutes = String(now / 1000 + 600);

  it.each([403, 429])('with status %i says when to try again', (status) => {
    expect(waitOf(status, { 'retry-after': '7' })).toBe(7);
    expect(waitOf(status, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': inTenMinutes })).toBe(600);
  });

  it('without a time waits for a minute, and longer each time', () => {
    const words = '{"message":"You have exceeded a secondary rate limit."}';
    const others = { 'x-ratelimit-remaining': '900', 'x-ratelimit-reset': inTenMinutes };
    expect([0, 1, 2].map((earlier) => waitOf(403, others, words, earlier))).toEqual([60, 120, 240]);
    expect(waitOf(429, {})).toBe(60);
  });

  it('does not include every 403', () => {
    const words = '{"message":"Resource not accessible by integration"}';
    expect(
      waitOf(403, { 'x-ratelimit-remaining': '900', 'x-ratelimit-reset': inTenMinutes }, words),
    ).toBeUndefined();
    expect(waitOf(404, { 'x-ratelimit-remaining': '0' })).toBeUndefined();
  });
});
