/**
 * A move of a ledger that is killed at any of its writes: exactly one of the two places has the ledger then, and the same command
 * ends the move. By default some of the writes are tried; TRUEUP_BOUNDARIES chooses others.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { trueup } from '../support/captured-host.ts';
import { type MovableStack, movableStack } from '../support/cli/movable-stack.ts';
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

/** One CI job: a second try takes over the locks of the first. */
const job = { TRUEUP_RUN_ID: 'move-1', NODE_OPTIONS: `--import ${killer}`, NODE_NO_WARNINGS: '1' };

async function isUsable(scene: MovableStack, place: string): Promise<boolean> {
  await scene.name(place);
  const args = ['ledger', 'show', '--format', 'json'];
  const { code, out } = await trueup(args, { cwd: scene.stack.directory, env: scene.env });
  return code === 0 && JSON.parse(out).known === true;
}

const pairs = [
  ['local', 'git'],
  ['git', 'local'],
  ...(bin === undefined ? [] : [['git', 'postgres'] as const, ['postgres', 'local'] as const]),
] as const;

describe('A move of a ledger that is killed at any write', () => {
  it.each(pairs)(
    'from %s to %s leaves one ledger in use, and continues when it runs again',
    async (from, to) => {
      const move = ['ledger', 'move', '--from', from, '--to', to, '--yes'];
      const begin = () => movableStack({ ledger: from, url: server?.newDatabase() ?? '' });
      const log = join(temporaryFolder(), 'writes.txt');
      const calm = await begin();
      expect(await calm.process(move, { ...job, LOG_WRITES: log })).toMatchObject({ code: 0 });
      const writes = (await readFile(log, 'utf8')).trim().split('\n');
      expect(writes.length).toBeGreaterThan(7);
      // After a write and before the next one, the same is written.
      const boundaries = [...writes.map((_, index) => `${index + 1}:before`), `${writes.length}:after`];
      const tried = chooseBoundaries(boundaries, 3);
      const seen = new Set<string>();
      for (const boundary of tried) {
        const scene = await begin();
        const before = await scene.content();
        const killed = await scene.process(move, { ...job, KILL_AT_WRITE: boundary });
        expect([null, 0], `${boundary}: ${killed.out}${killed.err}`).toContain(killed.code);
        const usable = [await isUsable(scene, from), await isUsable(scene, to)];
        seen.add(String(usable));
        expect(usable.filter(Boolean), `${boundary} ${writes.join(', ')}`).toHaveLength(1);
        await scene.name(from);
        const again = await scene.process(move, job);
        expect(again, `${boundary}: ${again.out}${again.err}`).toMatchObject({ code: 0 });
        await scene.name(to);
        expect(await scene.content(), boundary).toEqual(before);
        await scene.run(['plan', '--exit-code'], 0);
        expect(await isUsable(scene, from)).toBe(false);
      }
      expect(seen).toEqual(new Set(['true,false', 'false,true']));
    },
    600_000,
  );
});
