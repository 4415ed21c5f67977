/** A run in which something fails, and the run after it (architecture: apply finishes or tells). */
import { describe, expect, it } from 'vitest';
import { bindings } from '../../support/server/serve-for-test.ts';
import { type Bench, openBench, secrets } from '../../support/cli/bench.ts';
import { clusterAuthConfig, role, workspace } from '../../support/cli/documents.ts';
import { trueupProcess } from '../../support/cli/process.ts';

const creates = /\/organizations\/acme\/workspaces$/;

describe('one change that fails', () => {
  it('skips what depends on it and nothing else, exits with 6, and the next apply finishes', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    bench.wire.add({ method: 'POST', path: creates, body: /"name":"app"/, fault: { answer: 422 } });
    await stack.declare(
      workspace('app', { tags: { env: 'prod' }, remoteStateConsumers: ['other'] }),
      workspace('other', { remoteStateConsumers: ['app', 'third'] }),
      workspace('third', { remoteStateConsumers: ['other'] }),
      role('web'),
    );
    const { out } = await stack.run(['apply', '--yes'], 6);
    expect(out).toContain('made up by the test');
    expect(out).toContain('4 applied, 2 skipped, 2 failed');
    for (const line of [
      'failed    + Workspace/acme/app',
      'failed    + TagBindings/acme/app',
      'skipped   + RemoteStateConsumers/acme/app',
      'skipped   + RemoteStateConsumers/acme/other',
      'applied   + RemoteStateConsumers/acme/third',
      'applied   + ClusterAuthRole/prod/web',
    ]) {
      expect(out).toContain(line);
    }
    expect(out).toContain('depends on Workspace/acme/app#create, which did not succeed');
    expect(out).not.toContain('did not converge');
    const { out: second } = await stack.run(['apply', '--yes'], 0);
    expect(second).toContain('3 to create, 1 to update, 4 unchanged');
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('exits with 1 when it was the only one: nothing was applied', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    bench.wire.add({ method: 'POST', path: creates, fault: { answer: 409 } });
    await stack.declare(workspace('app'));
    const { out } = await stack.run(['apply', '--yes'], 1);
    expect(out).toMatch(/POST http:\S+\/workspaces answered 409: .*made up by the test/);
  });

  it('is reported in JSON, too', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    bench.wire.add({ method: 'POST', path: creates, fault: { answer: 422 } });
    await stack.declare(workspace('app', { remoteStateConsumers: [] }), role('web'));
    const { out } = await stack.run(['apply', '--yes', '--format', 'json'], 6);
    expect(JSON.parse(out)).toMatchObject({ summary: { applied: 1, failed: 2 } });
  });
});

