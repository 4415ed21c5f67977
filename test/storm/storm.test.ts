/**
 * Random stacks in random weather (architecture: apply finishes or tells). TRUEUP_STORM_SEEDS says how many seeds,
 * TRUEUP_STORM_SEED tries one; `npm run storm` sets both.
 */
import { afterAll, describe, expect, it } from 'vitest';
import { storm } from '../support/simulation/storm.ts';

const one = process.env['TRUEUP_STORM_SEED'];
const count = Number(process.env['TRUEUP_STORM_SEEDS'] ?? 8);
const seeds = one === undefined ? Array.from({ length: count }, (_, index) => index + 1) : [Number(one)];
const endings = new Map<string, number>();

describe.concurrent('After a storm, the next apply finishes, nothing is lost, and no secret or foreign resource is touched', () => {
  it.for(seeds)('seed %i', { timeout: 120_000 }, async (seed) => {
    const ending = await storm(seed).catch((error: Error) => {
      throw new Error(`${error.message}\nto see it alone: npm run storm -- --seed ${seed}`, { cause: error });
    });
    endings.set(ending, (endings.get(ending) ?? 0) + 1);
  });

  afterAll(() => {
    console.log(Object.fromEntries(endings));
    // If most storms ended with a problem for a person, the test would prove nothing.
    if (seeds.length >= 15) expect(endings.get('converged') ?? 0).toBeGreaterThan(0.5 * seeds.length);
  });
});
