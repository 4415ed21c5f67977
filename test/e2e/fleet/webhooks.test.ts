// A worker that listens for webhooks, as a real process.
import { createHmac } from 'node:crypto';
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

const secret = 'planted-webhook-secret-0f3d';

describe.skipIf(bin === undefined)('A worker that listens for webhooks', () => {
  it('checks stacks at once after a push', async () => {
    const { remote, work, push, stack, apply } = await openFleet(server(), {
      stacks: ['one'],
      spec: { webhooks: { secret: { env: 'WEBHOOK_SECRET' } } },
      env: { WEBHOOK_SECRET: secret },
    });
    const worker = work('--webhooks', '127.0.0.1:0');
    const [, url = ''] = await worker.waitForText(/listening for webhooks at (\S+)/);
    await worker.waitForText(/infra\/one\/trueup\.yaml: no drift/);
    push(stack('two'));
    await apply('two');
    const body = JSON.stringify({ ref: 'refs/heads/main', repository: { clone_url: remote } });
    const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
    const headers = { 'content-type': 'application/json', 'x-hub-signature-256': signature };
    const answer = await fetch(url, { method: 'POST', headers, body });
    expect([answer.status, await answer.json()]).toEqual([202, { repositories: 1 }]);
    await worker.waitForText(/infra\/two\/trueup\.yaml: no drift/);
    worker.kill('SIGTERM');
    expect((await worker.ended).out).not.toContain(secret);
  });

  it('says what is missing if there is no secret', async () => {
    const { work } = await openFleet(server(), { stacks: [] });
    const { code, err } = await work('--webhooks', '127.0.0.1:0').ended;
    expect(code).toBe(1);
    expect(err).toContain('add "webhooks: { secret: { env: WEBHOOK_SECRET } }" to "spec" of the fleet file');
  });
});
