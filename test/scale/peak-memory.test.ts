/** How much memory commands need for large stacks, as processes of the built program. `bench/` measures times, which no test checks. */
import { expect, it } from 'vitest';
import { declaredWorkspaces, liveWorkspaces, seedOf, withScene, writeStack } from '../../bench/stacks.ts';

it('Validating ten thousand documents needs at most 150 MB', async () => {
  await withScene(seedOf(), async (scene) => {
    writeStack(scene, declaredWorkspaces(10_000));
    const { peak } = await scene.run('validate');
    expect(peak).toBeLessThanOrEqual(150);
  });
}, 120_000);

it('Planning and drift of ten thousand workspaces without changes need at most 250 MB', async () => {
  await withScene(seedOf(liveWorkspaces(10_000)), async (scene) => {
    writeStack(scene, declaredWorkspaces(10_000));
    await scene.run('apply', '--yes');
    expect((await scene.run('plan', '--exit-code')).peak).toBeLessThanOrEqual(250);
    expect((await scene.run('drift')).peak).toBeLessThanOrEqual(250);
  });
}, 300_000);

it('Creating two thousand workspaces needs at most 250 MB', async () => {
  await withScene(seedOf(), async (scene) => {
    writeStack(scene, declaredWorkspaces(2000));
    const { peak } = await scene.run('apply', '--yes');
    expect(peak).toBeLessThanOrEqual(250);
  });
}, 300_000);
