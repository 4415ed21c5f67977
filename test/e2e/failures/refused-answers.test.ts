/** A service may refuse a write and carry it out anyway: the change is reported and recorded, and its dependents are applied. */
import { describe, expect, it, vi } from 'vitest';
import type { OrganizationSeed } from '../../../src/server/seed/seed-schema.ts';
import { type Bench, type Checkout, openBench } from '../../support/cli/bench.ts';
import { role, workspace } from '../../support/cli/documents.ts';
import { fakeAnswer } from '../../support/cli/faulty-proxy.ts';

const creates = /organizations\/acme\/workspaces$/;
const foundTrueMessage =
  'the request failed or its answer was lost, but a later read shows that the change is applied';

/** What a plan says about an undeclared role that an apply may have created. */
const keptRole = (name: string) =>
  new RegExp(`ClusterAuthRole/prod/${name}\\n.* may have created it: it is kept`);

/** Answers requests of this kind with an error; `passes`: after the service has carried them out. */
function refuse(
  { wire }: Bench,
  { method, path, status = 403, passes = true }: Refusing,
): { readonly times: () => number } {
  let times = 0;
  wire.setHandler(async (request, pass) => {
    if (request.method !== method || !path.test(request.path)) return pass();
    times += 1;
    if (passes) await pass();
    return fakeAnswer({ answer: status });
  });
  return { times: () => times };
}

interface Refusing {
  readonly method: string;
  readonly path: RegExp;
  readonly status?: number;
  readonly passes?: boolean;
}

async function begun(documents: readonly object[], organization: Partial<OrganizationSeed> = {}) {
  const bench = await openBench({ organization });
  const stack = await bench.checkout();
  await stack.setUp(...documents);
  return { bench, stack };
}

const outcomesOf = async (stack: Checkout, code: number) =>
  JSON.parse((await stack.run(['apply', '--yes', '--format', 'json'], code)).out).outcomes;