describe('a create whose answer was lost', () => {
  it.each([
    ['after the service had carried it out', 'after', 1],
    ['before the request reached the service', 'before', 2],
  ] as const)('%s is looked up by name, and there is exactly one workspace, ours', async (_, drop, posts) => {
    const bench = await openBench();
    const stack = await bench.checkout();
    bench.wire.add({ method: 'POST', path: creates, fault: { drop } });
    await stack.declare(
      workspace('app', { tags: { env: 'prod' }, remoteStateConsumers: ['other'] }),
      workspace('other'),
    );
    await stack.run(['apply', '--yes'], 0);
    const sent = bench.wire
      .writes()
      .filter(({ path, text }) => creates.test(path) && text.includes('"name":"app"'));
    const other = bench.wire
      .writes()
      .filter(({ path, text }) => creates.test(path) && text.includes('"name":"other"'));
    expect(sent.length + other.length).toBe(posts + 1);
    expect(await bench.tagsOf('app')).toEqual({ env: 'prod', 'trueup-stack': 'payments' });
    expect((await stack.ledger()).records['Workspace/acme/app']).toMatchObject({
      id: await bench.idOf('app'),
      origin: 'created',
    });
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('or that was answered with a 500 is not sent again before it was looked up', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    bench.wire.add({ method: 'POST', path: creates, fault: { answer: 500 } });
    await stack.declare(workspace('app'));
    await stack.run(['apply', '--yes'], 0);
    const after = bench.wire.seen.slice(bench.wire.seen.findIndex(({ method }) => method === 'POST'));
    // By its name, then the project whose defaults it gets.
    expect(after.slice(0, 4).map(({ method, path }) => [method, path.split('?', 1)[0]])).toEqual([
      ['POST', '/api/v2/organizations/acme/workspaces'],
      ['GET', '/api/v2/organizations/acme/workspaces/app'],
      ['GET', expect.stringMatching(/^\/api\/v2\/projects\/prj-/)],
      ['POST', '/api/v2/organizations/acme/workspaces'],
    ]);
    expect(await bench.idsOf('app')).toHaveLength(1);
  });
});

describe('a create whose answer was lost, while somebody else created the workspace', () => {
  /** Somebody creates `app` with our ownership tag while our own create request is lost. */
  async function lostToACopy(spec: object, copied: object) {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('stays'));
    bench.wire.setHandler(async ({ method, path }, pass) => {
      if (method !== 'POST' || !creates.test(path)) return pass();
      bench.wire.setHandler(undefined);
      await bench.byHand.created({ name: 'app', ...copied }, bindings({ 'trueup-stack': 'payments' }));
      return undefined;
    });
    await stack.declare(workspace('stays'), workspace('app', spec));
    await stack.run(['apply', '--yes'], 0);
    const record = (await stack.ledger()).records['Workspace/acme/app'];
    return { bench, stack, record, id: await bench.idOf('app') };
  }

  it.each([
    ['with a copy of our ownership tag', {}, {}],
    [
      'with a copy of our ownership tag and source URL',
      { sourceUrl: 'https://git.example/app' },
      { 'source-url': 'https://git.example/app' },
    ],
    [
      'with a copy of our ownership tag, but another source name',
      { sourceName: 'ours' },
      { 'source-name': 'theirs' },
    ],
  ])('%s is recorded as adopted: dropped later, it is released, not deleted', async (_, spec, copied) => {
    const { bench, stack, record, id } = await lostToACopy(spec, copied);
    expect(record).toMatchObject({ id, origin: 'adopted' });
    await stack.declare(workspace('stays'));
    await stack.run(['apply', '--yes'], 0);
    expect(await bench.idsOf('app')).toEqual([id]);
    expect(await bench.tagsOf('app')).toEqual({});
  });

  it('with the source name that the manifest sets instead of our creator mark is recorded as created', async () => {
    const url = 'https://git.example/app';
    const { record } = await lostToACopy({ sourceName: 'ours', sourceUrl: url }, { 'source-name': 'ours' });
    expect(record).toMatchObject({ origin: 'created' });
  });
});

describe('a service that is busy', () => {
  it('and answers 429 gets the same request again, creates included', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    const busy = { answer: 429, headers: { 'x-ratelimit-reset': '0.1' } };
    bench.wire.add(
      { path: /include=/, fault: busy },
      { method: 'POST', path: creates, times: 2, fault: busy },
      { method: 'POST', path: /role\/web/, fault: busy },
    );
    await stack.declare(workspace('app'), role('web'));
    await stack.run(['apply', '--yes'], 0);
    const statuses = bench.wire
      .writes()
      .filter(({ path }) => creates.test(path))
      .map(({ status }) => status);
    expect(statuses).toEqual([429, 429, 201]);
  });

  it('and answers 500 gets requests again that may be repeated', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'));
    bench.wire.add(
      { method: 'GET', path: /./, fault: { answer: 500 } },
      { method: 'PATCH', path: /./, fault: { answer: 503 } },
    );
    await stack.declare(workspace('app', { autoApply: true }));
    await stack.run(['apply', '--yes'], 0);
    expect(bench.wire.writes().map(({ status }) => status)).toEqual([503, 200]);
  });

  it('and loses the answer to an update gets the update again', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'), role('web'));
    bench.wire.add(
      { method: 'PATCH', path: /./, fault: { drop: 'after' } },
      { path: /role\/web/, method: 'POST', fault: { drop: 'before' } },
    );
    await stack.declare(workspace('app', { autoApply: true }), role('web', { tokenTtl: '30m' }));
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
  });
});

