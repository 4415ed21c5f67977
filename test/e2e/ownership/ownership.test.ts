/** Nothing is taken over silently: ownership tags, adoption, conflicts, renames. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ownershipTagKey } from '../../../src/model/resource.ts';
import { bindings } from '../../support/server/serve-for-test.ts';
import { openBench } from '../../support/cli/bench.ts';
import { consumers, role, tagBindings, workspace } from '../../support/cli/documents.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

describe('what a stack creates', () => {
  it('has its ownership tag and creator mark from the start: both are in the create request', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app', { tags: { env: 'prod' } }));
    await stack.run(['apply', '--yes'], 0);
    const [create, ...more] = bench.wire.writes();
    expect(more).toEqual([]);
    expect(create).toMatchObject({
      method: 'POST',
      path: '/api/v2/organizations/acme/workspaces',
      status: 201,
    });
    const { data } = JSON.parse(create?.text ?? '');
    expect(data.attributes).toMatchObject({ name: 'app', 'source-name': 'trueup/payments' });
    expect(data.relationships['tag-bindings'].data).toEqual([
      { type: 'tag-bindings', attributes: { key: 'env', value: 'prod' } },
      {
        type: 'tag-bindings',
        attributes: { key: 'trueup-stack', value: expect.stringMatching(/^payments:id=[0-9a-f]{8}$/) },
      },
    ]);
    expect((await stack.ledger()).records['Workspace/acme/app']).toMatchObject({ origin: 'created' });
  });

  it('says in its ownership tag that it is protected, or to be released', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(
      workspace('kept', {}, { protect: true }),
      workspace('lent', {}, { onRemove: 'release' }),
      workspace('both', {}, { protect: true, onRemove: 'release' }),
    );
    expect(await bench.tagsOf('kept')).toEqual({ 'trueup-stack': 'payments:protect' });
    expect(await bench.tagsOf('lent')).toEqual({ 'trueup-stack': 'payments:release' });
    expect(await bench.tagsOf('both')).toEqual({ 'trueup-stack': 'payments:protect:release' });
  });
});

describe('a workspace that exists already', () => {
  it('is an error that shows the line to add, and nothing at all is written', async () => {
    const bench = await openBench({ organization: { workspaces: [{ name: 'app' }] } });
    const stack = await bench.checkout();
    await stack.declare(workspace('app', { autoApply: true }), workspace('other'), role('web'));
    const plan = await stack.run(['plan'], 9);
    expect(plan.out).toContain('"Workspace/acme/app" exists without an ownership tag of any stack');
    expect(plan.out).toContain('fix: add "adopt: true" to its metadata');
    expect(plan.out).toContain('manifests/all.yaml:');
    const apply = await stack.run(['apply', '--yes'], 9);
    expect(apply.err).toContain('nothing was written');
    expect(bench.wire.writes()).toEqual([]);
  });

  it('is adopted when its manifest says so, and the plan shows every difference', async () => {
    const bench = await openBench({
      organization: { workspaces: [{ name: 'app', 'tag-bindings': { team: 'payments' } }] },
    });
    const stack = await bench.checkout();
    await stack.declare(workspace('app', { autoApply: true, queueAllRuns: true }, { adopt: true }));
    const plan = await stack.plan();
    expect(plan.summary).toMatchObject({ adopt: 1, create: 0, update: 0 });
    expect(plan.changes[0]?.fields.map(({ path }) => path)).toEqual([
      '/claim',
      '/autoApply',
      '/queueAllRuns',
    ]);
    await stack.run(['apply', '--yes'], 0);
    expect(await bench.tagsOf('app')).toEqual({ team: 'payments', 'trueup-stack': 'payments' });
    expect((await stack.ledger()).records['Workspace/acme/app']).toMatchObject({ origin: 'adopted' });
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('cannot be adopted when its ten tags leave no room for the ownership tag, and the plan says so', async () => {
    const full = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`key-${index}`, 'x']));
    const bench = await openBench({ organization: { workspaces: [{ name: 'app', 'tag-bindings': full }] } });
    const stack = await bench.checkout();
    await stack.declare(workspace('app', {}, { adopt: true }));
    const { out } = await stack.run(['plan'], 9);
    expect(out).toContain('there is no room for the ownership tag');
  });

  it('is a conflict when another stack owns it, and then nothing at all is written', async () => {
    const bench = await openBench({
      organization: { workspaces: [{ name: 'app', 'tag-bindings': { 'trueup-stack': 'billing' } }] },
    });
    const stack = await bench.checkout();
    await stack.declare(workspace('app', {}, { adopt: true }), workspace('mine'), role('web'));
    const { out } = await stack.run(['apply', '--yes'], 9);
    expect(out).toContain('"Workspace/acme/app" belongs to stack "billing"');
    expect(bench.wire.writes()).toEqual([]);
    expect(await bench.idsOf('mine')).toEqual([]);
  });

  it('is an error if it inherits an ownership tag from its project', async () => {
    const bench = await openBench({
      organization: {
        projects: [{ name: 'lent', id: 'prj-lent', 'tag-bindings': { 'trueup-stack': 'payments' } }],
        workspaces: [{ name: 'app', project: 'lent' }],
      },
    });
    const stack = await bench.checkout();
    await stack.declare(workspace('app', {}, { adopt: true }));
    const { out } = await stack.run(['apply', '--yes'], 9);
    expect(out).toContain('from its project');
    expect(bench.wire.writes()).toEqual([]);
  });
});

describe('an ownership tag', () => {
  it('that somebody removed by hand is restored, and the plan says so', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app', { tags: { env: 'prod' } }));
    await bench.byHand.update(await bench.idOf('app'), {}, bindings({ env: 'prod' }));
    const { out } = await stack.run(['apply', '--yes'], 0);
    expect(out).toContain('its ownership tag was removed: the tag is restored');
    expect(await bench.tagsOf('app')).toEqual({ env: 'prod', 'trueup-stack': 'payments' });
  });

  it('that somebody removed from an undeclared workspace releases it: only its record is removed', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app', { tags: { env: 'prod' } }), workspace('stays'));
    const id = await bench.idOf('app');
    await bench.byHand.update(id, {}, bindings({ env: 'prod' }));
    await stack.declare(workspace('stays'));
    const { out } = await stack.run(['apply', '--yes'], 0);
    expect(out.replace(/\s+/g, ' ')).toContain(
      'it no longer has the ownership tag of this stack: it is left alone',
    );
    expect(bench.wire.writes()).toEqual([]);
    expect(await bench.idsOf('app')).toEqual([id]);
    expect(Object.keys((await stack.ledger()).records)).toEqual(['Workspace/acme/stays']);
  });

  it('that a clone has together with the creator mark blocks its deletion until acknowledged', async () => {
    const copied = { 'tag-bindings': { 'trueup-stack': 'payments' }, 'source-name': 'trueup/payments' };
    const bench = await openBench({ organization: { workspaces: [{ name: 'clone', ...copied }] } });
    const stack = await bench.checkout();
    await stack.declare(workspace('app'));
    const { out } = await stack.run(['apply', '--yes'], 5);
    expect(out).toContain('! blocks  no-record');
    expect(bench.wire.writes()).toEqual([]);
    expect(await bench.idsOf('clone')).toHaveLength(1);
  });

  it('that a clone has is reported, and never enough to delete or release the clone', async () => {
    const bench = await openBench({
      organization: { workspaces: [{ name: 'clone', 'tag-bindings': { 'trueup-stack': 'payments' } }] },
    });
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'));
    const plan = await stack.plan();
    expect(plan.changes).toEqual([]);
    expect(plan.mentions).toMatchObject([{ address: 'Workspace/acme/clone' }]);
    expect(plan.mentions[0]?.message).toContain('nothing proves that this stack created it');
    await stack.run(['apply', '--yes'], 0);
    expect(bench.wire.writes()).toEqual([]);
  });
});

describe('two stacks in one organization', () => {
  it("do not change each other's resources", async () => {
    const bench = await openBench();
    const payments = await bench.checkout({ clusterAuth: { owns: ['payments-*'] } });
    const billing = await bench.checkout({ name: 'billing', clusterAuth: { owns: ['billing-*'] } });
    const stays = [workspace('payments-stays'), role('payments-stays')];
    await payments.setUp(workspace('payments-app', { autoApply: true }), role('payments-api'), ...stays);
    await billing.setUp(workspace('billing-app', { tags: { env: 'prod' } }), role('billing-api'));
    await payments.run(['plan', '--exit-code'], 0);
    await payments.declare(...stays);
    await payments.run(['apply', '--yes'], 0);
    expect(await bench.idsOf('payments-app')).toEqual([]);
    expect(await bench.tagsOf('billing-app')).toEqual({ env: 'prod', 'trueup-stack': 'billing' });
    const { out } = await billing.run(['plan', '--exit-code'], 0);
    expect(out).toContain('No changes');
  });

  it("cannot set the tags and consumers of each other's workspaces", async () => {
    const bench = await openBench();
    const billing = await bench.checkout({ name: 'billing' });
    await billing.setUp(workspace('billing-app'), workspace('reader'));
    const payments = await bench.checkout();
    await payments.declare(
      tagBindings('billing-app', { tags: { env: 'prod' } }),
      consumers('billing-app', { consumers: ['reader'] }),
    );
    const { out } = await payments.run(['apply', '--yes'], 9);
    expect(out).toContain('belongs to stack "billing"');
    expect(bench.wire.writes()).toEqual([]);
  });
});

describe('a renamed workspace', () => {
  const documents = [
    workspace('app', { autoApply: true, tags: { env: 'prod' }, remoteStateConsumers: ['reader'] }),
    workspace('reader'),
  ];

  it('is renamed back after a rename in the service: a field change, never delete and create', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(...documents);
    const id = await bench.idOf('app');
    await bench.byHand.update(id, { name: 'app-by-hand' });
    const plan = await stack.plan();
    expect(plan.changes).toMatchObject([
      {
        address: 'Workspace/acme/app',
        action: 'update',
        fields: [{ path: '/name', before: 'app-by-hand', after: 'app' }],
      },
    ]);
    await stack.run(['apply', '--yes'], 0);
    expect(bench.written()).toEqual(['PATCH /api/v2/workspaces/ws-…']);
    expect(await bench.idsOf('app')).toEqual([id]);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('gets its changed tags and consumers in the same run', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(...documents);
    const id = await bench.idOf('app');
    await bench.byHand.update(id, { name: 'app-by-hand' });
    await stack.declare(
      workspace('app', { autoApply: false, tags: { env: 'test' }, remoteStateConsumers: ['second'] }),
      workspace('reader'),
      workspace('second'),
    );
    await stack.run(['apply', '--yes'], 0);
    expect(await bench.idsOf('app')).toEqual([id]);
    expect(await bench.tagsOf('app')).toEqual({ env: 'test', 'trueup-stack': 'payments' });
    const { resources } = await bench.byHand.get(`/workspaces/${id}/relationships/remote-state-consumers`);
    expect(resources.map(({ id: consumer }) => consumer)).toEqual(await bench.idsOf('second'));
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('is deleted under its present name when its document is gone, too', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app', { tags: { env: 'prod' } }), workspace('reader'));
    await bench.byHand.update(await bench.idOf('app'), { name: 'app-by-hand' });
    await stack.declare(workspace('reader'));
    await stack.run(['apply', '--yes'], 0);
    expect(await bench.idsOf('app-by-hand')).toEqual([]);
    await stack.run(['plan', '--exit-code'], 0);
    expect(Object.keys((await stack.ledger()).records)).toEqual(['Workspace/acme/reader']);
  });

  it('keeps its id, its tags and its consumers when its manifest renames it', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(...documents);
    const id = await bench.idOf('app');
    const { spec } = documents[0] as { spec: object };
    await stack.declare(workspace('api', spec, { renamedFrom: 'app' }), workspace('reader'));
    await stack.run(['apply', '--yes'], 0);
    expect(bench.written()).toEqual(['PATCH /api/v2/workspaces/ws-…']);
    expect(await bench.idsOf('api')).toEqual([id]);
    await stack.run(['plan', '--exit-code'], 0);
  });
});

describe('a workspace that is renamed in its manifest and by hand', () => {
  const renamed = (more: object = {}) =>
    workspace('new', { description: 'other' }, { renamedFrom: 'old', ...more });

  async function renamedByHand() {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('old', { description: 'one' }), workspace('other'));
    const id = await bench.idOf('old');
    await bench.byHand.update(id, { name: 'hand' });
    return { bench, stack, id };
  }

  it('gets its new name, and is not replaced by a new workspace', async () => {
    const { bench, stack, id } = await renamedByHand();
    await stack.declare(renamed(), workspace('other'));
    expect((await stack.plan()).changes.map(({ action, address }) => `${action} ${address}`)).toEqual([
      'update Workspace/acme/new',
    ]);
    await stack.run(['apply', '--yes'], 0);
    expect(await bench.idsOf('new')).toEqual([id]);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('gets its new name also if another workspace has its former name now, which stays', async () => {
    const { bench, stack, id } = await renamedByHand();
    await bench.byHand.post('/organizations/acme/workspaces', {
      data: { type: 'workspaces', attributes: { name: 'old' } },
    });
    await stack.declare(renamed({ adopt: true }), workspace('other'));
    await stack.run(['apply', '--yes'], 0);
    expect(await bench.idsOf('new')).toEqual([id]);
    expect(await bench.idsOf('old')).toHaveLength(1);
  });

  it('is not replaced by another workspace with its former name without an acknowledgement', async () => {
    const { bench, stack, id } = await renamedByHand();
    await bench.byHand.delete(`/workspaces/${id}`);
    await bench.byHand.post('/organizations/acme/workspaces', {
      data: { type: 'workspaces', attributes: { name: 'old' } },
    });
    await stack.declare(renamed({ adopt: true }), workspace('other'));
    const { guards } = await stack.plan();
    expect(guards.map((guard) => [guard.id, guard.effect])).toContainEqual(['adopt', 'blocks']);
    await stack.run(['apply', '--yes'], 5);
  });
});

describe('a workspace that goes from one stack to another', () => {
  const app = (metadata: object = {}) => workspace('app', { autoApply: true }, metadata);
  const other = workspace('other');

  it('is a conflict until the first one has released it; then the second adopts it', async () => {
    const bench = await openBench();
    const payments = await bench.checkout();
    const billing = await bench.checkout({ name: 'billing' });
    await payments.setUp(app(), other);
    const id = await bench.idOf('app');
    await billing.declare(app({ adopt: true }));
    const { out } = await billing.run(['apply', '--yes'], 9);
    expect(out).toContain('belongs to stack "payments"');
    expect(out).toContain('metadata.onRemove: release');
    expect(bench.wire.writes()).toEqual([]);

    await payments.setUp(app({ onRemove: 'release' }), other);
    await payments.setUp(other);
    expect(await bench.tagsOf('app')).toEqual({});
    expect((await payments.ledger()).records).not.toHaveProperty('Workspace/acme/app');

    expect((await billing.plan()).summary).toMatchObject({ adopt: 1, create: 0, update: 0 });
    await billing.run(['apply', '--yes'], 0);
    expect(await bench.tagsOf('app')).toEqual({ 'trueup-stack': 'billing' });
    expect((await billing.ledger()).records['Workspace/acme/app']).toMatchObject({ id, origin: 'adopted' });
    await billing.run(['plan', '--exit-code'], 0);
    await payments.run(['plan', '--exit-code'], 0);
  });

  it('can go back the same way, and is never deleted', async () => {
    const bench = await openBench();
    const payments = await bench.checkout();
    const billing = await bench.checkout({ name: 'billing' });
    await payments.setUp(app({ onRemove: 'release' }), other);
    const id = await bench.idOf('app');
    await payments.setUp(other);
    await billing.setUp(app({ adopt: true }), workspace('invoices'));
    await payments.declare(app(), other);
    expect((await payments.run(['apply', '--yes'], 9)).out).toContain('belongs to stack "billing"');

    await billing.setUp(workspace('invoices'));
    expect(await bench.tagsOf('app')).toEqual({});
    // Its creator mark does not decide who owns it now.
    expect((await payments.run(['apply', '--yes'], 9)).out).toContain(
      'exists without an ownership tag of any stack',
    );
    await payments.setUp(app({ adopt: true }), other);
    expect(await bench.tagsOf('app')).toEqual({ 'trueup-stack': 'payments' });
    expect(await bench.idsOf('app')).toEqual([id]);
    expect((await payments.ledger()).records['Workspace/acme/app']).toMatchObject({ id, origin: 'adopted' });
    await payments.run(['plan', '--exit-code'], 0);
    await billing.run(['plan', '--exit-code'], 0);
  });

  it('keeps its tags and consumers when it is released', async () => {
    const bench = await openBench();
    const payments = await bench.checkout();
    await payments.setUp(
      workspace('app', { tags: { env: 'prod' }, remoteStateConsumers: ['other'] }, { onRemove: 'release' }),
      other,
    );
    await payments.setUp(other);
    expect(await bench.tagsOf('app')).toEqual({ env: 'prod' });
    const path = `/workspaces/${await bench.idOf('app')}/relationships/remote-state-consumers`;
    expect((await bench.byHand.get(path)).resources).toHaveLength(1);
    expect(Object.keys((await payments.ledger()).records)).toEqual(['Workspace/acme/other']);
  });
});

it('an adopted workspace gets one tag, which is restored after a Terraform provider replaced all tags', async () => {
  const workspaces = [{ name: 'app', 'tag-bindings': { env: 'prod' } }];
  const bench = await openBench({ dialects: ['hcp-terraform'], organization: { workspaces } });
  const stack = await bench.checkout({ workspaces: { dialect: 'hcp-terraform' } });
  await stack.declare(workspace('app', {}, { adopt: true }));
  await stack.run(['apply', '--yes'], 0);
  const tags = { env: 'prod', [ownershipTagKey]: 'payments' };
  const page = await readFile(join(root, 'docs/guides/beside-terraform.md'), 'utf8');
  expect(page).toContain(`- "${ownershipTagKey}" = "payments:id=`);
  expect(page).toMatch(/^ {2}ignore_additional_tags = true$/m);
  expect(await bench.tagsOf('app')).toEqual(tags);
  const path = `/workspaces/${await bench.idOf('app')}/relationships/tag-bindings`;
  await bench.byHand.patch(path, bindings({ env: 'prod' })['tag-bindings']);
  expect(await bench.tagsOf('app')).toEqual({ env: 'prod' });
  expect((await stack.run(['plan', '--exit-code'], 2)).out).toContain('claim');
  await stack.run(['apply', '--yes'], 0);
  expect(await bench.tagsOf('app')).toEqual(tags);
});