describe('an update that was refused', () => {
  async function updated(refusing: Partial<Refusing>) {
    const { bench, stack } = await begun([workspace('app')]);
    await stack.declare(workspace('app', { autoApply: true }));
    refuse(bench, { method: 'PATCH', path: /./, ...refusing });
    return { bench, stack };
  }

  it.each([403, 409, 422])(
    'with %d but carried out is found true, and shown with the answer',
    async (status) => {
      const { bench, stack } = await updated({ status });
      const { out } = await stack.run(['apply', '--yes'], 6);
      bench.wire.setHandler(undefined);
      expect(out).toContain(`answered ${status}: made up`);
      expect(out).toContain(foundTrueMessage);
      expect(out).toContain('1 failed');
      expect(out).toContain('Planned again: nothing is left to do');
      expect((await stack.ledger()).records['Workspace/acme/app']?.fields).toMatchObject({ autoApply: true });
      await stack.run(['plan', '--exit-code'], 0);
    },
  );

  it('and not carried out fails, and is not recorded', async () => {
    const { stack } = await updated({ passes: false });
    const { out } = await stack.run(['apply', '--yes'], 1);
    expect(out).toContain('1 failed');
    expect(out).not.toContain('all the same');
    expect((await stack.ledger()).records['Workspace/acme/app']?.fields).toEqual({});
  });

  it('but carried out lets its dependents be applied', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app', { globalRemoteState: true }), workspace('other'));
    await stack.applyAcknowledged();
    await stack.declare(
      workspace('app', { globalRemoteState: false, remoteStateConsumers: ['other'] }),
      workspace('other'),
    );
    refuse(bench, { method: 'PATCH', path: /\/workspaces\/ws-\w+$/ });
    const outcomes = await outcomesOf(stack, 6);
    bench.wire.setHandler(undefined);
    expect(outcomes).toMatchObject([
      { kind: 'Workspace', outcome: 'failed', foundTrue: true },
      { kind: 'RemoteStateConsumers', outcome: 'applied' },
    ]);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('in one of two calls for one list is found true after both calls', async () => {
    const others = ['one', 'two'].map((name) => workspace(name));
    const { bench, stack } = await begun([workspace('app', { remoteStateConsumers: ['one'] }), ...others]);
    await stack.declare(workspace('app', { remoteStateConsumers: ['two'] }), ...others);
    refuse(bench, { method: 'POST', path: /remote-state-consumers$/ });
    const outcomes = await outcomesOf(stack, 6);
    bench.wire.setHandler(undefined);
    expect(outcomes).toMatchObject([{ kind: 'RemoteStateConsumers', outcome: 'failed', foundTrue: true }]);
    await stack.run(['plan', '--exit-code'], 0);
  });
});

describe('a create that was refused', () => {
  it('but carried out is ours by its creator mark: its dependents are applied, and later it is deleted', async () => {
    const { bench, stack } = await begun([workspace('stays'), workspace('too')]);
    const app = workspace('app', {
      tags: { env: 'prod' },
      remoteStateConsumers: ['stays'],
      lock: { reason: 'frozen' },
    });
    await stack.declare(workspace('stays'), workspace('too'), app);
    refuse(bench, { method: 'POST', path: creates, status: 422 });
    const { out } = await stack.run(['apply', '--yes'], 6);
    bench.wire.setHandler(undefined);
    expect(out).toContain(foundTrueMessage);
    expect(out).toContain('Planned again: nothing is left to do');
    expect((await stack.ledger()).records['Workspace/acme/app']).toMatchObject({
      id: await bench.idOf('app'),
      origin: 'created',
    });
    await stack.declare(workspace('stays'), workspace('too'));
    await stack.run(['apply', '--yes'], 0);
    expect(await bench.idsOf('app')).toEqual([]);
  });

  it('because somebody created one with a copy of our ownership tag is not reported as applied', async () => {
    const { bench, stack } = await begun([workspace('stays')]);
    await stack.declare(workspace('stays'), workspace('app'));
    bench.wire.setHandler(async ({ method, path }, pass) => {
      if (method === 'POST' && creates.test(path))
        await bench.byHand.created(
          { name: 'app' },
          {
            'tag-bindings': {
              data: [{ type: 'tag-bindings', attributes: { key: 'trueup-stack', value: 'payments' } }],
            },
          },
        );
      return pass();
    });
    const { out } = await stack.run(['apply', '--yes'], 1);
    bench.wire.setHandler(undefined);
    expect(out).toContain('answered 422');
    expect(out).not.toContain('all the same');
    expect((await stack.ledger()).records['Workspace/acme/app']?.origin).not.toBe('created');
  });

  it('but carried out with another value is reported as existing, and the next apply corrects it', async () => {
    const { bench, stack } = await begun([workspace('stays')]);
    await stack.declare(workspace('stays'), workspace('app', { description: 'ours' }));
    bench.wire.setHandler(async ({ method, path }, pass) => {
      const answer = await pass();
      if (method !== 'POST' || !creates.test(path)) return answer;
      await bench.byHand.update(await bench.idOf('app'), { description: 'theirs' });
      return fakeAnswer({ answer: 409 });
    });
    const { out } = await stack.run(['apply', '--yes'], 6);
    bench.wire.setHandler(undefined);
    expect(out).toContain('the resource exists and is ours, but differs from the request');
    expect(out).not.toContain('found true');
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('but carried out for a role makes the role ours as soon as it is read', async () => {
    const { bench, stack } = await begun([role('anchor')]);
    await stack.declare(role('anchor'), role('shared'));
    refuse(bench, { method: 'POST', path: /role\/shared$/ });
    expect((await stack.run(['apply', '--yes'], 6)).out).toContain(foundTrueMessage);
    bench.wire.setHandler(undefined);
    expect((await stack.ledger()).records['ClusterAuthRole/prod/shared']?.origin).toBe('created');
    await stack.declare(role('anchor'));
    bench.wire.reset();
    await stack.run(['apply', '--yes'], 0);
    expect(bench.written()).toEqual(['DELETE /v1/auth/cluster/role/shared']);
  });

  it('for a role that somebody changes meanwhile does not make the role ours', async () => {
    const { bench, stack } = await begun([role('anchor')]);
    await stack.declare(role('anchor'), role('shared'));
    bench.wire.setHandler(async ({ method, path }, pass) => {
      if (method !== 'POST' || !path.endsWith('role/shared')) return pass();
      await pass();
      await bench.byHandMount('POST', 'role/shared', { token_ttl: 60 });
      return fakeAnswer({ answer: 403 });
    });
    expect((await stack.run(['apply', '--yes'], 1)).out).not.toContain('all the same');
    bench.wire.setHandler(undefined);
    expect((await stack.ledger()).records['ClusterAuthRole/prod/shared']).toBeUndefined();
    expect((await stack.plan()).changes).toMatchObject([{ action: 'adopt' }]);
  });
});

it('a delete that was refused but carried out is found true, and leaves no record', async () => {
  const { bench, stack } = await begun([
    role('anchor'),
    role('shared'),
    workspace('app'),
    workspace('stays'),
  ]);
  await stack.declare(role('anchor'), workspace('stays'));
  bench.wire.setHandler(async ({ method }, pass) => {
    const answer = await pass();
    return method === 'GET' || method === 'LIST' ? answer : fakeAnswer({ answer: 409 });
  });
  const outcomes = await outcomesOf(stack, 6);
  bench.wire.setHandler(undefined);
  expect(outcomes).toHaveLength(2);
  for (const outcome of outcomes)
    expect(outcome).toMatchObject({ action: 'delete', outcome: 'failed', foundTrue: true });
  expect(Object.keys((await stack.ledger()).records).sort()).toEqual([
    'ClusterAuthRole/prod/anchor',
    'Workspace/acme/stays',
  ]);
});

describe('a write that was carried out, and answered with an unexpected status', () => {
  it.each([201, 202, 206, 302])('of %d creates a role that is ours', async (status) => {
    const { bench, stack } = await begun([role('anchor')]);
    await stack.declare(role('anchor'), role('shared'));
    refuse(bench, { method: 'POST', path: /role\/shared$/, status });
    const { out } = await stack.run(['apply', '--yes'], 6);
    bench.wire.setHandler(undefined);
    expect(out).toContain(foundTrueMessage);
    expect(out).toContain('1 created in');
    await stack.declare(role('anchor'));
    bench.wire.reset();
    await stack.run(['apply', '--yes'], 0);
    expect(bench.written()).toEqual(['DELETE /v1/auth/cluster/role/shared']);
  });

  it('creates, updates and deletes workspaces that are recorded', async () => {
    const { bench, stack } = await begun([workspace('app'), workspace('old')]);
    await stack.declare(workspace('app', { autoApply: true }), workspace('new'));
    bench.wire.setHandler(async ({ method }, pass) => {
      const answer = await pass();
      return method === 'GET' ? answer : { ...answer, status: 202, text: '' };
    });
    const { out } = await stack.run(['apply', '--yes'], 6);
    bench.wire.setHandler(undefined);
    expect(out).toContain('1 created, 1 updated, 1 deleted in');
    expect(out).toContain('Planned again: nothing is left to do');
    const { records } = await stack.ledger();
    expect(records['Workspace/acme/new']).toMatchObject({ id: await bench.idOf('new'), origin: 'created' });
    expect(records['Workspace/acme/app']?.fields).toMatchObject({ autoApply: true });
    expect(records['Workspace/acme/old']).toBeUndefined();
  });
});

it('a role whose creation was accepted with 202 and carried out after the apply is named by later plans', async () => {
  const { bench, stack } = await begun([role('anchor')]);
  await stack.declare(role('anchor'), role('shared'));
  let create = async () => {};
  bench.wire.setHandler(async ({ method, path, text }, pass) => {
    if (method !== 'POST' || !path.endsWith('role/shared')) return pass();
    create = async () => void (await bench.byHandMount('POST', 'role/shared', JSON.parse(text)));
    return fakeAnswer({ answer: 202 });
  });
  const { out } = await stack.run(['apply', '--yes'], 6);
  bench.wire.setHandler(undefined);
  expect(out).toMatch(/answered 202.*the service may still carry it out/);
  expect(out).toContain('1 change may have been made');
  await create();
  await stack.declare(role('anchor'));
  expect((await stack.run(['ledger', 'show'], 0)).out).toContain('ClusterAuthRole/prod/shared');
  expect((await stack.run(['plan'], 0)).out).toMatch(keptRole('shared'));
});

describe('a write that was accepted with 202 and not carried out yet', () => {
  it('may have been made, and is sent by the next apply if it is still left', async () => {
    const { bench, stack } = await begun([workspace('app'), workspace('old')]);
    await stack.declare(workspace('app', { autoApply: true }));
    bench.wire.setHandler(async ({ method }, pass) =>
      method === 'GET' ? pass() : fakeAnswer({ answer: 202 }),
    );
    const { out } = await stack.run(['apply', '--yes'], 6);
    bench.wire.setHandler(undefined);
    expect(out).toContain('2 unknown');
    expect(out).toContain('2 changes may have been made in');
    expect(out).not.toContain('Nothing changed');
    expect((await stack.ledger()).records['Workspace/acme/app']?.fields).toEqual({});
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('is unknown in JSON, too, and has the exit code of an apply that may have changed something', async () => {
    const { bench, stack } = await begun([role('anchor')]);
    await stack.declare(role('anchor', { tokenTtl: '30m' }));
    refuse(bench, { method: 'POST', path: /role\/anchor$/, status: 202, passes: false });
    expect(await outcomesOf(stack, 6)).toMatchObject([{ outcome: 'unknown' }]);
  });
});

describe('after ten refusals that a read confirmed', () => {
  const names = Array.from({ length: 12 }, (_, at) => `r${`${at}`.padStart(2, '0')}`);

  /** Refuses the creation of twelve roles. @param last what happens to the last one before its answer */
  async function refusedRoles(last: (pass: () => Promise<unknown>) => Promise<unknown>, readable = true) {
    const { bench, stack } = await begun([role('anchor')]);
    await stack.declare(role('anchor'), ...names.map((name) => role(name)));
    const refused = new Set<string>();
    const readAgain = new Set<string>();
    const isListAfterwards = (method: string, path: string) =>
      bench.wire.writes().length > 0 && (method === 'LIST' || path.includes('list=true'));
    const refuseCreation = async (name: string, pass: () => Promise<unknown>) => {
      if (name === names.at(-1)) {
        // The requests are sent side by side: it must not be one of the ten.
        await vi.waitUntil(() => readAgain.size >= 10, { timeout: 30_000 });
        await last(pass);
      }
      refused.add(name);
      return fakeAnswer({ answer: 403 });
    };
    bench.wire.setHandler(async ({ method, path }, pass) => {
      if (!readable && isListAfterwards(method, path)) return fakeAnswer({ answer: 403 });
      const name = /role\/(r\d+)$/.exec(path)?.[1];
      if (name !== undefined && method === 'POST') return refuseCreation(name, pass);
      if (name !== undefined && method === 'GET' && refused.has(name)) readAgain.add(name);
      return pass();
    });
    bench.wire.reset();
    const { code, out } = await stack.tryRun(['apply', '--yes']);
    bench.wire.setHandler(undefined);
    await stack.declare(role('anchor'));
    return { bench, stack, code, out };
  }

  it('a create that was carried out is found by the plan at the end, and is ours', async () => {
    const { bench, stack, code, out } = await refusedRoles((pass) => pass());
    expect(code, out).toBe(6);
    expect(out).toContain('1 created in');
    bench.wire.reset();
    await stack.run(['apply', '--yes'], 0);
    expect(bench.written()).toEqual(['DELETE /v1/auth/cluster/role/r11']);
  });

  it('a create that was not carried out is not in doubt once the plan at the end shows that', async () => {
    const { stack, code, out } = await refusedRoles(async () => {});
    expect(code, out).toBe(1);
    expect(out).toContain('Nothing changed in');
    expect((await stack.run(['ledger', 'show'], 0)).out).toContain('no creation of unknown outcome');
  });

  it('a create stays in doubt if nothing can be read at the end, and later plans name it', async () => {
    const { stack, out } = await refusedRoles((pass) => pass(), false);
    expect(out).toContain('2 changes may have been made');
    expect(out).not.toContain('Nothing changed');
    const { out: shown } = await stack.run(['ledger', 'show'], 0);
    expect(shown).toContain('ClusterAuthRole/prod/r11');
    expect(shown).not.toContain('ClusterAuthRole/prod/r00');
    expect((await stack.run(['plan'], 0)).out).toMatch(keptRole('r11'));
  });
});

describe('a refusal of a write that was not carried out', () => {
  /** How often the roles are read by an apply whose every write is refused. */
  async function readsOf(count: number, status: number) {
    const roles = (spec: object) => Array.from({ length: count }, (_, at) => role(`r${at}`, spec));
    const { bench, stack } = await begun(roles({}));
    await stack.declare(...roles({ tokenTtl: '30m' }));
    const refused = refuse(bench, { method: 'POST', path: /role\//, status, passes: false });
    const { digest, acknowledge } = await stack.plan();
    const before = bench.wire.seen.length;
    await stack.run(['apply', '--approve', digest, '--ack', acknowledge.join(',')], 1);
    expect(refused.times()).toBe(count);
    return bench.wire.seen.slice(before).filter(({ method, path }) => method === 'GET' && /role\//.test(path))
      .length;
  }
  /** In the plan, just before the write, and in the plan that is made afterwards. */
  const usualReads = 3;

  it('costs one additional read', async () => {
    expect(await readsOf(2, 403)).toBe(2 * usualReads + 2);
  });

  it('costs no additional read if the token itself is refused', async () => {
    expect(await readsOf(2, 401)).toBe(2 * usualReads);
  });

  it('costs no additional read after ten refusals', async () => {
    expect(await readsOf(13, 403)).toBe(13 * usualReads + 10);
  });
});
