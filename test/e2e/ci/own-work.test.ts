/** Authors cannot approve their own work, even in a later pull request whose plan shows it. */
import { describe, expect, it, vi } from 'vitest';
import { noCodeHost, openApplyScene } from '../../support/ci/apply-scene.ts';
import { workspace } from '../../support/cli/documents.ts';
import { documentsText } from '../../support/rig/stack-folder.ts';

const first = workspace('first', { description: 'one' });
const second = workspace('second', { description: 'two' });
const spec = { approvals: { accept: ['signature'], from: [{ signers: 'allowed_signers' }] } };

describe('A reviewer', { timeout: 180_000 }, () => {
  it('does not count for a plan with own earlier work until another person approved that work', async () => {
    const scene = await openApplyScene();
    scene.github.state.permissions.set('ann', 'write');
    const own = await scene.pull([first], { file: 'one.yaml' });
    own.merge();
    const later = await scene.pull([second], { author: 'bob' });
    later.approve('ann');
    later.merge();
    await scene.expectRefused(/"ann" may have made pull request 11, .* has not enough approvals/);
    own.approve('carol');
    const { out } = await scene.ciApply(0);
    expect(out).toContain('approved by "ann" (review, pull request 12)');
  });

  it('does not count for a plan with commits that the reviewer pushed without a pull request', async () => {
    const scene = await openApplyScene();
    scene.github.state.permissions.set('ann', 'write');
    scene.push({ 'pay/manifests/one.yaml': documentsText([first]) });
    const later = await scene.pull([second], { author: 'bob' });
    later.approve('ann');
    later.merge();
    await scene.expectRefused('"ann" may have made commits that came without a pull request of their own');
    later.approve('carol');
    await scene.ciApply(0);
  });

  it('counts if own work without an approval changes only other files of the repository', async () => {
    const scene = await openApplyScene();
    scene.github.state.permissions.set('ann', 'write');
    scene.push({ 'README.md': 'one\n' });
    (await scene.pull([], { file: '../../notes.yaml' })).merge();
    const later = await scene.pull([second], { author: 'bob' });
    later.approve('ann');
    later.merge();
    await scene.ciApply(0);
  });

  it('does not count in a chain of pull requests, and neither do authors that only this reviewer approved', async () => {
    const scene = await openApplyScene();
    scene.github.state.permissions.set('ann', 'write');
    (await scene.pull([first], { file: 'one.yaml' })).merge();
    const middle = await scene.pull([second], { file: 'two.yaml', author: 'bob' });
    middle.approve('ann');
    middle.merge();
    const last = await scene.pull([workspace('third')], { author: 'carol' });
    last.approve('bob');
    last.merge();
    const { err } = await scene.expectRefused('"ann" may have made pull request 11');
    expect(err).toContain('"bob" may have made pull request 12');
  });
});

describe('A signer', { timeout: 180_000 }, () => {
  for (const [where, job] of [
    ['a code host', {}],
    ['no code host', noCodeHost],
  ] as const)
    it(`does not count for the head of another person with a plan that shows own work, with ${where}`, async () => {
      const scene = await openApplyScene({ spec }, { signers: ['alice', 'bob'] });
      const other = await scene.pull([first], { file: 'one.yaml' });
      other.merge();
      scene.github.state.keys.set('alice', [scene.publicKey('alice')]);
      vi.stubEnv('GIT_AUTHOR_EMAIL', 'alice@example.com');
      const own = await scene.pull([second], { file: 'two.yaml', author: 'alice' });
      vi.unstubAllEnvs();
      own.merge();
      const { digest, plan } = own;
      await scene.sign({ digest, plan, commit: other.pull.head, by: 'alice' });
      await scene.expectRefused('"alice@example.com" may have made', 4, [], job);
      await scene.sign({ digest, plan, commit: own.pull.head, by: 'bob' });
      await scene.ciApply(0, [], job);
    });
});

describe('Authors who are not known', { timeout: 180_000 }, () => {
  it('cannot sign a plan of the protected branch after they deleted their fork', async () => {
    const scene = await openApplyScene({ spec }, { signers: ['alice', 'bob'] });
    scene.github.state.keys.set('alice', [scene.publicKey('alice')]);
    const own = await scene.pull([first], { file: 'one.yaml', author: 'alice' });
    own.merge();
    const { digest, plan } = own;
    await scene.sign({ digest, plan, commit: scene.main(), by: 'alice' });
    await scene.expectRefused('author of the commits');
    own.pull.from = null;
    await scene.expectRefused('its contributors are not known');
  });
});

describe('Authors of other files of the repository', { timeout: 180_000 }, () => {
  it('may acknowledge guards of the stack', async () => {
    const scene = await openApplyScene({ spec: { guards: { maxDeletes: 0 } } });
    (await scene.pull([], { file: '../../notes.yaml', author: 'carol' })).merge();
    const own = await scene.pull([workspace('other')], { file: 'base.yaml', author: 'ann' });
    own.approve('carol');
    for (const guard of ['deletes', 'zero', 'rename'])
      scene.github.state.label(own.pull, `trueup-ack/${guard}`, 'carol');
    own.merge();
    await scene.ciApply(0);
  });
});

describe('Without a code host, an approval', { timeout: 180_000 }, () => {
  it('of an earlier commit of a branch does not count for later commits', async () => {
    const scene = await openApplyScene({ spec }, { signers: ['alice', 'bob'] });
    vi.stubEnv('GIT_AUTHOR_EMAIL', 'alice@example.com');
    const own = await scene.pull([second], { file: 'two.yaml', author: 'alice' });
    await scene.sign({ digest: own.digest, plan: own.plan, commit: own.pull.head, by: 'bob' });
    await own.change([second, first]);
    vi.unstubAllEnvs();
    own.merge();
    await scene.expectRefused('which this job does not apply', 4, [], noCodeHost);
    const later = await scene.pull([workspace('third')], { file: 'three.yaml', author: 'carol' });
    later.merge();
    const { digest, plan } = later;
    await scene.sign({ digest, plan, commit: later.pull.head, by: 'alice' });
    await scene.expectRefused('"alice@example.com" may have made', 4, [], noCodeHost);
  });
});
