/** Changes of a project that schedule the destroy of resources of its workspaces, and workspaces that are not affected. */
import { describe, expect, it } from 'vitest';
import type { PlanJson } from '../../../src/report/json/plan-schema.ts';
import { workspace } from '../../support/cli/documents.ts';
import { bothDialects, openProjects, project } from '../../support/cli/projects-scene.ts';

const adopted = { adopt: true };
const local = { defaultExecutionMode: 'local', autoDestroyActivityDuration: '1d' };

/** The messages of the guard `scheduled-destroy`. */
function destroysIn({ guards }: Pick<PlanJson, 'guards'>): readonly string[] {
  return guards
    .filter(({ id }) => id === 'scheduled-destroy')
    .flatMap(({ concerns }) => concerns.flatMap(({ says }) => says));
}

describe.each(bothDialects)('In the dialect %s, a project with local runs', (dialect) => {
  /** A project of this stack with local runs and a duration, and two workspaces of others in it. */
  async function openLocal() {
    const scene = await openProjects(dialect);
    await scene.stack.declare(project('theirs', local, adopted));
    await scene.stack.applyAcknowledged();
    return scene;
  }

  it('fires the guard if it gets another mode, because its resources can be destroyed again', async () => {
    const { stack, find } = await openLocal();
    await stack.declare(project('theirs', { ...local, defaultExecutionMode: 'remote' }, adopted));
    expect(destroysIn(await stack.plan())).toEqual([
      'the resources of 2 workspaces in it ("theirs-a", "theirs-b") can be destroyed again: after 1d without activity',
    ]);
    await stack.run(['apply', '--yes'], 5);
    expect((await find('theirs'))?.attributes['default-execution-mode']).toBe('local');
    await stack.applyAcknowledged();
    expect((await stack.plan()).changes).toEqual([]);
  });

  it('fires the guard if it loses its mode, unless the organization has local runs, too', async () => {
    const { bench, stack } = await openLocal();
    await stack.declare(project('theirs', { autoDestroyActivityDuration: '1d' }, adopted));
    expect(destroysIn(await stack.plan())).toEqual([expect.stringContaining('can be destroyed again')]);
    await bench.byHand.patch('/organizations/acme', {
      data: { type: 'organizations', attributes: { 'default-execution-mode': 'local' } },
    });
    expect(destroysIn(await stack.plan())).toEqual([]);
  });

  it('fires the guard also with a longer duration, and reports a shorter one only once', async () => {
    const { stack } = await openLocal();
    const remote = { defaultExecutionMode: 'remote' };
    await stack.declare(project('theirs', { ...remote, autoDestroyActivityDuration: '48h' }, adopted));
    expect(destroysIn(await stack.plan())).toEqual([
      expect.stringContaining('can be destroyed again: after 48h without activity'),
    ]);
    await stack.declare(project('theirs', { ...remote, autoDestroyActivityDuration: '12h' }, adopted));
    expect(destroysIn(await stack.plan())).toEqual([
      expect.stringContaining('are destroyed after 12h without activity instead of 1d'),
    ]);
    await stack.declare(project('theirs', { ...remote, autoDestroyActivityDuration: null }, adopted));
    expect(destroysIn(await stack.plan())).toEqual([]);
  });

  it('fires the guard only for a workspace with its own duration that inherits the mode', async () => {
    const { bench, stack } = await openLocal();
    await bench.byHand.update('ws-theirs-a', {
      'auto-destroy-activity-duration': '90d',
      'inherits-project-auto-destroy': false,
    });
    await bench.byHand.update('ws-theirs-b', { 'execution-mode': 'remote' });
    await stack.declare(project('theirs', { ...local, defaultExecutionMode: 'remote' }, adopted));
    expect(destroysIn(await stack.plan())).toEqual([
      'the resources of 1 workspace in it ("theirs-a") can be destroyed again: after 90d without activity',
    ]);
  });
});

