/** A target whose address changed since the last apply: one finding, nothing is sent, and no record is trusted. */
import { describe, expect, it } from 'vitest';
import {
  type Bench,
  type Checkout,
  openBench,
  type StackOptions,
  toVersion1,
} from '../../support/cli/bench.ts';
import { consumers, role, workspace } from '../../support/cli/documents.ts';
import { storeOf } from '../../support/cli/locked-stack.ts';
import { dialectUnderTest } from '../../support/rig/dialect-under-test.ts';

const app = workspace('app', { autoApply: true, tags: { env: 'prod' } });
const old = workspace('old');
const reader = workspace('reader');
const documents = [app, old, reader, consumers('app', { consumers: ['reader'] }), role('web'), role('gone')];

/** A stack that was applied and then got other addresses, and fewer manifests. */
async function withNewAddress(to: StackOptions): Promise<{ bench: Bench; stack: Checkout }> {
  const bench = await openBench({ others: ['other'], mounts: ['cluster', 'second'] });
  const before = await bench.checkout();
  await before.setUp(...documents);
  const stack = await before.reconfigure(to);
  await stack.declare(workspace('app', { autoApply: false }), reader, role('web'));
  bench.wire.reset();
  return { bench, stack };
}

const other = { workspaces: { organization: 'other' } };

describe('a target whose address was changed', () => {
  it.each<[string, StackOptions, string, string]>([
    ['another organization', other, 'other at http', 'acme at http'],
    ['another mount', { clusterAuth: { mount: 'second' } }, 'auth/second at http', 'auth/cluster at http'],
    [
      'another namespace',
      { clusterAuth: { namespace: 'team' } },
      'team/auth/cluster at http',
      'auth/cluster at http',
    ],
  ])(
    'to %s is one finding: nothing of it is read, and nothing is written anywhere',
    async (_, to, is, was) => {
      const { bench, stack } = await withNewAddress(to);
      const plan = await stack.plan(9);
      expect(plan.problems).toHaveLength(1);
      expect(plan.problems[0]).toMatchObject({ code: 'target-moved', severity: 'error' });
      expect(plan.problems[0]?.found).toContain(is);
      expect(plan.problems[0]?.allowed).toContain(was);
      expect(plan.coverage.complete).toBe(false);
      const name = plan.problems[0]?.fix?.split(' ').at(-1);
      expect(plan.changes.filter(({ address }) => address.includes(`/${name}/`))).toEqual([]);
      expect(plan.changes.filter(({ action }) => action === 'delete')).toEqual([]);
      const { out, err } = await stack.run(['apply', '--yes'], 9);
      expect(err).toContain('nothing was written');
      expect(out).toContain(`recover --moved ${name}`);
      expect(bench.wire.writes()).toEqual([]);
      const place = name === 'acme' ? /api\/v2/ : /v1\/(auth|sys)/;
      expect(bench.wire.seen.filter(({ path }) => place.test(path))).toEqual([]);
    },
  );

  it('is usable again once its address is changed back', async () => {
    const { stack } = await withNewAddress(other);
    const back = await stack.reconfigure({ workspaces: {} });
    await back.declare(...documents);
    await back.run(['plan', '--exit-code'], 0);
  });

  it('only in its spelling is still the same target', async () => {
    const { bench, stack } = await withNewAddress({ workspaces: { url: '' } });
    const same = await stack.reconfigure({
      workspaces: { url: `${bench.wire.url.replace('http', 'HTTP')}/` },
    });
    await same.declare(...documents);
    await same.run(['plan', '--exit-code'], 0);
  });
});

it('a target that a stack declares again is blocked if its former address was never recorded', async () => {
  const bench = await openBench({ mounts: ['cluster', 'theirs'] });
  const stack = await bench.checkout();
  await stack.setUp(workspace('app'), role('web'), role('old'));
  await toVersion1(stack);
  const left = await stack.reconfigure({ spec: { targets: [targetsOf(bench).acme] } });
  await left.declare(workspace('app'));
  await left.run(['apply', '--yes'], 0);
  await bench.byHandMount(
    'POST',
    'role/old',
    (await bench.byHandMount('GET', 'role/old')) as object,
    'theirs',
  );
  const back = await stack.reconfigure({ clusterAuth: { mount: 'theirs' } });
  await back.declare(workspace('app'), role('web'));
  bench.wire.reset();
  const { out } = await back.run(['apply', '--yes'], 9);
  expect(out).toContain('target-moved');
  expect(out).toContain('an address that was not recorded');
  expect(bench.wire.writes()).toEqual([]);
});

const targetsOf = ({ wire }: Bench) => ({
  acme: {
    name: 'acme',
    service: 'workspaces',
    organization: 'acme',
    token: { env: 'API_TOKEN' },
    url: wire.url,
    dialect: dialectUnderTest,
  },
});

