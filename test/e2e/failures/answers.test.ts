/** trueup compares the answer to a write with the request, and so finds a service that answers 200 but ignores the write. */
import { describe, expect, it } from 'vitest';
import { type Bench, type Checkout, openBench } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import type { Fault } from '../../support/cli/faulty-proxy.ts';

const oneWorkspace = /\/workspaces\/ws-\w+(\?.*)?$/;

/** The write does not reach the service; the client gets 200 with what `body` makes of the live document. */
async function ignore({ byHand }: Bench, id: string, body: (document: unknown) => unknown): Promise<Fault> {
  const { document } = await byHand.get(`/workspaces/${id}`);
  return { answer: 200, body: body(document) };
}

/** Removes the attribute from all answers, as if the service did not know it. */
function withoutAttribute(name: string): Fault {
  return {
    rewrite: (body) =>
      JSON.parse(JSON.stringify(body), (key, value: unknown) => (key === name ? undefined : value)),
  };
}

/** The answer of a service that repeats the request: the live document with the values that were sent. */
function repeatRequest(document: unknown): unknown {
  const { data } = document as { data: { attributes: object } };
  return { data: { ...data, attributes: { ...data.attributes, description: '', 'auto-apply': false } } };
}

async function recordOf(stack: Checkout, address: string) {
  return (await stack.ledger()).records[address];
}

describe('a PATCH that the service answers with 200 but ignores', () => {
  it.each([
    ['with the old value', (document: unknown) => document],
    ['without the field', () => ({ data: null })],
    ['that repeats the request', repeatRequest],
  ])(
    'keeps the record of a field dropped from the manifest, and the next plan resets it (answer %s)',
    async (_, answer) => {
      const bench = await openBench();
      const stack = await bench.checkout();
      await stack.setUp(workspace('app', { autoApply: true, description: 'old' }));
      await stack.declare(workspace('app'));
      const fault = await ignore(bench, await bench.idOf('app'), answer);
      bench.wire.add({ method: 'PATCH', path: oneWorkspace, fault });
      const { out } = await stack.run(['apply', '--yes'], 6);
      expect(out).toMatch(/did not converge|the service did not reset it/);
      expect(out).not.toContain('nothing is left');
      expect(await recordOf(stack, 'Workspace/acme/app')).toMatchObject({
        fields: { autoApply: true, description: 'old' },
      });
      const { changes } = await stack.plan();
      expect(changes.flatMap(({ fields }) => fields.map(({ path, origin }) => [path, origin]))).toEqual([
        ['/description', 'no longer declared'],
        ['/autoApply', 'no longer declared'],
      ]);
      await stack.run(['apply', '--yes'], 0);
      expect(await recordOf(stack, 'Workspace/acme/app')).toMatchObject({ fields: {} });
      expect(await bench.byHand.attributes(await bench.idOf('app'))).toMatchObject({
        'auto-apply': false,
        description: '',
      });
      await stack.run(['plan', '--exit-code'], 0);
    },
  );

  it('is reported field by field from its answer, also for declared fields', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app', { queueAllRuns: true, vcsRepo: repository('main') }));
    await stack.declare(
      workspace('app', { queueAllRuns: true, autoApply: true, vcsRepo: repository('next') }),
    );
    const fault = await ignore(bench, await bench.idOf('app'), (document) => document);
    bench.wire.add({ method: 'PATCH', path: oneWorkspace, fault });
    const { out } = await stack.run(['apply', '--yes'], 6);
    expect(out).toContain('autoApply, vcsRepo.branch: returned with another value than sent');
    const record = await recordOf(stack, 'Workspace/acme/app');
    expect(record?.fields).toEqual({ queueAllRuns: true, vcsRepo: repository('main') });
    await stack.run(['apply', '--yes'], 0);
  });

  it('is reported for an SSH key, too', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app', { sshKeyId: 'sshkey-deploy' }));
    await stack.declare(workspace('app'));
    const fault = await ignore(bench, await bench.idOf('app'), (document) => document);
    bench.wire.add({ method: 'PATCH', path: /\/relationships\/ssh-key$/, fault });
    const { out } = await stack.run(['apply', '--yes'], 6);
    expect(out).toContain('sshKeyId: the service did not reset it and returned the old value');
    expect(await recordOf(stack, 'Workspace/acme/app')).toMatchObject({
      fields: { sshKeyId: 'sshkey-deploy' },
    });
  });
});

function repository(branch: string): object {
  return { identifier: 'acme/app', oauthTokenId: 'ot-git', branch };
}

