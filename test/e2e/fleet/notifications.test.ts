// Real workers report drift by manual changes: the code host is a real HTTP server, and workers are killed.
import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { issuesToken, openIssues } from '../../support/code-host/issues.ts';
import { onTerminal } from '../../support/cli/process.ts';
import { openFleet } from '../../support/fleet/scene.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../../support/ledger/postgres-server.ts';

const hasScript = spawnSync('script', ['--version']).status === 0;

const bin = findPostgres();
let started: PostgresServer | undefined;
beforeAll(() => {
  if (bin !== undefined) started = startPostgres(bin);
});
afterAll(() => started?.stop());

async function openScene() {
  if (started === undefined) throw new Error('PostgreSQL is not installed');
  const host = await openIssues('github');
  const github = { url: host.url, repository: 'acme/infra', token: { env: 'ISSUES_TOKEN' } };
  const scene = await openFleet(started, {
    stacks: ['one'],
    spec: { notifications: [{ name: 'issues', github, hold: '0s' }] },
    env: { ISSUES_TOKEN: issuesToken },
  });
  const setByHand = async (description: string) =>
    scene.bench.byHand.patch(`/workspaces/${await scene.bench.idOf('one-app')}`, {
      data: { type: 'workspaces', attributes: { description } },
    });
  return { ...scene, host, setByHand };
}

const timeout = { timeout: 240_000 };
const patient = { timeout: 60_000, interval: 100 };

describe.skipIf(bin === undefined)('A fleet with notifications', () => {
  it('keeps one issue up to date, and shows since when a stack drifts', timeout, async () => {
    const { host, fleet, makeDue, setByHand } = await openScene();
    await setByHand('set by hand');
    expect(await fleet('run')).toMatchObject({ code: 3, err: '' });
    expect(host.issues).toMatchObject([
      { title: 'Drift of stack one (infra/one/trueup.yaml)', state: 'open' },
    ]);
    const body = host.issues[0]?.body;
    expect(body).toMatch(/^-.*about one/m);
    expect(body).toMatch(/^\+.*set by hand/m);
    expect(body).toContain('`trueup accept one`');
    expect((await fleet('status')).out).toMatch(
      /one\/trueup\.yaml {2}1 resource drifted \(for \d+ s\), checked/,
    );
    const [stack] = JSON.parse((await fleet('status', '--format', 'json')).out).stacks;
    expect(stack).toMatchObject({
      driftedSince: expect.stringMatching(/^20/),
      driftChanged: expect.any(String),
    });
    await setByHand('about one');
    host.always(({ method }) => (method === 'PATCH' ? { status: 503 } : undefined));
    makeDue();
    expect(await fleet('run')).toMatchObject({ code: 0 });
    const { out } = await fleet('status');
    expect(out).toMatch(
      /messages to "acme\/issues acme\/infra" cannot be sent for \d+ s: PATCH .* answered 503/,
    );
    expect(out).toContain('no drift');
  });

  it.skipIf(!hasScript)('shows no progress of its messages on a terminal', timeout, async () => {
    const { host, setByHand, folder, env } = await openScene();
    await setByHand('set by hand');
    // Long enough to draw a line of progress.
    host.gate(
      () => true,
      () => sleep(700),
    );
    const { code, screen } = await onTerminal(['fleet', 'run'], { cwd: folder, env });
    expect(code).toBe(3);
    expect(host.issues).toHaveLength(1);
    expect(screen).toContain('infra/one/trueup.yaml: 1 resource drifted');
    expect(screen).not.toContain('Reading');
  });

  it('opens no second issue when a worker is killed before it records the first one', timeout, async () => {
    const { host, setByHand, work, sql } = await openScene();
    await setByHand('set by hand');
    const { promise: never } = Promise.withResolvers<void>();
    // After it created an issue, a worker reads whether there is an older one.
    host.gate(
      ({ query }) => query.has('since'),
      () => never,
    );
    const first = work();
    await vi.waitFor(() => expect(host.asked.some(({ query }) => query.has('since'))).toBe(true), patient);
    first.kill('SIGKILL');
    await first.ended;
    host.gate(
      () => false,
      () => never,
    );
    expect(host.issues).toHaveLength(1);
    sql("insert into trueup_fleet.moved_time values ('3 minutes')");
    const second = work();
    const number = () => sql('select coalesce(max(issue), 0) from trueup_fleet.sent_messages').trim();
    await vi.waitFor(() => expect(number()).toContain('1'), patient);
    second.kill('SIGTERM');
    await second.ended;
    expect(host.issues).toHaveLength(1);
    expect(host.writes().filter((write) => write === 'POST /repos/acme/infra/issues')).toHaveLength(1);
  });
});
