/** Resources that move from one stack to another: acknowledgements, children, and that exactly one stack owns each at every moment. */
import { mkdir, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { localLedger } from '../../../src/ledger/local-ledger.ts';
import { trueup } from '../../support/captured-host.ts';
import { type Bench, type Checkout, openBench, type StackOptions, secrets } from '../../support/cli/bench.ts';
import { consumers, role, tagBindings, workspace } from '../../support/cli/documents.ts';

const away = (kind: string, name: string, stack: string) => ({
  apiVersion: 'trueup.dev/v1',
  kind,
  metadata: { name, movedTo: { stack } },
});

interface Two {
  readonly bench: Bench;
  /** the stack that has the resources, and the one that takes them over, each with its ledger beside it */
  readonly billing: Checkout;
  readonly payments: Checkout;
  /** the metadata of what the stack `payments` takes over */
  readonly from: object;
}

/** The stack `billing` has applied the documents. */
async function two(documents: readonly object[], options: StackOptions = {}): Promise<Two> {
  const bench = await openBench();
  const billing = await bench.checkout({ ...options, name: 'billing' });
  await billing.setUp(...documents);
  const payments = await bench.checkout({ ...options, name: 'payments' });
  const folder = relative(payments.directory, join(billing.directory, '.trueup'));
  return { bench, billing, payments, from: { movedFrom: { stack: 'billing', folder } } };
}

const storeOf = (stacks: Two, name: 'billing' | 'payments') => localLedger(stacks[name].ledgerFile, name);

async function recorded(stacks: Two, name: 'billing' | 'payments'): Promise<readonly string[]> {
  return [...(await storeOf(stacks, name).read()).records.keys()];
}

const shown = async (stack: Checkout) => {
  const { changes, guards } = await stack.plan();
  return {
    changes: changes.map(({ address, action, fields }) => [
      address,
      action,
      ...fields
        .filter(({ path }) => path !== '/movedFrom')
        .map(({ path, before, after }) => `${path}: ${String(before)} > ${String(after)}`),
    ]),
    guards: guards.map(({ id, effect }) => `${id} ${effect}`),
  };
};

const app = () => workspace('app', { autoApply: true, tags: { env: 'prod' } });

describe('A workspace that moves to another stack', () => {
  it('is taken over by one write of its ownership tag after an acknowledgement, with record and history', async () => {
    const stacks = await two([app(), workspace('other')]);
    const { bench, billing, payments, from } = stacks;
    await payments.declare(workspace('app', { autoApply: true, tags: { env: 'prod' } }, from));
    await billing.declare(away('Workspace', 'app', 'payments'), workspace('other'));
    expect(await shown(payments)).toEqual({
      changes: [['Workspace/acme/app', 'adopt', '/claim: billing > payments']],
      guards: ['takeover blocks'],
    });
    expect((await payments.run(['apply', '--yes'], 5)).err).toContain('1 guard blocks this plan: takeover');
    expect(bench.wire.writes()).toEqual([]);
    const id = await bench.idOf('app');
    await payments.applyAcknowledged();
    expect(bench.written()).toHaveLength(1);
    expect(await bench.tagsOf('app')).toEqual({ env: 'prod', 'trueup-stack': 'payments' });
    const { records } = await storeOf(stacks, 'payments').read();
    expect(Object.fromEntries(records)).toMatchObject({
      'Workspace/acme/app': { id, origin: 'created', formerOwners: [{ stack: 'billing' }] },
      'TagBindings/acme/app': { origin: 'created' },
    });
    expect(await recorded(stacks, 'billing')).toEqual(['Workspace/acme/other']);
    for (const stack of [payments, billing]) await stack.run(['plan', '--exit-code'], 0);
    const { entries } = JSON.parse((await payments.run(['history', '--format', 'json'], 0)).out);
    expect(entries.map(({ stack }: { stack: string }) => stack)).toEqual(['payments', 'billing']);
    await payments.declare(workspace('later'));
    await payments.applyAcknowledged();
    expect(await bench.idsOf('app')).toEqual([]);
  });

  it('stays as it is in its former stack until it is taken over', async () => {
    const stacks = await two([app(), workspace('other')]);
    const { bench, billing, payments, from } = stacks;
    await billing.declare(away('Workspace', 'app', 'payments'), workspace('other'));
    expect((await billing.plan()).mentions).toMatchObject([
      {
        address: 'Workspace/acme/app',
        message: expect.stringContaining('until stack "payments" takes it over'),
      },
    ]);
    await billing.run(['apply', '--yes'], 0);
    expect(bench.wire.writes()).toEqual([]);
    expect(await recorded(stacks, 'billing')).toHaveLength(3);
    await payments.declare(workspace('app', { autoApply: true, tags: { env: 'prod' } }, from));
    await payments.applyAcknowledged();
    const { mentions } = await billing.plan();
    expect(mentions).toMatchObject([
      {
        message: expect.stringMatching(/^stack "payments" took it over at .*: this document can be deleted$/),
      },
    ]);
    await billing.declare(workspace('other'));
    await billing.run(['plan', '--exit-code'], 0);
  });
});

describe('Roles and resources of targets without ownership tags', () => {
  it('are moved only in the ledgers, and the plan shows the stacks', async () => {
    const stacks = await two([role('web'), role('kept')]);
    const { bench, billing, payments, from } = stacks;
    await payments.declare(role('web', {}, from));
    expect(await shown(payments)).toEqual({
      changes: [['ClusterAuthRole/prod/web', 'adopt', '/stack: billing > payments']],
      guards: ['takeover blocks'],
    });
    await payments.applyAcknowledged();
    expect(bench.wire.writes()).toEqual([]);
    expect(await recorded(stacks, 'payments')).toEqual(['ClusterAuthRole/prod/web']);
    expect(await recorded(stacks, 'billing')).toEqual(['ClusterAuthRole/prod/kept']);
    // The former stack still declares it, and then no longer.
    expect((await billing.run(['plan'], 9)).out).toContain('moved-away');
    await billing.declare(role('kept'));
    await billing.run(['apply', '--yes'], 0);
    expect(bench.wire.writes()).toEqual([]);
    // Its origin came along: it was created, so it is deleted.
    await payments.declare(role('new'));
    await payments.applyAcknowledged();
    expect(bench.written()).toContain('DELETE /v1/auth/cluster/role/web');
  });

  it('are left alone in a target that is exclusive to the former stack', async () => {
    const stacks = await two([role('web'), role('kept')], { clusterAuth: { owns: ['*'], exclusive: true } });
    const { bench, billing, payments, from } = stacks;
    const taking = await payments.reconfigure({ clusterAuth: {} });
    await taking.declare(role('web', {}, from));
    await taking.applyAcknowledged();
    await billing.declare(role('kept'));
    const { changes, mentions } = await billing.plan();
    expect(changes).toEqual([]);
    expect(mentions).toMatchObject([{ message: 'it moved to stack "payments": it is left alone' }]);
    expect(bench.wire.writes()).toEqual([]);
  });

  it('may be deleted by the stack that took them over, although another one created them', async () => {
    const options = { workspaces: { ownership: 'ledger' } };
    const stacks = await two([workspace('app'), workspace('other')], options);
    const { bench, billing, payments, from } = stacks;
    await payments.declare(workspace('app', {}, from), workspace('more'));
    await billing.declare(away('Workspace', 'app', 'payments'), workspace('other'));
    expect((await shown(payments)).changes).toContainEqual([
      'Workspace/acme/app',
      'adopt',
      '/stack: billing > payments',
    ]);
    await payments.applyAcknowledged();
    await billing.declare(workspace('other'));
    await billing.run(['plan', '--exit-code'], 0);
    await payments.run(['apply', '--yes'], 0);
    await payments.declare(workspace('more'));
    await payments.applyAcknowledged();
    expect(await bench.idsOf('app')).toEqual([]);
  });
});

describe('Children', () => {
  it('are moved with their workspace, also those in documents of their own', async () => {
    const documents = [
      workspace('app'),
      tagBindings('app', { tags: { env: 'prod' } }),
      workspace('reader'),
      consumers('app', { consumers: ['reader'] }),
    ];
    const stacks = await two(documents);
    const { bench, billing, payments, from } = stacks;
    await payments.declare(workspace('app', {}, from), documents[1] ?? {}, documents[3] ?? {});
    await billing.declare(away('Workspace', 'app', 'payments'), workspace('reader'));
    await billing.run(['apply', '--yes'], 0);
    await payments.applyAcknowledged();
    expect(await recorded(stacks, 'payments')).toEqual([
      'RemoteStateConsumers/acme/app',
      'TagBindings/acme/app',
      'Workspace/acme/app',
    ]);
    expect(bench.written()).toHaveLength(1);
    expect(await recorded(stacks, 'billing')).toEqual(['Workspace/acme/reader']);
    for (const stack of [payments, billing]) await stack.run(['plan', '--exit-code'], 0);
  });

  it('cannot be moved alone', async () => {
    const { payments, from } = await two([app()]);
    await payments.declare(tagBindings('app', { tags: {} }, from));
    expect((await payments.run(['validate'], 7)).err).toContain('movedFrom');
  });
});

describe('A move that cannot be made', () => {
  const refusal = async (stack: Checkout) => (await stack.plan(9)).problems.map(({ message }) => message);

  it('is reported with what the ledger of the other stack has, and writes nothing', async () => {
    const stacks = await two([app()]);
    const { bench, billing, payments, from } = stacks;
    await payments.declare(workspace('none', {}, from));
    expect(await refusal(payments)).toMatchObject([/its ledger has no record of the resource/]);
    await payments.declare(workspace('app', {}, { movedFrom: { stack: 'billing' } }));
    expect(await refusal(payments)).toContainEqual(
      expect.stringContaining('that stack has no ledger where this stack keeps its own'),
    );
    await payments.declare(workspace('app', {}, from));
    await payments.applyAcknowledged();
    const third = await bench.checkout({ name: 'third' });
    const folder = relative(third.directory, join(billing.directory, '.trueup'));
    await third.declare(workspace('app', {}, { movedFrom: { stack: 'billing', folder } }));
    bench.wire.reset();
    expect(await refusal(third)).toContainEqual(
      expect.stringContaining('that stack gave it to stack "payments"'),
    );
    await third.run(['apply', '--yes'], 9);
    expect(bench.wire.writes()).toEqual([]);
  });

  it('is refused during an apply of the other stack, and after that apply changed what was approved', async () => {
    const stacks = await two([app()]);
    const { bench, billing, payments, from } = stacks;
    await payments.declare(workspace('app', { autoApply: true, tags: { env: 'prod' } }, from));
    await payments.run(['plan', '--out', 'plan.json'], 0);
    const run = { id: 'github/acme/infra/771/apply', who: 'ann', where: 'ci-runner-7', pid: 4711 };
    await storeOf(stacks, 'billing').lock({ id: 'lock-of-ann', since: '2026-11-20T11:42:00.000Z', run });
    const apply = ['apply', 'plan.json', '--ack', 'takeover'];
    expect((await payments.run(apply, 8)).err).toContain('stack "billing" is locked');
    expect(await storeOf(stacks, 'payments').readLock()).toBeUndefined();
    expect((await payments.run(['unlock', '--id', 'lock-of-ann'], 0)).out).toContain(
      'Unlocked stack "billing"',
    );
    await billing.declare(workspace('app', { autoApply: false, tags: { env: 'prod' } }));
    await billing.run(['apply', '--yes'], 0);
    bench.wire.reset();
    await payments.run(apply, 4);
    expect(bench.wire.writes()).toEqual([]);
    expect(await recorded(stacks, 'billing')).toContain('Workspace/acme/app');
  });

  it('is reported by validate if the documents contradict themselves', async () => {
    const { payments } = await two([app()]);
    const problems = async (...documents: object[]) => {
      await payments.declare(...documents);
      return (await payments.run(['validate'], 7)).err;
    };
    const metadata = { movedFrom: { stack: 'payments' } };
    expect(await problems(workspace('app', {}, metadata))).toContain('names this stack itself');
    const adopting = { movedFrom: { stack: 'billing' }, adopt: true };
    expect(await problems(workspace('app', {}, adopting))).toContain('"metadata.adopt" has no effect');
    expect(await problems(workspace('app', {}, { movedTo: { stack: 'billing' } }))).toContain(
      'a document with "metadata.movedTo" has no "spec"',
    );
    expect(await problems(away('Workspace', 'app', 'billing'), workspace('app'))).toContain('declared twice');
  });

  it('is refused if the resource cannot be read, or if the other ledger lies outside the repository', async () => {
    const { bench, payments, from } = await two([role('web')]);
    await payments.declare(role('web', {}, from), workspace('app'));
    const refused = { status: 403, headers: {}, text: '{"errors":["permission denied"]}' };
    bench.wire.setHandler(async ({ method, path }, pass) =>
      method === 'GET' && path.endsWith('/role/web') ? refused : pass(),
    );
    const { err } = await payments.run(['apply', '--yes'], 1);
    expect(err).toContain('the plan has problems');
    bench.wire.setHandler(undefined);
    expect(bench.wire.writes()).toEqual([]);
    await mkdir(join(payments.directory, '.git'));
    expect((await payments.run(['plan'], 7)).err).toContain('lies outside the git repository of the stack');
  });

  it('is refused for a selection, because a move needs a plan of the whole stack', async () => {
    const { payments, from } = await two([app()]);
    await payments.declare(workspace('app', {}, from));
    const stdin = JSON.stringify(workspace('app', {}, from));
    const ran = await trueup(['plan', '-'], { cwd: payments.directory, env: secrets, stdin });
    expect(ran).toMatchObject({ code: 1, err: expect.stringContaining('plan and apply the whole stack') });
  });
});

describe('A resource that was moved', () => {
  it('is a conflict as long as its former stack declares it, and can be taken back', async () => {
    const stacks = await two([app()]);
    const { bench, billing, payments, from } = stacks;
    await payments.declare(workspace('app', { autoApply: true, tags: { env: 'prod' } }, from));
    await payments.applyAcknowledged();
    bench.wire.reset();
    const { out } = await billing.run(['apply', '--yes'], 9);
    expect(out).toContain('belongs to stack "payments", which took it over from this stack');
    expect(bench.wire.writes()).toEqual([]);
    const folder = relative(billing.directory, join(payments.directory, '.trueup'));
    const back = { movedFrom: { stack: 'payments', folder } };
    await billing.declare(workspace('app', { autoApply: true, tags: { env: 'prod' } }, back));
    await billing.applyAcknowledged();
    expect(await bench.tagsOf('app')).toEqual({ env: 'prod', 'trueup-stack': 'billing' });
    expect(await recorded(stacks, 'payments')).toEqual([]);
    await billing.declare(app());
    await billing.run(['plan', '--exit-code'], 0);
    // A stack that still declares the move has to acknowledge it again.
    expect((await shown(payments)).guards).toEqual(['takeover blocks']);
  });

  it('is found under another name of the same target, but not in a target with another address', async () => {
    const stacks = await two([app(), role('web')], { clusterAuth: { name: 'cluster' } });
    const { payments, from } = stacks;
    await payments.declare(role('web', {}, from));
    const elsewhere = await payments.reconfigure({ clusterAuth: { mount: 'other' } });
    expect((await elsewhere.plan(9)).problems).toContainEqual(
      expect.objectContaining({
        message: expect.stringContaining('no record of the resource in this target'),
      }),
    );
    const renamed = await payments.reconfigure({ clusterAuth: { name: 'prod' } });
    await renamed.applyAcknowledged();
    expect(await recorded(stacks, 'payments')).toEqual(['ClusterAuthRole/prod/web']);
    expect(await recorded(stacks, 'billing')).not.toContain('ClusterAuthRole/cluster/web');
  });

  it('is not lost with the ledger of the stack that took it over', async () => {
    const stacks = await two([app(), role('web')]);
    const { bench, payments, from } = stacks;
    await payments.declare(
      workspace('app', { autoApply: true, tags: { env: 'prod' } }, from),
      role('web', {}, from),
    );
    await payments.applyAcknowledged();
    await rm(payments.ledgerFile);
    bench.wire.reset();
    expect((await payments.run(['plan'], 9)).out).toContain('claimed-by-another-id');
    expect((await payments.run(['recover', '--yes'], 0)).out).toContain(
      'it may still belong to stack "billing"',
    );
    await payments.applyAcknowledged();
    expect(bench.wire.writes()).toEqual([]);
    expect(await recorded(stacks, 'payments')).toHaveLength(3);
    await payments.run(['plan', '--exit-code'], 0);
  });

  it('that was removed since is taken over again with a note that no ledger has its record', async () => {
    const { payments, from } = await two([role('web')]);
    await payments.declare(role('web', {}, from));
    await payments.applyAcknowledged();
    await payments.declare(role('other'));
    await payments.applyAcknowledged();
    await payments.declare(role('web', {}, from));
    const { out } = await payments.run(['plan'], 0);
    expect(out).toContain('no ledger has its record now, so check that no other stack owns it');
    expect(out).not.toContain('with its record and history');
  });

  it('keeps its last applied values: what is no longer declared is reset, and drift is found', async () => {
    const stacks = await two([workspace('app', { autoApply: true, description: 'old' })]);
    const { bench, payments, from } = stacks;
    await payments.declare(workspace('app', { description: 'old' }, from));
    expect((await shown(payments)).changes[0]).toContain('/autoApply: true > false');
    await payments.applyAcknowledged();
    await bench.byHand.patch(`/workspaces/${await bench.idOf('app')}`, {
      data: { type: 'workspaces', attributes: { description: 'by hand' } },
    });
    expect((await payments.run(['drift'], 3)).out).toContain('by hand');
  });
});
