/**
 * A job of `trueup ci apply` that is killed in the middle of its writes. The same job again goes on with the rest of what was approved, writes
 * nothing twice, and the history says who approved. In each scene, one attempt after another is killed, until one ends by itself.
 * TRUEUP_ALL_BOUNDARIES=1 tries each write of the ledger.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ApplyScene,
  type GitlabScene,
  openApplyScene,
  openGitlabScene,
} from '../support/ci/apply-scene.ts';
import { role, workspace } from '../support/cli/documents.ts';
import { isRead } from '../support/cli/faulty-proxy.ts';
import { holding } from '../support/cli/held-request.ts';
import { type Exited, startTrueup, trueupProcess } from '../support/cli/process.ts';
import {
  findPostgres,
  type PostgresServer,
  postgresIsRequired,
  startPostgres,
} from '../support/ledger/postgres-server.ts';

/** Else each second boundary is tried. */
const isThorough = process.env['TRUEUP_ALL_BOUNDARIES'] === '1';

const preload = new URL('../support/simulation/kill-at-ledger-write.ts', import.meta.url).href;
const bin = findPostgres();
const isSkipped = bin === undefined && !postgresIsRequired;
let server: PostgresServer | undefined;
beforeAll(() => {
  if (!isSkipped) server = startPostgres(bin ?? '');
});
afterAll(() => server?.stop());

const declared = [
  workspace('app', { description: 'one', tags: { env: 'prod' } }),
  workspace('web', { remoteStateConsumers: ['app'] }),
  workspace('db'),
  role('api'),
];

/** More attempts than any scene needs. */
const maxAttempts = 40;

type Attempt = (number: number) => Promise<Exited>;

/** Starts one attempt after another until one ends by itself. @returns how many were killed, and the one that was not */
async function killAttempts(attempt: Attempt): Promise<{ readonly killed: number; readonly ended: Exited }> {
  for (let number = 1; number <= maxAttempts; number += 1) {
    const ended = await attempt(number);
    if (ended.code !== null) return { killed: number - 1, ended };
  }
  throw new Error('each attempt was killed');
}

interface Boundary {
  /** of the attempt, from 1 */
  readonly write: number;
  readonly when: 'before' | 'after';
}

/** Lets a scene send one write after another to its services, and kills a process at one of them. */
function watchWrites({ bench }: Pick<ApplyScene, 'bench'>) {
  const carried: string[] = [];
  let count = 0;
  let before = Promise.resolve();
  /** Of the process that writes now: kills it at its boundary, and resolves when it is dead. */
  let killAt = (_: Boundary): Promise<undefined> | undefined => undefined;
  bench.wire.guardBy(async (request, pass) => {
    if (isRead(request)) return pass();
    const [mine, turn, over] = [killAt, before, Promise.withResolvers<void>()];
    before = over.promise;
    await turn;
    try {
      if (mine !== killAt) return undefined;
      count += 1;
      const write = count;
      const dead = killAt({ write, when: 'before' });
      if (dead !== undefined) return await dead;
      const answer = await pass();
      if (answer.status < 300) carried.push(`${request.method} ${request.path} ${request.text}`);
      const killed = killAt({ write, when: 'after' });
      return killed === undefined ? answer : await killed;
    } finally {
      over.resolve();
    }
  });
  return {
    /** all that was carried out, in whichever attempt */
    carried,
    run: async (
      args: readonly string[],
      job: ReturnType<ApplyScene['job']>,
      at: Boundary,
    ): Promise<Exited> => {
      const dead = Promise.withResolvers<undefined>();
      let kill = () => {};
      count = 0;
      killAt = ({ write, when }) => {
        if (write !== at.write || when !== at.when) return undefined;
        kill();
        return dead.promise;
      };
      const ended = await trueupProcess(args, job, async ({ signals }) => {
        kill = () => signals('SIGKILL');
      });
      // What it has sent by then is dropped.
      killAt = () => undefined;
      dead.resolve(undefined);
      return ended;
    },
  };
}

