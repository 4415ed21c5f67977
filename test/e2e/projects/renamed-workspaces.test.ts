/** Workspaces that were renamed, by the manifest or by hand, while the same plan schedules the destroy of their resources. */
import { describe, expect, it } from 'vitest';
import { workspace } from '../../support/cli/documents.ts';
import { bothDialects, openProjects, project } from '../../support/cli/projects-scene.ts';

describe('A workspace that loses its own duration of 90d in a project with 2d', () => {
  /** In the dialect `neutral`, the workspace inherits the duration again. */
  async function withOwnDuration() {
    const { bench, stack, change } = await openProjects('neutral');
    await change('prj-network', { 'auto-destroy-activity-duration': '2d' });
    await bench.byHand.post('/organizations/acme/workspaces', {
      data: {
        type: 'workspaces',
        attributes: { name: 'old' },
        relationships: { project: { data: { type: 'projects', id: 'prj-network' } } },
      },
    });
    await stack.setUp(workspace('old', { autoDestroyActivityDuration: '90d' }, { adopt: true }));
    const rename = async (name: string) =>
      bench.byHand.patch(`/workspaces/${await bench.idOf('old')}`, {
        data: { type: 'workspaces', attributes: { name } },
      });
    return { bench, stack, rename };
  }

  it('fires the guard, also if the manifest renames it', async () => {
    const { stack } = await withOwnDuration();
    for (const reset of [workspace('old'), workspace('new', {}, { renamedFrom: 'old' })]) {
      await stack.declare(reset);
      expect((await stack.plan()).guards.map(({ id }) => id)).toEqual(['scheduled-destroy']);
      await stack.run(['apply', '--yes'], 5);
    }
  });

  it('fires the guard if it was renamed by hand, also if the manifest gives it a third name', async () => {
    const { stack, rename } = await withOwnDuration();
    await rename('byhand');
    for (const reset of [workspace('old'), workspace('new', {}, { renamedFrom: 'old' })]) {
      await stack.declare(reset);
      expect((await stack.plan()).guards.map(({ id }) => id)).toEqual(['scheduled-destroy']);
    }
  });

  it('fires the guard if another workspace got its former name', async () => {
    const { bench, stack, rename } = await withOwnDuration();
    await rename('byhand');
    await bench.byHand.post('/organizations/acme/workspaces', {
      data: { type: 'workspaces', attributes: { name: 'old' } },
    });
    await stack.declare(workspace('new', {}, { renamedFrom: 'old' }));
    expect((await stack.plan()).guards.map(({ id }) => id)).toEqual(['scheduled-destroy']);
  });
});

describe.each(bothDialects)('In the dialect %s, a project that gets a duration', (dialect) => {
  const duration = { autoDestroyActivityDuration: '14d' };

  /** Projects, and a function that renames the workspace `app` in the service. */
  async function openWithRename(ownership: 'tags' | 'ledger' = 'tags') {
    const opened = await openProjects(dialect, {}, ownership === 'tags' ? {} : { workspaces: { ownership } });
    const { bench } = opened;
    const rename = async () =>
      bench.byHand.patch(`/workspaces/${await bench.idOf('app')}`, {
        data: { type: 'workspaces', attributes: { name: 'x' } },
      });
    return { ...opened, rename };
  }

  it.each([
    ['allows destroy plans', { allowDestroyPlan: false }, { allowDestroyPlan: true }],
    ['ends local runs', { executionMode: 'local' }, { executionMode: 'remote' }],
  ])('fires the guard if the manifest of a manually renamed workspace %s', async (_, before, after) => {
    const { stack, rename } = await openWithRename();
    await stack.setUp(project('p'), workspace('app', { project: 'p', ...before }));
    await rename();
    await stack.declare(project('p', duration), workspace('app', { project: 'p', ...before }));
    expect((await stack.plan()).guards.map(({ id }) => id)).not.toContain('scheduled-destroy');
    await stack.declare(project('p', duration), workspace('app', { project: 'p', ...after }));
    expect((await stack.plan()).guards.map(({ id }) => id)).toContain('scheduled-destroy');
    await stack.run(['apply', '--yes'], 5);
  });

  it('is an error for a protected workspace that was renamed by hand and that only the ledger knows', async () => {
    const { stack, rename } = await openWithRename('ledger');
    const app = workspace('app', { project: 'p' }, { protect: true });
    await stack.setUp(project('p'), app);
    await rename();
    await stack.declare(project('p', duration), app);
    const { out } = await stack.run(['plan'], 7);
    expect(out).toContain('"Workspace/acme/app" is protected, and with this plan');
  });

  it('is an error for a workspace that the same plan renames and protects', async () => {
    const { stack } = await openProjects(dialect);
    await stack.setUp(project('p'), workspace('old', { project: 'p' }));
    const metadata = { protect: true, renamedFrom: 'old' };
    await stack.declare(project('p', duration), workspace('new', { project: 'p' }, metadata));
    const { out } = await stack.run(['plan'], 7);
    expect(out).toContain('"Workspace/acme/new" is protected, and with this plan');
  });
});
