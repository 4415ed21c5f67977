/** The first apply of a stack: everything since the stack was added counts, and who made it does not approve it. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { trueup } from '../../support/captured-host.ts';
import { emptyStack, openApplyScene } from '../../support/ci/apply-scene.ts';
import { openThief } from '../../support/ci/thief.ts';
import { workspace } from '../../support/cli/documents.ts';
import { documentsText } from '../../support/rig/stack-folder.ts';

const first = workspace('first', { description: 'one' });
const second = workspace('second', { description: 'two' });
const isNew = true;
const base = workspace('base');
const file = 'base.yaml';

describe('Before the first apply of a stack', { timeout: 180_000 }, () => {
  it('a reviewer does not count who merged own work into it that nobody approved', async () => {
    const scene = await openApplyScene({}, { isNew });
    scene.github.state.permissions.set('bob', 'write');
    const own = await scene.pull([first], { file: 'one.yaml', author: 'bob' });
    own.merge();
    const later = await scene.pull([second], { author: 'carol' });
    later.approve('bob');
    later.merge();
    await scene.refused(/"bob" may have made pull request 11, .* has not enough approvals/);
    own.approve('alice');
    const { out } = await scene.ciApply(0);
    expect(out).toContain('approved by "bob" (review, pull request 12)');
  });

  it('a reviewer does not count who pushed resources of it without a pull request', async () => {
    const scene = await openApplyScene({}, { isNew });
    scene.github.state.permissions.set('ann', 'write');
    const later = await scene.pull([first], { author: 'bob' });
    later.approve('ann');
    later.merge();
    await scene.refused('"ann" may have made commits that came without a pull request of their own');
    later.approve('carol');
    await scene.ciApply(0);
  });

  it('a reviewer counts who pushed it without resources: that needs no approval', async () => {
    const scene = await openApplyScene({}, { isNew, documents: [] });
    scene.github.state.permissions.set('ann', 'write');
    const later = await scene.pull([first], { author: 'bob' });
    later.approve('ann');
    later.merge();
    await scene.ciApply(0);
    expect(await scene.bench.idsOf('first')).toHaveLength(1);
  });

  it('two merged pull requests are applied together, each with its own approval', async () => {
    const scene = await openApplyScene({}, { isNew });
    const [one, two] = [
      await scene.pull([first], { file: 'one.yaml', author: 'bob' }),
      await scene.pull([second], { file: 'two.yaml', author: 'carol' }),
    ];
    one.approve('carol');
    two.approve('bob');
    one.merge();
    two.merge();
    await scene.ciApply(0);
    expect(await scene.bench.idsOf('first')).toHaveLength(1);
    expect(await scene.bench.idsOf('second')).toHaveLength(1);
  });

  it('a moved stack file does not make its earlier commits those of others', async () => {
    const scene = await openApplyScene({}, { isNew });
    scene.github.state.permissions.set('bob', 'write');
    (await scene.pull([first], { file: 'one.yaml', author: 'bob' })).merge();
    scene.push({
      'pay/trueup.yaml': undefined,
      'trueup.yaml': emptyStack(scene.bench).replace('manifests/*', 'pay/manifests/*'),
    });
    const later = await scene.pull([second], { author: 'carol' });
    later.approve('bob');
    later.merge();
    await scene.refused(/"bob" may have made pull request 11/);
  });

  it('a local ledger in the checkout of a job is refused: it would be lost', async () => {
    const scene = await openApplyScene({}, { isNew });
    const { cwd, env } = scene.job();
    rmSync(join(cwd, '.trueup'));
    const ran = await trueup(['ci', 'apply'], { cwd, env });
    expect(ran.err).toContain('the ledger of stack "payments" would be lost with the checkout of this job');
    expect(ran.code).toBe(1);
    expect(scene.bench.wire.seen).toEqual([]);
  });

  it('a first apply that was cut short trusts no address that nobody approved', async () => {
    const scene = await openApplyScene({}, { isNew, documents: [] });
    const thief = await openThief();
    const trueup = emptyStack(scene.bench);
    const stolen = JSON.parse(trueup);
    stolen.spec.targets[0].url = thief.url;
    scene.push({ 'pay/trueup.yaml': JSON.stringify(stolen) });
    const own = await scene.pull([first, second], { files: { 'trueup.yaml': trueup } });
    own.approve('alice');
    own.merge();
    const create = { method: 'POST', path: /workspaces$/ };
    scene.bench.wire.add(
      { ...create, fault: { first: async () => {} } },
      { ...create, times: 2, fault: { answer: 403 } },
    );
    await scene.ciApply(6);
    scene.bench.wire.reset();
    scene.push({ 'pay/trueup.yaml': JSON.stringify(stolen) });
    await scene.refused('where its secrets go needs an approval');
    expect(thief.tokens).toEqual([]);
    scene.push({ 'pay/trueup.yaml': trueup });
    await scene.ciApply(0);
    expect(await scene.bench.idsOf('second')).toHaveLength(1);
  });
});

describe('A file that a stack had only between two applies', { timeout: 180_000 }, () => {
  it('counts as one of its files: its maker does not approve it under another name', async () => {
    const scene = await openApplyScene();
    scene.github.state.permissions.set('ann', 'write');
    const usual = emptyStack(scene.bench);
    const wide = usual.replace(
      '"manifests/*.yaml"',
      '"manifests/*.yaml",{"pattern":"other/*.yaml","optional":true}',
    );
    const widened = await scene.pull([base], { file, files: { 'trueup.yaml': wide }, author: 'carol' });
    widened.approve('alice');
    widened.merge();
    const own = await scene.pull([base], { file, files: { 'other/one.yaml': documentsText([first]) } });
    own.merge();
    const moved = await scene.pull([first], {
      file: 'one.yaml',
      files: { 'trueup.yaml': usual },
      author: 'bob',
    });
    moved.approve('ann');
    moved.merge();
    await scene.refused('"ann" may have made pull request 12');
    moved.approve('carol');
    await scene.ciApply(0);
  });
});
