/** trueup compares the answer to a write with the request, and so finds a service that answers 200 but ignores the write. */
import { describe, expect, it } from 'vitest';
import { type Bench, type Checkout, openBench } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import { type Fault, fakeAnswer } from '../../support/cli/faulty-proxy.ts';
import { openProjects, project } from '../../support/cli/projects-scene.ts';

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

describe('a create of a workspace that the service answers with 201', () => {
  const created = /\/organizations\/acme\/(workspaces|projects)$/;

  /** Replaces the response to a create. @param make the document; `pass` lets the service create the resource */
  function answerCreates({ wire }: Bench, make: (pass: () => Promise<{ text: string }>) => Promise<unknown>) {
    wire.setHandler(async ({ method, path }, pass) => {
      if (method !== 'POST' || !created.test(path)) return pass();
      const body = await make(pass);
      return fakeAnswer({ answer: 201, headers: { date: new Date().toUTCString() }, body });
    });
  }

  /** The response of the service with other attributes. */
  const withAttributes = (attributes: object) => async (pass: () => Promise<{ text: string }>) => {
    const { data } = JSON.parse((await pass()).text) as { data: { attributes: object } };
    return { data: { ...data, attributes: { ...data.attributes, ...attributes } } };
  };

  const app = workspace('app', {
    description: 'ours',
    sshKey: 'deploy',
    tagNames: ['pci'],
    tags: { env: 'prod' },
    lock: { reason: 'frozen' },
  });

  async function opened() {
    const bench = await openBench({
      organization: { 'ssh-keys': [{ name: 'deploy', id: 'sshkey-deploy' }] },
    });
    const stack = await bench.checkout();
    await stack.setUp(workspace('stays'));
    await stack.declare(workspace('stays'), app);
    return { bench, stack };
  }

  const onlyCreate = ['POST /api/v2/organizations/acme/workspaces'];

  it('and another workspace gets no further call: that one stays as it was, and the next apply finds ours', async () => {
    const { bench, stack } = await opened();
    await bench.byHand.create({ name: 'victim', description: 'keep' });
    const id = await bench.idOf('victim');
    const before = await bench.byHand.attributes(id);
    answerCreates(bench, async (pass) => {
      await pass();
      return (await bench.byHand.get(`/workspaces/${id}`)).document;
    });
    const { out } = await stack.run(['apply', '--yes'], 6);
    bench.wire.setHandler(undefined);
    expect(out).toContain(`answered 201 with another resource, "victim" (${id}), and may have created "app"`);
    expect(out).toContain('may have been made');
    expect(bench.written()).toEqual(onlyCreate);
    expect(await bench.byHand.attributes(id)).toEqual(before);
    expect(await recordOf(stack, 'Workspace/acme/app')).toBeUndefined();
    expect((await stack.run(['ledger', 'show'], 0)).out).toContain('Workspace/acme/app');
    await stack.run(['apply', '--yes'], 0);
    expect(await recordOf(stack, 'Workspace/acme/app')).toMatchObject({ id: await bench.idOf('app') });
    await stack.run(['plan', '--exit-code'], 0);
  });

  it.each([{}, { 'source-name': 'by hand' }])(
    'and the one that somebody else created meanwhile is not adopted without "adopt: true" (%j)',
    async (attributes) => {
      const { bench, stack } = await opened();
      answerCreates(bench, async () => {
        await bench.byHand.create({ name: 'app', description: 'theirs', ...attributes });
        return (await bench.byHand.get(`/workspaces/${await bench.idOf('app')}`)).document;
      });
      const { out } = await stack.run(['apply', '--yes'], 1);
      bench.wire.setHandler(undefined);
      expect(out).toMatch(/does not show that "app" \(ws-\w+\) is new; .* does not belong to this stack/);
      expect(bench.written()).toEqual(onlyCreate);
      expect(await bench.tagsOf('app')).toEqual({});
      expect(await recordOf(stack, 'Workspace/acme/app')).toBeUndefined();
      expect((await stack.run(['plan'], 9)).out).toContain('add "adopt: true"');
    },
  );

  it('and one with a copy of our ownership tag, which somebody else created meanwhile, is recorded as adopted', async () => {
    const { bench, stack } = await opened();
    const ownershipTag = { key: 'trueup-stack', value: 'payments' };
    answerCreates(bench, async () => {
      await bench.byHand.created(
        { name: 'app' },
        { 'tag-bindings': { data: [{ type: 'tag-bindings', attributes: ownershipTag }] } },
      );
      return (await bench.byHand.get(`/workspaces/${await bench.idOf('app')}`)).document;
    });
    const { out } = await stack.run(['apply', '--yes'], 6);
    expect(out).toContain('recorded as adopted, because it may have been created by another user');
    expect(await recordOf(stack, 'Workspace/acme/app')).toMatchObject({ origin: 'adopted' });
  });

  it('and without its creator mark is read once, and recorded as created if it is ours', async () => {
    const { bench, stack } = await opened();
    answerCreates(bench, withAttributes({ 'source-name': null }));
    await stack.run(['apply', '--yes'], 0);
    bench.wire.setHandler(undefined);
    const reads = bench.wire.seen.filter(({ path }) => /\/workspaces\/app\?/.test(path));
    expect(reads).toHaveLength(1);
    expect(await recordOf(stack, 'Workspace/acme/app')).toMatchObject({ origin: 'created' });
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('and its own document is not read again, although a setting was returned with another value', async () => {
    const { bench, stack } = await opened();
    answerCreates(bench, withAttributes({ description: 'Ours' }));
    expect((await stack.run(['apply', '--yes'], 0)).out).toContain('returned with another value than sent');
    expect(bench.wire.seen.filter(({ path }) => /\/workspaces\/app\?/.test(path))).toEqual([]);
  });

  it('but nothing that can be found afterwards is in doubt', async () => {
    const { bench, stack } = await opened();
    answerCreates(bench, async () => ({ data: { id: 'ws-nowhere', type: 'workspaces' } }));
    const { out } = await stack.run(['apply', '--yes'], 6);
    expect(out).toContain('"app" (ws-nowhere) is new; read afterwards: it does not exist');
    expect(bench.written()).toEqual(onlyCreate);
    expect(await recordOf(stack, 'Workspace/acme/app')).toBeUndefined();
  });

  it.each([
    ['that somebody else created long before, as its time shows', { 'created-at': '2020-01-01T00:00:00Z' }],
    ['that somebody else created with another description', { description: 'theirs' }],
  ])('or a create of a project, and the project %s, is not taken over', async (_, attributes) => {
    const { bench, stack, idOfProject, tagsOfProject, written } = await openProjects();
    await stack.declare(project('shared', { description: 'd' }), workspace('app', { project: 'shared' }));
    answerCreates(bench, async () => {
      const theirs = { type: 'projects', attributes: { name: 'shared', description: 'd', ...attributes } };
      await bench.byHand.post('/organizations/acme/projects', { data: theirs });
      const { resource } = await bench.byHand.get(`/projects/${await idOfProject('shared')}`);
      return { data: { ...resource, attributes: { ...resource.attributes, ...attributes } } };
    });
    expect((await stack.run(['apply', '--yes'], 1)).out).toContain('does not belong to this stack');
    expect(written()).toEqual(['POST /organizations/acme/projects']);
    expect(await tagsOfProject('shared')).toEqual({});
    expect((await stack.ledger()).records).toEqual({});
  });

  it('or a create of a project, and the created project, is not read again', async () => {
    const { bench, stack } = await openProjects();
    await stack.declare(project('shared', { description: 'd' }));
    const { digest } = await stack.plan();
    bench.wire.reset();
    await stack.run(['apply', '--approve', digest], 0);
    expect(bench.wire.seen.filter(({ path }) => /filter\[names\]|filter%5Bnames%5D/.test(path))).toEqual([]);
    expect(await recordOf(stack, 'Project/acme/shared')).toMatchObject({ origin: 'created' });
  });

  it('or a create of a project, and another project, creates nothing in that one', async () => {
    const { bench, stack, written } = await openProjects();
    await stack.declare(project('shared'), workspace('app', { project: 'shared' }));
    answerCreates(bench, async () => (await bench.byHand.get('/projects/prj-theirs')).document);
    const { out } = await stack.run(['apply', '--yes'], 6);
    expect(out).toContain('with another resource, "theirs" (prj-theirs), and may have created "shared"');
    expect(written()).toEqual(['POST /organizations/acme/projects']);
  });
});
