/** Approvals of a merge request of GitLab, which name no commit: they count only if they are newer than the head. */
import { describe, expect, it } from 'vitest';
import { readEnvironmentApprovals } from '../../src/approvals/environments.ts';
import { readLabelAcks } from '../../src/approvals/labels.ts';
import { findPlanComment } from '../../src/approvals/plan-comment.ts';
import { readReviews } from '../../src/approvals/reviews.ts';
import type { ApprovalRules } from '../../src/model/approval.ts';
import { digest, openGitlabScene, planComment, sha, stack } from '../support/code-host/approval-scene.ts';

type Scene = Awaited<ReturnType<typeof openGitlabScene>>;

async function foundIn({ reader }: Scene) {
  const pullRequests = reader();
  const pullRequest = await pullRequests.get(3);
  const accounts = { author: undefined, usual: undefined };
  return {
    pullRequests,
    pullRequest,
    found: await findPlanComment({ pullRequests, pullRequest, stack, accounts }),
  };
}

async function approvalsOf(scene: Scene, rules: ApprovalRules = {}) {
  const { approvals, refused } = await readReviews({ ...(await foundIn(scene)), rules });
  return { approvals, by: approvals.map(({ by }) => by), why: refused.map(({ why }) => why).join('; ') };
}

async function approved() {
  const scene = await openGitlabScene();
  scene.post();
  scene.state.approve(scene.request, 'bob');
  return scene;
}

describe('an approval of a merge request', () => {
  it('approves the digest that the note shows for the head', async () => {
    expect((await approvalsOf(await approved())).approvals).toMatchObject([
      { method: 'review', by: 'bob', digest, commit: sha('a'), pullRequest: 3 },
    ]);
  });

  it('does not count after a push, even if a later push restores the same head', async () => {
    const scene = await approved();
    scene.state.push(scene.request, { by: 'ann', head: sha('b') });
    scene.post();
    expect(await approvalsOf(scene)).toMatchObject({
      by: [],
      why: expect.stringContaining('not newer than the head'),
    });
    scene.state.push(scene.request, { by: 'ann', head: sha('a'), force: true });
    expect(await approvalsOf(scene)).toMatchObject({
      by: [],
      why: expect.stringContaining('not newer than the head'),
    });
    scene.post();
    scene.state.approve(scene.request, 'carol');
    scene.state.withdraw(scene.request, 'bob');
    expect(await approvalsOf(scene)).toMatchObject({ by: ['carol'] });
  });

  it('does not count while the newest version is of another commit', async () => {
    const scene = await approved();
    scene.request.head = sha('b');
    scene.request.commits = [{ sha: sha('b') }];
    expect(await approvalsOf(scene)).toMatchObject({
      by: [],
      why: expect.stringContaining('newest version'),
    });
  });

  it('does not count if GitLab does not say when it was given', async () => {
    const scene = await approved();
    scene.state.isOld = true;
    expect(await approvalsOf(scene)).toMatchObject({
      by: [],
      why: expect.stringContaining('does not say when'),
    });
  });

  it('does not count after an edit of the note', async () => {
    const scene = await approved();
    const [note] = scene.request.notes;
    if (note !== undefined) scene.state.editComment(note, planComment(sha('a'), { digest: 'f'.repeat(32) }));
    expect(await approvalsOf(scene)).toMatchObject({
      by: [],
      why: expect.stringContaining('posted or edited'),
    });
  });

  it('does not count from a bot, the author, or a user who pushed', async () => {
    const scene = await openGitlabScene();
    scene.state.push(scene.request, { by: 'bob', head: sha('b'), commits: [{ sha: sha('b') }] });
    scene.post();
    scene.state.members.set('project_5_bot_2', 30);
    for (const by of ['ann', 'bob', 'project_5_bot_2', 'carol']) scene.state.approve(scene.request, by);
    expect(await approvalsOf(scene)).toMatchObject({ by: ['carol'] });
    expect((await approvalsOf(scene, { selfApprove: true })).by).toEqual(['ann', 'bob', 'carol']);
  });

  it('does not count from a co-author, if the address of the trailer names the user', async () => {
    const scene = await openGitlabScene();
    const trailers = 'Co-authored-by: Bob <7-bob@users.noreply.gitlab.test>';
    scene.state.push(scene.request, { by: 'ann', head: sha('b'), commits: [{ sha: sha('b'), trailers }] });
    scene.post();
    for (const by of ['bob', 'carol']) scene.state.approve(scene.request, by);
    expect(await approvalsOf(scene)).toMatchObject({ by: ['carol'] });
  });

  it('does not count from a user who pushed the commit to another branch', async () => {
    const scene = await approved();
    const { project, clock, pushes } = scene.state;
    pushes.push({ project, branch: 'other', head: sha('a'), by: 'bob', at: clock.next() });
    expect(await approvalsOf(scene)).toMatchObject({
      by: [],
      why: expect.stringContaining('pushed a commit'),
    });
    pushes.splice(0, 1);
    expect(await approvalsOf(scene)).toMatchObject({
      by: [],
      why: expect.stringContaining('does not say who pushed'),
    });
  });

  it('does not count if GitLab does not say who pushed', async () => {
    const scene = await approved();
    scene.state.pushes.splice(0);
    expect(await approvalsOf(scene)).toMatchObject({
      by: [],
      why: expect.stringContaining('does not say who pushed'),
    });
    scene.request.from = null;
    expect(await approvalsOf(scene)).toMatchObject({ by: [], why: expect.stringContaining('was deleted') });
  });

  it('counts only from an active member who may push', async () => {
    const scene = await approved();
    scene.state.user('bob').state = 'blocked';
    expect(await approvalsOf(scene)).toMatchObject({ by: [], why: '"bob" has no write permission' });
    scene.state.user('bob').state = 'active';
    scene.state.members.set('bob', 20);
    expect(await approvalsOf(scene)).toMatchObject({ by: [], why: '"bob" has no write permission' });
    scene.state.members.delete('bob');
    expect(await approvalsOf(scene)).toMatchObject({ by: [], why: '"bob" has no write permission' });
  });

  it('counts only from direct members of a group that the stack names', async () => {
    const scene = await approved();
    scene.state.groups.set('acme/platform', new Map([['carol', 10]]));
    scene.state.approve(scene.request, 'carol');
    expect((await approvalsOf(scene, { from: [{ team: 'acme/platform' }] })).by).toEqual(['carol']);
  });
});

