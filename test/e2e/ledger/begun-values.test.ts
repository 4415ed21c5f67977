/** Values that an apply wrote before it was killed, or whose write got no answer: the ledger does not have them. */
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { trueup } from '../../support/captured-host.ts';
import { type Bench, type Checkout, openBench, secrets } from '../../support/cli/bench.ts';
import { role, workspace } from '../../support/cli/documents.ts';
import { killApply } from '../../support/cli/kill-apply.ts';

const reset = [{ action: 'update', fields: [{ path: '/autoApply', before: true, after: false }] }];

/** A killed apply has set `autoApply` of the workspace `app`. */
async function begun({ more = [] }: { readonly more?: readonly object[] } = {}): Promise<{
  readonly bench: Bench;
  readonly stack: Checkout;
}> {
  const bench = await openBench();
  const stack = await bench.checkout();
  await stack.setUp(workspace('app'), ...more);
  await stack.declare(workspace('app', { autoApply: true }), ...more);
  await killApply(bench, stack, /\/workspaces\/[^/]+$/);
  return { bench, stack };
}

async function setByHand(bench: Bench, id: string, attributes: object): Promise<void> {
  await bench.byHand.patch(`/workspaces/${id}`, { data: { type: 'workspaces', attributes } });
}

async function isAutomatic(bench: Bench, name: string): Promise<unknown> {
  const { resource } = await bench.byHand.get(`/workspaces/${await bench.idOf(name)}`);
  return resource.attributes['auto-apply'];
}