/** Where the attempts are killed, one after another. The first write of each is carried out sooner or later, so there is an end. */
const boundaries: readonly Boundary[] = [
  { write: 1, when: 'before' },
  { write: 2, when: 'after' },
  { write: 1, when: 'after' },
  { write: 2, when: 'before' },
];

function boundaryOf(attempt: number): Boundary {
  return boundaries[(attempt - 1) % boundaries.length] ?? { write: 1, when: 'after' };
}

/** Everything is done, nothing was written twice, and each entry of the history names who approved. */
async function expectApplied(
  scene: Pick<ApplyScene, 'run' | 'bench' | 'ciApply'>,
  carried: readonly string[],
  approved: object,
): Promise<void> {
  expect(carried.filter((one, at) => carried.indexOf(one) !== at)).toEqual([]);
  for (const name of ['app', 'web']) expect(await scene.bench.idsOf(name)).toHaveLength(1);
  expect(await scene.bench.tagsOf('app')).toMatchObject({ env: 'prod' });
  await scene.run(['plan', '--exit-code'], 0);
  const { out } = await scene.run(['history', '--limit', '50', '--format', 'json'], 0);
  const entries: readonly { readonly approvals?: readonly object[] }[] = JSON.parse(out).entries;
  // The oldest one is the apply that the scene begins with.
  const ours = entries.slice(0, -1).filter(({ approvals }) => approvals !== undefined);
  expect(ours.length).toBeGreaterThan(0);
  for (const { approvals } of ours) expect(approvals).toMatchObject([approved]);
  const before = scene.bench.wire.writes().length;
  expect((await scene.ciApply(0)).out).toContain('no commits since the last apply');
  expect(scene.bench.wire.writes()).toHaveLength(before);
}

/** It was used up: what it created is not created again. */
async function expectUsedUp(scene: ApplyScene, args: readonly string[] = [], job = {}): Promise<void> {
  await scene.bench.byHand.delete(`/workspaces/${await scene.bench.idOf('web')}`);
  // Without a path, a stack without new commits is not planned.
  await scene.refused(/no valid approval was found|was applied already/, 4, ['.', ...args], job);
}

const attemptEnv = (number: number) => ({ env: { GITHUB_RUN_ATTEMPT: String(number) } });

describe('A job that is killed at its writes to the services', { timeout: 300_000 }, () => {
  it('goes on with what a review approved, with the ledger in git', async () => {
    const scene = await openApplyScene({ spec: { ledger: 'git' } });
    const { pull, digest, approve, merge } = await scene.pull(declared);
    approve('alice');
    merge('squash');
    const { carried, run } = watchWrites(scene);
    const { killed, ended } = await killAttempts((number) =>
      run(['ci', 'apply'], scene.job(attemptEnv(number)), boundaryOf(number)),
    );
    expect(ended, ended.out + ended.err).toMatchObject({ code: 0 });
    expect(killed).toBeGreaterThan(4);
    expect(scene.told(pull)).toContain('Applied');
    await expectApplied(scene, carried, { method: 'review', by: 'alice', digest, pullRequest: 11 });
    await expectUsedUp(scene);
  });

  it.skipIf(isSkipped)(
    'goes on with what an environment approved, with the ledger in PostgreSQL',
    async () => {
      const env = { TRUEUP_LEDGER_URL: server?.newDatabase() ?? '' };
      const scene = await openApplyScene({ spec: { ledger: 'postgres' } }, { env });
      const { digest, merge } = await scene.pull(declared);
      merge();
      const of = scene.github.state.startRun({ id: 771, commit: scene.main(), by: 'ann' });
      await scene.ciApply(0, ['--record']);
      scene.github.state.approveRun(of, { by: 'alice', environment: 'prod' });
      const waited = ['--digest', digest, '--environment', 'prod'];
      const { carried, run } = watchWrites(scene);
      const { killed, ended } = await killAttempts((number) => {
        if (number > 1) scene.github.state.restartRun(of, 'ann');
        return run(['ci', 'apply', ...waited], scene.job(attemptEnv(number)), boundaryOf(number));
      });
      expect(ended, ended.out + ended.err).toMatchObject({ code: 0 });
      expect(killed).toBeGreaterThan(4);
      await expectApplied(scene, carried, { method: 'environment', by: 'alice', digest });
      await expectUsedUp(scene, waited, attemptEnv(killed + 2));
    },
  );

  it('goes on in GitLab as another job, whose own deployment has to be approved', async () => {
    const scene = await openGitlabScene({ spec: { ledger: 'git', approvals: { accept: ['environment'] } } });
    const { digest, merge } = await scene.pull(declared);
    merge();
    await scene.ciApply(0, ['--record'], { env: { CI_JOB_ID: '999', CI_JOB_NAME: 'record' } });
    const waited = ['--digest', digest, '--environment', 'production'];
    const { carried, run } = watchWrites(scene);
    for (const job of [1000, 1001]) approveJob(scene, job);
    const jobOf = (id: number) => ({ env: { CI_JOB_ID: String(id) } });
    const { killed, ended } = await killAttempts((number) =>
      run(['ci', 'apply', ...waited], scene.job(jobOf(999 + number)), { write: 2, when: 'after' }),
    );
    expect([killed, ended.code], ended.out + ended.err).toEqual([2, 4]);
    expect(ended.err).toContain('job 1002 has no deployment to environment "production"');
    approveJob(scene, 1002);
    await scene.ciApply(0, waited, jobOf(1002));
    await expectApplied({ ...scene, ciApply: (code) => scene.ciApply(code, waited, jobOf(1002)) }, carried, {
      ...{ method: 'environment', by: 'alice', digest },
    });
  });
});

