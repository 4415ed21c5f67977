// How a worker starts its queue of applies.
import { expect, it } from 'vitest';
import { WorkerApplies } from '../../../src/commands/fleet/worker-applies.ts';
import { CommandStop } from '../../../src/run/command-stop.ts';

it('A worker whose database was down starts its queue of applies when it is back', async () => {
  let isAway = true;
  const queues: string[] = [];
  const boss = {
    supervise: async () => {
      if (isAway) throw new Error('connect ECONNREFUSED');
    },
    work: async (queue: string) => queues.push(queue),
  };
  const run = async (work: () => Promise<unknown>) =>
    work().catch((error: unknown) => {
      throw new CommandStop('fleet-database', 'the database cannot be used', { cause: error });
    });
  const options = { database: { boss, run }, fleet: { repositories: [{ apply: {} }] }, applyConcurrency: 2 };
  const applies = new WorkerApplies(options as never, {} as never);
  // A worker continues after this error only.
  await expect(applies.begin()).rejects.toThrow(CommandStop);
  expect(applies.queues).toEqual([]);
  isAway = false;
  await applies.begin();
  await applies.begin();
  expect(queues).toEqual(['applies']);
  expect(applies.queues).toEqual(['applies']);
});
