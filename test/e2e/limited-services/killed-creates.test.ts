/**
 * An apply with `ownership: ledger` that is killed after its first create: the ledger entry of the started create and the creator mark
 * show that the workspace is ours.
 */
import { describe, expect, it } from 'vitest';
import { openBench, secrets } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import { startTrueup } from '../../support/cli/process.ts';
import { lacking } from '../../support/simulation/limited-service.ts';

describe('A workspace that a killed apply created on a service without tag bindings', () => {
  /** The service has created "app", and the apply was killed before it got the answer. */
  async function killed() {
    const bench = await openBench();
    const limited = lacking('tag-bindings');
    bench.wire.setHandler(limited);
    const stack = await bench.checkout({ workspaces: { ownership: 'ledger' } });
    await stack.setUp(workspace('base'));
    const declared = [workspace('base'), workspace('app', { remoteStateConsumers: ['base'] })];
    await stack.declare(...declared);
    const { digest } = await stack.plan();
    const at = { cwd: stack.directory, env: { ...secrets, TRUEUP_RUN_ID: '771' } };
    const job = ['apply', '--approve', digest];
    let applying = startTrueup(['--version'], at);
    bench.wire.setHandler(async (request, pass) => {
      const answer = await limited(request, pass);
      if (request.method !== 'POST' || !request.path.endsWith('/workspaces')) return answer;
      applying.kill('SIGKILL');
      await applying.ended;
      return undefined;
    });
    applying = startTrueup(job, at);
    await applying.ended;
    bench.wire.setHandler(limited);
    expect(await bench.idsOf('app')).toHaveLength(1);
    return { bench, stack, again: () => startTrueup(job, at).ended };
  }

  it('is ours by its creator mark, so the same job can apply the rest', async () => {
    const { bench, stack, again } = await killed();
    const { guards } = await stack.plan();
    expect(guards.filter(({ effect }) => effect === 'blocks')).toEqual([]);
    const ended = await again();
    expect(ended, ended.out + ended.err).toMatchObject({ code: 0 });
    await stack.run(['plan', '--exit-code'], 0);
    await stack.declare(workspace('base'));
    await stack.run(['apply', '--yes'], 0);
    expect(await bench.idsOf('app')).toEqual([]);
  });

  it('is not ours any more after somebody else created it again', async () => {
    const { bench, again } = await killed();
    await bench.byHand.delete(`/workspaces/${await bench.idOf('app')}`);
    await bench.byHand.create({ name: 'app', 'source-name': 'trueup/other' });
    bench.wire.reset();
    expect(await again()).toMatchObject({ code: 9 });
    expect(bench.wire.writes()).toEqual([]);
  });
});
