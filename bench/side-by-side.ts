/** Measures things against each other on one machine, in turns, so that a busy moment hits all of them alike. */

export interface Timed {
  readonly name: string;
  /** milliseconds */
  readonly median: number;
  readonly least: number;
}

/** Runs each variant once to warm up, then all of them `rounds` times in turns. */
export async function sideBySide(
  variants: Readonly<Record<string, () => Promise<void>>>,
  rounds: number,
): Promise<readonly Timed[]> {
  const names = Object.keys(variants);
  const times = new Map<string, number[]>(names.map((name) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, run] of Object.entries(variants)) {
      const began = performance.now();
      await run();
      if (round > 0) times.get(name)?.push(performance.now() - began);
    }
  }
  return names.map((name) => {
    const sorted = (times.get(name) ?? []).toSorted((a, b) => a - b);
    return { name, median: sorted[Math.floor(sorted.length / 2)] ?? 0, least: sorted[0] ?? 0 };
  });
}

/** One plain line each, and how many times longer than the first one it takes. */
export function printTimes(timed: readonly Timed[]): void {
  const base = timed[0]?.median ?? 1;
  for (const { name, median, least } of timed) {
    console.log(
      `${name}: ${median.toFixed(0)} ms (least ${least.toFixed(0)} ms), ${(median / base).toFixed(2)} times the first`,
    );
  }
}
