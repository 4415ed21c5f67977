/** The ledger records exactly what a change did before it stopped. */
import { describe, expect, it } from 'vitest';
import { type Bench, type Checkout, openBench } from '../../support/cli/bench.ts';
import { consumers, workspace } from '../../support/cli/documents.ts';
import { fakeAnswer } from '../../support/cli/faulty-proxy.ts';

const oneWorkspace = /\/workspaces\/ws-\w+$/;
const lock = { reason: 'frozen' };
const refusedLock = { method: 'POST', path: /\/actions\/lock$/, fault: { answer: 403 } } as const;
const refusedPatch = { method: 'PATCH', path: oneWorkspace, fault: { answer: 422 } } as const;

async function recordOf(stack: Checkout, address = 'Workspace/acme/app') {
  return (await stack.ledger()).records[address];
}

async function attributesOf({ byHand, idOf }: Bench, name = 'app') {
  return byHand.attributes(await idOf(name));
}

async function readersOf({ byHand, idOf }: Bench, name: string): Promise<unknown[]> {
  const { resources } = await byHand.get(
    `/workspaces/${await idOf(name)}/relationships/remote-state-consumers`,
  );
  return resources.map(({ attributes }) => attributes['name']);
}

describe('a change that stopped after its first call', () => {
  it.each([
    ['an update', [workspace('app')]],
    ['a creation', []],
  ])('records what it wrote, which is reset once it is no longer declared: %s', async (_, before) => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('keep'), ...before);
    await stack.declare(workspace('keep'), workspace('app', { autoApply: true, lock }));
    bench.wire.add(refusedLock);
    await stack.run(['apply', '--yes'], 6);
    // `seen` has the values of undeclared fields that an earlier apply read.
    const { seen: __, ...record } = (await recordOf(stack)) ?? {};
    expect(record).toEqual({
      id: await bench.idOf('app'),
      origin: 'created',
      fields: { autoApply: true },
    });
    await stack.declare(workspace('keep'), workspace('app'));
    const { out } = await stack.run(['apply', '--yes'], 0);
    expect(out).toMatch(/autoApply +true -> false/);
    expect(await attributesOf(bench)).toMatchObject({ 'auto-apply': false });
  });

  it('keeps the record of a field to reset until a plan has seen that it is reset', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app', { description: 'old', sshKeyId: 'sshkey-deploy' }));
    await stack.declare(workspace('app', { autoApply: true }));
    bench.wire.add({ ...refusedPatch, path: /\/relationships\/ssh-key$/ });
    await stack.run(['apply', '--yes'], 6);
    expect((await recordOf(stack))?.fields).toEqual({
      autoApply: true,
      description: 'old',
      sshKeyId: 'sshkey-deploy',
    });
    await stack.run(['apply', '--yes'], 0);
    expect((await recordOf(stack))?.fields).toEqual({ autoApply: true });
  });
});

describe('a change whose first call failed and whose second call succeeded', () => {
  it('records our lock, which is removed once undeclared, and no field that was not written', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'));
    await stack.declare(workspace('app', { autoApply: true, lock }));
    bench.wire.add(refusedPatch);
    await stack.run(['apply', '--yes'], 6);
    const { fields, marks } = (await recordOf(stack)) ?? {};
    expect(fields).toEqual({ lock });
    expect(marks).toMatchObject({ locked: true, lockedReason: 'frozen' });
    await bench.byHand.update(await bench.idOf('app'), { 'auto-apply': true });
    await stack.declare(workspace('app'));
    await stack.run(['apply', '--yes'], 0);
    expect(await attributesOf(bench)).toMatchObject({ locked: false, 'auto-apply': true });
  });

  it('of an adoption takes no lock before the approved plan has finished it', async () => {
    const bench = await openBench({ organization: { workspaces: [{ name: 'app' }] } });
    const stack = await bench.checkout({ spec: { guards: { allow: ['zero'] } } });
    await stack.setUp(workspace('keep'));
    await stack.declare(workspace('keep'), workspace('app', { autoApply: true, lock }, { adopt: true }));
    await stack.run(['plan', '--out', 'plan.json'], 0);
    bench.wire.setHandler(async ({ method }, pass) =>
      method === 'PATCH' ? fakeAnswer(refusedPatch.fault) : pass(),
    );
    await stack.run(['apply', 'plan.json'], 1);
    bench.wire.setHandler(undefined);
    expect(await attributesOf(bench)).toMatchObject({ locked: false, 'auto-apply': false });
    expect(await recordOf(stack)).toBeUndefined();
    await stack.run(['apply', 'plan.json'], 0);
    expect(await recordOf(stack)).toMatchObject({ origin: 'adopted', fields: { autoApply: true, lock } });
    await stack.declare(workspace('keep'), workspace('app', {}, { adopt: true }));
    await stack.run(['apply', '--yes'], 0);
    expect(await attributesOf(bench)).toMatchObject({ locked: false, 'auto-apply': false });
  });
});

