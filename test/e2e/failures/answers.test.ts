/** What a write is answered is compared with what was sent: a service that says yes and does nothing is found out. */
import { describe, expect, it } from 'vitest';
import { type Bench, type Checkout, openBench } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import type { Fault } from '../../support/cli/faulty-proxy.ts';

const oneWorkspace = /\/workspaces\/ws-\w+(\?.*)?$/;

/** The service hears nothing of the write, and the client is told yes, with what `body` makes of the live document. */
async function ignore({ byHand }: Bench, id: string, body: (document: unknown) => unknown): Promise<Fault> {
  const { document } = await byHand.get(`/workspaces/${id}`);
  return { answer: 200, body: body(document) };
}

/** All answers lack the attribute, as if the service had never heard of it. */
function withoutAttribute(name: string): Fault {
  return {
    rewrite: (body) =>
      JSON.parse(JSON.stringify(body), (key, value: unknown) => (key === name ? undefined : value)),
  };
}

/** The document as a service answers it that repeats what it was sent. */
function saidAgain(document: unknown): unknown {
  const { data } = document as { data: { attributes: object } };
  return { data: { ...data, attributes: { ...data.attributes, description: '', 'auto-apply': false } } };
}

async function recordOf(stack: Checkout, address: string) {
  return (await stack.ledger()).records[address];
}

describe('a PATCH that is answered with yes and ignored', () => {
  it.each([
    ['with the old value', (document: unknown) => document],
    ['without a word of the field', () => ({ data: null })],
    ['with the request said again', saidAgain],
  ])(
    'and %s: a field that was dropped from the manifest stays recorded, and the next plan resets it again',
    async (_, answer) => {
      const bench = await openBench();
      const stack = await bench.checkout();
      await stack.begin(workspace('app', { autoApply: true, description: 'old' }));
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

  it('is reported field by field as soon as it is answered, also for what is declared', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.begin(workspace('app', { queueAllRuns: true, vcsRepo: repository('main') }));
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

  it('about an SSH key is reported, too', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.begin(workspace('app', { sshKeyId: 'sshkey-deploy' }));
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

describe('a field that neither an answer nor a reading reports', () => {
  it.each<[string, Fault]>([
    ['where the answer lacks it', withoutAttribute('auto-apply')],
    ['where the answer has no document', { rewrite: () => ({ data: null }) }],
  ])('is applied, %s, with the words that it cannot be verified, and its record goes', async (_, fault) => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.begin(workspace('app', { autoApply: true, description: 'x' }));
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
  });

  it('but is read is checked by the plan that is made afterwards', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.begin(workspace('app', { autoApply: true }));
    await stack.declare(workspace('app'));
    bench.wire.add({ method: 'PATCH', path: oneWorkspace, fault: withoutAttribute('auto-apply') });
    const { out } = await stack.run(['apply', '--yes'], 0);
    expect(out).not.toContain('cannot be verified');
    expect(out).toContain('Planned again: nothing is left to do');
    expect((await recordOf(stack, 'Workspace/acme/app'))?.fields).toEqual({});
  });
});

describe('an answer in other words', () => {
  it('is none: "" and null, a set in another order, a time to the minute, an object with more members', async () => {
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

describe('a write that is answered 204 and ignored', () => {
  const done: Fault = { answer: 204 };

  it('leaves a workspace that was to be deleted known to the next plan', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.begin(workspace('app'), workspace('old'));
    await stack.declare(workspace('app'));
    bench.wire.add({ method: 'POST', path: /safe-delete$/, fault: done });
    const { out } = await stack.run(['apply', '--yes'], 6);
    expect(out).toContain('did not converge');
    expect(await recordOf(stack, 'Workspace/acme/old')).toMatchObject({ origin: 'created' });
    expect((await stack.plan()).changes).toMatchObject([{ address: 'Workspace/acme/old', action: 'delete' }]);
    await stack.run(['apply', '--yes'], 0);
    expect(await bench.idsOf('old')).toEqual([]);
  });

  it('leaves access that was to be revoked known to the next plan', async () => {
    const bench = await openBench();
    const stack = await bench.checkout({ spec: { guards: { allow: ['zero'] } } });
    await stack.begin(workspace('app', { remoteStateConsumers: ['reader'] }), workspace('reader'));
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

  it('leaves flat tags that are no longer declared to be removed again', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.begin(workspace('app', { tagNames: ['pci'] }));
    await stack.declare(workspace('app'));
    bench.wire.add({ method: 'DELETE', path: /relationships\/tags$/, fault: done });
    await stack.run(['apply', '--yes'], 6);
    expect((await recordOf(stack, 'Workspace/acme/app'))?.fields).toEqual({ tagNames: ['pci'] });
    await stack.run(['apply', '--yes'], 0);
    expect((await recordOf(stack, 'Workspace/acme/app'))?.fields).toEqual({});
  });

  it('leaves a workspace that was to be released owned, and known', async () => {
    const bench = await openBench({ organization: { workspaces: [{ name: 'lent' }] } });
    const stack = await bench.checkout();
    await stack.begin(workspace('app'), workspace('lent', {}, { adopt: true }));
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
