// Automatic applies of a fleet in real worker processes: only merged and approved changes are applied.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { emptyStack, openApplyScene } from '../../support/ci/apply-scene.ts';
import { makeSigner } from '../../support/ci/signers.ts';
import { secrets } from '../../support/cli/bench.ts';
import { githubTokens } from '../../support/code-host/github.ts';
import { workspace } from '../../support/cli/documents.ts';
import { holdRequest } from '../../support/cli/held-request.ts';
import { startTrueup, trueupProcess } from '../../support/cli/process.ts';
import { git } from '../../support/ledger/git-remote.ts';
import { type FleetScene, openFleet } from '../../support/fleet/scene.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../../support/ledger/postgres-server.ts';
import { documentsText } from '../../support/rig/stack-folder.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

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

const noApproval = { approvals: { accept: ['none'] } };

interface Given {
  /** of the stack */
  readonly spec?: object;
  readonly apply?: object;
  /** of fleet.yaml */
  readonly fleet?: object;
  readonly files?: Readonly<Record<string, string>>;
  readonly target?: object;
  readonly env?: Readonly<Record<string, string>>;
}

/** A fleet with the stack `one`, which was applied and checked once. */
async function openOne({
  spec = noApproval,
  apply = {},
  fleet = {},
  files = {},
  target,
  env = {},
}: Given = {}) {
  const scene = await openFleet(server(), {
    stacks: [],
    repository: { apply: { stacks: ['one/*'], ...apply } },
    spec: fleet,
    env,
  });
  scene.push({ ...scene.stack('one', { spec, ...(target === undefined ? {} : { target }) }), ...files });
  await scene.apply('one');
  const first = await scene.fleet('run');
  expect(first.out + first.err).toContain('infra/one/trueup.yaml: no drift');
  scene.bench.wire.reset();
  return scene;
}

/** A freeze that began a few minutes ago, and lasts for half an hour. */
function freezeNow(more: object = {}) {
  const began = new Date(Date.now() - 300_000);
  const schedule = `${began.getUTCMinutes()} ${began.getUTCHours()} * * *`;
  return { freezes: [{ name: 'release', schedule, duration: '30m', ...more }] };
}

/** A stack that needs signatures, and a function that signs its plan. */
async function openSigned(people: readonly string[], given: Given = {}) {
  const keys = temporaryFolder();
  const signers = people.map((name) => makeSigner(keys, name)).join('');
  const scene = await openOne({
    spec: { approvals: { accept: ['signature'], from: [{ signers: 'allowed_signers' }] } },
    files: { 'one/allowed_signers': signers },
    ...given,
  });
  const run = async (...args: readonly string[]) => {
    const ran = await trueupProcess(args, { cwd: scene.clone, env: scene.env });
    expect(ran, ran.out + ran.err).toMatchObject({ code: 0 });
  };
  const sign = async (by: string) => {
    const plan = join(temporaryFolder(), 'plan.json');
    await run('plan', 'one', '--out', plan);
    await run('approve', plan, 'one', '--yes', '--key', join(keys, by));
  };
  return { scene, sign };
}

/** Merges another description of the workspace of a stack. */
function merge({ push }: FleetScene, description: string, stack = 'one'): void {
  push({ [`${stack}/manifests.yaml`]: documentsText([workspace(`${stack}-app`, { description })]) });
}

async function descriptionOf({ bench }: FleetScene, name = 'one-app'): Promise<unknown> {
  const { resources } = await bench.byHand.get('/organizations/acme/workspaces');
  return resources.find(({ attributes }) => attributes['name'] === name)?.attributes['description'];
}