describe('A workspace whose resources cannot be destroyed', () => {
  it('is not counted for a duration, if destroy plans are not allowed or its own runs are local', async () => {
    const { bench, stack } = await openProjects();
    await bench.byHand.update('ws-theirs-a', { 'allow-destroy-plan': false });
    await stack.declare(project('theirs', { autoDestroyActivityDuration: '14d' }, adopted));
    expect(destroysIn(await stack.plan())).toEqual([
      expect.stringContaining('1 workspace in it ("theirs-b")'),
    ]);
    await bench.byHand.update('ws-theirs-b', { 'execution-mode': 'local' });
    expect(destroysIn(await stack.plan())).toEqual([]);
  });

  it('is counted if a manifest allows its destroy plans, or ends its local runs', async () => {
    const { stack } = await openProjects();
    const spec = { project: 'payments', allowDestroyPlan: false };
    await stack.setUp(
      project('payments'),
      workspace('app', spec),
      workspace('job', { project: 'payments', executionMode: 'local' }),
    );
    const duration = { autoDestroyActivityDuration: '14d' };
    await stack.declare(
      project('payments', duration),
      workspace('app', spec),
      workspace('job', { project: 'payments', executionMode: 'local' }),
    );
    expect(destroysIn(await stack.plan())).toEqual([]);
    await stack.declare(
      project('payments', duration),
      workspace('app', { ...spec, allowDestroyPlan: true }),
      workspace('job', { project: 'payments' }),
    );
    expect(destroysIn(await stack.plan())).toContainEqual(
      expect.stringContaining('2 workspaces in it ("app", "job")'),
    );
  });
});

describe.each(bothDialects)('In the dialect %s, a workspace that moves into a project', (dialect) => {
  const days = { autoDestroyActivityDuration: '14d' };

  it('fires the guard for a manually set duration, also if an earlier project of this name had one', async () => {
    const { bench, stack, idOfProject } = await openProjects(dialect);
    await stack.setUp(project('payments', days), workspace('app', { project: 'network' }));
    await bench.byHand.delete(`/projects/${await idOfProject('payments')}`);
    const attributes = { name: 'payments', 'auto-destroy-activity-duration': '7d' };
    await bench.byHand.post('/organizations/acme/projects', { data: { type: 'projects', attributes } });
    await stack.declare(project('payments', {}, adopted), workspace('app', { project: 'payments' }));
    expect(destroysIn(await stack.plan())).toEqual([
      'its resources are destroyed after 7d without activity, inherited from project "payments"',
    ]);
  });

  it('does not fire the guard for a duration that the same plan removes from the renamed project', async () => {
    const { stack, find } = await openProjects(dialect);
    await stack.setUp(project('payments', days), workspace('app', { project: 'network' }));
    await stack.declare(
      project('money', {}, { renamedFrom: 'payments' }),
      workspace('app', { project: 'money' }),
    );
    expect((await stack.plan()).guards).toEqual([]);
    await stack.run(['apply', '--yes'], 0);
    expect((await find('money'))?.attributes['auto-destroy-activity-duration']).toBeNull();
    expect((await stack.plan()).changes).toEqual([]);
  });
});

describe.each(bothDialects)('In the dialect %s, a protected workspace', (dialect) => {
  const duration = { autoDestroyActivityDuration: '1d' };
  const inIt = { project: 'payments' };

  it('makes a duration of its project an error', async () => {
    const { stack, find } = await openProjects(dialect);
    await stack.setUp(project('payments'), workspace('app', inIt, { protect: true }));
    await stack.declare(project('payments', duration), workspace('app', inIt, { protect: true }));
    const { out } = await stack.run(['plan'], 7);
    expect(out).toContain('error[protected-destroy]');
    expect(out).toContain(
      '"Workspace/acme/app" is protected, and with this plan the resources of 1 workspace in it ("app") are destroyed after 1d without activity',
    );
    const part = await stack.run(['plan', '--select', 'Project/acme/payments'], 7);
    expect(part.out).toContain('protected-destroy');
    await stack.run(['apply', '--yes'], 7);
    expect((await find('payments'))?.attributes['auto-destroy-activity-duration']).toBeNull();
    await stack.declare(project('payments', duration), workspace('app', inIt));
    expect(destroysIn(await stack.plan())).toHaveLength(1);
  });

  it('of another stack is found by its ownership tag', async () => {
    const { checkout, stack } = await openProjects(dialect);
    await stack.setUp(project('payments'));
    const other = await checkout({ name: 'other' });
    await other.setUp(workspace('app', inIt, { protect: true }));
    await stack.declare(project('payments', duration));
    const { out } = await stack.run(['plan'], 7);
    expect(out).toContain('error[protected-destroy]');
    await other.declare(workspace('app', inIt));
    await other.run(['apply', '--yes'], 0);
    expect(destroysIn(await stack.plan())).toHaveLength(1);
  });

  it('of another stack is found if the project is renamed, also by hand, and no longer has local runs', async () => {
    const { checkout, stack, change, idOfProject } = await openProjects(dialect);
    await stack.setUp(project('payments', { defaultExecutionMode: 'local' }));
    const other = await checkout({ name: 'other' });
    await other.setUp(workspace('app', inIt, { protect: true }));
    await stack.setUp(project('payments', local));
    const remote = { autoDestroyActivityDuration: '1d' };
    await stack.declare(project('money', remote, { renamedFrom: 'payments' }));
    expect((await stack.run(['plan'], 7)).out).toContain('error[protected-destroy]');
    await change(await idOfProject('payments'), { name: 'byhand' });
    expect((await stack.run(['plan'], 7)).out).toContain('error[protected-destroy]');
  });

  it('makes the end of local runs of its project an error as well', async () => {
    const { stack } = await openProjects(dialect);
    const app = workspace('app', inIt, { protect: true });
    await stack.setUp(project('payments', { defaultExecutionMode: 'local' }), app);
    await stack.setUp(project('payments', local), app);
    const remote = { ...local, defaultExecutionMode: 'remote' };
    await stack.declare(project('payments', remote), app);
    const { out } = await stack.run(['plan'], 7);
    expect(out).toContain('error[protected-destroy]');
  });
});

