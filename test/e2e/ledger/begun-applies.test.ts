/** An apply that was interrupted and continues: with what it began, but not past guards that nobody has seen. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { localLedger } from '../../../src/ledger/local-ledger.ts';
import type { ApprovedPlan } from '../../../src/model/approval.ts';
import { type Checkout, openBench, secrets } from '../../support/cli/bench.ts';
import { clusterAuthConfig, role, workspace } from '../../support/cli/documents.ts';
import { startTrueup } from '../../support/cli/process.ts';

const numbered = (count: number) => Array.from({ length: count }, (_, index) => workspace(`app-${index}`));

describe('an apply that continues after an interruption', () => {
  const refuse = { method: 'POST', path: /workspaces$/, body: /"y"/, fault: { answer: 422 } } as const;

  async function approvedOf(stack: Checkout): Promise<unknown> {
    return ((await stack.ledger()) as { readonly approved?: unknown }).approved;
  }

  it('is stopped by a guard that was not shown when it was approved', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('keep'));
    await stack.declare(workspace('keep'), workspace('x'), workspace('y'));
    const { digest } = await stack.plan();
    bench.wire.add(refuse);
    await stack.run(['apply', '--approve', digest], 6);
    expect(await approvedOf(stack)).toMatchObject({ passed: [] });
    await bench.byHand.delete(`/workspaces/${await bench.idOf('x')}`);
    bench.wire.reset();
    const { err } = await stack.run(['apply', '--approve', digest], 5);
    expect(err).toContain('1 guard blocks this plan: recreate');
    expect(bench.wire.writes()).toEqual([]);
    bench.wire.add(refuse);
    await stack.run(['apply', '--approve', digest, '--ack', 'recreate'], 6);
    expect(await approvedOf(stack)).toMatchObject({ digest, passed: ['recreate'] });
  });

  it('passes guards that were acknowledged when it began', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(...numbered(7));
    await stack.declare(...numbered(3), workspace('y'));
    const { digest } = await stack.plan();
    bench.wire.add(refuse);
    await stack.run(['apply', '--approve', digest], 5);
    await stack.run(['apply', '--approve', digest, '--ack', 'deletes'], 6);
    await stack.run(['apply', '--approve', digest], 0);
    expect(await bench.idsOf('y')).toHaveLength(1);
  });

  it('passes no guards if the ledger does not say which were acknowledged', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(...numbered(7));
    await stack.declare(...numbered(3));
    const { digest } = await stack.plan();
    const ack = ['--ack', 'deletes'];
    bench.wire.add({ method: 'POST', path: /safe-delete/, times: 4, fault: { answer: 403 } });
    await stack.run(['apply', '--approve', digest, ...ack], 1);
    const store = localLedger(join(stack.directory, '.trueup/payments.ledger.json'), 'payments');
    const ledger = await store.read();
    const { passed, ...approved } = ledger.approved ?? {};
    expect(passed).toEqual(['deletes']);
    await store.write({ ...ledger, approved: approved as ApprovedPlan });
    expect((await stack.run(['apply', '--approve', digest], 5)).err).toContain('deletes');
    await stack.run(['apply', '--approve', digest, ...ack], 0);
  });
});

describe('the interrupted creation of a config with a reviewer JWT', () => {
  const address = 'ClusterAuthConfig/prod/config';
  const config = clusterAuthConfig({ tokenReviewerJwt: { env: 'REVIEWER_JWT' } });

  /** The service has carried it out, but the apply was killed before the answer. */
  async function interrupted() {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'));
    await stack.declare(workspace('app'), config);
    const { digest } = await stack.plan();
    const at = { cwd: stack.directory, env: { ...secrets, TRUEUP_RUN_ID: '771' } };
    const job = ['apply', '--approve', digest];
    let applying = startTrueup(['--version'], at);
    bench.wire.setHandler(async ({ method, path }, pass) => {
      const answer = await pass();
      if (method !== 'POST' || !path.endsWith('/config')) return answer;
      applying.kill('SIGKILL');
      await applying.ended;
      return undefined;
    });
    applying = startTrueup(job, at);
    await applying.ended;
    bench.wire.setHandler(undefined);
    bench.wire.reset();
    expect((await stack.ledger()).records).not.toHaveProperty([address]);
    return { bench, stack, digest, again: () => startTrueup(job, at).ended };
  }

  it('continues with the same approval, and sends the JWT again, because the stored one is unknown', async () => {
    const { bench, stack, again } = await interrupted();
    const { changes, guards } = await stack.plan();
    expect(changes).toMatchObject([{ action: 'update', fields: [{ path: '/tokenReviewerJwt' }] }]);
    expect(guards.filter(({ effect }) => effect === 'blocks')).toEqual([]);
    const ended = await again();
    expect(ended, ended.out + ended.err).toMatchObject({ code: 0 });
    expect(bench.written()).toEqual(['POST /v1/auth/cluster/config']);
    expect((await stack.ledger()).records[address]).toMatchObject({ origin: 'created' });
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('does not count as ours once any readable field differs', async () => {
    const { bench, stack, again } = await interrupted();
    await bench.byHandMount('POST', 'config', {
      cluster_host: 'https://theirs.internal:6443',
      cluster_ca_cert: (config.spec as Record<string, unknown>)['clusterCaCert'],
      token_reviewer_jwt: 'their.own.jwt',
    });
    expect((await stack.plan()).changes).toMatchObject([{ action: 'adopt' }]);
    expect(await again()).toMatchObject({ code: 4 });
    expect(bench.wire.writes()).toEqual([]);
  });
});

describe('A role that a killed apply created before the ledger had it', () => {
  it('is named by each plan after its manifest is gone, until it is declared again', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'));
    await stack.declare(workspace('app'), role('web'));
    const at = { cwd: stack.directory, env: secrets };
    let applying = startTrueup(['--version'], at);
    bench.wire.setHandler(async ({ method, path }, pass) => {
      const answer = await pass();
      if (method === 'GET' || !path.endsWith('/role/web')) return answer;
      applying.kill('SIGKILL');
      await applying.ended;
      return undefined;
    });
    applying = startTrueup(['apply', '--yes'], at);
    await applying.ended;
    bench.wire.setHandler(undefined);
    await stack.declare(workspace('app'));
    const { out } = await stack.run(['plan'], 0);
    expect(out).toContain('an apply of this stack that did not end may have created it: it is kept');
    await stack.declare(workspace('app'), role('web'));
    const lock = await localLedger(
      join(stack.directory, '.trueup/payments.ledger.json'),
      'payments',
    ).readLock();
    await stack.run(['unlock', '--id', lock?.id ?? ''], 0);
    await stack.run(['apply', '--yes'], 0);
    expect((await stack.ledger()).records['ClusterAuthRole/prod/web']).toMatchObject({ origin: 'created' });
    await stack.declare(workspace('app'));
    await stack.applyAcknowledged();
    await expect(bench.byHandMount('GET', 'role/web')).rejects.toThrow('404');
  });
});
