/**
 * A move of resources between stacks whose ledgers are in git or PostgreSQL, or in different places, that is killed at any of its
 * writes: exactly one stack owns the resources then, and the same job ends the move. By default every fourth boundary is tried;
 * TRUEUP_BOUNDARIES chooses others. Two local ledgers: test/e2e/ownership/moved-resources-killed.test.ts.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  aboutToMove,
  expectCompleted,
  ledgers,
  movedDocuments,
  owners,
  jobEnv,
  twoStacks,
  unlock,
} from '../support/cli/moving-resources.ts';
import { role, workspace } from '../support/cli/documents.ts';
import { trueupProcess } from '../support/cli/process.ts';
import { temporaryFolder } from '../support/rig/temporary-folder.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../support/ledger/postgres-server.ts';
import { chooseBoundaries } from '../support/simulation/boundaries.ts';
import { preload } from '../support/simulation/preload.ts';

const killer = preload('kill-at-ledger-write');
const bin = findPostgres();
let server: PostgresServer | undefined;
beforeAll(() => {
  if (bin !== undefined) server = startPostgres(bin);
});
afterAll(() => server?.stop());

const pairs = [['git', 'git'], ...(bin === undefined ? [] : [['postgres', 'postgres'] as const])] as const;

describe('Resources that move between stacks', () => {
  it.each(pairs)(
    'from a ledger in %s to one in %s have one owner after a kill at any write',
    async (from, to) => {
      const begin = () => aboutToMove({ from, to, url: server?.newDatabase() });
      const run = ({ payments, job }: Awaited<ReturnType<typeof begin>>, env: Record<string, string>) =>
        trueupProcess(job, {
          cwd: payments.directory,
          env: { ...jobEnv, NODE_OPTIONS: `--import ${killer}`, ...env },
        });
      const log = join(temporaryFolder(), 'writes.txt');
      const calm = await begin();
      const whole = await run(calm, { LOG_WRITES: log });
      expect(whole, whole.out + whole.err).toMatchObject({ code: 0 });
      expect(await owners(calm)).toEqual(['payments']);
      await expectCompleted(calm);
      const writes = (await readFile(log, 'utf8')).trim().split('\n');
      expect(writes.length).toBeGreaterThan(7);
      const boundaries = writes.flatMap((_, index) => [`${index + 1}:before`, `${index + 1}:after`]);
      const tried = chooseBoundaries(boundaries, 4);
      const seen = new Set<string>();
      for (const boundary of tried) {
        const scene = await begin();
        const killed = await run(scene, { KILL_AT_WRITE: boundary });
        expect([null, 0], `${boundary}: ${killed.out}${killed.err}`).toContain(killed.code);
        const [owner = '', ...more] = await owners(scene);
        expect([owner !== '', more], `${boundary} ${writes.join(', ')}`).toEqual([true, []]);
        seen.add(owner);
        await unlock(scene);
        // The former stack does not write resources that it may no longer own.
        const before = scene.bench.wire.writes().length;
        await scene.billing.declare(...movedDocuments);
        await scene.billing.run(['apply', '--yes'], 0);
        expect(scene.bench.wire.writes().length, boundary).toBe(before);
        await expectCompleted(scene);
      }
      expect(seen).toEqual(new Set(['billing', 'payments']));
    },
    600_000,
  );

  it.skipIf(bin === undefined).each([
    ['git', 'postgres'],
    ['postgres', 'git'],
  ] as const)(
    'cannot move from a ledger in %s to one in %s before one ledger was moved',
    async (from, to) => {
      const url = server?.newDatabase() ?? '';
      const { bench, billing, payments, origin, storeOf } = await twoStacks({ from, to, url });
      const spec = { autoApply: true, tags: { env: 'prod' } };
      await payments.declare(workspace('app', spec, { movedFrom: origin }));
      const { out } = await payments.run(['apply', '--yes'], 9);
      expect(out).toContain('that stack has no ledger where this stack keeps its own');
      expect(out).toContain('move one of the two with "trueup ledger move"');
      expect(bench.wire.writes()).toEqual([]);
      const { movedAway } = await storeOf('billing').read();
      expect([movedAway, await bench.tagsOf('app')]).toMatchObject([
        undefined,
        { 'trueup-stack': 'billing' },
      ]);
      await billing.run(['ledger', 'move', '--to', JSON.stringify(ledgers[to]), '--write', '--yes'], 0);
      await payments.applyAcknowledged();
      expect(await bench.tagsOf('app')).toMatchObject({ 'trueup-stack': 'payments' });
      await billing.declare(role('web'));
      for (const stack of [billing, payments]) await stack.run(['plan', '--exit-code'], 0);
    },
  );
});