describe('A workspace with its own destroy time, if the service does not let the time override the project', () => {
  it.each([
    ['a removal of its time', {}],
    ['the duration of its project alone', { autoDestroyAt: '2099-01-01T00:00:00Z' }],
  ])('fires the guard by %s', async (_, kept) => {
    const { stack } = await openProjects('neutral');
    const inIt = { project: 'payments' };
    await stack.declare(
      project('payments'),
      workspace('app', { ...inIt, autoDestroyAt: '2099-01-01T00:00:00Z' }),
    );
    await stack.applyAcknowledged();
    await stack.declare(
      project('payments', { autoDestroyActivityDuration: '14d' }),
      workspace('app', { ...inIt, ...kept }),
    );
    expect(destroysIn(await stack.plan()).join()).toContain('destroyed after 14d without activity');
    await stack.run(['apply', '--yes'], 5);
  });
});

describe.each(bothDialects)('In the dialect %s, a plan that changes a project first', (dialect) => {
  const days = (autoDestroyActivityDuration: string, more: object = {}) =>
    project('payments', { autoDestroyActivityDuration, ...more });
  const app = (more: object) => workspace('app', { project: 'payments', ...more });
  const [isLocal, isRemote] = [{ executionMode: 'local' }, { executionMode: 'remote' }];
  const [forbids, allows] = [{ allowDestroyPlan: false }, { allowDestroyPlan: true }];
  const [localRuns, remoteRuns] = ['local', 'remote'].map((mode) => ({ defaultExecutionMode: mode }));

  it.each([
    [
      'a duration, and ends the local runs of a workspace',
      [project('payments'), isLocal],
      [days('2d'), isRemote],
    ],
    ['a shorter duration, and ends local runs', [days('14d'), isLocal], [days('2d'), isRemote]],
    ['a duration, and allows destroy plans', [project('payments'), forbids], [days('2d'), allows]],
    ['a duration, and no longer forbids destroy plans', [project('payments'), forbids], [days('2d'), {}]],
    [
      'remote runs, and allows destroy plans',
      [days('2d', localRuns), forbids],
      [days('2d', remoteRuns), allows],
    ],
  ] as const)(
    'and gives it %s can continue with the same approval if the apply stopped in between',
    async (_, [was, before], [becomes, after]) => {
      const { bench, stack } = await openProjects(dialect);
      await stack.declare(was, app(before));
      await stack.applyAcknowledged();
      await stack.declare(becomes, app(after));
      const { digest, acknowledge } = await stack.plan();
      await stack.run(['plan', '--out', 'plan.json'], 0);
      const apply = ['apply', 'plan.json', '--approve', digest, '--ack', acknowledge.join(',')];
      bench.wire.add({ method: 'PATCH', path: /\/workspaces\/ws-/, times: 9, fault: { answer: 422 } });
      const { out } = await stack.run(apply, 6);
      expect(out).not.toContain('stale');
      bench.wire.reset();
      await stack.run(apply, 0);
      expect((await stack.plan()).changes).toEqual([]);
    },
  );

  it('includes that change if only the workspace is selected', async () => {
    const { bench, stack } = await openProjects(dialect);
    await stack.setUp(project('payments'), app(isLocal));
    await stack.declare(days('2d'), app(isRemote));
    const select = ['--select', 'Workspace/acme/app'];
    const part = JSON.parse((await stack.run(['plan', '--format', 'json', ...select], 0)).out);
    await stack.run(['apply', ...select, '--approve', part.digest, '--ack', part.acknowledge.join(',')], 0);
    expect(bench.written()).toHaveLength(2);
  });
});
