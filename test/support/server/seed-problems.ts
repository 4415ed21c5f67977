import { readSeed, SeedError } from '../../../src/server/seed/read-seed.ts';

/** The problems of a seed, as lines; none for a valid one. */
export function seedProblems(data: unknown): readonly string[] {
  try {
    readSeed(data);
    return [];
  } catch (error) {
    if (error instanceof SeedError) return error.problems;
    throw error;
  }
}
