/**
 * Applies a seed to a data file that may be served by another process.
 * Invariant: all of the seed or nothing of it is in the file afterwards.
 */
import { Database } from './database.ts';
import { applySeed } from '../seed/apply-seed.ts';
import { readSeed } from '../seed/read-seed.ts';

/**
 * @param seed the parsed YAML of a seed file
 * @throws SeedError when the seed is malformed, SeedConflictError when something new in it cannot be added
 */
export function seedDataFile(dataFile: string, seed: unknown): void {
  const read = readSeed(seed);
  const database = Database.open(dataFile);
  try {
    applySeed(database, read, new Date());
  } finally {
    database.close();
  }
}