describe('recover --moved', () => {
  const args = ['recover', '--moved', 'acme'];

  it('keeps the records whose ids it finds, and names the others that it drops', async () => {
    const { bench, stack } = await withNewAddress(other);
    // Nothing in the new organization has a recorded id.
    await bench.byHand.post('/organizations/other/workspaces', {
      data: { type: 'workspaces', attributes: { name: 'app' } },
    });
    const { out } = await stack.run([...args, '--yes'], 0);
    expect(bench.wire.writes()).toEqual([]);
    expect(out).toMatch(/target "acme" {2}workspaces acme at http.*\n +now {2}workspaces other at http/);
    expect(out).toContain('nothing is carried over');
    expect(out).toMatch(/Workspace\/acme\/app: no resource with its id ws-\w+ was found/);
    expect(out).toContain('RemoteStateConsumers/acme/app: its parent "Workspace/acme/app" was not found');
    const { records } = await stack.ledger();
    expect(Object.keys(records)).toEqual(['ClusterAuthRole/prod/gone', 'ClusterAuthRole/prod/web']);
    // The workspace with that name has no known owner, and is not changed.
    const plan = await stack.plan(9);
    expect(plan.problems).toMatchObject([{ code: 'exists-unclaimed' }]);
  });

  it('reports that its lock was taken away meanwhile, and exits with 1', async () => {
    const { bench, stack } = await withNewAddress(other);
    const store = storeOf(stack);
    const first = async () => store.unlock((await store.readLock())?.id ?? '');
    bench.wire.add({ method: 'GET', path: /other/, fault: { first } });
    const { err } = await stack.run([...args, '--yes'], 1);
    expect(err).toContain('error: the lock of this run was taken away while it was working');
  });

  it('keeps all records of the same organization under another URL', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(...documents);
    const before = await stack.ledger();
    const moved = await stack.reconfigure({
      workspaces: { url: bench.wire.url.replace('127.0.0.1', 'localhost') },
    });
    await moved.run(['plan'], 9);
    const { out } = await moved.run([...args, '--yes'], 0);
    expect(out).not.toContain('dropped');
    expect((await moved.ledger()).records).toEqual(before.records);
    await moved.run(['plan', '--exit-code'], 0);
  });

  it('keeps the record of a role that is as we last wrote it, and of no other role', async () => {
    const { bench, stack } = await withNewAddress({ clusterAuth: { mount: 'second' } });
    const wire = (await bench.byHandMount('GET', 'role/web')) as object;
    await bench.byHandMount('POST', 'role/web', wire, 'second');
    await bench.byHandMount('POST', 'role/gone', { ...wire, token_policies: ['root'] }, 'second');
    const { out } = await stack.run(['recover', '--moved', 'prod', '--yes'], 0);
    expect(out).toContain(
      '1 record is confirmed at the new address, and carried over:\n  ClusterAuthRole/prod/web',
    );
    expect(out).toContain('ClusterAuthRole/prod/gone: it differs from what this stack last wrote');
    expect((await stack.ledger()).records).toHaveProperty('ClusterAuthRole/prod/web');
    expect((await stack.ledger()).records).not.toHaveProperty('ClusterAuthRole/prod/gone');
    const { changes } = await stack.plan();
    expect(changes.filter(({ address }) => address.includes('/prod/'))).toEqual([]);
  });

  it('asks before it writes, and refuses an incomplete read', async () => {
    const { bench, stack } = await withNewAddress(other);
    const before = await stack.ledger();
    expect((await stack.run(args, 1)).err).toContain('nothing was written: recover asks before it writes');
    bench.wire.add({
      path: /organizations\/other\/workspaces/,
      fault: { answer: 403, body: { errors: [] } },
    });
    expect((await stack.run([...args, '--yes'], 1)).err).toContain('not everything of "acme" could be read');
    expect(await stack.ledger()).toEqual(before);
  });

  it.each([
    ['a target whose address did not change', 'prod', 'has the current address of target "prod"'],
    ['an unknown target', 'nowhere', 'has no target "nowhere": it has "acme", "prod"'],
  ])('refuses %s', async (_, name, why) => {
    const { stack } = await withNewAddress(other);
    expect((await stack.run(['recover', '--moved', name, '--yes'], 1)).err).toContain(why);
  });
});

it('A target with a new name keeps no records, and the plan says how to keep them', async () => {
  const bench = await openBench({ mounts: ['cluster', 'second'] });
  const stack = await bench.checkout({ clusterAuth: { name: 'cluster' } });
  await stack.setUp(role('web'), role('other'));
  const renamed = await stack.reconfigure({ clusterAuth: { name: 'prod' } });
  const { mentions } = await renamed.plan();
  expect(mentions).toContainEqual(
    expect.objectContaining({
      message: 'no target of this stack is called "cluster" now: it and 1 more are left alone',
      fix: 'target "prod" has the same address: to keep the records, call it "cluster" again',
    }),
  );
  const gone = await stack.reconfigure({ clusterAuth: { name: 'prod', mount: 'second' } });
  expect((await gone.plan()).mentions).toContainEqual(
    expect.objectContaining({ fix: expect.stringContaining('add the target again to manage it') }),
  );
});