function approveJob({ gitlab: { state }, main }: GitlabScene, job: number): void {
  state.clock.pass(60);
  const place = { pipeline: 100, environment: 'production', commit: main(), triggeredBy: 'ann' };
  state.approveDeployment(state.deploy({ job, ...place }), 'alice');
}

/** Kills each attempt at one of its writes to the ledger, a later one each time. @param turn at which of them the first one is killed */
function killAtLedgerWrites(scene: ApplyScene, turn: 1 | 2): Attempt {
  return (number) => {
    const { cwd, env } = scene.job(attemptEnv(number));
    const write = isThorough ? number : 2 * number - 2 + turn;
    const at = `${write}:${number % 2 === turn % 2 ? 'before' : 'after'}`;
    return trueupProcess(['ci', 'apply'], { cwd, env: { ...env, ...killing(at) } });
  };
}

/** @param at as `2:before` */
function killing(at: string): Readonly<Record<string, string>> {
  return { NODE_OPTIONS: `--import ${preload}`, NODE_NO_WARNINGS: '1', KILL_AT_WRITE: at };
}

describe('A job that is killed as it writes the ledger', { timeout: 300_000 }, () => {
  it('goes on with what a signature approved, with the ledger in git', async () => {
    const approvals = { accept: ['signature'], from: [{ signers: 'allowed_signers' }] };
    const scene = await openApplyScene({ spec: { ledger: 'git', approvals } }, { signers: ['alice'] });
    const { pull, digest, merge } = await scene.pull(declared);
    // Without its content: only the ledger has it once an apply has begun.
    await scene.sign({ digest, commit: pull.head, by: 'alice' });
    merge('rebase');
    const { carried } = watchWrites(scene);
    const { killed, ended } = await killAttempts(killAtLedgerWrites(scene, 1));
    expect(ended, ended.out + ended.err).toMatchObject({ code: 0 });
    expect(killed).toBeGreaterThan(3);
    await expectApplied(scene, carried, { method: 'signature', by: 'alice@example.com', digest });
    await expectUsedUp(scene);
  });

  it.skipIf(isSkipped)('goes on with what a review approved, with the ledger in PostgreSQL', async () => {
    const env = { TRUEUP_LEDGER_URL: server?.newDatabase() ?? '' };
    const scene = await openApplyScene({ spec: { ledger: 'postgres' } }, { env });
    const { digest, approve, merge } = await scene.pull(declared);
    approve('alice');
    merge();
    const { carried } = watchWrites(scene);
    const { killed, ended } = await killAttempts(killAtLedgerWrites(scene, 2));
    expect(ended, ended.out + ended.err).toMatchObject({ code: 0 });
    expect(killed).toBeGreaterThan(2);
    await expectApplied(scene, carried, { method: 'review', by: 'alice', digest });
  });

  it('as it records a plan records it in the next attempt, unless the run was approved before that', async () => {
    const scene = await openApplyScene({ spec: { ledger: 'git' } });
    const { digest, merge } = await scene.pull(declared);
    merge();
    const waited = ['--digest', digest, '--environment', 'prod'];
    let id = 770;
    /** In a run of its own, which is then started again. It locks, records, and frees the lock. */
    const killRecord = async (at: string, isApproved: boolean) => {
      id += 1;
      const run = scene.github.state.startRun({ id, commit: scene.main(), by: 'ann' });
      const { cwd, env } = scene.job({ env: { GITHUB_RUN_ID: String(id) } });
      const job = { cwd, env: { ...env, ...killing(at) } };
      const killed = await trueupProcess(['ci', 'apply', '--record'], job);
      expect(killed, killed.out + killed.err).toMatchObject({ code: null });
      const approve = () => scene.github.state.approveRun(run, { by: 'alice', environment: 'prod' });
      if (isApproved) approve();
      scene.github.state.restartRun(run, 'ann');
      return { approve, again: { env: { GITHUB_RUN_ID: String(id), GITHUB_RUN_ATTEMPT: '2' } } };
    };
    for (const at of isThorough ? ['1:after', '2:before'] : ['2:before']) {
      const { again } = await killRecord(at, true);
      await scene.refused('start a new run', 4, ['--record'], again);
      await scene.refused('start a new run', 4, waited, again);
    }
    // Nobody has approved the run by then, so each approval is newer than the plan of its second attempt.
    const late = await killRecord('2:before', false);
    await scene.ciApply(0, ['--record'], late.again);
    await scene.refused('the run has no approval', 4, waited, late.again);
    for (const at of isThorough ? ['3:before', '2:after'] : ['2:after']) {
      const { again } = await killRecord(at, true);
      await scene.ciApply(0, ['--record'], again);
    }
    late.approve();
    const { out } = await scene.ciApply(0, waited, late.again);
    expect(out).toContain('approved by "alice" (environment)');
  });
});

