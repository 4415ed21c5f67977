// How often a worker reads its fleet file.
import { expect, it } from 'vitest';
import { WorkerLife } from '../../../src/commands/fleet/worker-life.ts';

it('A worker reads its fleet file each minute, even while the host of a repository does not answer', async () => {
  const ending = new AbortController();
  let reads = 0;
  let time = 0;
  const file = {
    ...{ fleet: { name: 'acme', repositories: [] }, warnings: [], problem: undefined },
    refresh: async () => {
      reads += 1;
      if (reads === 3) ending.abort();
    },
  };
  const hanging = new Promise<never>((_, reject) => {
    ending.signal.addEventListener('abort', () => reject(new Error('the worker ends')));
  });
  const worker = {
    fleet: file.fleet,
    ...{ running: 0, isIdle: true, touchFolder: async () => {}, dispatch: async () => 0 },
    ...{ waiting: async () => 0, readRepositories: () => hanging, claimRepositories: async () => new Map() },
  };
  const now = () => {
    time += 10_000;
    return time;
  };
  const database = { run: async () => [], transaction: async () => [] };
  const about = { once: false, concurrency: 1, signal: ending.signal, now };
  const texts = { onProblem: () => {}, clean: (value: unknown) => value };
  const life = new WorkerLife({ worker, file, database, ...about, ...texts } as never);
  void life.begin();
  await life.run();
  expect(reads).toBe(3);
});
