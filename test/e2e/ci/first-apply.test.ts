/** The first apply of a stack: all commits since the stack was added count, and their authors cannot approve them. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { trueup } from '../../support/captured-host.ts';
import { type ApplyScene, emptyStack, openApplyScene } from '../../support/ci/apply-scene.ts';
import { makeSigner } from '../../support/ci/signers.ts';
import { openThief } from '../../support/ci/thief.ts';
import { workspace } from '../../support/cli/documents.ts';
import { documentsText } from '../../support/rig/stack-folder.ts';

const first = workspace('first', { description: 'one' });
const second = workspace('second', { description: 'two' });
const isNew = true;
const base = workspace('base');
const file = 'base.yaml';
const signed = { approvals: { accept: ['signature'], from: [{ signers: 'allowed_signers' }] } };

/** Refuses creates after the first one, so that a job applies only a part. */
async function cutShort({ bench, ciApply }: ApplyScene): Promise<void> {
  const create = { method: 'POST', path: /workspaces$/ };
  const refused = { ...create, times: 2, fault: { answer: 403 } };
  bench.wire.add({ ...create, fault: { first: async () => {} } }, refused);
  await ciApply(6);
  bench.wire.reset();
}

/** Pushes a new signer, then another commit, and merges a pull request that only the new signer approves. */
async function mergeSignedByNew({ push, pull, sign, keys, publicKey }: ApplyScene): Promise<void> {
  const [type, key] = publicKey('alice').split(' ');
  const allowed = `alice@example.com ${type} ${key}\n${makeSigner(keys, 'mallory')}`;
  push({ 'pay/allowed_signers': allowed });
  push({ 'README.md': 'x' });
  const evil = await pull([workspace('third')], { author: 'ann', file: 'evil.yaml' });
  await sign({ digest: evil.digest, plan: evil.plan, commit: evil.pull.head, by: 'mallory' });
  evil.merge();
}