it('a merge request is found by its commits after a merge and a fast-forward', async () => {
  const { state, request, reader } = await openGitlabScene();
  state.merge(request, { commits: [sha('1')] });
  const other = state.openRequest({ number: 4, author: 'bob', head: sha('b') });
  state.merge(other, { commits: [] });
  const pullRequests = reader();
  expect(await pullRequests.ofCommit(sha('1'), 'main')).toMatchObject([
    { number: 3, merged: { commit: sha('1') } },
  ]);
  expect(await pullRequests.ofCommit(sha('b'), 'main')).toMatchObject([
    { number: 4, merged: { commit: sha('b') } },
  ]);
  expect(await pullRequests.ofCommit(sha('b'), 'release')).toEqual([]);
});

it('a label that was renamed after it was set acknowledges nothing', async () => {
  const scene = await approved();
  const acks = async () => {
    const { found, ...place } = await foundIn(scene);
    if (found.is === 'missing') throw new Error(found.why);
    return readLabelAcks({ ...place, rules: {}, comment: found.comment });
  };
  scene.state.label(scene.request, 'ready', 'bob');
  scene.state.renameLabel('ready', 'trueup-ack/deletes');
  expect(await acks()).toMatchObject({
    acknowledged: [],
    refused: [{ why: expect.stringContaining('renamed') }],
  });
  scene.state.unlabel(scene.request, 'trueup-ack/deletes', 'carol');
  scene.state.label(scene.request, 'trueup-ack/deletes', 'carol');
  expect(await acks()).toMatchObject({ acknowledged: [{ guard: 'deletes', by: 'carol' }], refused: [] });
});

describe('an approval of a deployment', () => {
  const deployed = async () => {
    const scene = await openGitlabScene();
    const about = {
      job: 1000,
      pipeline: 100,
      environment: 'production',
      commit: sha('d'),
      triggeredBy: 'ann',
    };
    const deployment = scene.state.deploy(about);
    for (let count = 0; count < 120; count += 1)
      scene.state.deploy({ ...about, job: 2000 + count, pipeline: 200 + count });
    const read = (more: { id?: number; environment?: string; since?: string; rules?: ApprovalRules } = {}) =>
      readEnvironmentApprovals({
        pullRequests: scene.reader(),
        run: { id: more.id ?? 1000, environment: more.environment ?? 'production' },
        ...{
          rules: more.rules ?? {},
          digest,
          commit: sha('d'),
          contributors: ['dave'],
          now: '2026-11-25T00:00:00Z',
        },
        ...(more.since === undefined ? {} : { since: more.since }),
      });
    return { ...scene, deployment, read };
  };

  it('approves the digest of its job, at the time of the approval', async () => {
    const { state, deployment, read } = await deployed();
    state.approveDeployment(deployment, 'bob');
    const at = deployment.approvals[0]?.at;
    expect(await read()).toMatchObject({
      approvals: [{ method: 'environment', by: 'bob', digest, at }],
      attempt: 1,
    });
  });

  it('counts only for its own job and environment', async () => {
    const { state, deployment, read } = await deployed();
    state.approveDeployment(deployment, 'bob');
    expect(await read({ id: 2005 })).toMatchObject({
      approvals: [],
      refused: [{ why: expect.stringContaining('has no approval') }],
    });
    expect(await read({ id: 9999 })).toMatchObject({
      approvals: [],
      refused: [{ why: expect.stringContaining('has no deployment') }],
    });
    expect(await read({ environment: 'staging' })).toMatchObject({ approvals: [] });
  });

  it('does not count if it is not later than the plan', async () => {
    const { state, deployment, read } = await deployed();
    state.approveDeployment(deployment, 'bob');
    const since = deployment.approvals[0]?.at ?? '';
    expect(await read({ since })).toMatchObject({
      approvals: [],
      refused: [{ why: expect.stringContaining('not later than the plan') }],
    });
  });

  it('does not count from its starter or an author, or after a rejection', async () => {
    const { state, deployment, read } = await deployed();
    for (const by of ['ann', 'dave', 'bob']) state.approveDeployment(deployment, by);
    expect((await read()).approvals.map(({ by }) => by)).toEqual(['bob']);
    expect((await read({ rules: { selfApprove: true } })).approvals).toHaveLength(3);
    state.approveDeployment(deployment, 'carol', 'rejected');
    expect(await read()).toMatchObject({
      approvals: [],
      refused: [{ why: expect.stringContaining('rejected') }],
    });
  });

  it('does not exist in the free edition of GitLab', async () => {
    const { state, deployment, read } = await deployed();
    state.approveDeployment(deployment, 'bob');
    state.isFree = true;
    expect(await read()).toMatchObject({
      approvals: [],
      refused: [{ why: expect.stringContaining('has no approval') }],
    });
  });
});
