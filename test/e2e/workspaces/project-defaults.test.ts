/** Changes by a move to another project are shown, checked by guards, and read again before the write. */
import { describe, expect, it } from 'vitest';
import type { Bench } from '../../support/cli/bench.ts';
import { isRead } from '../../support/cli/faulty-proxy.ts';
import { workspace } from '../../support/cli/documents.ts';
import { openScene } from '../../support/cli/destroy-scene.ts';

describe('A move to another project', () => {
  it('shows the fields that its defaults change, and drift compares them afterwards', async () => {
    const { stack, bench } = await openScene({ begin: { projectId: 'prj-plain' } });
    await stack.declare(workspace('app', { projectId: 'prj-sandbox' }));
    const { changes, digest } = await stack.plan();
    const from = 'project "sandbox" (prj-sandbox)';
    expect(changes[0]?.fields).toEqual([
      { path: '/projectId', before: 'prj-plain', after: 'prj-sandbox', shape: 'scalar' },
      { path: '/inherited/executionMode', before: 'remote', after: 'local', shape: 'scalar', origin: from },
      {
        path: '/inherited/autoDestroyActivityDuration',
        before: null,
        after: '1d',
        shape: 'scalar',
        origin: from,
      },
    ]);
    await stack.run(['apply', '--approve', digest, '--ack', 'scheduled-destroy'], 0);
    await stack.run(['plan', '--exit-code'], 0);
    await stack.run(['drift'], 0);
    const attributes = { 'auto-destroy-activity-duration': '1h', 'default-execution-mode': 'remote' };
    await bench.byHand.patch('/projects/prj-sandbox', { data: { type: 'projects', attributes } });
    const { out } = await stack.run(['drift'], 3);
    expect(out).toContain('inherited.autoDestroyActivityDuration');
    expect(out).toMatch(/inherited\.executionMode +local -> remote/);
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['drift'], 0);
  });

  it('keeps a declared null duration if the dialect supports it', async () => {
    const { stack, guardsOf, live } = await openScene({
      dialect: 'hcp-terraform',
      begin: { projectId: 'prj-plain', autoDestroyActivityDuration: null },
    });
    await stack.declare(workspace('app', { projectId: 'prj-week', autoDestroyActivityDuration: null }));
    expect(await guardsOf()).toEqual([]);
    await stack.run(['apply', '--yes'], 0);
    expect(await live()).toEqual([null, null]);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('is stale if the duration of the project changed after the approval', async () => {
    const { stack, bench } = await openScene({ begin: { projectId: 'prj-plain' } });
    await stack.declare(workspace('app', { projectId: 'prj-week' }));
    const { digest } = await stack.plan();
    const attributes = { 'auto-destroy-activity-duration': '1h' };
    await bench.byHand.patch('/projects/prj-week', { data: { type: 'projects', attributes } });
    await stack.run(['apply', '--approve', digest, '--ack', 'scheduled-destroy'], 4);
  });

  it('reads the projects in one list, and an update that moves nothing reads none', async () => {
    const { stack, bench } = await openScene({ begin: { projectId: 'prj-plain' } });
    const asked = () => bench.wire.seen.filter(({ path }) => path.includes('/projects')).length;
    const before = asked();
    await stack.declare(workspace('app', { projectId: 'prj-plain', description: 'another one' }));
    await stack.plan();
    expect(asked()).toBe(before);
    await stack.declare(
      workspace('app', { projectId: 'prj-week' }),
      workspace('two', { projectId: 'prj-sandbox' }),
      workspace('three', {}),
    );
    await stack.plan();
    expect(asked()).toBe(before + 1);
  });
});

describe('The defaults of a project', () => {
  const set = (bench: Bench, project: string, attributes: object) =>
    bench.byHand.patch(`/projects/${project}`, { data: { type: 'projects', attributes } });
  const hour = { 'auto-destroy-activity-duration': '1h' };
  const asked = (bench: Bench) => bench.wire.seen.filter(({ path }) => path.includes('/projects'));

  /** Delays the next write by a rate limit, and runs an action meanwhile. */
  const meanwhile = (bench: Bench, action: () => Promise<unknown>) =>
    bench.wire.setHandler(async (request, pass) => {
      if (isRead(request)) return pass();
      bench.wire.setHandler(undefined);
      await action();
      return { status: 429, headers: { 'retry-after': '0' }, text: '' };
    });

  const moving = async (dialect: string) => {
    const scene = await openScene({ dialect, begin: { projectId: 'prj-plain' } });
    scene.bench.wire.reset();
    await scene.stack.declare(workspace('app', { projectId: 'prj-other' }));
    return scene;
  };
  const creating = async (dialect: string) => {
    const scene = await openScene({ dialect });
    await scene.stack.declare(workspace('app', { projectId: 'prj-other' }));
    return scene;
  };

  it.each([
    ['moved', 'neutral', moving],
    ['moved', 'hcp-terraform', moving],
    ['created', 'neutral', creating],
    ['created', 'hcp-terraform', creating],
  ])(
    'that change while a write waits make it stale, for a workspace to be %s, in the dialect %s',
    async (_, dialect, open) => {
      const { bench, stack } = await open(dialect);
      meanwhile(bench, () => set(bench, 'prj-other', hour));
      const { out } = await stack.run(['apply', '--yes'], 4);
      expect(out.replace(/\s+/g, ' ')).toContain(
        'the defaults of project "other" (prj-other) changed since the plan was made',
      );
      expect(bench.wire.writes()).toHaveLength(1);
      expect((await stack.plan()).guards.map(({ id }) => id)).toEqual(['scheduled-destroy']);
    },
  );

  it.each([
    ['moved', moving],
    ['created', creating],
  ])('are read again only after a wait, for a workspace to be %s', async (_, open) => {
    const { bench, stack } = await open('hcp-terraform');
    meanwhile(bench, async () => {
      expect(asked(bench)).toHaveLength(1);
      await set(bench, 'prj-other', { name: 'renamed' });
    });
    await stack.run(['apply', '--yes'], 0);
    expect(asked(bench).filter(({ path }) => path.endsWith('/projects/prj-other'))).toHaveLength(1);
  });

  it('that cannot be read again stop the move', async () => {
    const { bench, stack } = await moving('hcp-terraform');
    meanwhile(bench, async () =>
      bench.wire.add({ path: /\/projects(\/prj-other$|\?)/, times: 1000, fault: { answer: 403 } }),
    );
    const { out } = await stack.run(['apply', '--yes'], 1);
    expect(out.replace(/\s+/g, ' ')).toContain('could not be read again');
    expect(bench.wire.writes()).toHaveLength(1);
  });

  it('are read from the list if the service shows no single project', async () => {
    const { bench, stack } = await moving('hcp-terraform');
    meanwhile(bench, async () => {
      bench.wire.add({ path: /\/projects\/prj-other$/, times: 1000, fault: { answer: 404 } });
      await set(bench, 'prj-other', hour);
    });
    await stack.run(['apply', '--yes'], 4);
    expect(bench.wire.writes()).toHaveLength(1);
  });

  it('make the move stale also if the execution mode of the organization changed', async () => {
    const { bench, stack } = await moving('hcp-terraform');
    meanwhile(bench, () =>
      bench.byHand.patch('/organizations/acme', {
        data: { type: 'organizations', attributes: { 'default-execution-mode': 'local' } },
      }),
    );
    await stack.run(['apply', '--yes'], 4);
    expect(bench.wire.writes()).toHaveLength(1);
  });
});