describe('somebody who changes things between the plan and the write', () => {
  /** A stack with `app`, which shares its state globally, and `other`; somebody acts just before `name` is read once more. */
  async function meddledWith(meddle: (bench: Bench, id: string) => Promise<unknown>, name = 'app') {
    const bench = await openBench({
      organization: { workspaces: [{ name: 'app', 'global-remote-state': true }] },
    });
    const stack = await bench.checkout();
    await stack.setUp(workspace('app', { description: 'as it was' }, { adopt: true }), workspace('other'));
    const id = await bench.idOf(name);
    const first = () => meddle(bench, id);
    bench.wire.add({ method: 'GET', path: new RegExp(`/workspaces/${id}\\b`), fault: { first } });
    return { bench, stack, id };
  }
  const wanted = { description: 'as we want it', globalRemoteState: false, remoteStateConsumers: ['other'] };

  it('makes that change stale: its dependents are skipped, the others are applied, exit code 6', async () => {
    const { bench, stack, id } = await meddledWith(({ byHand }, at) =>
      byHand.update(at, { description: 'theirs' }),
    );
    await stack.declare(workspace('app', wanted), workspace('other', { autoApply: true }));
    const { out } = await stack.run(['apply', '--yes'], 6);
    expect(out).toMatch(/stale +~ Workspace\/acme\/app/);
    expect(out).toContain('description changed since the plan was made');
    expect(out).toMatch(/skipped +~ RemoteStateConsumers\/acme\/app/);
    expect(out).toMatch(/applied +~ Workspace\/acme\/other/);
    expect(await bench.byHand.attributes(id)).toMatchObject({
      description: 'theirs',
      'global-remote-state': true,
    });
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('makes the apply exit with 4 if nothing was written', async () => {
    const { bench, stack } = await meddledWith(({ byHand }, at) =>
      byHand.update(at, { description: 'theirs' }),
    );
    await stack.declare(workspace('app', wanted), workspace('other'));
    await stack.run(['apply', '--yes'], 4);
    expect(bench.wire.writes()).toEqual([]);
  });

  it('and makes the same change leaves nothing to do: unchanged, exit code 0', async () => {
    const { bench, stack } = await meddledWith(({ byHand }, at) =>
      byHand.update(at, { description: 'as we want it' }),
    );
    await stack.declare(workspace('app', { description: 'as we want it' }), workspace('other'));
    const { out } = await stack.run(['apply', '--yes'], 0);
    expect(out).toMatch(/unchanged +~ Workspace\/acme\/app/);
    expect(bench.wire.writes()).toEqual([]);
  });

  it('and gives the ownership tag to another stack stops the write', async () => {
    const { bench, stack, id } = await meddledWith(({ byHand }, at) =>
      byHand.update(at, {}, bindings({ 'trueup-stack': 'billing' })),
    );
    await stack.declare(workspace('app', { description: 'ours' }), workspace('other'));
    const { out } = await stack.run(['apply', '--yes'], 4);
    expect(out).toContain('its ownership tag changed since the plan was made');
    expect(await bench.byHand.attributes(id)).toMatchObject({ description: 'as it was' });
  });

  it('and locks a workspace to delete stops the delete', async () => {
    const lock = ({ byHand }: Bench, id: string) =>
      byHand.post(`/workspaces/${id}/actions/lock`, { reason: 'mine' });
    const { bench, stack } = await meddledWith(lock, 'other');
    await stack.declare(workspace('app', { description: 'as it was' }));
    const { out } = await stack.run(['apply', '--yes'], 4);
    expect(out).toContain('it is locked ("mine")');
    expect(await bench.idsOf('other')).toHaveLength(1);
  });

  it('and adds a tag just before ours are replaced does not lose it', async () => {
    const { bench, stack } = await meddledWith(({ byHand }, at) =>
      byHand.update(at, {}, bindings({ theirs: 'yes', 'trueup-stack': 'payments' })),
    );
    await stack.declare(
      workspace('app', { description: 'as it was', globalRemoteState: true, tags: { ours: 'yes' } }),
      workspace('other'),
    );
    const { out } = await stack.run(['apply', '--yes'], 4);
    expect(out).toMatch(/stale +[~+] TagBindings\/acme\/app/);
    expect(bench.wire.writes()).toEqual([]);
    expect(await bench.tagsOf('app')).toEqual({ theirs: 'yes', 'trueup-stack': 'payments' });
  });

  it('and creates the role that we are about to create is not overwritten', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(role('web'));
    const theirs = { bound_service_account_names: ['x'], bound_service_account_namespaces: ['y'] };
    bench.wire.add({
      method: 'GET',
      path: /role\/web/,
      fault: { first: () => bench.byHandMount('POST', 'role/web', theirs) },
    });
    const { out } = await stack.run(['apply', '--yes'], 4);
    expect(out).toContain('appeared since the plan was made');
    expect(await bench.byHandMount('GET', 'role/web')).toMatchObject({ bound_service_account_names: ['x'] });
  });
});

describe('a service that does not keep what it was sent', () => {
  it('is reported field by field, sent against returned, and the exit code is 6', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app', { description: 'as we want it' }), role('web'));
    bench.wire.add({
      path: /include=/,
      times: 9,
      fault: {
        rewrite: (body) => JSON.parse(JSON.stringify(body).replaceAll('as we want it', 'as it likes')),
      },
    });
    const { out } = await stack.run(['apply', '--yes'], 6);
    expect(out).toContain('2 applied');
    expect(out).toContain('sent as we want it, returned as it likes');
    expect(out).toContain('1 resource did not converge');
    expect(out).not.toContain('nothing is left to do');
  });
});

