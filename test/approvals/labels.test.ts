/** Labels that acknowledge guards of the plan that a pull request shows. */
import { describe, expect, it } from 'vitest';
import { readLabelAcks } from '../../src/approvals/labels.ts';
import { findPlanComment } from '../../src/approvals/plan-comment.ts';
import type { ApprovalRules } from '../../src/model/approval.ts';
import { openGithubScene, planComment, sha, stack } from '../support/code-host/approval-scene.ts';

type Scene = Awaited<ReturnType<typeof openGithubScene>>;

async function acksOf({ reader }: Scene, rules: ApprovalRules = {}) {
  const pullRequests = reader();
  const pullRequest = await pullRequests.get(7);
  const accounts = { usual: 'github-actions[bot]' };
  const found = await findPlanComment({ pullRequests, pullRequest, stack, accounts });
  if (found.is === 'missing') throw new Error(found.why);
  const { acknowledged, refused } = await readLabelAcks({
    pullRequests,
    pullRequest,
    rules,
    comment: found.comment,
  });
  return {
    acknowledged: acknowledged.map(({ guard, by }) => `${guard} by ${by}`),
    why: refused.map(({ why }) => why).join('; '),
  };
}

const ack = 'trueup-ack/deletes';

async function planned() {
  const scene = await openGithubScene();
  scene.state.labels.set(ack, scene.state.clock.next());
  scene.post();
  return scene;
}

describe('a label', () => {
  it('acknowledges its guard in the name of the user who set it after the plan was shown', async () => {
    const scene = await planned();
    scene.state.label(scene.pull, ack, 'bob');
    scene.state.label(scene.pull, 'ready', 'carol');
    expect(await acksOf(scene)).toEqual({ acknowledged: ['deletes by bob'], why: '' });
  });

  it('that was set before the plan was shown or changed must be set again', async () => {
    const scene = await openGithubScene();
    scene.state.label(scene.pull, ack, 'bob');
    const comment = scene.post();
    expect(await acksOf(scene)).toMatchObject({
      acknowledged: [],
      why: expect.stringContaining('set it again'),
    });
    scene.state.unlabel(scene.pull, ack, 'carol');
    scene.state.label(scene.pull, ack, 'carol');
    expect(await acksOf(scene)).toMatchObject({ acknowledged: ['deletes by carol'] });
    scene.state.editComment(comment, planComment(sha('a'), { digest: 'f'.repeat(32) }));
    expect(await acksOf(scene)).toMatchObject({
      acknowledged: [],
      why: expect.stringContaining('posted or edited'),
    });
  });

  it('does not count after it was removed', async () => {
    const scene = await planned();
    scene.state.label(scene.pull, ack, 'bob');
    scene.state.unlabel(scene.pull, ack, 'ann');
    expect(await acksOf(scene)).toEqual({ acknowledged: [], why: '' });
  });

  it('counts as an acknowledgement of the user who set it last', async () => {
    const scene = await planned();
    scene.state.label(scene.pull, ack, 'bob');
    scene.state.unlabel(scene.pull, ack, 'ann');
    scene.state.label(scene.pull, ack, 'ann');
    expect(await acksOf(scene)).toMatchObject({
      acknowledged: [],
      why: expect.stringContaining('is the author'),
    });
  });

  it('does not count if the log says that it was removed, even if it is still listed', async () => {
    const scene = await planned();
    scene.state.label(scene.pull, ack, 'bob');
    scene.state.unlabel(scene.pull, ack, 'bob');
    scene.pull.labels.add(ack);
    expect(await acksOf(scene)).toMatchObject({
      acknowledged: [],
      why: 'the code host does not say who set it',
    });
  });

  it('does not count if the log has no entry of it', async () => {
    const scene = await planned();
    scene.pull.labels.add(ack);
    expect(await acksOf(scene)).toMatchObject({
      acknowledged: [],
      why: 'the code host does not say who set it',
    });
  });

  it('counts from the author and from users who pushed only with selfAck', async () => {
    const scene = await openGithubScene();
    scene.state.labels.set(ack, scene.state.clock.next());
    scene.state.push(scene.pull, { by: 'bob', head: sha('b'), commits: [{ sha: sha('b') }] });
    scene.post();
    for (const by of ['ann', 'bob']) {
      scene.state.label(scene.pull, ack, by);
      expect(await acksOf(scene)).toMatchObject({
        acknowledged: [],
        why: expect.stringContaining('is the author'),
      });
      expect(await acksOf(scene, { selfAck: true })).toMatchObject({ acknowledged: [`deletes by ${by}`] });
    }
  });

  it.each([
    ['a person without write permission', 'guest', 'no write permission'],
    ['a job', 'github-actions[bot]', 'is not a person'],
    ['a deleted account', null, 'does not say who'],
  ])('set by %s does not count', async (_, by, why) => {
    const scene = await planned();
    scene.state.label(scene.pull, ack, by);
    expect(await acksOf(scene)).toMatchObject({ acknowledged: [], why: expect.stringContaining(why) });
  });

  it('counts only from the users and teams that the stack names, if it names any', async () => {
    const scene = await planned();
    scene.state.teams.set('acme/platform', new Map([['carol', 'active']]));
    const from = [{ user: 'dave' }, { team: 'acme/platform' }, { signers: 'allowed_signers' }];
    for (const [by, isNamed] of [
      ['bob', false],
      ['carol', true],
      ['dave', true],
    ] as const) {
      scene.state.label(scene.pull, ack, by);
      const found = await acksOf(scene, { from });
      expect(found.acknowledged, by).toEqual(isNamed ? [`deletes by ${by}`] : []);
      if (!isNamed) expect(found.why).toContain('is not among the users and teams');
    }
    const signersOnly = [{ signers: 'allowed_signers' }];
    expect((await acksOf(scene, { from: signersOnly })).acknowledged).toHaveLength(1);
  });

  it('does not count if it was renamed after it was set', async () => {
    const scene = await planned();
    scene.state.label(scene.pull, 'ready', 'bob');
    scene.state.renameLabel('ready', 'trueup-ack/recreate');
    expect(await acksOf(scene)).toMatchObject({
      acknowledged: [],
      why: expect.stringContaining('renamed or changed'),
    });
  });

  it('does not count if the code host does not say when it was last changed', async () => {
    const scene = await planned();
    scene.state.label(scene.pull, ack, 'bob');
    scene.state.labels.delete(ack);
    expect(await acksOf(scene)).toMatchObject({
      acknowledged: [],
      why: expect.stringContaining('does not say since when'),
    });
  });

  it('is refused with a message if no guard has its name', async () => {
    const scene = await planned();
    scene.state.label(scene.pull, 'trueup-ack/everything', 'bob');
    expect(await acksOf(scene)).toEqual({ acknowledged: [], why: 'there is no guard "everything"' });
  });
});