describe('A value that a killed apply wrote before the ledger had it', () => {
  it.each([
    {
      kind: 'workspace',
      before: workspace('app'),
      after: workspace('app', { autoApply: true }),
      path: /\/workspaces\/[^/]+$/,
      field: '/autoApply',
    },
    {
      kind: 'role',
      before: role('web'),
      after: role('web', { tokenNoDefaultPolicy: true }),
      path: /\/role\/web$/,
      field: '/tokenNoDefaultPolicy',
    },
  ])('of a $kind is no drift, and is reset once it is no longer declared', async (one) => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(one.before);
    await stack.declare(one.after);
    await killApply(bench, stack, one.path);
    expect((await stack.run(['drift'], 0)).out).toContain('No drift');
    expect((await stack.plan()).changes).toEqual([]);
    await stack.declare(one.before);
    expect((await stack.plan()).changes).toMatchObject([
      { action: 'update', fields: [{ path: one.field, before: true, after: false }] },
    ]);
    await stack.applyAcknowledged();
    expect((await stack.plan()).changes).toEqual([]);
    expect((await stack.run(['drift'], 0)).out).toContain('No drift');
  });

  it.each([
    { what: 'a workspace that it updated', setUp: [workspace('app')] },
    { what: 'a workspace that it created', setUp: [] },
  ])('of $what is reset by a later plan if the first reset fails', async ({ setUp }) => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('other'), ...setUp);
    await stack.declare(workspace('other'), workspace('app', { autoApply: true }));
    await killApply(bench, stack, /\/workspaces(\/[^/]+)?$/);
    await stack.declare(workspace('other'), workspace('app'));
    bench.wire.add({ method: 'PATCH', path: /\/workspaces\/[^/]+$/, times: 4, fault: { answer: 422 } });
    const refused = await stack.tryRun(['apply', '--yes']);
    expect(refused.code, refused.out + refused.err).toBe(1);
    bench.wire.reset();
    expect((await stack.plan()).changes).toMatchObject([
      { fields: [{ path: '/autoApply', before: true, after: false }] },
    ]);
    await stack.applyAcknowledged();
    expect((await stack.plan()).changes).toEqual([]);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('of a role does not keep it from being deleted once its document is gone', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'), role('web'));
    await stack.declare(workspace('app'), role('web', { tokenPolicies: ['admin'] }));
    await killApply(bench, stack, /\/role\/web$/);
    await stack.declare(workspace('app'));
    expect((await stack.plan()).changes).toMatchObject([
      { action: 'delete', address: 'ClusterAuthRole/prod/web' },
    ]);
    await stack.applyAcknowledged();
    expect((await stack.plan()).changes).toEqual([]);
  });

  it('of a connected repository is reset, although the service has filled in its other settings', async () => {
    const bench = await openBench({ organization: { 'oauth-tokens': [{ id: 'ot-git' }] } });
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'));
    await stack.declare(workspace('app', { vcsRepo: { identifier: 'acme/app', oauthTokenId: 'ot-git' } }));
    await killApply(bench, stack, /\/workspaces\/[^/]+$/);
    expect((await stack.run(['drift'], 0)).out).toContain('No drift');
    await stack.declare(workspace('app'));
    expect((await stack.plan()).changes).toMatchObject([{ fields: [{ path: '/vcsRepo', after: null }] }]);
    await stack.applyAcknowledged();
    expect((await stack.plan()).changes).toEqual([]);
  });

  it.each([
    { how: 'under the new name', name: 'app2', declared: workspace('app2', {}, { renamedFrom: 'app' }) },
    { how: 'under the old name', name: 'app', declared: workspace('app') },
  ])('together with a rename is reset $how', async ({ name, declared }) => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'));
    await stack.declare(workspace('app2', { autoApply: true }, { renamedFrom: 'app' }));
    await killApply(bench, stack, /\/workspaces\/[^/]+$/);
    await stack.declare(declared);
    const [change] = (await stack.plan()).changes;
    expect(change).toMatchObject({ action: 'update' });
    expect(change?.fields.map(({ path }) => path)).toContain('/autoApply');
    await stack.applyAcknowledged();
    expect((await stack.plan()).changes).toEqual([]);
    expect(await isAutomatic(bench, name)).toBe(false);
  });

  it('is not touched if it was changed since', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'));
    await stack.declare(workspace('app', { description: 'ours' }));
    await killApply(bench, stack, /\/workspaces\/[^/]+$/);
    await bench.byHand.patch(`/workspaces/${await bench.idOf('app')}`, {
      data: { type: 'workspaces', attributes: { description: 'theirs' } },
    });
    await stack.declare(workspace('app'));
    expect((await stack.plan()).changes).toEqual([]);
  });

  it('is reset after its write got no answer, and the resource could not be read', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'));
    await stack.declare(workspace('app', { autoApply: true }));
    let isWritten = false;
    bench.wire.setHandler(async ({ method }, pass) => {
      if (isWritten) return { status: 403, headers: {}, text: '{}' };
      const answer = await pass();
      isWritten = method === 'PATCH';
      return isWritten ? undefined : answer;
    });
    await stack.run(['apply', '--yes'], 6);
    bench.wire.setHandler(undefined);
    await stack.declare(workspace('app'));
    expect((await stack.plan()).changes).toMatchObject(reset);
    await stack.applyAcknowledged();
    expect((await stack.plan()).changes).toEqual([]);
  });

  it.each([
    { what: 'without other changes', more: {} },
    { what: 'with other changes', more: { autoApply: true } },
  ])('of a role is reset after its document was gone during an apply $what', async ({ more }) => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'), role('web'));
    await stack.declare(workspace('app'), role('web', { tokenPolicies: ['admin'] }));
    await killApply(bench, stack, /\/role\/web$/);
    // A change by hand, so that the role is kept without its document.
    await bench.byHandMount('POST', 'role/web', { token_num_uses: 7 });
    await stack.declare(workspace('app', more));
    await stack.applyAcknowledged();
    await stack.declare(workspace('app', more), role('web'));
    expect((await stack.plan()).changes).toMatchObject([
      { fields: [{ path: '/tokenPolicies', before: ['admin'], after: [] }] },
    ]);
  });

  it('is reset together with a rename of the resource', async () => {
    const { bench, stack } = await begun();
    await stack.declare(workspace('app2', {}, { renamedFrom: 'app' }));
    expect((await stack.plan()).changes).toMatchObject([
      { fields: [{ path: '/name' }, { path: '/autoApply', before: true, after: false }] },
    ]);
    bench.wire.add({ method: 'PATCH', path: /\/workspaces\/[^/]+$/, times: 4, fault: { answer: 422 } });
    await stack.tryRun(['apply', '--yes']);
    bench.wire.reset();
    await stack.applyAcknowledged();
    expect((await stack.plan()).changes).toEqual([]);
    expect(await isAutomatic(bench, 'app2')).toBe(false);
  });

  it('is reset when the stack is renamed', async () => {
    const { bench, stack } = await begun();
    const renamed = await stack.reconfigure({ name: 'money', renamedFrom: 'payments' });
    await renamed.declare(workspace('app'));
    await renamed.applyAcknowledged();
    expect(await isAutomatic(bench, 'app')).toBe(false);
  });

  it.each(['acme', 'org'])(
    'is reset when another stack takes the resource over, with its target named %s',
    async (name) => {
      const { bench, stack } = await begun({ more: [workspace('stay')] });
      const other = await bench.checkout({ name: 'billing', workspaces: { name } });
      const folder = relative(other.directory, join(stack.directory, '.trueup'));
      await other.declare(workspace('app', {}, { movedFrom: { stack: 'payments', folder } }));
      await stack.declare(workspace('stay'));
      await other.applyAcknowledged();
      expect(await isAutomatic(bench, 'app')).toBe(false);
    },
  );

  it('stays with its resource if names are exchanged and that apply is killed, too', async () => {
    const { bench, stack } = await begun({ more: [workspace('b')] });
    const [ours, other] = [await bench.idOf('app'), await bench.idOf('b')];
    await setByHand(bench, ours, { name: 'between' });
    await setByHand(bench, other, { name: 'app' });
    await setByHand(bench, ours, { name: 'b' });
    await stack.declare(workspace('app', { description: 'new' }), workspace('b'));
    const expected = [
      { address: 'Workspace/acme/app', fields: [{ path: '/description' }] },
      { address: 'Workspace/acme/b', fields: [{ path: '/autoApply', before: true, after: false }] },
    ];
    const { changes, digest, acknowledge } = await stack.plan();
    expect(changes).toMatchObject(expected);
    const options = ['--approve', digest, '--ack', acknowledge.join(',')];
    await killApply(bench, stack, /\/workspaces\/[^/]+$/, { options, isBefore: true });
    await setByHand(bench, other, { 'auto-apply': true });
    expect((await stack.plan()).changes).toMatchObject(expected);
  });

  it.each([
    { what: 'the whole stack', ahead: 24 * 3_600_000, options: [] },
    { what: 'the whole stack', ahead: 20_000, options: [] },
    { what: 'a part', ahead: 24 * 3_600_000, options: ['--select', 'Workspace/acme/other'] },
  ])(
    'is reset after an earlier apply of $what on a machine whose clock was $ahead ms ahead',
    async ({ ahead, options }) => {
      const bench = await openBench();
      const stack = await bench.checkout();
      const other = workspace('other', { description: 'new' });
      await stack.setUp(workspace('app'), workspace('other'));
      if (options.length > 0) {
        await stack.declare(workspace('app'), workspace('other', { autoApply: true }));
        await killApply(bench, stack, /\/workspaces\/[^/]+$/);
      }
      await stack.declare(workspace('app'), other);
      const now = () => Date.now() + ahead;
      const before = await trueup(['apply', '--yes', ...options], {
        ...{ cwd: stack.directory, env: secrets, now },
      });
      expect(before, before.out + before.err).toMatchObject({ code: 0 });
      await stack.declare(workspace('app', { autoApply: true }), other);
      await killApply(bench, stack, /\/workspaces\/[^/]+$/);
      await stack.declare(workspace('app'), other);
      expect((await stack.plan()).changes).toMatchObject(reset);
    },
  );

  it('is reset after many applies of parts without it', async () => {
    const { stack } = await begun({ more: [workspace('other')] });
    for (const description of ['one', 'two']) {
      await stack.declare(workspace('app'), workspace('other', { description }));
      await stack.run(['apply', '--select', 'Workspace/acme/other', '--yes'], 0);
    }
    expect((await stack.plan()).changes).toMatchObject(reset);
  });

  it('does not get an entry of its own with each apply without changes', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'), role('web'));
    await stack.declare(workspace('app'), role('web', { tokenPolicies: ['admin'] }));
    await killApply(bench, stack, /\/role\/web$/);
    await bench.byHandMount('POST', 'role/web', { token_num_uses: 7 });
    await stack.declare(workspace('app'));
    const entries = async () => {
      await stack.run(['apply', '--yes'], 0);
      return JSON.parse((await stack.run(['history', '--format', 'json'], 0)).out).entries.length;
    };
    const first = await entries();
    expect([await entries(), await entries()]).toEqual([first, first]);
  });
});

