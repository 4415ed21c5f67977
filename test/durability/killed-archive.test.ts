// An archive that is killed at any point, again and again, has every event exactly once in the end.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Archive } from '../../src/audit-trail/archive.ts';
import { archiveStores } from '../support/audit/stores.ts';
import { servedEvents, serveTrail } from '../support/audit/trail-service.ts';
import { startTrueup } from '../support/cli/process.ts';
import { stackIn, workspacesTarget } from '../support/rig/stack-folder.ts';
import { temporaryFolder } from '../support/rig/temporary-folder.ts';

const all = 20_000;
/** When each process is killed: `later` milliseconds after it requested `page` pages. */
const points = fc.sample(
  fc.record({ page: fc.integer({ min: 1, max: all / 1000 - 2 }), later: fc.nat(60) }),
  8,
);
/** Long, because each start reads the trail from its beginning again. */
const minutes = 5 * 60_000;

async function idsIn(archive: Archive): Promise<string[]> {
  const [trail = ''] = await archive.trails();
  const ids: string[] = [];
  for await (const some of archive.newestFirst(trail)) ids.push(...some.map(({ id }) => id));
  return ids.reverse();
}

for (const [storeName, storeOf, isAvailable] of archiveStores) {
  const store = storeOf();
  const variants = [
    ['oldest', false],
    ['newest', true],
  ] as const;
  it.skipIf(!isAvailable).each(variants)(
    `an archive in ${storeName} survives kills at random points, with the %s event first`,
    { timeout: minutes },
    async (_, newestFirst) => {
      const service = await serveTrail(servedEvents(all), { newestFirst });
      const name = store.newName();
      const isFile = !name.startsWith('postgres:');
      const env = { API_TOKEN: 'a-token', AUDIT_TOKEN: 'an-audit-token', TRUEUP_AUDIT_URL: name };
      const targets = [workspacesTarget(service.url, { auditToken: { env: 'AUDIT_TOKEN' } })];
      const { directory } = stackIn({ directory: temporaryFolder(), stack: { targets }, env });
      const start = () =>
        startTrueup(['audit', 'archive', '--to', isFile ? name : 'postgres'], { cwd: directory, env });
      for (const [killed, { page, later }] of points.entries()) {
        const before = service.requests.length;
        const toKill = [start(), ...(killed % 4 === 3 ? [start()] : [])];
        service.override = (_request, count) => {
          if (count === before + page)
            setTimeout(() => {
              for (const each of toKill) each.kill('SIGKILL');
            }, later);
          return undefined;
        };
        for (const { ended } of toKill) expect((await ended).signal).toBe('SIGKILL');
      }
      service.override = () => undefined;
      service.events.push(...servedEvents(1, all + 1));
      for (const { code, err } of await Promise.all([start(), start()].map(({ ended }) => ended)))
        expect([code, err]).toEqual([0, '']);
      expect(await idsIn(store.open(name))).toEqual(servedEvents(all + 1).map(({ id }) => id));
    },
  );
}
