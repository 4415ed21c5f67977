// Applies that a fleet makes by itself, by real worker processes: what was merged, and nothing that is not approved.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openFleet } from '../../support/fleet/scene.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../../support/ledger/postgres-server.ts';
import { documentsText } from '../../support/rig/stack-folder.ts';
import { workspace } from '../../support/cli/documents.ts';

const bin = findPostgres();
let started: PostgresServer | undefined;
beforeAll(() => {
  if (bin !== undefined) started = startPostgres(bin);
});
afterAll(() => started?.stop());

function server(): PostgresServer {
  if (started === undefined) throw new Error('PostgreSQL is not installed');
  return started;
}

const free = { approvals: { accept: ['none'] } };

describe.skipIf(bin === undefined)('A fleet that may apply', () => {
  it('applies what was merged', { timeout: 120_000 }, async () => {
    const scene = await openFleet(server(), { stacks: [], repository: { apply: { stacks: ['one/*'] } } });
    scene.push(scene.stack('one', { spec: free }));
    await scene.apply('one');
    await scene.fleet('migrate');
    expect((await scene.fleet('run')).out).toContain('no drift');
    scene.push({ 'one/manifests.yaml': documentsText([workspace('one-app', { description: 'changed' })]) });
    expect((await scene.fleet('run')).out).toContain(`infra/one/trueup.yaml: 1 change applied
infra/one/trueup.yaml: no drift
2 checks: 0 with drift, 0 failed
1 apply: 1 done, 0 waiting, 0 failed
`);
  });
});