describe('A value that another person sets after a killed apply wrote the same one', () => {
  /** Takes the value of the killed apply back by hand. @returns sets it again, and gives the changes of the plan then */
  const takenBack = async ({ bench, stack }: { readonly bench: Bench; readonly stack: Checkout }) => {
    await setByHand(bench, await bench.idOf('app'), { 'auto-apply': false });
    return async () => {
      await setByHand(bench, await bench.idOf('app'), { 'auto-apply': true });
      return (await stack.plan()).changes;
    };
  };

  it('is left alone after an apply that stopped at another field', async () => {
    const { bench, stack } = await begun();
    await stack.declare(workspace('app', { sshKey: 'deploy' }));
    bench.wire.add({ method: 'PATCH', path: /ssh-key/, times: 9, fault: { answer: 422 } });
    await stack.run(['apply', '--yes'], 6);
    bench.wire.reset();
    await stack.declare(workspace('app'));
    await setByHand(bench, await bench.idOf('app'), { 'auto-apply': true });
    expect((await stack.plan()).changes).toEqual([]);
  });

  it('is left alone after an apply that could not read it again', async () => {
    const { bench, stack } = await begun();
    await stack.declare(workspace('app'));
    let isWritten = false;
    bench.wire.setHandler(async ({ method }, pass) => {
      if (isWritten) return { status: 403, headers: {}, text: '{}' };
      const answer = await pass();
      isWritten = method === 'PATCH';
      return answer;
    });
    await stack.run(['apply', '--yes'], 6);
    bench.wire.setHandler(undefined);
    await setByHand(bench, await bench.idOf('app'), { 'auto-apply': true });
    expect((await stack.plan()).changes).toEqual([]);
  });

  it('is left alone after an apply of a part that read it as reset', async () => {
    const scene = await begun({ more: [workspace('other')] });
    const setAgain = await takenBack(scene);
    await scene.stack.declare(workspace('app'), workspace('other', { description: 'one' }));
    await scene.stack.run(['apply', '--select', 'Workspace/acme/other', '--yes'], 0);
    expect(await setAgain()).toEqual([]);
  });

  it('is drift if an apply of a part has recorded the opposite', async () => {
    const scene = await begun({ more: [workspace('other')] });
    const setAgain = await takenBack(scene);
    await scene.stack.declare(workspace('app', { autoApply: false }), workspace('other'));
    await scene.stack.run(['apply', '--select', 'Workspace/acme/app', '--yes'], 0);
    expect(await setAgain()).toHaveLength(1);
    await scene.stack.run(['drift'], 3);
  });

  it('is left alone in a resource that was released, and is adopted again', async () => {
    const released = { onRemove: 'release' };
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app', {}, released), workspace('other'));
    await stack.declare(workspace('app', { autoApply: true }, released), workspace('other'));
    await killApply(bench, stack, /\/workspaces\/[^/]+$/);
    await stack.declare(workspace('other'));
    await stack.applyAcknowledged();
    await stack.declare(workspace('other'), workspace('app', {}, { adopt: true }));
    expect((await stack.plan()).changes).toMatchObject([{ action: 'adopt', fields: [{ path: '/claim' }] }]);
  });

  it('keeps a workspace that another client has locked with the reason that a killed apply would have sent', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'), workspace('other'));
    await stack.declare(workspace('app', { lock: { reason: 'frozen' } }), workspace('other'));
    await killApply(bench, stack, /actions\/lock$/, { isBefore: true });
    await bench.byHand.post(`/workspaces/${await bench.idOf('app')}/actions/lock`, { reason: 'frozen' });
    await stack.declare(workspace('other'));
    bench.wire.reset();
    expect((await stack.run(['apply', '--yes'], 0)).out).toContain('it is locked ("frozen")');
    expect(bench.written()).toEqual([]);
  });

  it('keeps a workspace of which another person has changed a part of the written value', async () => {
    const bench = await openBench({ organization: { 'oauth-tokens': [{ id: 'ot-git' }] } });
    const stack = await bench.checkout({ workspaces: { ownership: 'ledger' } });
    const vcsRepo = { identifier: 'acme/app', oauthTokenId: 'ot-git' };
    await stack.setUp(workspace('app'), workspace('other'));
    await stack.declare(workspace('app', { vcsRepo }), workspace('other'));
    await killApply(bench, stack, /\/workspaces\/[^/]+$/);
    const theirs = { identifier: 'acme/app', 'oauth-token-id': 'ot-git', branch: 'theirs' };
    await setByHand(bench, await bench.idOf('app'), { 'vcs-repo': theirs });
    await stack.declare(workspace('other'));
    bench.wire.reset();
    const { out } = await stack.run(['apply', '--yes'], 0);
    expect(out).toContain('it was changed since this stack last wrote it (vcsRepo): it is kept');
    expect(bench.written()).toEqual([]);
  });

  it('is left alone in another resource with the same name', async () => {
    const { bench, stack } = await begun();
    await bench.byHand.delete(`/workspaces/${await bench.idOf('app')}`);
    await bench.byHand.created({ name: 'app', 'auto-apply': true });
    await stack.declare(workspace('app', {}, { adopt: true }));
    expect((await stack.plan()).changes).toMatchObject([{ action: 'adopt', fields: [{ path: '/claim' }] }]);
  });
});
