/** Durations as the secrets service reads them: Go durations, plain seconds, whole days (wire/cluster-auth 2.4). */

const units: Readonly<Record<string, number>> = {
  ns: 1e-9,
  us: 1e-6,
  µs: 1e-6,
  // the Greek letter, which looks the same
  μs: 1e-6,
  ms: 1e-3,
  s: 1,
  m: 60,
  h: 3600,
};

/** In seconds. The service counts nanoseconds in 64 bits, so a longer duration does not fit. */
export const longestDuration = 9_223_372_036;

/** Whole seconds, truncated as the service does; undefined when the text is not a duration. */
export function parseDuration(value: number | string): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? Math.trunc(value) : undefined;
  const text = value.trim();
  if (text === '') return 0;
  if (/^\d+$/.test(text)) return Number(text);
  const days = /^(\d+)d$/.exec(text);
  if (days) return Number(days[1]) * 86_400;
  if (!/^(\d+(\.\d*)?(ns|us|µs|μs|ms|s|m|h))+$/.test(text)) return undefined;
  let seconds = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d*)?)(ns|us|µs|μs|ms|s|m|h)/g)) {
    seconds += Number(amount) * (units[unit ?? ''] ?? 0);
  }
  return Math.trunc(seconds + 1e-9);
}

/** The shortest exact text for a number of seconds: `1h`, `1h30m`, `45s`, `0s`. */
export function formatDuration(seconds: number): string {
  if (seconds === 0) return '0s';
  const parts: string[] = [];
  let rest = seconds;
  for (const [unit, size] of [
    ['h', 3600],
    ['m', 60],
    ['s', 1],
  ] as const) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(`${count}${unit}`);
  }
  return parts.join('');
}
