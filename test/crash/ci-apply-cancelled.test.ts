/** A job of `trueup ci apply` that is cancelled: it stops cleanly, and the same job does the rest when it runs again. */
import { describe, expect, it } from 'vitest';
import { openApplyScene } from '../support/ci/apply-scene.ts';
import { attemptEnv, declared, expectApplied, watchWrites } from '../support/ci/killed-jobs.ts';
import { holdRequest } from '../support/cli/held-request.ts';
import { startTrueup } from '../support/cli/process.ts';

describe('A job that is cancelled', () => {
  it('ends after the write that it has sent, and does the rest when it runs again', async () => {
    const scene = await openApplyScene({ spec: { ledger: 'git' } });
    const { digest, approve, merge } = await scene.pull(declared);
    approve('alice');
    merge();
    const { carried } = watchWrites(scene);
    const stuck = holdRequest({ method: 'POST', path: /\/organizations\/acme\/workspaces$/ });
    scene.bench.wire.add(stuck.rule);
    const job = startTrueup(['ci', 'apply'], scene.job());
    await stuck.reached;
    job.kill('SIGTERM');
    await job.waitForText(/interrupted: any write that was sent is waited for/);
    stuck.release();
    const ended = await job.ended;
    expect(ended, ended.out + ended.err).toMatchObject({ code: 130, signal: null });
    expect(ended.err).toContain('Run this job again: it goes on with the rest of what was approved');
    const again = await scene.ciApply(0, [], attemptEnv(2));
    expect(again.out).toContain('approved by "alice"');
    await expectApplied(scene, carried, { method: 'review', by: 'alice', digest });
  });

  it('has written nothing if it was still reading the approvals', async () => {
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