describe('Before the first apply of a stack', { timeout: 180_000 }, () => {
  it('a reviewer who merged own work without an approval does not count', async () => {
    const scene = await openApplyScene({}, { isNew });
    scene.github.state.permissions.set('bob', 'write');
    const own = await scene.pull([first], { file: 'one.yaml', author: 'bob' });
    own.merge();
    const later = await scene.pull([second], { author: 'carol' });
    later.approve('bob');
    later.merge();
    await scene.expectRefused(/"bob" may have made pull request 11, .* has not enough approvals/);
    own.approve('alice');
    const { out } = await scene.ciApply(0);
    expect(out).toContain('approved by "bob" (review, pull request 12)');
  });

  it('a reviewer who pushed resources without a pull request does not count', async () => {
    const scene = await openApplyScene({}, { isNew });
    scene.github.state.permissions.set('ann', 'write');
    const later = await scene.pull([first], { author: 'bob' });
    later.approve('ann');
    later.merge();
    await scene.expectRefused('"ann" may have made commits that came without a pull request of their own');
    later.approve('carol');
    await scene.ciApply(0);
  });

  it('a reviewer who pushed the stack without resources counts', async () => {
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

  it('a moved stack file does not hide the authors of earlier commits', async () => {
    const scene = await openApplyScene({ spec: { ledger: 'git' } }, { isNew });
    scene.github.state.permissions.set('bob', 'write');
    (await scene.pull([first], { file: 'one.yaml', author: 'bob' })).merge();
    scene.push({
      'pay/trueup.yaml': undefined,
      'trueup.yaml': emptyStack(scene.bench, { spec: { ledger: 'git' } }).replace(
        'manifests/*',
        'pay/manifests/*',
      ),
    });
    const later = await scene.pull([second], { author: 'carol' });
    later.approve('bob');
    later.merge();
    await scene.expectRefused(/"bob" may have made pull request 11/);
  });

  it('a local ledger in the checkout of a job is refused, because it would be lost', async () => {
    const scene = await openApplyScene({}, { isNew });
    const { cwd, env } = scene.job();
    rmSync(join(cwd, '.trueup'));
    const ran = await trueup(['ci', 'apply'], { cwd, env });
    expect(ran.err).toContain('the ledger of stack "payments" would be lost with the checkout of this job');
    expect(ran.code).toBe(1);
    expect(scene.bench.wire.seen).toEqual([]);
  });

  it('an interrupted first apply does not make an address approved', async () => {
    const scene = await openApplyScene({}, { isNew, documents: [] });
    const thief = await openThief();
    const trueup = emptyStack(scene.bench);
    const stolen = JSON.parse(trueup);
    stolen.spec.targets[0].url = thief.url;
    scene.push({ 'pay/trueup.yaml': JSON.stringify(stolen) });
    const own = await scene.pull([first, second], { files: { 'trueup.yaml': trueup } });
    own.approve('alice');
    own.merge();
    await cutShort(scene);
    scene.push({ 'pay/trueup.yaml': JSON.stringify(stolen) });
    await scene.expectRefused('where its secrets go needs an approval');
    expect(thief.tokens).toEqual([]);
    scene.push({ 'pay/trueup.yaml': trueup });
    await scene.ciApply(0);
    expect(await scene.bench.idsOf('second')).toHaveLength(1);
  });
});

describe('An interrupted apply', { timeout: 180_000 }, () => {
  it('that was the first one has accepted the settings of its commit, and no later ones', async () => {
    const scene = await openApplyScene({ spec: signed }, { isNew, documents: [], signers: ['alice'] });
    const own = await scene.pull([first, second], { author: 'bob' });
    await scene.sign({ digest: own.digest, plan: own.plan, commit: own.pull.head, by: 'alice' });
    own.merge();
    await cutShort(scene);
    await mergeSignedByNew(scene);
    await scene.expectRefused(/not approved|not counted/, 4);
    expect(await scene.bench.idsOf('third')).toEqual([]);
  });

  it('does not count as the first one if an apply of the empty stack ended before', async () => {
    const manifests = [{ pattern: 'manifests/*.yaml', optional: true }];
    const spec = { ...signed, manifests };
    const scene = await openApplyScene({ spec }, { documents: [], signers: ['alice'] });
    const own = await scene.pull([first, second], { author: 'bob' });
    await scene.sign({ digest: own.digest, plan: own.plan, commit: own.pull.head, by: 'alice' });
    own.merge();
    await cutShort(scene);
    await mergeSignedByNew(scene);
    await scene.expectRefused(/not approved|not counted/, 4);
    expect(await scene.bench.idsOf('third')).toEqual([]);
  });
});

describe('A stack that replaces another one for a while', { timeout: 180_000 }, () => {
  it('does not hide who changed the other stack meanwhile', async () => {
    const scene = await openApplyScene();
    scene.github.state.permissions.set('bob', 'write');
    const none = '{"pattern":"none/*.yaml","optional":true}';
    scene.push({
      'pay/trueup.yaml': emptyStack(scene.bench, { name: 'other' }).replace('"manifests/*.yaml"', none),
      'x/trueup.yaml': emptyStack(scene.bench),
      'x/manifests/base.yaml': documentsText([base]),
    });
    const files = { '../x/manifests/one.yaml': documentsText([first]) };
    (await scene.pull([base], { file, author: 'bob', files })).merge();
    const back = { 'trueup.yaml': emptyStack(scene.bench), '../x/trueup.yaml': '' };
    const moved = await scene.pull([first], { file: 'one.yaml', author: 'carol', files: back });
    moved.approve('bob');
    moved.merge();
    await scene.expectRefused('"bob" may have made pull request 11', 4, ['.']);
  });
});

describe('A file that a stack had only between two applies', { timeout: 180_000 }, () => {
  it('counts as a file of the stack, so its author cannot approve it under another name', async () => {
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
    await scene.expectRefused('"ann" may have made pull request 12');
    moved.approve('carol');
    await scene.ciApply(0);
  });
});
