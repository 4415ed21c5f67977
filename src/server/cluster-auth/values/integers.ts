/**
 * Whole numbers in texts, as the service's libraries read them.
 * Invariant: what fits into 64 bits is exact, what does not is refused and never rounded.
 */

export const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);

const DECIMAL = /^([+-]?)(\d+)$/;

/** Prefixes and underscores, as a source text may write numbers; a leading zero makes it octal. */
const WRITTEN =
  /^([+-]?)(0[xX](?:_?[0-9a-fA-F])+|0[bB](?:_?[01])+|0[oO](?:_?[0-7])+|0(?:_?[0-7])+|0|[1-9](?:_?\d)*)$/;

/** A decimal number of 64 bits; undefined for any other text. */
export function parseDecimal(text: string): bigint | undefined {
  const [, sign, digits = ''] = DECIMAL.exec(text) ?? [];
  return sign === undefined ? undefined : within64Bits(sign, BigInt(digits));
}

/** A number of 64 bits with or without a prefix (`0x10`, `0b1`, `017`, `1_000`); undefined for any other text. */
export function parsePrefixed(text: string): bigint | undefined {
  const [, sign, digits = ''] = WRITTEN.exec(text) ?? [];
  if (sign === undefined) return undefined;
  const bare = digits.replaceAll('_', '');
  return within64Bits(sign, BigInt(/^0\d/.test(bare) ? `0o${bare.slice(1)}` : bare));
}

function within64Bits(sign: string, size: bigint): bigint | undefined {
  const value = sign === '-' ? -size : size;
  return value < INT64_MIN || value > INT64_MAX ? undefined : value;
}
