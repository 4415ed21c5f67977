/** Workspaces that were renamed, by the manifest or by hand, and what has their resources destroyed in the same plan. */
import { describe, expect, it } from 'vitest';
import { workspace } from '../../support/cli/documents.ts';
import { openProjects } from '../../support/cli/projects-scene.ts';

describe('A workspace that loses its own 90d in a project with 2d', () => {
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
    await stack.begin(workspace('old', { autoDestroyActivityDuration: '90d' }, { adopt: true }));
    const rename = async (name: string) =>
      bench.byHand.patch(`/workspaces/${await bench.idOf('old')}`, {
        data: { type: 'workspaces', attributes: { name } },
      });
    return { bench, stack, rename };
  }

  it('trips the guard, also if the manifest renames it', async () => {
    const { stack } = await withOwnDuration();
    for (const reset of [workspace('old'), workspace('new', {}, { renamedFrom: 'old' })]) {
      await stack.declare(reset);
      expect((await stack.plan()).guards.map(({ id }) => id)).toEqual(['scheduled-destroy']);
      await stack.run(['apply', '--yes'], 5);
    }
  });

  it('trips the guard if somebody renamed it by hand, also if the manifest gives it a third name', async () => {
    const { stack, rename } = await withOwnDuration();
    await rename('byhand');
    for (const reset of [workspace('old'), workspace('new', {}, { renamedFrom: 'old' })]) {
      await stack.declare(reset);
      expect((await stack.plan()).guards.map(({ id }) => id)).toEqual(['scheduled-destroy']);
    }
  });

  it('trips the guard if another one got its former name', async () => {
    const { bench, stack, rename } = await withOwnDuration();
    await rename('byhand');
    await bench.byHand.post('/organizations/acme/workspaces', {
      data: { type: 'workspaces', attributes: { name: 'old' } },
    });
    await stack.declare(workspace('new', {}, { renamedFrom: 'old' }));
    expect((await stack.plan()).guards.map(({ id }) => id)).toEqual(['scheduled-destroy']);
  });
});
