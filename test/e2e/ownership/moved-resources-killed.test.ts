/** A move between stacks that is killed: at each moment one stack owns the resources, and the next apply completes the move. */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { removalRequest } from '../../support/cli/documents.ts';
import {
  aboutToMove,
  expectCompleted,
  movedDocuments,
  owners,
  jobEnv,
  unlock,
} from '../../support/cli/moving-resources.ts';
import { trueupProcess } from '../../support/cli/process.ts';

const preload = fileURLToPath(new URL('../../support/simulation/kill-at-rename.ts', import.meta.url));

describe('A move that was killed', () => {
  const points = Array.from({ length: 14 }, (_, index) => index + 1).flatMap((at) =>
    (['before', 'after'] as const).map((when) => ({ at, when })),
  );

  it.each(points)(
    '$when write $at of locks, ledgers and history left one owner, and is completed',
    async ({ at, when }) => {
      const scene = await aboutToMove();
      const { bench, billing, payments, job } = scene;
      const killing = { NODE_OPTIONS: `--import ${preload}`, KILL_AT_RENAME: `${at}:${when}` };
      await trueupProcess(job, { cwd: payments.directory, env: { ...jobEnv, ...killing } });
      expect(await owners(scene)).toHaveLength(1);
      await unlock(scene);
      // The former stack writes nothing that it no longer owns, regardless of its documents.
      const writes = bench.wire.writes().length;
      const hasMoved = (await owners(scene))[0] === 'payments';
      await billing.declare(...(hasMoved ? [removalRequest('Workspace', 'gone', 'safe')] : movedDocuments));
      await billing.applyAcknowledged();
      const made = bench.written().slice(writes);
      expect(made.filter((line) => !line.startsWith('POST /api/v2/organizations'))).toEqual([]);
      await expectCompleted(scene);
    },
  );

  it.each([1, 2])('at write %i to a service is completed', async (at) => {
    const scene = await aboutToMove();
    const { bench, billing, payments, job } = scene;
    let count = 0;
    let kill = () => {};
    const dead = Promise.withResolvers<void>();
    bench.wire.setHandler(async ({ method }, pass) => {
      if (method === 'GET' || method === 'LIST') return pass();
      count += 1;
      if (count !== at) return pass();
      kill();
      await dead.promise;
      return undefined;
    });
    await trueupProcess(job, { cwd: payments.directory, env: jobEnv }, async ({ sendSignal }) => {
      kill = () => sendSignal('SIGKILL');
    });
    dead.resolve();
    bench.wire.setHandler(undefined);
    await unlock(scene);
    await billing.declare(...movedDocuments);
    await billing.run(['apply', '--yes'], 0);
    await expectCompleted(scene);
  });
});
