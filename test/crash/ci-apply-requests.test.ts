/**
 * A job of `trueup ci apply` that is killed at its writes to the services. The same job continues with the approved rest, writes
 * nothing twice, and the history says who approved. In each scene, one attempt after another is killed, until one ends by itself.
 */
import { describe, expect, it } from 'vitest';
import { type GitlabScene, openApplyScene, openGitlabScene } from '../support/ci/apply-scene.ts';
import {
  attemptEnv,
  type Boundary,
  declared,
  expectApplied,
  expectUsedUp,
  killAttempts,
  postgresOfFile,
  watchWrites,
} from '../support/ci/killed-jobs.ts';

const { isSkipped, newDatabase } = postgresOfFile();

/** Where the attempts are killed, one after another. The first write of each succeeds in some attempt, so the loop ends. */
const boundaries: readonly Boundary[] = [
  { write: 1, when: 'before' },
  { write: 2, when: 'after' },
  { write: 1, when: 'after' },
  { write: 2, when: 'before' },
];

function boundaryOf(attempt: number): Boundary {
  return boundaries[(attempt - 1) % boundaries.length] ?? { write: 1, when: 'after' };
}

describe('A job that is killed at its writes to the services', { timeout: 300_000 }, () => {
  it('continues with what a review approved, with the ledger in git', async () => {
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
    expect(scene.applyComment(pull)).toContain('Applied');
    await expectApplied(scene, carried, { method: 'review', by: 'alice', digest, pullRequest: 11 });
    await expectUsedUp(scene);
  });

  it.skipIf(isSkipped)(
    'continues with what an environment approved, with the ledger in PostgreSQL',
    async () => {
      const env = { TRUEUP_LEDGER_URL: newDatabase() };
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

  it('continues in GitLab as another job, whose own deployment must be approved', async () => {
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