describe('a field that the answer to a write lacks', () => {
  it.each<[string, Fault]>([
    ['the answer lacks only the field', withoutAttribute('auto-apply')],
    ['the answer has no document', { rewrite: () => ({ data: null }) }],
  ])(
    'is applied as "cannot be verified" if reads lack it, too, and its record is removed (%s)',
    async (_, fault) => {
      const bench = await openBench();
      const stack = await bench.checkout();
      await stack.setUp(workspace('app', { autoApply: true, description: 'x' }));
      await stack.declare(workspace('app', { description: 'y' }));
      bench.wire.add(
        { method: 'GET', path: /\/workspaces/, times: 1000, fault: withoutAttribute('auto-apply') },
        { method: 'PATCH', path: oneWorkspace, fault },
      );
      const { out } = await stack.run(['apply', '--yes'], 0);
      expect(out).toMatch(/applied +~ Workspace\/acme\/app .* {2}autoApply: sent, cannot be verified\n/);
      expect((await recordOf(stack, 'Workspace/acme/app'))?.fields).toEqual({ description: 'y' });
      expect(await bench.byHand.attributes(await bench.idOf('app'))).toMatchObject({ 'auto-apply': false });
      await stack.run(['plan', '--exit-code'], 0);
    },
  );

  it('is checked by the plan after the apply if reads have it', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app', { autoApply: true }));
    await stack.declare(workspace('app'));
    bench.wire.add({ method: 'PATCH', path: oneWorkspace, fault: withoutAttribute('auto-apply') });
    const { out } = await stack.run(['apply', '--yes'], 0);
    expect(out).not.toContain('cannot be verified');
    expect(out).toContain('Planned again: nothing is left to do');
    expect((await recordOf(stack, 'Workspace/acme/app'))?.fields).toEqual({});
  });
});

describe('an answer with an equal value in another form', () => {
  it('is not reported: null for "", another order, a time to the minute, an object with more members', async () => {
    const bench = await openBench();
    const stack = await bench.checkout({ spec: { guards: { allow: ['scheduled-destroy'] } } });
    const before = { description: 'x', workingDirectory: 'a', tagNames: ['b', 'a'], autoApply: true };
    await stack.declare(
      workspace('app', before),
      workspace('new', {
        vcsRepo: repository(''),
        settingOverwrites: { agentPool: false },
        autoDestroyAt: '2031-01-31T09:00:42+01:00',
        tagNames: ['B', 'a'],
      }),
    );
    expect((await stack.run(['apply', '--yes'], 0)).out).not.toMatch(
      /with another value than sent|cannot be verified/,
    );
    await stack.declare(workspace('app', { description: null, workingDirectory: '', tagNames: ['a'] }));
    const asNull = (body: unknown) =>
      JSON.parse(JSON.stringify(body), (_, value: unknown) => (value === '' ? null : value));
    bench.wire.add({ method: 'PATCH', path: oneWorkspace, fault: { rewrite: asNull } });
    expect((await stack.run(['apply', '--yes'], 0)).out).not.toMatch(
      /with another value than sent|cannot be verified/,
    );
  });
});

describe('a write that the service answers with 204 but ignores', () => {
  const done: Fault = { answer: 204 };

  it('keeps the record of the workspace to delete, and the next plan deletes it', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'), workspace('old'));
    await stack.declare(workspace('app'));
    bench.wire.add({ method: 'POST', path: /safe-delete$/, fault: done });
    const { out } = await stack.run(['apply', '--yes'], 6);
    expect(out).toContain('did not converge');
    expect(await recordOf(stack, 'Workspace/acme/old')).toMatchObject({ origin: 'created' });
    expect((await stack.plan()).changes).toMatchObject([{ address: 'Workspace/acme/old', action: 'delete' }]);
    await stack.run(['apply', '--yes'], 0);
    expect(await bench.idsOf('old')).toEqual([]);
  });

  it('keeps the record of the access to revoke, and the next plan revokes it', async () => {
    const bench = await openBench();
    const stack = await bench.checkout({ spec: { guards: { allow: ['zero'] } } });
    await stack.setUp(workspace('app', { remoteStateConsumers: ['reader'] }), workspace('reader'));
    for (const document of [workspace('app'), workspace('app', { remoteStateConsumers: [] })]) {
      await stack.declare(document, workspace('reader'));
      bench.wire.add({ method: 'DELETE', path: /remote-state-consumers$/, fault: done });
      await stack.run(['apply', '--yes'], 6);
      expect((await stack.plan()).changes.map(({ address }) => address)).toEqual([
        'RemoteStateConsumers/acme/app',
      ]);
    }
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('keeps the record of flat tags to remove, and the next apply removes them', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app', { tagNames: ['pci'] }));
    await stack.declare(workspace('app'));
    bench.wire.add({ method: 'DELETE', path: /relationships\/tags$/, fault: done });
    await stack.run(['apply', '--yes'], 6);
    expect((await recordOf(stack, 'Workspace/acme/app'))?.fields).toEqual({ tagNames: ['pci'] });
    await stack.run(['apply', '--yes'], 0);
    expect((await recordOf(stack, 'Workspace/acme/app'))?.fields).toEqual({});
  });

  it('keeps the record of the workspace to release, and the next plan releases it', async () => {
    const bench = await openBench({ organization: { workspaces: [{ name: 'lent' }] } });
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'), workspace('lent', {}, { adopt: true }));
    await stack.declare(workspace('app'));
    const fault = await ignore(bench, await bench.idOf('lent'), (document) => document);
    bench.wire.add({ method: 'PATCH', path: oneWorkspace, fault });
    await stack.run(['apply', '--yes'], 6);
    expect((await stack.plan()).changes).toMatchObject([
      { address: 'Workspace/acme/lent', action: 'release' },
    ]);
    await stack.run(['apply', '--yes'], 0);
    expect(await bench.tagsOf('lent')).toEqual({});
  });
});