describe('a set of which only the additions or only the removals succeeded', () => {
  it('of consumers is recorded with all that were added, and revoked once the document is gone', async () => {
    const bench = await openBench();
    const stack = await bench.checkout({ spec: { guards: { allow: ['zero'] } } });
    const others = [workspace('app'), workspace('a'), workspace('b'), workspace('mine')];
    await stack.setUp(...others, consumers('app', { consumers: ['a'] }));
    await stack.declare(...others, consumers('app', { consumers: ['b'] }));
    bench.wire.add({ method: 'DELETE', path: /remote-state-consumers$/, fault: { answer: 403 } });
    await stack.run(['apply', '--yes'], 6);
    expect(await recordOf(stack, 'RemoteStateConsumers/acme/app')).toMatchObject({
      fields: { consumers: ['a', 'b'] },
      marks: { edges: { a: await bench.idOf('a'), b: await bench.idOf('b') } },
    });
    await stack.declare(...others);
    await stack.run(['apply', '--yes'], 0);
    expect(await readersOf(bench, 'app')).toEqual([]);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('of consumers is recorded without those that could not be added', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    const others = [workspace('app'), workspace('a'), workspace('b')];
    await stack.setUp(...others, consumers('app', { consumers: ['a'] }));
    await stack.declare(...others, consumers('app', { consumers: ['b'] }));
    bench.wire.add({ method: 'POST', path: /remote-state-consumers$/, fault: { answer: 403 } });
    await stack.run(['apply', '--yes'], 6);
    expect(await recordOf(stack, 'RemoteStateConsumers/acme/app')).toMatchObject({
      fields: { consumers: ['a'] },
      marks: { edges: { a: await bench.idOf('a') } },
    });
    await stack.run(['apply', '--yes'], 0);
    expect(await recordOf(stack, 'RemoteStateConsumers/acme/app')).toMatchObject({
      fields: { consumers: ['b'] },
      marks: { edges: { b: await bench.idOf('b') } },
    });
  });

  it('of flat tags is recorded without tags that somebody else had set', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'));
    const below = `/workspaces/${await bench.idOf('app')}/relationships/tags`;
    const data = ['theirs', 'old'].map((name) => ({ type: 'tags', attributes: { name } }));
    expect(await bench.byHand.post(below, { data })).toMatchObject({ status: 204 });
    await stack.declare(workspace('app', { autoApply: true, tagNames: ['theirs'] }));
    bench.wire.add({ method: 'DELETE', path: /relationships\/tags$/, fault: { answer: 403 } });
    await stack.run(['apply', '--yes'], 6);
    expect((await recordOf(stack))?.fields).toEqual({ autoApply: true });
  });

  it('of flat tags is recorded with all tags that are still ours', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app', { tagNames: ['old'] }));
    await stack.declare(workspace('app', { tagNames: ['new'] }));
    bench.wire.add({ method: 'DELETE', path: /relationships\/tags$/, fault: { answer: 403 } });
    await stack.run(['apply', '--yes'], 6);
    expect((await recordOf(stack))?.fields).toEqual({ tagNames: ['new', 'old'] });
    await stack.run(['apply', '--yes'], 0);
    expect((await recordOf(stack))?.fields).toEqual({ tagNames: ['new'] });
  });
});
