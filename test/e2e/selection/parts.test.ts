/** `--select` plans and applies a part of a stack: the rest of it stays as it is, and every report says so. */
import { describe, expect, it } from 'vitest';
import { trueup } from '../../support/captured-host.ts';
import { openBench, secrets } from '../../support/cli/bench.ts';
import {
  clusterAuthConfig,
  consumers,
  removalRequest,
  role,
  tagBindings,
  workspace,
} from '../../support/cli/documents.ts';
import { actionsOf, app, applied, net, partOf, selecting } from '../../support/selection/parts.ts';

describe('A part of a stack', () => {
  it('is planned and applied alone, and its first line shows the size of the part', async () => {
    const { bench, stack } = await applied();
    await stack.declare(
      clusterAuthConfig(),
      role('web', { tokenTtl: '2h' }),
      net({ queueAllRuns: true }),
      app({ autoApply: false }),
    );
    const select = selecting('Workspace/acme/net');
    const { out } = await stack.run(['plan', ...select], 0);
    expect(out.split('\n')[0]).toBe('A part of stack payments: 2 of 6 resources');
    expect(out).toContain(
      '  selected with "Workspace/acme/net"\n  left as they are: 4 other declared resources',
    );
    expect(out).toContain('1 to update, 1 unchanged');
    const { out: done } = await stack.run(['apply', ...select, '--yes'], 0);
    expect(done).toContain('Planned again: nothing is left to do in this part of the stack');
    expect(bench.written()).toEqual(['PATCH /api/v2/workspaces/ws-…']);
    expect(actionsOf(await stack.plan())).toEqual([
      'update Workspace/acme/app',
      'update ClusterAuthRole/prod/web',
    ]);
  });

  it('sends nothing to a target without selected resources, and needs no token for it', async () => {
    const { bench, stack } = await applied();
    await stack.declare(clusterAuthConfig(), role('web', { tokenTtl: '2h' }), net(), app());
    const { API_TOKEN: _, ...env } = secrets;
    const args = ['plan', '--format', 'json', ...selecting('ClusterAuthRole/prod/*')];
    const { code, out } = await trueup(args, { cwd: stack.directory, env });
    expect(code).toBe(0);
    expect(bench.wire.seen.filter(({ path }) => !path.startsWith('/v1/'))).toEqual([]);
    const plan = JSON.parse(out);
    expect(plan.coverage).toMatchObject({
      complete: true,
      targets: [{ target: 'acme', skipped: true, requests: 0 }, { target: 'prod' }],
    });
    expect(actionsOf(plan)).toEqual(['update ClusterAuthRole/prod/web']);
  });

  it('needs no more requests than the whole stack', async () => {
    const { stack } = await applied();
    const requestsOf = ({ coverage }: Awaited<ReturnType<typeof stack.plan>>) =>
      coverage.targets.reduce((sum, { requests }) => sum + requests, 0);
    const whole = requestsOf(await stack.plan());
    expect(requestsOf(await partOf(stack, 'Workspace/acme/*', 'ClusterAuthRole/*'))).toBe(whole);
    expect(requestsOf(await partOf(stack, 'Workspace/acme/net'))).toBeLessThan(whole);
  });

  it('keeps resources that are no longer declared, and counts them', async () => {
    const { bench, stack } = await applied();
    await stack.declare(clusterAuthConfig(), net({ queueAllRuns: true }));
    const select = selecting('Workspace/acme/net');
    const plan = await partOf(stack, 'Workspace/acme/net');
    expect(actionsOf(plan)).toEqual(['update Workspace/acme/net']);
    expect(plan.part).toEqual({ selectors: ['Workspace/acme/net'], of: 3, along: [], leftOut: 1 });
    const before = (await stack.ledger()).records;
    const { out } = await stack.run(['apply', ...select, '--yes'], 0);
    expect(out).toContain('left as they are: 1 other declared resource, and 1 that is no longer declared');
    expect(bench.written()).toEqual(['PATCH /api/v2/workspaces/ws-…']);
    expect(Object.keys((await stack.ledger()).records)).toEqual(Object.keys(before));
    expect(actionsOf(await stack.plan())).toContain('delete Workspace/acme/app');
  });

  it('does not release resources, remove tags or consumers, or drop records of deleted resources', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(
      clusterAuthConfig(),
      role('web'),
      workspace('net', { tags: { env: 'prod' }, remoteStateConsumers: ['app'] }),
      workspace('app', {}, { onRemove: 'release' }),
      workspace('old'),
    );
    await bench.byHand.delete(`/workspaces/${await bench.idOf('old')}`);
    await stack.declare(workspace('net', { queueAllRuns: true }));
    const plan = await partOf(stack, 'Workspace/acme/net');
    expect(actionsOf(plan)).toEqual(['update Workspace/acme/net']);
    expect(plan.mentions).toEqual([]);
    const before = Object.keys((await stack.ledger()).records);
    await stack.run(['apply', ...selecting('Workspace/acme/net'), '--yes'], 0);
    expect(Object.keys((await stack.ledger()).records)).toEqual(before);
    expect(actionsOf(await stack.plan())).toEqual(
      expect.arrayContaining(['release Workspace/acme/app', 'delete RemoteStateConsumers/acme/net']),
    );
  });

  it('carries out only the selected removal requests', async () => {
    const { bench, stack } = await applied();
    await stack.declare(
      clusterAuthConfig(),
      role('web'),
      removalRequest('Workspace', 'net', 'safe'),
      removalRequest('Workspace', 'app', 'safe'),
      workspace('other'),
    );
    await stack.run(['apply', ...selecting('Workspace/acme/other'), '--yes'], 0);
    const plan = await partOf(stack, 'Workspace/acme/net');
    expect(actionsOf(plan)).toEqual(['delete Workspace/acme/net']);
    await stack.run(['apply', ...selecting('Workspace/acme/net'), '--yes'], 0);
    expect(await bench.idsOf('net')).toEqual([]);
    expect(await bench.idsOf('app')).toHaveLength(1);
  });

  it('renames a selected workspace in place', async () => {
    const { bench, stack } = await applied();
    const id = await bench.idOf('net');
    await stack.declare(
      clusterAuthConfig(),
      role('web'),
      workspace('mesh', { tags: { env: 'prod' } }, { renamedFrom: 'net' }),
      app({ autoApply: false }),
    );
    expect(actionsOf(await partOf(stack, 'Workspace/acme/mesh'))).toEqual(['update Workspace/acme/mesh']);
    await stack.run(['apply', ...selecting('Workspace/acme/mesh'), '--yes'], 0);
    expect(await bench.idOf('mesh')).toBe(id);
    expect(Object.keys((await stack.ledger()).records)).not.toContain('Workspace/acme/net');
    expect(actionsOf(await stack.plan())).toEqual(['update Workspace/acme/app']);
  });

  it('is stopped by conflicts and problems of its own resources only', async () => {
    const { bench, stack } = await applied();
    await bench.byHand.post('/organizations/acme/workspaces', {
      data: { type: 'workspaces', attributes: { name: 'foreign' } },
    });
    await stack.declare(
      clusterAuthConfig(),
      role('web'),
      net({ queueAllRuns: true }),
      app(),
      workspace('foreign'),
    );
    await stack.run(['plan'], 9);
    await stack.run(['plan', ...selecting('Workspace/acme/foreign')], 9);
    await stack.run(['apply', ...selecting('Workspace/acme/net'), '--yes'], 0);
    expect(bench.written()).toContain('PATCH /api/v2/workspaces/ws-…');
  });
});

