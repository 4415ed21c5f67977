/** An apply that was interrupted and continues: with what it began, but not past guards that nobody has seen. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { localLedger } from '../../../src/ledger/local-ledger.ts';
import type { ApprovedPlan } from '../../../src/model/approval.ts';
import { type Checkout, openBench, secrets } from '../../support/cli/bench.ts';
import { clusterAuthConfig, document, role, workspace } from '../../support/cli/documents.ts';
import { killApply } from '../../support/cli/kill-apply.ts';
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
  const notice = 'an apply of this stack that did not end may have created it: it is kept';
  const address = 'ClusterAuthRole/prod/web';

  async function begun() {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'));
    await stack.declare(workspace('app'), role('web'));
    await killApply(bench, stack, /\/role\/web$/);
    await stack.declare(workspace('app'));
    return { bench, stack, isLive: () => bench.byHandMount('GET', 'role/web') };
  }

  it('is named by each plan after its manifest is gone, also after applies, with and without changes', async () => {
    const { stack } = await begun();
    expect((await stack.run(['plan'], 0)).out).toContain(notice);
    await stack.run(['apply', '--yes'], 0);
    expect((await stack.run(['plan'], 0)).out).toContain(notice);
    await stack.run(['apply', '--yes'], 0);
    expect((await stack.run(['plan'], 0)).out).toContain(notice);
    await stack.declare(workspace('app'), workspace('more'));
    await stack.run(['apply', '--yes'], 0);
    expect((await stack.run(['plan'], 0)).out).toContain(notice);
    expect((await stack.run(['ledger', 'show'], 0)).out).toContain(address);
  });

  it('counts as created by this stack once it is declared again, even after other applies', async () => {
    const { stack, isLive } = await begun();
    await stack.run(['apply', '--yes'], 0);
    await stack.declare(workspace('app'), role('web'));
    await stack.run(['apply', '--yes'], 0);
    expect((await stack.ledger()).records[address]).toMatchObject({ origin: 'created' });
    await stack.declare(workspace('app'));
    await stack.applyAcknowledged();
    await expect(isLive()).rejects.toThrow('404');
    expect((await stack.run(['plan'], 0)).out).not.toContain(notice);
  });

  it('is deleted by the steps of the notice, even if it was declared differently in between', async () => {
    const { stack, isLive } = await begun();
    await stack.run(['apply', '--yes'], 0);
    await stack.declare(workspace('app'), role('web', { tokenTtl: '7m' }));
    await stack.applyAcknowledged();
    await stack.declare(workspace('app'), {
      ...role('web'),
      metadata: { name: 'web', remove: 'safe' },
      spec: undefined,
    });
    await stack.applyAcknowledged();
    await expect(isLive()).rejects.toThrow('404');
  });

  it('stays without a notice after the other steps of the notice', async () => {
    const { stack, isLive } = await begun();
    const kept = role('web');
    await stack.declare(workspace('app'), { ...kept, metadata: { name: 'web', onRemove: 'release' } });
    await stack.run(['apply', '--yes'], 0);
    await stack.declare(workspace('app'));
    await stack.applyAcknowledged();
    expect(await isLive()).toBeDefined();
    expect((await stack.run(['plan'], 0)).out).not.toContain(notice);
  });

  it('stays known to an apply of a part that the service refuses', async () => {
    const { bench, stack } = await begun();
    await stack.declare(workspace('app'), role('web', { tokenTtl: '7m' }));
    bench.wire.add({ method: 'POST', path: /role\/web$/, times: 9, fault: { answer: 400 } });
    await stack.tryRun(['apply', '--select', address, '--yes', '--ack', 'adopt']);
    bench.wire.reset();
    await stack.declare(workspace('app'));
    expect((await stack.run(['plan'], 0)).out).toContain(notice);
    await stack.declare(workspace('app'), role('web'));
    await stack.applyAcknowledged();
    expect((await stack.ledger()).records[address]).toMatchObject({ origin: 'created' });
  });

  it('stays known to an apply that could not read it', async () => {
    const { bench, stack } = await begun();
    await stack.declare(workspace('app'), workspace('more'), role('web'));
    bench.wire.add({ method: 'GET', path: /role\/web$/, times: 9, fault: { answer: 403 } });
    const refused = await stack.tryRun(['apply', '--yes']);
    expect(refused.code, refused.out + refused.err).not.toBe(0);
    bench.wire.reset();
    await stack.run(['apply', '--yes'], 0);
    expect((await stack.ledger()).records[address]).toMatchObject({ origin: 'created' });
  });

  it('is forgotten once it is gone', async () => {
    const { bench, stack } = await begun();
    await stack.run(['apply', '--yes'], 0);
    await bench.byHandMount('DELETE', 'role/web');
    await stack.run(['apply', '--yes'], 0);
    expect((await stack.run(['ledger', 'show'], 0)).out).not.toContain(address);
    await bench.byHandMount('POST', 'role/web', roleByHand);
    expect((await stack.run(['plan'], 0)).out).not.toContain(notice);
  });
});

it('A project that a killed apply created stays known while its manifest is gone', async () => {
  const bench = await openBench();
  const stack = await bench.checkout();
  // In a stack with cluster auth, all begun creations are searched for its roles.
  const file = join(stack.directory, 'trueup.yaml');
  const { spec, ...rest } = JSON.parse(await readFile(file, 'utf8'));
  const targets = spec.targets.filter(({ service }: { service: string }) => service === 'workspaces');
  await writeFile(file, JSON.stringify({ ...rest, spec: { ...spec, targets } }));
  await stack.setUp(workspace('app'));
  await stack.declare(workspace('app'), document('Project')('shop'));
  await killApply(bench, stack, /\/projects$/);
  await stack.declare(workspace('app', { autoApply: true }));
  await stack.applyAcknowledged();
  await stack.declare(workspace('app'), document('Project')('shop'));
  await stack.applyAcknowledged();
  expect((await stack.ledger()).records['Project/acme/shop']).toMatchObject({ origin: 'created' });
});

const roleByHand = {
  bound_service_account_names: ['theirs'],
  bound_service_account_namespaces: ['theirs'],
};

it('A plan during an apply says that it has not ended yet about what it creates', async () => {
  const bench = await openBench();
  const stack = await bench.checkout();
  await stack.setUp(workspace('app'));
  await stack.declare(workspace('app'), role('web'));
  let shown = '';
  bench.wire.setHandler(async ({ method, path }, pass) => {
    const answer = await pass();
    if (method !== 'POST' || !path.endsWith('/role/web')) return answer;
    await stack.declare(workspace('app'));
    bench.wire.setHandler(undefined);
    shown = (await stack.run(['plan'], 0)).out;
    return answer;
  });
  await startTrueup(['apply', '--yes'], { cwd: stack.directory, env: secrets }).ended;
  expect(shown).toContain('has not ended yet');
  expect(shown).not.toContain('did not end');
});

it('A config that a killed apply wrote is named, and never said to be deleted', async () => {
  const bench = await openBench();
  const stack = await bench.checkout();
  await stack.setUp(workspace('app'));
  await stack.declare(workspace('app'), clusterAuthConfig());
  await killApply(bench, stack, /\/config$/);
  await stack.declare(workspace('app'));
  const { out } = await stack.run(['plan'], 0);
  expect(out).toContain('did not end may have created it');
  expect(out).toContain('it is never deleted');
  expect(out).not.toContain('to delete it');
  await stack.declare(workspace('app'), clusterAuthConfig());
  await stack.applyAcknowledged();
  await stack.declare(workspace('app'));
  await stack.applyAcknowledged();
  expect((await stack.run(['plan'], 0)).out).not.toContain('may have created');
});

describe('A damaged entry of the history', () => {
  async function damaged(text = '{"version": 99, "id":'): Promise<Checkout> {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'), role('web'));
    const history = join(stack.directory, '.trueup/payments.history');
    await writeFile(join(history, '29990101T000000000Z-aaaa.json'), text);
    return stack;
  }

  it('is a warning of plan, apply and drift if every declared resource has a record', async () => {
    const stack = await damaged();
    for (const command of [['plan'], ['drift'], ['apply', '--yes']]) {
      const { err } = await stack.run(command, 0);
      expect(err).toContain('warning[begun-unknown]');
      expect(err).toContain('29990101T000000000Z-aaaa.json');
    }
  });

  it.each([
    { begunFields: [{ address: 'nonsense', fields: [] }] },
    { begunFields: [{ address: 'Workspace/acme/app', fields: [{}] }] },
    { openCreations: ['nonsense'] },
  ])('is a warning as well if it is complete JSON with %j', async (members) => {
    const [id, began] = ['29990101T000000000Z-aaaa', '2999-01-01T00:00:00.000Z'];
    const entry = { version: 1, id, stack: 'payments', run: { id: 'x' }, began, ended: began, changes: [] };
    const stack = await damaged(JSON.stringify({ ...entry, ...members }));
    expect((await stack.run(['plan'], 0)).err).toContain('warning[begun-unknown]');
  });

  it('stops a plan that needs it for a declared resource without a record', async () => {
    const stack = await damaged();
    await stack.declare(workspace('app'), role('web'), role('more'));
    expect((await stack.run(['plan'], 1)).err).toContain('29990101T000000000Z-aaaa.json');
  });

  it('is a finding of doctor', async () => {
    const stack = await damaged();
    const { out } = await stack.tryRun(['doctor']);
    expect(out).toContain('29990101T000000000Z-aaaa.json');
    expect(out).toContain('restore it from a backup, or remove it');
  });
});