describe('A job that is cancelled', () => {
  it('ends after the write that it has sent, and the same job again does the rest', async () => {
    const scene = await openApplyScene({ spec: { ledger: 'git' } });
    const { digest, approve, merge } = await scene.pull(declared);
    approve('alice');
    merge();
    const { carried } = watchWrites(scene);
    const stuck = holding({ method: 'POST', path: /\/organizations\/acme\/workspaces$/ });
    scene.bench.wire.add(stuck.rule);
    const job = startTrueup(['ci', 'apply'], scene.job());
    await stuck.reached;
    job.kill('SIGTERM');
    await job.says(/interrupted: any write that was sent is waited for/);
    stuck.release();
    const ended = await job.ended;
    expect(ended, ended.out + ended.err).toMatchObject({ code: 130, signal: null });
    expect(ended.err).toContain('Run this job again: it goes on with the rest of what was approved');
    const again = await scene.ciApply(0, [], attemptEnv(2));
    expect(again.out).toContain('approved by "alice"');
    await expectApplied(scene, carried, { method: 'review', by: 'alice', digest });
  });

  it('while it reads the approvals has written nothing', async () => {
    const scene = await openApplyScene({ spec: { ledger: 'git' } });
    const { approve, merge } = await scene.pull(declared);
    approve('alice');
    merge();
    const asked = Promise.withResolvers<void>();
    scene.github.once(({ path }) => {
      if (!path.endsWith('/reviews')) return undefined;
      asked.resolve();
      return { status: 200, silent: true };
    });
    const job = startTrueup(['ci', 'apply'], scene.job());
    await asked.promise;
    job.kill('SIGTERM');
    const ended = await job.ended;
    expect(ended, ended.out + ended.err).toMatchObject({ code: 130, signal: null });
    expect(ended.err).toContain('exit code 130, interrupted: Run this job again');
    expect(scene.bench.wire.writes()).toEqual([]);
    await scene.ciApply(0, [], attemptEnv(2));
  });
});
