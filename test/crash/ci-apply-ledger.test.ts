/**
 * A job of `trueup ci apply` that is killed as it writes the ledger. The same job continues with the rest of what was approved, writes
 * nothing twice, and the history says who approved. In each scene, one attempt after another is killed, until one ends by itself.
 * TRUEUP_BOUNDARIES=all tries each write of the ledger.
 */
import { describe, expect, it } from 'vitest';
import { type ApplyScene, openApplyScene } from '../support/ci/apply-scene.ts';
import {
  type Attempt,
  attemptEnv,
  declared,
  expectApplied,
  expectUsedUp,
  killAttempts,
  postgresOfFile,
  watchWrites,
} from '../support/ci/killed-jobs.ts';
import { trueupProcess } from '../support/cli/process.ts';
import { isThorough } from '../support/simulation/boundaries.ts';
import { preload } from '../support/simulation/preload.ts';

const killer = preload('kill-at-ledger-write');
const { isSkipped, newDatabase } = postgresOfFile();

/** Kills each attempt at a write to the ledger, a later one each time. @param turn the write at which the first attempt is killed */
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
  return { NODE_OPTIONS: `--import ${killer}`, NODE_NO_WARNINGS: '1', KILL_AT_WRITE: at };
}

describe('A job that is killed while it writes the ledger', { timeout: 300_000 }, () => {
  it('continues with what a signature approved, with the ledger in git', async () => {
    const approvals = { accept: ['signature'], from: [{ signers: 'allowed_signers' }] };
    const scene = await openApplyScene({ spec: { ledger: 'git', approvals } }, { signers: ['alice'] });
    const { pull, digest, merge } = await scene.pull(declared);
    // The approval does not contain the plan: only the ledger has the plan once an apply has begun.
    await scene.sign({ digest, commit: pull.head, by: 'alice' });
    merge('rebase');
    const { carried } = watchWrites(scene);
    const { killed, ended } = await killAttempts(killAtLedgerWrites(scene, 1));
    expect(ended, ended.out + ended.err).toMatchObject({ code: 0 });
    expect(killed).toBeGreaterThan(3);
    await expectApplied(scene, carried, { method: 'signature', by: 'alice@example.com', digest });
    await expectUsedUp(scene);
  });

  it.skipIf(isSkipped)('continues with what a review approved, with the ledger in PostgreSQL', async () => {
    const env = { TRUEUP_LEDGER_URL: newDatabase() };
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

  it('records a plan in the next attempt, unless the run was approved before that', async () => {
    const scene = await openApplyScene({ spec: { ledger: 'git' } });
    const { digest, merge } = await scene.pull(declared);
    merge();
    const waited = ['--digest', digest, '--environment', 'prod'];
    let id = 770;
    /** Kills the job in its own run, and restarts the run. The job locks, records, and unlocks. */
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
      await scene.expectRefused('start a new run', 4, ['--record'], again);
      await scene.expectRefused('start a new run', 4, waited, again);
    }
    // The run is not approved by then, so each approval is newer than the plan of its second attempt.
    const late = await killRecord('2:before', false);
    await scene.ciApply(0, ['--record'], late.again);
    await scene.expectRefused('the run has no approval', 4, waited, late.again);
    for (const at of isThorough ? ['3:before', '2:after'] : ['2:after']) {
      const { again } = await killRecord(at, true);
      await scene.ciApply(0, ['--record'], again);
    }
    late.approve();
    const { out } = await scene.ciApply(0, waited, late.again);
    expect(out).toContain('approved by "alice" (environment)');
  });
});
