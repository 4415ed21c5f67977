/** An adoption that is not carried out changes nothing on the workspace: neither its tags, nor who may read its state, nor the ledger. */
import { describe, expect, it } from 'vitest';
import { type Bench, openBench } from '../../support/cli/bench.ts';
import { tagBindings, workspace } from '../../support/cli/documents.ts';
import { fakeAnswer } from '../../support/cli/faulty-proxy.ts';

const oneWorkspace = /\/workspaces\/ws-\w+(\?|$)/;

/** Another user changes the description after the plan, before the first write. */
function changeAfterPlan({ wire, byHand, idOf }: Bench, name: string, others: object = {}) {
  let isDone = false;
  wire.setHandler(async ({ method, path }, pass) => {
    if (!isDone && method === 'GET' && oneWorkspace.test(path)) {
      isDone = true;
      await byHand.update(await idOf(name), { description: 'by hand', ...others });
    }
    return pass();
  });
}

/** The service refuses every change of a description. */
function refuseUpdates({ wire }: Bench) {
  wire.setHandler(async ({ method, path, text }, pass) =>
    method === 'PATCH' && oneWorkspace.test(path) && text.includes('"description"')
      ? fakeAnswer({ answer: 422, body: { errors: [{ status: '422', title: 'invalid' }] } })
      : pass(),
  );
}

async function tag({ byHand, idOf }: Bench, name: string, tags: Readonly<Record<string, string>>) {
  const data = Object.entries(tags).map(([key, value]) => ({
    type: 'tag-bindings',
    attributes: { key, value },
  }));
  await byHand.patch(`/workspaces/${await idOf(name)}/tag-bindings`, { data });
}

async function openTheirs(tags: Readonly<Record<string, string>> = {}) {
  const bench = await openBench();
  const stack = await bench.checkout();
  await stack.setUp(workspace('ours'));
  await bench.byHand.create({ name: 'theirs', description: 'old' });
  await tag(bench, 'theirs', tags);
  const adopt = (spec: object) => workspace('theirs', { description: 'new', ...spec }, { adopt: true });
  return { bench, stack, adopt };
}

describe('The adoption of a workspace that changed after the plan', () => {
  it.each([
    ['replaces no tags', { x: 'y' }, { tags: { a: '1' } }],
    ['adds no tags', {}, { tags: { a: '1' } }],
    ['gives no other workspace access to its state', {}, { remoteStateConsumers: ['ours'] }],
  ])('%s', async (_, tags, spec) => {
    const { bench, stack, adopt } = await openTheirs(tags);
    await stack.declare(workspace('ours'), adopt(spec));
    changeAfterPlan(bench, 'theirs');
    const { out } = await stack.run(['apply', '--yes'], 4);
    expect(out).toContain('depends on Workspace/acme/theirs');
    expect(bench.written()).toEqual([]);
    expect(await bench.tagsOf('theirs')).toEqual(tags);
    expect(Object.keys((await stack.ledger()).records)).toEqual(['Workspace/acme/ours']);
    bench.wire.setHandler(undefined);
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('leaves tags and access that others had set as they are, also when the document is removed', async () => {
    const { bench, stack, adopt } = await openTheirs({ team: 'net' });
    const id = await bench.idOf('theirs');
    await bench.byHand.send('POST', `/workspaces/${id}/relationships/remote-state-consumers`, {
      data: [{ type: 'workspaces', id: await bench.idOf('ours') }],
    });
    await stack.declare(workspace('ours'), adopt({ tags: { team: 'net' }, remoteStateConsumers: ['ours'] }));
    changeAfterPlan(bench, 'theirs');
    await stack.run(['apply', '--yes'], 4);
    bench.wire.setHandler(undefined);
    await stack.declare(workspace('ours'));
    bench.wire.reset();
    await stack.run(['apply', '--yes'], 0);
    expect(bench.written()).toEqual([]);
    expect(await bench.tagsOf('theirs')).toEqual({ team: 'net' });
  });

  it('leaves the tags of others as they are if an apply selects only the tags', async () => {
    const { bench, stack, adopt } = await openTheirs({ team: 'net' });
    await stack.declare(workspace('ours'), adopt({ tags: { team: 'net' } }));
    await stack.run(['apply', '--select', 'TagBindings/acme/theirs', '--yes'], 0);
    expect(Object.keys((await stack.ledger()).records)).toEqual(['Workspace/acme/ours']);
    await stack.declare(workspace('ours'));
    await stack.run(['apply', '--yes'], 0);
    expect(bench.written().filter((call) => call.includes('tag-bindings'))).toEqual([]);
    expect(await bench.tagsOf('theirs')).toEqual({ team: 'net' });
  });

  it('leaves the tags of others as they are if the adopted workspace has an error, too', async () => {
    const { stack, adopt } = await openTheirs({ team: 'net' });
    await stack.declare(workspace('ours'), adopt({ tags: { team: 'net' }, project: 'unknown' }));
    await stack.run(['apply', '--select', 'TagBindings/acme/theirs', '--yes'], 0);
    expect(Object.keys((await stack.ledger()).records)).toEqual(['Workspace/acme/ours']);
  });

  it('does not give a released workspace the ownership tag of this stack', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('ours'), workspace('app', { description: 'old' }, { onRemove: 'release' }));
    await stack.declare(workspace('ours'));
    await stack.applyAcknowledged();
    const again = workspace('app', { description: 'new', tags: { a: '1' } }, { adopt: true });
    await stack.declare(workspace('ours'), again);
    changeAfterPlan(bench, 'app');
    await stack.run(['apply', '--yes'], 4);
    expect(await bench.tagsOf('app')).toEqual({});
    await stack.declare(workspace('ours'));
    expect((await stack.plan()).changes).toEqual([]);
  });
});

