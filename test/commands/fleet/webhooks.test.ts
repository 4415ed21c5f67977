// Webhooks over real HTTP, with the headers and bodies that GitHub and GitLab document.
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { askForRead, listenForWebhooks, takePushes } from '../../../src/commands/fleet/webhooks.ts';
import { openFleetDatabase } from '../../support/fleet/database.ts';
import { fleetRepository } from '../../support/fleet/repository.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../../support/ledger/postgres-server.ts';

const secret = 'planted-webhook-secret-71aa';

const repositories = [
  fleetRepository({ name: 'platform', url: 'https://git.example.com/acme/platform.git' }),
  fleetRepository({ name: 'release', url: 'https://git.example.com/acme/platform.git', ref: 'release' }),
  fleetRepository({ name: 'teams', url: 'git@git.example.com:acme/teams.git' }),
];

async function listen(ask?: (names: readonly string[]) => Promise<void>) {
  const asked: (readonly string[])[] = [];
  const listening = await listenForWebhooks({
    ...{ host: '127.0.0.1', port: 0, secret },
    repositories: () => repositories,
    ask: ask ?? (async (names) => void asked.push(names)),
  });
  onTestFinished(() => listening.close());
  const send = async (body: string, headers: Readonly<Record<string, string>>) => {
    const answer = await fetch(`${listening.url}/webhook`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    });
    await answer.text();
    return answer.status;
  };
  return { asked, send };
}

function signed(body: string, key = secret) {
  return { 'x-hub-signature-256': `sha256=${createHmac('sha256', key).update(body).digest('hex')}` };
}

const pushToGithub = (ref: string) =>
  JSON.stringify({
    ref,
    repository: {
      clone_url: 'https://git.example.com/acme/platform.git',
      ssh_url: 'git@git.example.com:acme/platform.git',
    },
  });

describe('A webhook', () => {
  it('of GitHub triggers a read of the repositories that follow the branch', async () => {
    const { asked, send } = await listen();
    const body = pushToGithub('refs/heads/main');
    expect(await send(body, signed(body))).toBe(202);
    const other = pushToGithub('refs/heads/feature');
    expect(await send(other, signed(other))).toBe(202);
    expect(asked).toEqual([['platform'], []]);
  });

  it('of GitHub can be a form that contains the JSON', async () => {
    const { asked, send } = await listen();
    const body = new URLSearchParams({ payload: pushToGithub('refs/heads/main') }).toString();
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    expect(await send(body, { ...type, ...signed(body) })).toBe(202);
    expect(asked).toEqual([['platform']]);
  });

  it('of GitLab does the same, with any form of the address in fleet.yaml', async () => {
    const { asked, send } = await listen();
    const project = { git_http_url: 'https://git.example.com/acme/teams.git' };
    const body = JSON.stringify({ object_kind: 'push', ref: 'refs/heads/main', project });
    expect(await send(body, { 'x-gitlab-token': secret })).toBe(202);
    expect(asked).toEqual([['teams']]);
  });

  it('without the secret is refused, and triggers no read', async () => {
    const { asked, send } = await listen();
    const body = pushToGithub('refs/heads/main');
    for (const headers of [
      {},
      signed(body, 'another secret'),
      signed(`${body} `),
      { 'x-hub-signature-256': '' },
      { 'x-gitlab-token': 'another secret' },
      { ...signed(body, 'another secret'), 'x-gitlab-token': secret },
    ])
      expect(await send(body, headers)).toBe(401);
    expect(asked).toEqual([]);
  });

  it('that is a ping, not JSON, or too large triggers no read', async () => {
    const { asked, send } = await listen();
    for (const body of [
      '{"zen":"Keep it logically awesome."}',
      '[1]',
      'payload=%7B%7D',
      '{"ref":"refs/heads/main"}',
    ])
      expect(await send(body, signed(body))).toBe(200);
    const large = JSON.stringify({ ref: 'x'.repeat(1_048_577) });
    expect(await send(large, signed(large))).toBe(413);
    expect(asked).toEqual([]);
  });

  it('is refused while the database is down, so that the code host sends it again', async () => {
    const { send } = await listen(() => Promise.reject(new Error('away')));
    const body = pushToGithub('refs/heads/main');
    expect(await send(body, signed(body))).toBe(503);
  });
});

const bin = findPostgres();
let server: PostgresServer | undefined;
beforeAll(() => {
  if (bin !== undefined) server = startPostgres(bin);
});
afterAll(() => server?.stop());

describe.skipIf(bin === undefined)('A thousand webhooks for one push', () => {
  it('trigger one read, by one worker', async () => {
    const { client, connect } = await openFleetDatabase(server);
    const other = await connect();
    for (let sent = 0; sent < 1000; sent += 1) await askForRead(client, ['platform']);
    const taken = await Promise.all(
      [client, other].map((worker) => takePushes(worker, ['platform', 'teams'])),
    );
    expect(taken.flat()).toEqual(['platform']);
  });

  it('during a read trigger one more read, a few seconds later', async () => {
    const { client, advance } = await openFleetDatabase(server);
    await askForRead(client, ['platform']);
    expect(await takePushes(client, ['platform'])).toEqual(['platform']);
    await advance(10);
    await askForRead(client, ['platform', 'platform']);
    expect(await takePushes(client, ['platform'])).toEqual([]);
    await advance(5000);
    expect(await takePushes(client, ['platform'])).toEqual(['platform']);
    await advance(60_000);
    expect(await takePushes(client, ['platform'])).toEqual([]);
  });

  it('are handled by a worker that knows the repository', async () => {
    const { client } = await openFleetDatabase(server);
    await askForRead(client, ['platform']);
    expect(await takePushes(client, ['teams'])).toEqual([]);
    expect(await takePushes(client, ['platform'])).toEqual(['platform']);
  });
});
