/**
 * Durations as the secrets service reads and prints them.
 * Invariant: everything inside is whole seconds; a shorter rest is cut off, never rounded up.
 */
const NANOSECONDS: Record<string, number> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3600e9,
};
const LARGEST_NANOSECONDS = 2 ** 63;

/**
 * The seconds in `text`: digits alone, `7d` with whole days, or a Go duration (`1h30m`, `1.5h`, `500ms`); empty is 0.
 * Undefined for anything else, such as `1w`, `1.5` or `1.5d` (wire/cluster-auth 2.4).
 */
export function parseDuration(text: string): number | undefined {
  if (text === '') return 0;
  const whole = /^([+-]?\d+)(d?)$/.exec(text);
  if (whole !== null) return Number(whole[1]) * (whole[2] === 'd' ? 86_400 : 1);
  return parseGoDuration(text);
}

function parseGoDuration(text: string): number | undefined {
  const [, sign, rest] = /^([+-]?)((?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|ms|s|m|h))+)$/.exec(text) ?? [];
  if (rest === undefined) return undefined;
  let nanoseconds = 0;
  for (const [, whole = '', fraction = '', unit = ''] of rest.matchAll(/(\d*)\.?(\d*)(ns|us|µs|ms|s|m|h)/g)) {
    const size = NANOSECONDS[unit] ?? 0;
    // Digits times unit first: 4.35 minutes are 261 seconds, which 4.35 * 60 in floating point is not.
    nanoseconds += Number(whole) * size + Math.trunc(Number(fraction) * (size / 10 ** fraction.length));
  }
  if (nanoseconds >= LARGEST_NANOSECONDS) return undefined;
  const seconds = Math.trunc(nanoseconds / 1e9);
  return sign === '-' ? -seconds : seconds;
}

/** Prints whole seconds the way error texts quote them: `768h0m0s`, `1m30s`, `0s`. */
export function formatDuration(seconds: number): string {
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  const rest = `${seconds % 60}s`;
  if (hours > 0) return `${hours}h${minutes}m${rest}`;
  return minutes > 0 ? `${minutes}m${rest}` : rest;
}