describe('A resource that a selected one needs', () => {
  /** A stack that is not applied yet, in which `app` may read the state of `net`. */
  async function openEmpty() {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(
      workspace('net', { remoteStateConsumers: ['app'], tags: { env: 'prod' } }),
      workspace('app', { tags: { env: 'dev' } }),
      workspace('other'),
    );
    return { bench, stack };
  }

  it('comes along, and is marked so in every format', async () => {
    const { stack } = await openEmpty();
    const plan = await partOf(stack, 'Workspace/acme/net');
    expect(actionsOf(plan).toSorted()).toEqual([
      'create RemoteStateConsumers/acme/net',
      'create TagBindings/acme/net',
      'create Workspace/acme/app',
      'create Workspace/acme/net',
    ]);
    expect(plan.part).toMatchObject({
      along: [{ address: 'Workspace/acme/app', neededBy: ['RemoteStateConsumers/acme/net'] }],
    });
    const note = 'not selected: it comes along, because "RemoteStateConsumers/acme/net" needs it';
    expect(plan.changes.find(({ name }) => name === 'app')?.notes).toContain(note);
    const printed = async (format: string) =>
      (await stack.run(['plan', ...selecting('Workspace/acme/net'), '--format', format], 0)).out;
    expect(await printed('text')).toContain('3 of 6 resources, and 1 that these need');
    expect(await printed('text')).toContain(note);
    expect(await printed('markdown')).toMatch(
      /^## Plan of a part of `payments`: 3 of 6 resources, and 1 that these need\n/,
    );
    expect(await printed('markdown')).toContain('not selected: it comes along');
    expect(await printed('html')).toContain('a part of the stack: 3 of 6 resources, and 1 that these need');
    expect(await printed('html')).toContain('not selected: it comes along');
    const apply = ['apply', ...selecting('Workspace/acme/net'), '--yes', '--format', 'jsonl'];
    await stack.run(['plan', ...selecting('Workspace/acme/net'), '--out', 'plan.json'], 0);
    const { out: events } = await stack.run(apply, 0);
    expect(JSON.parse(events.split('\n')[1] ?? '')).toMatchObject({ type: 'planned', part: plan.part });
    const { out: graph } = await stack.run(['graph', 'plan.json'], 0);
    expect(graph).toContain('of a part of it? 3 of 6 resources');
    expect(graph).toContain('Workspace/acme/app<br>not selected');
  });

  it('is created before it, without its own tags if these are not needed', async () => {
    const { bench, stack } = await openEmpty();
    await stack.run(['apply', ...selecting('Workspace/acme/net'), '--yes'], 0);
    expect(await bench.idsOf('app')).toHaveLength(1);
    expect(await bench.idsOf('other')).toEqual([]);
    expect(await bench.tagsOf('app')).toEqual({ 'trueup-stack': 'payments' });
    expect(actionsOf(await stack.plan())).toEqual([
      'create Workspace/acme/other',
      'update TagBindings/acme/app',
    ]);
  });

  it('can be its parent with planned changes, if tags or consumers are selected', async () => {
    const { bench, stack } = await applied();
    await stack.declare(
      clusterAuthConfig(),
      role('web'),
      net({ tags: { env: 'live' }, queueAllRuns: true }),
      app({ autoApply: false }),
    );
    const plan = await partOf(stack, 'TagBindings/acme/net');
    expect(actionsOf(plan)).toEqual(['update Workspace/acme/net', 'update TagBindings/acme/net']);
    expect(plan.selection).toEqual(['TagBindings/acme/net']);
    await stack.run(['apply', ...selecting('TagBindings/acme/net'), '--yes'], 0);
    expect(await bench.tagsOf('net')).toMatchObject({ env: 'live' });
  });

  it('does not come along if it exists already, even if changes of it are planned', async () => {
    const { stack } = await applied();
    await stack.declare(
      clusterAuthConfig(),
      role('web'),
      net({ remoteStateConsumers: ['app'] }),
      app({ autoApply: false }),
    );
    const plan = await partOf(stack, 'Workspace/acme/net');
    expect(actionsOf(plan)).toEqual(['update RemoteStateConsumers/acme/net']);
    expect(plan.part?.along).toEqual([]);
  });

  it('must not be excluded', async () => {
    const { bench, stack } = await openEmpty();
    const select = selecting('Workspace/acme/net', '!Workspace/acme/app');
    const { out } = await stack.run(['plan', ...select], 7);
    expect(out).toContain('"RemoteStateConsumers/acme/net" is selected and needs "Workspace/acme/app"');
    await stack.run(['apply', ...select, '--yes'], 7);
    const child = selecting('TagBindings/acme/net', '!Workspace/acme/net');
    await stack.run(['apply', ...child, '--yes'], 7);
    expect(bench.written()).toEqual([]);
  });

  it('stops the part if it has a conflict', async () => {
    const { bench, stack } = await applied();
    await bench.byHand.post('/organizations/acme/workspaces', {
      data: { type: 'workspaces', attributes: { name: 'foreign' } },
    });
    await stack.declare(
      clusterAuthConfig(),
      role('web'),
      net(),
      app(),
      workspace('foreign'),
      tagBindings('foreign', { tags: { env: 'prod' } }),
      consumers('net', { consumers: ['app'] }),
    );
    const { out } = await stack.run(['plan', ...selecting('TagBindings/acme/foreign')], 9);
    expect(out).toContain('"Workspace/acme/foreign" exists without an ownership tag');
  });
});
