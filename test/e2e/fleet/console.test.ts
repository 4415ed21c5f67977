// A worker with a console as a real process, with a real PostgreSQL, a real git remote and the embedded service.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openFleet } from '../../support/fleet/scene.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../../support/ledger/postgres-server.ts';

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

describe.skipIf(bin === undefined)('fleet serve', () => {
  it('checks stacks, and shows drift on its console until it is stopped', {
    timeout: 180_000,
  }, async () => {
    const { bench, serve, sql } = await openFleet(server(), { stacks: ['one', 'two'] });
    const attributes = { description: 'changed by hand', 'global-remote-state': true };
    await bench.byHand.patch(`/workspaces/${await bench.idOf('two-app')}`, {
      data: { type: 'workspaces', attributes },
    });
    const worker = serve('--listen', '127.0.0.1:0');
    const [, url = ''] = await worker.waitForText(/the console is at (http:\/\/127\.0\.0\.1:\d+)/);
    await worker.waitForText(/infra\/one\/trueup\.yaml: no drift/);
    await worker.waitForText(/infra\/two\/trueup\.yaml: 1 resource drifted/);
    const page = async (path: string) => {
      const answer = await fetch(new URL(path, url));
      return { status: answer.status, text: await answer.text() };
    };
    const stacks = (await page('/')).text;
    expect(stacks).toContain('<strong>1</strong> needs attention');
    expect(stacks).toContain('<strong>1</strong> in sync');
    const stack = (await page('/stack?repository=infra&path=two%2Ftrueup.yaml')).text;
    expect(stack).toContain('Workspace/acme/two-app');
    expect(stack).toContain('changed by hand');
    expect((await page('/activity')).text).toContain('>drift opened<');
    // No manifest declares this access. A check found it.
    expect((await page('/access?text=any-app')).text).toMatch(/every workspace of its organization.*two-app/);
    expect((await page('/health')).text).toMatch(/>live</);
    // The number of requests of each stack's check is recorded.
    expect(sql('select count(*) from trueup_fleet.stack_requests where requests > 0')).toBe('2');
    expect((await page('/capacity')).text).toMatch(/[\d.]+ %/);
    expect(await page('/healthz')).toEqual({ status: 200, text: 'ok\n' });
    expect((await page('/metrics')).text).toMatch(/^trueup_fleet_stacks\{standing="attention"\} 1$/m);
    worker.kill('SIGTERM');
    expect((await worker.ended).code).toBe(3);
    // The worker removed its own record when it ended.
    expect(sql('select count(*) from trueup_fleet.workers')).toBe('0');
  });

  it('does not listen on a public address if fleet.yaml does not say who may read', async () => {
    const { fleet } = await openFleet(server(), { stacks: [] });
    const refused = await fleet('serve', '--listen', '0.0.0.0:0');
    expect(refused).toMatchObject({
      code: 1,
      err: expect.stringContaining('write spec.console, or listen on 127.0.0.1'),
    });
    const wrong = await fleet('serve', '--listen', 'everywhere');
    expect(wrong.err).toContain('an address and a port, such as 127.0.0.1:8090');
  });
});
