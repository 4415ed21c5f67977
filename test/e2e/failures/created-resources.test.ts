/** After a create, only the created resource is written: also if the service answers the create, or a lookup, with another one. */
import { describe, expect, it } from 'vitest';
import { type Bench, type Checkout, openBench } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import { fakeAnswer } from '../../support/cli/faulty-proxy.ts';
import { openProjects, project } from '../../support/cli/projects-scene.ts';

async function recordOf(stack: Checkout, address: string) {
  return (await stack.ledger()).records[address];
}

describe('A create that the service answers with another resource', () => {
  const creates = /\/organizations\/acme\/(workspaces|projects)$/;

  /** @param isCarriedOut whether the service creates the resource that was sent */
  function answerCreates({ wire }: Pick<Bench, 'wire'>, document: unknown, isCarriedOut: boolean) {
    wire.setHandler(async ({ method, path }, pass) => {
      if (method !== 'POST' || !creates.test(path)) return pass();
      if (isCarriedOut) await pass();
      return fakeAnswer({ answer: 201, body: document });
    });
  }

  async function openWithVictim() {
    const bench = await openBench({
      organization: { 'ssh-keys': [{ name: 'deploy', id: 'sshkey-deploy' }] },
    });
    const stack = await bench.checkout();
    await stack.setUp(workspace('stays'));
    await bench.byHand.create({ name: 'victim', description: 'keep' });
    const id = await bench.idOf('victim');
    const app = workspace('app', { sshKey: 'deploy', tags: { env: 'prod' }, lock: { reason: 'frozen' } });
    await stack.declare(workspace('stays'), app);
    const { document } = await bench.byHand.get(`/workspaces/${id}`);
    const isUnchanged = async () => {
      expect(await bench.byHand.get(`/workspaces/${id}`)).toMatchObject({ document });
      expect(await bench.tagsOf('victim')).toEqual({});
    };
    return { bench, stack, document, isUnchanged };
  }

  it('looks the created workspace up by its name, and writes nothing to the other workspace', async () => {
    const { bench, stack, document, isUnchanged } = await openWithVictim();
    answerCreates(bench, document, true);
    await stack.run(['apply', '--yes'], 0);
    await isUnchanged();
    expect(bench.written().filter((call) => creates.test(call))).toHaveLength(1);
    expect(await recordOf(stack, 'Workspace/acme/app')).toMatchObject({
      id: await bench.idOf('app'),
      origin: 'created',
    });
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('fails and names the other workspace if nothing was created', async () => {
    const { bench, stack, document, isUnchanged } = await openWithVictim();
    answerCreates(bench, document, false);
    const { out } = await stack.run(['apply', '--yes'], 1);
    expect(out).toMatch(/answered 201 with another resource, "victim" \(ws-\w+\); looked up by name/);
    await isUnchanged();
    expect(await recordOf(stack, 'Workspace/acme/app')).toBeUndefined();
    bench.wire.setHandler(undefined);
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it.each([{}, { attributes: {} }])(
    'with an id alone, and writes nothing to that workspace (%j)',
    async (more) => {
      const { bench, stack, isUnchanged } = await openWithVictim();
      answerCreates(bench, { data: { id: await bench.idOf('victim'), type: 'workspaces', ...more } }, true);
      await stack.run(['apply', '--yes'], 0);
      await isUnchanged();
      expect(await recordOf(stack, 'Workspace/acme/app')).toMatchObject({ id: await bench.idOf('app') });
    },
  );

  it('with the name that was sent and the id of another workspace, and writes nothing to that workspace', async () => {
    const { bench, stack } = await openWithVictim();
    const stays = await bench.idOf('stays');
    bench.wire.add({
      method: 'POST',
      path: creates,
      fault: { rewrite: (body) => ({ data: { ...(body as { data: object }).data, id: stays } }) },
    });
    await stack.run(['apply', '--yes'], 0);
    expect(bench.written().filter((call) => call.includes(stays))).toEqual([]);
    expect(await recordOf(stack, 'Workspace/acme/app')).toMatchObject({ id: await bench.idOf('app') });
  });

  it('with another spelling of the name, and does not create it again', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('App'));
    bench.wire.setHandler(async ({ method, path, text }, pass) =>
      method === 'POST' && creates.test(path) ? pass(path, text.replace('"App"', '"app"')) : pass(),
    );
    const { out } = await stack.run(['apply', '--yes'], 1);
    expect(out).toMatch(/answered 201 with another resource, "app" \(ws-\w+\); looked up by name/);
    expect(bench.written().filter((call) => creates.test(call))).toHaveLength(1);
  });

  it('creates no workspace in another project', async () => {
    const { bench, stack, written } = await openProjects();
    await stack.declare(project('shared'), workspace('app', { project: 'shared' }));
    answerCreates(bench, (await bench.byHand.get('/projects/prj-theirs')).document, false);
    const { out } = await stack.run(['apply', '--yes'], 1);
    expect(out).toContain('answered 201 with another resource, "theirs" (prj-theirs)');
    expect(new Set(written())).toEqual(new Set(['POST /organizations/acme/projects']));
  });

  it('writes nothing to a workspace of the same name in another organization', async () => {
    const bench = await openBench({ others: ['globex'] });
    const stack = await bench.checkout();
    await stack.setUp(workspace('stays'));
    const { resource } = await bench.byHand.post('/organizations/globex/workspaces', {
      data: { type: 'workspaces', attributes: { name: 'app' } },
    });
    const { document } = await bench.byHand.get(`/workspaces/${resource.id}`);
    await stack.declare(workspace('stays'), workspace('app', { lock: { reason: 'frozen' } }));
    answerCreates(bench, document, true);
    await stack.run(['apply', '--yes'], 0);
    expect(await bench.byHand.get(`/workspaces/${resource.id}`)).toMatchObject({ document });
    expect(await recordOf(stack, 'Workspace/acme/app')).toMatchObject({ id: await bench.idOf('app') });
  });
});

describe('A lookup by name that the service answers with a workspace of another name', () => {
  const creates = /\/organizations\/acme\/workspaces$/;
  const settings = { lock: { reason: 'frozen' }, remoteStateConsumers: ['reader'] };

  it.each([
    ['app', { answer: 502 }, 6, 'answered 200 with the workspace "stays"'],
    [
      'Stays',
      { answer: 422, body: { errors: [{ status: '422', title: 'taken' }] } },
      1,
      'answered 422: taken',
    ],
  ])(
    'does not lead to writes to that workspace: a create of "%s" and %j',
    async (name, fault, code, said) => {
      const bench = await openBench();
      const stack = await bench.checkout();
      await stack.setUp(workspace('stays'), workspace('reader'));
      await stack.declare(workspace('stays'), workspace('reader'), workspace(name, settings));
      bench.wire.setHandler(async ({ method, path }, pass) => {
        if (method === 'POST' && creates.test(path)) return fakeAnswer(fault);
        const isLookup =
          method === 'GET' && path.split('?')[0]?.endsWith(`/organizations/acme/workspaces/${name}`);
        return isLookup ? pass(path.replace(`/workspaces/${name}`, '/workspaces/stays')) : pass();
      });
      const { out } = await stack.run(['apply', '--yes'], code);
      expect(out).toContain(said);
      expect(await bench.byHand.attributes(await bench.idOf('stays'))).toMatchObject({ locked: false });
      expect(new Set(bench.written())).toEqual(new Set(['POST /api/v2/organizations/acme/workspaces']));
      expect(await recordOf(stack, `Workspace/acme/${name}`)).toBeUndefined();
    },
  );
});

describe('A created workspace whose response was lost', () => {
  it('is read again before its SSH key is set: another user may have set one', async () => {
    const keys = ['deploy', 'other'].map((name) => ({ name, id: `sshkey-${name}` }));
    const bench = await openBench({ organization: { 'ssh-keys': keys } });
    const stack = await bench.checkout();
    await stack.setUp(workspace('stays'));
    await stack.declare(workspace('stays'), workspace('app', { sshKey: 'deploy' }));
    bench.wire.setHandler(async ({ method, path }, pass) => {
      const answer = await pass();
      if (method !== 'POST' || !/\/organizations\/acme\/workspaces$/.test(path)) return answer;
      await bench.byHand.patch(`/workspaces/${await bench.idOf('app')}/relationships/ssh-key`, {
        data: { type: 'workspaces', attributes: { id: 'sshkey-other' } },
      });
      return undefined;
    });
    await stack.run(['apply', '--yes'], 6);
    bench.wire.setHandler(undefined);
    const { resource } = await bench.byHand.get(`/workspaces/${await bench.idOf('app')}`);
    expect(resource).toMatchObject({ relationships: { 'ssh-key': { data: { id: 'sshkey-other' } } } });
  });
});

describe('A first create that is not found when it is read back', () => {
  it('does not make the report advise "ownership: ledger"', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('one'), workspace('two'));
    bench.wire.add({ method: 'GET', path: /\/workspaces\/ws-/, fault: { answer: 404 } });
    const { out } = await stack.run(['apply', '--yes'], 6);
    expect(out).toContain('it was created, but it was not found when it was read back');
    expect(out).not.toContain('ownership: ledger');
    await stack.run(['apply', '--yes'], 0);
  });
});

describe('A create that the service answers with 202', () => {
  it('is reported with the status that was expected', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app'));
    bench.wire.setHandler(async ({ method }, pass) => {
      const answer = await pass();
      return method === 'POST' ? { ...answer, status: 202 } : answer;
    });
    const { out } = await stack.run(['apply', '--yes'], 6);
    expect(out).toContain('/organizations/acme/workspaces answered 202 instead of 201');
  });
});