describe('SIGTERM while an apply runs', () => {
  it('lets writes in flight finish, starts nothing new, reports what is left, and exits with 130', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(clusterAuthConfig(), role('web'));
    const started = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const hold = () => {
      started.resolve();
      return release.promise;
    };
    bench.wire.add({ method: 'POST', path: /config$/, fault: { first: hold } });
    const options = { cwd: stack.directory, env: secrets };
    const { code, out } = await trueupProcess(
      ['apply', '--yes'],
      options,
      async ({ sendSignal, waitForText }) => {
        await started.promise;
        sendSignal('SIGTERM');
        await waitForText(/interrupted: any write that was sent is waited for/);
        release.resolve();
      },
    );
    expect(code, out).toBe(130);
    expect(out).toContain('1 applied, 1 skipped');
    expect(out).toContain('not sent: the run was stopped');
    expect(Object.keys((await stack.ledger()).records)).toEqual(['ClusterAuthConfig/prod/config']);
    await stack.run(['apply', '--yes'], 0);
  });
});

describe('a ledger that cannot be used', () => {
  it('stops an apply before anything is sent', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app'));
    await stack.write('.trueup', 'a file where a directory has to be');
    const { err } = await stack.run(['apply', '--yes'], 1);
    expect(err).toMatch(/^error: .*\.trueup.*\n$/);
    expect(bench.wire.writes()).toEqual([]);
  });

  it.each([
    ['is damaged', 'half a ledg'],
    ['was edited by hand', '{"version":1,"stack":"payments","serial":1,"checksum":"x","records":{}}'],
    ["is another stack's", '{"version":1,"stack":"billing","serial":1,"checksum":"x","records":{}}'],
    ['has a newer version', '{"version":2}'],
  ])('because it %s is reported in one line by plan and apply', async (_, text) => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'));
    await stack.write('.trueup/payments.ledger.json', text);
    for (const args of [['plan'], ['apply', '--yes']]) {
      const { out, err } = await stack.run(args, 1);
      expect(out).toBe('');
      expect(err).toMatch(/^error: the ledger ".*payments\.ledger\.json" .*\n$/);
    }
    expect(bench.wire.writes()).toEqual([]);
  });
});
