/** Names in the jobs of a pull request and of the protected branch: people approve the object, not its name. */
import { describe, expect, it } from 'vitest';
import { type ApplyScene, openApplyScene } from '../../support/ci/apply-scene.ts';
import { workspace } from '../../support/cli/documents.ts';

const first = workspace('first', { project: 'payments' });

/** With the projects `payments` and `network`, and a function that exchanges their names. */
async function openWithProjects(): Promise<{ scene: ApplyScene; ids: string[]; swap(): Promise<void> }> {
  const scene = await openApplyScene();
  const { byHand } = scene.bench;
  const made = async (name: string) => {
    const attributes = { name };
    const body = { data: { type: 'projects', attributes } };
    return (await byHand.post('/organizations/acme/projects', body)).resource.id;
  };
  const ids = [await made('payments'), await made('network')];
  const rename = (id: string | undefined, name: string) =>
    byHand.patch(`/projects/${id}`, { data: { type: 'projects', attributes: { name } } });
  const swap = async () => {
    await rename(ids[0], 'meanwhile');
    await rename(ids[1], 'payments');
    await rename(ids[0], 'network');
  };
  return { scene, ids, swap };
}

describe('A pull request that refers to a project by name', () => {
  it('shows the id beside it, and is applied as it was approved', async () => {
    const { scene, ids } = await openWithProjects();
    const { pull, approve, merge } = await scene.pull([first], { isPlannedByJob: true });
    expect(pull.comments.map(({ body }) => body).join('\n')).toContain(`payments (${ids[0]})`);
    approve('alice');
    merge();
    await scene.ciApply(0);
    await scene.run(['plan', '--exit-code'], 0);
  });

  it('is not applied if names were exchanged after the approval', async () => {
    const { scene, swap } = await openWithProjects();
    const { approve, merge } = await scene.pull([first]);
    approve('alice');
    merge();
    await swap();
    const { out } = await scene.expectRefused(/"Workspace\/acme\/first" changed in the target/);
    expect(out).toContain('projectId');
  });

  it('is stopped by the guard if names were exchanged after an apply', async () => {
    const { scene, swap } = await openWithProjects();
    const one = await scene.pull([first]);
    one.approve('alice');
    one.merge();
    await scene.ciApply(0);
    scene.bench.wire.reset();
    await swap();
    const two = await scene.pull([first, workspace('second')]);
    two.approve('alice');
    two.merge();
    await scene.expectRefused(/reference-changed/, 5);
  });
});
