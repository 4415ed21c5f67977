import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDuration, parseDuration } from '../../src/model/duration.ts';

describe('a duration', () => {
  it.each<[number | string, number]>([
    [3600, 3600],
    ['3600', 3600],
    ['1h', 3600],
    ['1h30m', 5400],
    ['1.5h', 5400],
    ['90m', 5400],
    ['7d', 604_800],
    ['500ms', 0],
    ['1999ms', 1],
    ['1us1ns', 0],
    ['0', 0],
    ['', 0],
    [' 5s ', 5],
    [1.9, 1],
  ])('%j is %i seconds', (text, seconds) => {
    expect(parseDuration(text)).toBe(seconds);
  });

  it.each(['1w', '1.5', '1.5d', '-5', '-1h', 'soon', '1 h', '1h30', 'h', '1d12h', 'Infinity'])(
    '%j is not a duration',
    (text) => {
      expect(parseDuration(text)).toBeUndefined();
    },
  );

  it('is invalid if its number is not finite', () => {
    expect(parseDuration(Number.NaN)).toBeUndefined();
    expect(parseDuration(Number.POSITIVE_INFINITY)).toBeUndefined();
  });

  it('is formatted as a text of the same number of seconds', () => {
    fc.assert(
      fc.property(fc.nat({ max: 2_000_000_000 }), (seconds) => {
        expect(parseDuration(formatDuration(seconds))).toBe(seconds);
      }),
    );
  });

  it.each([
    [0, '0s'],
    [45, '45s'],
    [60, '1m'],
    [3600, '1h'],
    [5400, '1h30m'],
    [86_400, '24h'],
    [3661, '1h1m1s'],
  ])('%i seconds are formatted as %s', (seconds, text) => {
    expect(formatDuration(seconds)).toBe(text);
  });
});