describe('The adoption of a workspace that the service refuses', () => {
  it('changes neither its tags nor who may read its state', async () => {
    const { bench, stack, adopt } = await openTheirs();
    await stack.declare(workspace('ours'), adopt({ tags: { a: '1' }, remoteStateConsumers: ['ours'] }));
    bench.wire.reset();
    refuseUpdates(bench);
    await stack.run(['apply', '--yes'], 1);
    expect(new Set(bench.written()).size).toBe(1);
    expect(await bench.tagsOf('theirs')).toEqual({});
  });
});

describe('A write of tags', () => {
  it('does not send health assessments of a change that was not carried out', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    const tags = { a: '1', b: '2' };
    await stack.setUp(workspace('app', { description: 'old', assessmentsEnabled: true, tags }));
    await stack.declare(
      workspace('app', { description: 'new', assessmentsEnabled: false, tags: { a: '1' } }),
    );
    // A service turns the assessments off in an update that does not repeat them.
    changeAfterPlan(bench, 'app', { 'assessments-enabled': true });
    await stack.run(['apply', '--yes'], 4);
    expect(await bench.byHand.attributes(await bench.idOf('app'))).toMatchObject({
      'assessments-enabled': true,
      description: 'by hand',
    });
  });

  it('does not remove the protection of a workspace whose change was not carried out', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    const tags = { a: '1', b: '2' };
    await stack.setUp(workspace('app', { description: 'old', tags }, { protect: true }));
    await stack.declare(workspace('app', { description: 'new', tags: { a: '1' } }));
    changeAfterPlan(bench, 'app');
    await stack.run(['apply', '--yes'], 4);
    expect(await bench.tagsOf('app')).toMatchObject({ 'trueup-stack': 'payments:protect' });
  });
});

describe('A workspace that is released while its tags are declared in a document of their own', () => {
  it('keeps the tags in the ledger, so that the next plan is empty', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('ours'), workspace('app', {}, { onRemove: 'release' }));
    await tag(bench, 'app', { a: '1' });
    await stack.declare(workspace('ours'), tagBindings('app', { tags: { a: '1' } }));
    await stack.applyAcknowledged();
    await stack.run(['plan', '--exit-code'], 0);
    expect(await bench.tagsOf('app')).toMatchObject({ a: '1' });
  });
});
