/**
 * Whole numbers and durations as the real service's libraries read them. A number of up to 64 bits is exact; a larger one is
 * refused and never rounded.
 */
import type { ClusterAuthDialect } from '../kernel/dialects.ts';

const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);

const DECIMAL = /^([+-]?)(\d+)$/;

/** A number as in source code: with a prefix and underscores; a leading zero means octal. */
const PREFIXED =
  /^([+-]?)(0[xX](?:_?[0-9a-fA-F])+|0[bB](?:_?[01])+|0[oO](?:_?[0-7])+|0(?:_?[0-7])+|0|[1-9](?:_?\d)*)$/;

/** A decimal number of 64 bits; undefined for any other text. */
export function parseDecimal(text: string): bigint | undefined {
  const [, sign, digits = ''] = DECIMAL.exec(text) ?? [];
  return sign === undefined ? undefined : within64Bits(sign, BigInt(digits));
}

/** A number of 64 bits with or without a prefix (`0x10`, `0b1`, `017`, `1_000`); undefined for any other text. */
export function parsePrefixed(text: string): bigint | undefined {
  const [, sign, digits = ''] = PREFIXED.exec(text) ?? [];
  if (sign === undefined) return undefined;
  const bare = digits.replaceAll('_', '');
  return within64Bits(sign, BigInt(/^0\d/.test(bare) ? `0o${bare.slice(1)}` : bare));
}

function within64Bits(sign: string, size: bigint): bigint | undefined {
  const value = sign === '-' ? -size : size;
  return value < INT64_MIN || value > INT64_MAX ? undefined : value;
}

// Durations as the secrets service reads and prints them.
// Invariant: a duration is a count of nanoseconds in 64 bits, as in the service itself, and a text that does not fit is refused.
// Outside of this file, durations are whole seconds.

const SECOND = 1_000_000_000n;
const DAY = 86_400n * SECOND;
/** The largest size of a duration in nanoseconds. Only a negative duration can reach it. */
const LARGEST = INT64_MAX + 1n;

const UNITS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  μs: 1000n,
  ms: 1_000_000n,
  s: SECOND,
  m: 60n * SECOND,
  h: 3600n * SECOND,
};

/** The seconds of a text, truncated, or the error. */
type ReadDuration = { readonly seconds: number } | { readonly problem: string };

/**
 * Reads digits only (seconds), whole days (`7d`), or amounts with units (`1h30m`, `1.5h`, `500ms`); empty is 0.
 * All other texts are refused, such as `1w`, `1.5` or `1.5d` (wire/cluster-auth 2.4).
 */
export function readDuration(text: string): ReadDuration {
  if (text === '') return { seconds: 0 };
  const whole = parseDecimal(text);
  if (whole !== undefined) return multiplied(whole, SECOND);
  if (text.endsWith('d')) {
    const days = parseDecimal(text.slice(0, -1));
    return days === undefined
      ? { problem: `strconv.ParseInt: parsing ${JSON.stringify(text.slice(0, -1))}: invalid syntax` }
      : multiplied(days, DAY);
  }
  return parseAmounts(text);
}

function multiplied(count: bigint, unit: bigint): ReadDuration {
  const nanoseconds = count * unit;
  return BigInt.asIntN(64, nanoseconds) === nanoseconds ? inSeconds(nanoseconds) : TOO_LONG;
}

const TOO_LONG: ReadDuration = {
  problem: 'multiplication of durations resulted in overflow, one operand may be too large',
};

/** The seconds of a text; undefined for an invalid one. */
export function parseDuration(text: string): number | undefined {
  const duration = readDuration(text);
  return 'seconds' in duration ? duration.seconds : undefined;
}

const AMOUNT = /^(?:(\d+)(?:\.(\d*))?|\.(\d+))([^\d.]*)/;

function parseAmounts(text: string): ReadDuration {
  const isNegative = text.startsWith('-');
  let rest = text.replace(/^[+-]/, '');
  if (rest === '') return invalid(text);
  let sum = 0n;
  while (rest !== '') {
    const [amount, whole = '', fraction, bareFraction = '', unit = ''] = AMOUNT.exec(rest) ?? [];
    if (amount === undefined) return invalid(text);
    const size = UNITS[unit];
    if (size === undefined) return unitProblem(unit, text);
    sum += BigInt(whole) * size + fractionOf(fraction ?? bareFraction, size);
    if (sum > LARGEST) return invalid(text);
    rest = rest.slice(amount.length);
  }
  if (sum > INT64_MAX && !isNegative) return invalid(text);
  return inSeconds(isNegative ? -sum : sum);
}

/** The nanoseconds of a fraction: computed with floating-point numbers, as in the service, from the digits that fit into 64 bits. */
function fractionOf(digits: string, unit: bigint): bigint {
  const used = digits.slice(0, 18);
  return BigInt(Math.trunc(Number(used) * (Number(unit) / 10 ** used.length)));
}

/** The seconds, computed with floating-point numbers as in the service: the last nanoseconds of a huge duration can round it up. */
function inSeconds(nanoseconds: bigint): ReadDuration {
  return {
    seconds: Math.trunc(Number(nanoseconds / SECOND) + Number(nanoseconds % SECOND) / Number(SECOND)) + 0,
  };
}

function invalid(text: string): ReadDuration {
  return { problem: `time: invalid duration ${JSON.stringify(text)}` };
}

function unitProblem(unit: string, text: string): ReadDuration {
  const quoted = JSON.stringify(text);
  if (unit === '') return { problem: `time: missing unit in duration ${quoted}` };
  return { problem: `time: unknown unit ${JSON.stringify(unit)} in duration ${quoted}` };
}

/** Prints whole seconds as error texts contain them: `768h0m0s`, `1m30s`, `0s`. */
export function formatDuration(seconds: number): string {
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  const rest = `${seconds % 60}s`;
  if (hours > 0) return `${hours}h${minutes}m${rest}`;
  return minutes > 0 ? `${minutes}m${rest}` : rest;
}

/** The same without zero units at the end: `768h`, `1m30s`, `0s`. */
function formatShortDuration(seconds: number): string {
  return formatDuration(seconds)
    .replace(/(?<=m)0s$/, '')
    .replace(/(?<=h)0m$/, '');
}

/** How a dialect writes durations in warnings. */
export const durationFormats: Readonly<
  Record<ClusterAuthDialect['durationFormat'], (seconds: number) => string>
> = { full: formatDuration, short: formatShortDuration };