describe.skipIf(bin === undefined)('A fleet', { timeout: 300_000 }, () => {
  it('applies a merged change, and checks the stack again', async () => {
    const scene = await openOne();
    merge(scene, 'changed');
    expect((await scene.fleet('run')).out).toBe(`infra/one/trueup.yaml: no drift
infra/one/trueup.yaml: 1 change applied
infra/one/trueup.yaml: no drift
2 checks: 0 with drift, 0 failed
1 apply: 1 done, 0 waiting, 0 failed
`);
    expect(await descriptionOf(scene)).toBe('changed');
    expect(scene.sql('select outcome, changes, reason from trueup_fleet.applies')).toBe('applied|1|');
    // The history names the fleet.
    const { out } = await trueupProcess(['history', 'one'], { cwd: scene.clone, env: scene.env });
    expect(out).toContain('fleet acme');
  });

  it('does not apply stacks that "apply" does not name', async () => {
    const scene = await openOne({ apply: { stacks: ['other/*'] } });
    merge(scene, 'changed');
    const { out, code } = await scene.fleet('run');
    expect(out).toBe(`infra/one/trueup.yaml: no drift
1 check: 0 with drift, 0 failed
`);
    expect(code).toBe(0);
    expect(scene.bench.wire.writes()).toEqual([]);
  });

  it('does not revert drift without "revertDrift"', async () => {
    const kept = await openOne();
    const reverting = await openOne({ apply: { revertDrift: true } });
    for (const scene of [kept, reverting]) {
      const id = await scene.bench.idOf('one-app');
      await scene.bench.byHand.update(id, { description: 'by hand' });
    }
    expect((await kept.fleet('run', '--all')).out).not.toContain('applied');
    expect(await descriptionOf(kept)).toBe('by hand');
    expect((await reverting.fleet('run', '--all')).out).toContain('1 change applied');
    expect(await descriptionOf(reverting)).toBe('about one');
  });

  it('waits for an approval, says how to give it, and applies after it was given', async () => {
    const { scene, sign } = await openSigned(['alice']);
    merge(scene, 'changed');
    const waiting = await scene.fleet('run');
    expect(waiting.out).toContain('infra/one/trueup.yaml: not applied: nothing was written: ');
    expect(waiting.out).toContain('1 apply: 0 done, 1 waiting, 0 failed');
    expect(scene.bench.wire.writes()).toEqual([]);
    expect(scene.sql('select count(*) from trueup_fleet.applies')).toBe('0');
    await sign('alice');
    const { out } = await scene.fleet('run', '--all');
    expect(out).toContain('infra/one/trueup.yaml: 1 change applied, approved by "alice@example.com"');
    expect(await descriptionOf(scene)).toBe('changed');
    expect(scene.sql('select people from trueup_fleet.applies')).toBe('{alice@example.com}');
    expect(scene.sql('select count(*) from trueup_fleet.waiting_applies')).toBe('0');
  });

  it('never acknowledges a guard', async () => {
    const scene = await openOne({ spec: { ...noApproval, guards: { maxDeletes: 0 } } });
    scene.push({ 'one/manifests.yaml': documentsText([workspace('other')]) });
    const { out } = await scene.fleet('run');
    expect(out).toMatch(/infra\/one\/trueup.yaml: not applied: nothing was written: .*guard/);
    expect(scene.bench.wire.writes()).toEqual([]);
    expect(scene.sql('select because from trueup_fleet.waiting_applies')).toBe('guard');
    expect(out).toMatch(/with this guard acknowledged: "trueup apply one\/trueup.yaml .*--ack /);
    expect((await scene.fleet('status')).out).toContain('1 in need of attention');
    const plan = JSON.parse(scene.sql('select plan from trueup_fleet.waiting_applies'));
    expect(plan.changes.map(({ action }: { action: string }) => action).sort()).toEqual(['create', 'delete']);
    expect(plan.guards).toEqual([expect.objectContaining({ effect: 'blocks' })]);
  });

  it('checks other stacks during a long apply, while another apply waits for a free worker', async () => {
    const scene = await openOne({ apply: { stacks: ['**'] } });
    scene.push(scene.stack('two', { spec: noApproval }));
    await scene.apply('two');
    await scene.fleet('run');
    scene.push(scene.stack('three', { spec: noApproval }));
    await scene.apply('three');
    const held = holdRequest({ method: 'PATCH', path: /workspaces/ });
    scene.bench.wire.add(held.rule);
    merge(scene, 'changed');
    merge(scene, 'changed', 'two');
    const worker = scene.work('--concurrency', '1', '--apply-concurrency', '1');
    await held.reached;
    await worker.waitForText(/three\/trueup.yaml: no drift/);
    scene.makeDue();
    // The stack that is being applied is not checked. The others are checked, even the one whose apply waits.
    await worker.waitForText(/(three\/trueup.yaml: no drift[\s\S]*){2}/);
    expect(scene.sql('select count(*) from trueup_fleet.applies')).toBe('1');
    expect(scene.sql('select count(*) from trueup_fleet.stacks where applying')).toBe('1');
    const { out } = await scene.fleet('status');
    expect(out).toMatch(/^3 stacks: .* 2 working, 1 in sync$/m);
    expect(out.match(/apply waits for a free worker/g)).toHaveLength(1);
    held.release();
    await worker.waitForText(/(1 change applied[\s\S]*){2}/);
    worker.kill('SIGTERM');
    await worker.ended;
    expect([await descriptionOf(scene), await descriptionOf(scene, 'two-app')]).toEqual([
      'changed',
      'changed',
    ]);
    expect(scene.bench.wire.writes().filter(({ method }) => method === 'PATCH')).toHaveLength(2);
  });

  it('does not apply a commit that a newer one replaced meanwhile', async () => {
    const scene = await openOne();
    merge(scene, 'wrong');
    const held = scene.work();
    scene.bench.wire.add({ path: /./, fault: { first: async () => merge(scene, 'right') } });
    await held.waitForText(/1 change applied/);
    held.kill('SIGTERM');
    await held.ended;
    expect(await descriptionOf(scene)).toBe('right');
    expect(scene.bench.wire.writes()).toHaveLength(1);
  });

  it('gives checks no variables for applies', async () => {
    const scene = await openOne({
      apply: { variables: { API_TOKEN: 'WRITE_TOKEN' } },
      env: { WRITE_TOKEN: secrets.API_TOKEN, API_TOKEN: 'refused' },
    }).catch((error: unknown) => error);
    // The check has only the refused token.
    expect(String(scene)).toContain('401');
  });

  it('retries a failed apply after growing delays, and at once after a new commit or with --all', async () => {
    const scene = await openOne();
    merge(scene, 'changed');
    const refused = { method: 'PATCH', path: /workspaces/, fault: { answer: 422 } } as const;
    scene.bench.wire.add({ ...refused, times: 10 });
    const failed = /the apply failed: Workspace\/acme\/one-app: .*422/;
    expect((await scene.fleet('run')).out).toMatch(failed);
    expect(scene.sql('select reason from trueup_fleet.waiting_applies')).toContain('422');
    scene.makeDue();
    expect((await scene.fleet('run')).out).not.toContain('apply');
    // A user who runs all checks has usually removed the cause.
    expect((await scene.fleet('run', '--all')).out).toMatch(failed);
    scene.bench.wire.reset();
    merge(scene, 'changed again');
    expect((await scene.fleet('run')).out).toContain('1 change applied');
  });

  it('applies nothing during a freeze, and then begins with the apply that waited longest', async () => {
    const scene = await openOne({ apply: { stacks: ['**'] }, fleet: freezeNow() });
    scene.push(scene.stack('two', { spec: noApproval }));
    await scene.apply('two');
    for (const stack of ['two', 'one']) {
      merge(scene, 'changed', stack);
      const { out, code } = await scene.fleet('run');
      expect(out).toContain(`infra/${stack}/trueup.yaml: not applied: the freeze "release" lasts until 20`);
      expect(code).toBe(0);
    }
    scene.bench.wire.reset();
    // Checks continue.
    expect((await scene.fleet('run', '--all')).out).toContain('2 checks: 0 with drift, 0 failed');
    expect(scene.bench.wire.writes()).toEqual([]);
    scene.sql("insert into trueup_fleet.moved_time values (interval '1 hour')");
    const { out } = await scene.fleet('run', '--apply-concurrency', '1');
    expect(out.match(/infra.*applied/g)).toEqual([
      'infra/two/trueup.yaml: 1 change applied',
      'infra/one/trueup.yaml: 1 change applied',
    ]);
  });

  it('applies during a freeze only changes that its exceptions approved', async () => {
    const { scene, sign } = await openSigned(['alice', 'bob'], {
      fleet: freezeNow({ except: ['Alice@example.com'] }),
    });
    merge(scene, 'changed');
    await sign('bob');
    expect((await scene.fleet('run')).out).toContain(
      'not applied: nothing was written: the freeze "release"',
    );
    expect(scene.bench.wire.writes()).toEqual([]);
    await sign('alice');
    expect((await scene.fleet('run', '--all')).out).toContain(
      '1 change applied, approved by "alice@example.com" and "bob@example.com"',
    );
  });

  it('waits for the lock of another apply, and does not disturb that apply', async () => {
    const scene = await openOne();
    merge(scene, 'changed');
    const held = holdRequest({ method: 'PATCH', path: /./ });
    scene.bench.wire.add(held.rule);
    git(scene.clone, 'pull', '--quiet');
    const other = startTrueup(['apply', 'one', '--yes'], { cwd: scene.clone, env: scene.env });
    await held.reached;
    expect((await scene.fleet('run')).out).toContain('not applied: stack "one" is locked');
    held.release();
    expect((await other.ended).code).toBe(0);
    expect((await scene.fleet('run', '--all')).out).not.toContain('applied');
    expect(scene.bench.wire.writes()).toHaveLength(1);
  });

  it('reports which variable of the worker is missing', async () => {
    const scene = await openOne({ apply: { variables: { OTHER_TOKEN: 'WRITE_TOKEN' } } });
    merge(scene, 'changed');
    const { out, code } = await scene.fleet('run');
    expect(out).toContain('the apply failed: the environment variable "WRITE_TOKEN" of the worker');
    expect(code).toBe(1);
  });

  it('applies changes that reviewers approved on GitHub, with a token that no stack can use', async () => {
    const hosted = await openApplyScene({ spec: { ledger: 'git' } });
    const { pull, approve, merge: mergePull } = await hosted.pull([workspace('first')]);
    const github = {
      ...{ url: hosted.github.url, repository: hosted.github.state.repository },
      token: { env: 'CODE_HOST_TOKEN' },
    };
    const repository = {
      ...{ name: 'infra', url: hosted.scene.remote.directory, variables: Object.keys(secrets) },
      apply: { stacks: ['pay/*'], github, author: 'github-actions[bot]' },
    };
    const fleetFile = { apiVersion: 'trueup.dev/v1', kind: 'Fleet', metadata: { name: 'acme' } };
    const folder = temporaryFolder({
      'fleet.yaml': JSON.stringify({ ...fleetFile, spec: { repositories: [repository] } }),
    });
    const env = { ...secrets, TRUEUP_FLEET_URL: server().newDatabase(), CODE_HOST_TOKEN: githubTokens.app };
    const fleet = (...args: readonly string[]) => trueupProcess(['fleet', ...args], { cwd: folder, env });
    await fleet('migrate');
    mergePull();
    expect((await fleet('run')).out).toContain('1 waiting');
    expect((await fleet('run', '--all')).out).toContain('1 waiting');
    // Each run updates the same comment.
    const bodies = () =>
      pull.comments.flatMap(({ author, body }) => (author === 'deployer[bot]' ? [body] : []));
    expect(bodies()).toEqual([expect.stringContaining('Not applied, not approved')]);
    approve('alice');
    expect((await fleet('run', '--all')).out).toContain('1 change applied, approved by "alice"');
    expect(bodies()).toEqual([expect.stringContaining('Applied: stack')]);
    // A stack that names the token does not get it.
    const named = { token: { env: 'TRUEUP_FLEET_CODE_HOST_TOKEN' } };
    hosted.push({
      'pay/trueup.yaml': emptyStack(hosted.bench, { spec: { ledger: 'git' }, workspaces: named }),
    });
    const { out } = await fleet('run', '--all');
    expect(out).toContain('"TRUEUP_FLEET_CODE_HOST_TOKEN" is not set');
    expect(out).not.toContain(githubTokens.app);
  });
});
