/** Reviews of a pull request of GitHub: which of them approve the plan in its comment, and why the others do not. */
import { describe, expect, it } from 'vitest';
import { findPlanComment } from '../../src/approvals/plan-comment.ts';
import { readReviews } from '../../src/approvals/reviews.ts';
import type { ApprovalRules } from '../../src/model/approval.ts';
import { digest, openGithubScene, planComment, sha, stack } from '../support/code-host/approval-scene.ts';
import { githubTokens } from '../support/code-host/github.ts';

type Scene = Awaited<ReturnType<typeof openGithubScene>>;

interface ApprovalOptions {
  readonly rules?: ApprovalRules;
  readonly author?: string;
}

/** Reads who approves, and why the other reviews do not count. */
async function approvalsOf({ reader }: Scene, { rules = {}, author }: ApprovalOptions = {}) {
  const pullRequests = reader();
  const pullRequest = await pullRequests.get(7);
  const accounts = { author, usual: 'github-actions[bot]' };
  const found = await findPlanComment({ pullRequests, pullRequest, stack, accounts });
  const { approvals, refused } = await readReviews({ pullRequests, pullRequest, rules, found });
  return {
    approvals,
    by: approvals.map(({ by }) => by),
    refused,
    why: refused.map(({ why }) => why).join('; '),
  };
}

/** A scene with a posted plan that bob has approved. */
async function approved() {
  const scene = await openGithubScene();
  scene.post();
  scene.state.review(scene.pull, { by: 'bob' });
  return scene;
}

describe('a review of a pull request', () => {
  it('approves the digest that the comment shows for the head', async () => {
    const { approvals, refused } = await approvalsOf(await approved());
    expect(approvals).toEqual([
      {
        ...{ method: 'review', by: 'bob', digest, commit: sha('a'), pullRequest: 7, acknowledged: [] },
        at: expect.stringMatching(/^\d{4}-/),
      },
    ]);
    expect(refused).toEqual([]);
  });

  it('does not count if it is of an older commit', async () => {
    const scene = await approved();
    scene.state.push(scene.pull, { by: 'ann', head: sha('b') });
    scene.post();
    expect(await approvalsOf(scene)).toMatchObject({
      by: [],
      why: expect.stringContaining(`is of commit "${sha('a')}"`),
    });
  });

  it('does not count if it was given before the head was planned', async () => {
    const scene = await openGithubScene();
    scene.state.review(scene.pull, { by: 'bob' });
    scene.post();
    expect(await approvalsOf(scene)).toMatchObject({
      by: [],
      why: expect.stringContaining('not later than the comment'),
    });
  });

  it('does not count after an edit of the plan comment', async () => {
    const scene = await approved();
    const [comment] = scene.pull.comments;
    if (comment === undefined) throw new Error('no comment');
    scene.state.editComment(comment, planComment(sha('a'), { digest: 'f'.repeat(32) }));
    expect(await approvalsOf(scene)).toMatchObject({
      by: [],
      why: expect.stringContaining('posted or edited'),
    });
  });

  it('does not count if GitHub no longer says which commit it is of', async () => {
    const scene = await openGithubScene();
    scene.post();
    scene.state.review(scene.pull, { by: 'bob', commit: null });
    expect(await approvalsOf(scene)).toMatchObject({
      by: [],
      why: expect.stringContaining('no longer says'),
    });
  });

  it('does not count after it was dismissed', async () => {
    const scene = await openGithubScene();
    scene.post();
    scene.state.review(scene.pull, { by: 'bob' }).state = 'DISMISSED';
    expect(await approvalsOf(scene)).toMatchObject({ by: [], why: 'the review was dismissed' });
  });

  it('counts only if it is the latest review of that person', async () => {
    const scene = await approved();
    scene.state.review(scene.pull, { by: 'Bob', state: 'CHANGES_REQUESTED' });
    scene.state.review(scene.pull, { by: 'carol', state: 'CHANGES_REQUESTED' });
    scene.state.review(scene.pull, { by: 'carol' });
    scene.state.review(scene.pull, { by: 'carol', state: 'COMMENTED' });
    expect(await approvalsOf(scene)).toMatchObject({ by: ['carol'], why: 'the review requests changes' });
  });

  it('is found among more than 100 reviews, and a review on a later page can overrule it', async () => {
    const scene = await approved();
    for (let count = 0; count < 230; count += 1)
      scene.state.review(scene.pull, { by: `guest${count}`, state: 'COMMENTED' });
    scene.state.review(scene.pull, { by: 'carol' });
    expect(await approvalsOf(scene)).toMatchObject({ by: ['bob', 'carol'] });
    scene.state.review(scene.pull, { by: 'bob', state: 'CHANGES_REQUESTED' });
    expect(await approvalsOf(scene)).toMatchObject({ by: ['carol'] });
  });

  it('counts once per person, even if the person approves twice', async () => {
    const scene = await approved();
    scene.state.review(scene.pull, { by: 'BOB' });
    expect((await approvalsOf(scene)).by).toEqual(['BOB']);
  });

  it('is reported as missing if there is none', async () => {
    const scene = await openGithubScene();
    scene.post();
    expect(await approvalsOf(scene)).toMatchObject({
      by: [],
      why: 'the pull request has no approving review',
    });
  });
});

describe('the reviewer', () => {
  it.each(['deployer[bot]', 'octo-robot'])('%s does not count, because it is not a person', async (by) => {
    const scene = await openGithubScene();
    scene.state.types.set('octo-robot', 'Bot');
    scene.state.permissions.set(by, 'write');
    scene.post();
    scene.state.review(scene.pull, { by });
    expect(await approvalsOf(scene, { rules: { from: [{ user: by }] } })).toMatchObject({
      by: [],
      why: expect.stringContaining('is not a person'),
    });
  });

  it('does not count if the account was deleted', async () => {
    const scene = await openGithubScene();
    scene.post();
    scene.state.review(scene.pull, { by: null });
    expect(await approvalsOf(scene)).toMatchObject({ by: [], why: expect.stringContaining('was deleted') });
  });

  it('can be the author only with selfApprove', async () => {
    const scene = await openGithubScene();
    scene.post();
    scene.state.review(scene.pull, { by: 'Ann' });
    expect(await approvalsOf(scene)).toMatchObject({ by: [], why: expect.stringContaining('is the author') });
    expect(await approvalsOf(scene, { rules: { selfApprove: true } })).toMatchObject({ by: ['Ann'] });
  });

  it.each([
    ['author', { sha: sha('b'), author: 'bob', committer: 'ann' }],
    ['committer', { sha: sha('b'), author: 'ann', committer: 'bob' }],
    ['co-author', { sha: sha('b'), author: 'ann', committer: 'ann', coAuthors: ['bob'] }],
  ])('can be the %s of a commit only with selfApprove', async (_, commit) => {
    const scene = await openGithubScene();
    scene.state.push(scene.pull, { by: 'ann', head: sha('b'), commits: [commit] });
    scene.post();
    scene.state.review(scene.pull, { by: 'bob' });
    expect(await approvalsOf(scene)).toMatchObject({
      by: [],
      why: expect.stringContaining('wrote or pushed'),
    });
    expect(await approvalsOf(scene, { rules: { selfApprove: true } })).toMatchObject({ by: ['bob'] });
  });

  it('cannot be the user who pushed the head, even if its commit names other people', async () => {
    const scene = await openGithubScene();
    scene.state.push(scene.pull, {
      by: 'bob',
      head: sha('b'),
      commits: [{ sha: sha('b'), author: 'ann', committer: 'ann' }],
    });
    scene.post();
    scene.state.review(scene.pull, { by: 'bob' });
    expect(await approvalsOf(scene)).toMatchObject({
      by: [],
      why: expect.stringContaining('wrote or pushed'),
    });
  });

  it('cannot be a user who pushed an earlier commit of the pull request', async () => {
    const scene = await openGithubScene();
    scene.state.push(scene.pull, { by: 'bob', head: sha('b'), commits: [{ sha: sha('b') }] });
    scene.state.push(scene.pull, { by: 'ann', head: sha('c') });
    scene.post();
    scene.state.review(scene.pull, { by: 'bob' });
    expect(await approvalsOf(scene)).toMatchObject({
      by: [],
      why: expect.stringContaining('wrote or pushed'),
    });
  });

  it('needs write permission, even if the stack names the user', async () => {
    const scene = await approved();
    scene.state.permissions.set('bob', 'read');
    for (const rules of [{}, { from: [{ user: 'bob' }] }])
      expect(await approvalsOf(scene, { rules })).toMatchObject({
        by: [],
        why: '"bob" has no write permission',
      });
  });

  it('must be among the users and teams that the stack names', async () => {
    const scene = await approved();
    scene.state.teams.set(
      'acme/platform',
      new Map([
        ['carol', 'active'],
        ['dave', 'pending'],
      ]),
    );
    for (const by of ['carol', 'dave']) scene.state.review(scene.pull, { by });
    const of = async (...from: NonNullable<ApprovalRules['from']>) =>
      (await approvalsOf(scene, { rules: { from } })).by;
    expect(await of({ user: 'BOB' })).toEqual(['bob']);
    expect(await of({ team: 'acme/platform' })).toEqual(['carol']);
    expect(await of({ team: 'acme/secret' })).toEqual([]);
    expect(await of({ user: 'bob' }, { team: 'acme/platform' })).toEqual(['bob', 'carol']);
    expect(await of({ signers: 'allowed_signers' })).toEqual(['bob', 'carol', 'dave']);
  });

  it('no longer counts after leaving the team that the stack names', async () => {
    const scene = await approved();
    scene.state.teams.set('acme/platform', new Map([['bob', 'active']]));
    const rules = { from: [{ team: 'acme/platform' }] };
    expect(await approvalsOf(scene, { rules })).toMatchObject({ by: ['bob'] });
    scene.state.teams.get('acme/platform')?.delete('bob');
    expect(await approvalsOf(scene, { rules })).toMatchObject({
      by: [],
      why: expect.stringContaining('is not among'),
    });
  });
});

describe('the user who pushed', () => {
  it('is found after the branch was deleted, with or without the log of the branch', async () => {
    const scene = await approved();
    scene.state.merge(scene.pull, { by: 'ann', commits: [sha('d')] });
    scene.state.deleteBranch(scene.pull, 'ann');
    expect(await approvalsOf(scene)).toMatchObject({ by: ['bob'] });
    scene.github.always(({ path, query }) =>
      path.endsWith('/activity') && query.has('ref')
        ? { status: 404, body: { message: 'Not Found' } }
        : undefined,
    );
    expect(await approvalsOf(scene)).toMatchObject({ by: ['bob'] });
  });

  it('is found on a later page of the log', async () => {
    const scene = await openGithubScene();
    scene.state.push(scene.pull, { by: 'bob', head: sha('b'), commits: [{ sha: sha('b') }] });
    for (let count = 0; count < 250; count += 1)
      scene.state.push(scene.pull, { by: 'ann', head: count.toString(16).padStart(40, '0'), commits: [] });
    scene.state.push(scene.pull, { by: 'ann', head: sha('c') });
    scene.post();
    for (const by of ['bob', 'carol']) scene.state.review(scene.pull, { by });
    expect(await approvalsOf(scene)).toMatchObject({
      by: ['carol'],
      why: expect.stringContaining('wrote or pushed'),
    });
  });

  it.each([
    [
      'the log lacks the head',
      (scene: Scene) => void scene.state.pushes.splice(0),
      'does not say who pushed',
    ],
    ['the fork was deleted', (scene: Scene) => Object.assign(scene.pull, { from: null }), 'was deleted'],
    [
      'the account was deleted',
      (scene: Scene) => void scene.state.pushes.splice(0, 1, { ...scene.state.pushes[0], by: null } as never),
      'was deleted',
    ],
    [
      'there are too many commits to list',
      (scene: Scene) =>
        Object.assign(scene.pull, { commits: [...Array(260).fill({ sha: sha('7') }), { sha: sha('a') }] }),
      'only 250 commits',
    ],
    [
      'the head is not among the commits',
      (scene: Scene) => Object.assign(scene.pull, { commits: [] }),
      'is not among',
    ],
  ])('is unknown if %s, and then no review counts', async (_, change, why) => {
    const scene = await approved();
    change(scene);
    expect(await approvalsOf(scene)).toMatchObject({ by: [], why: expect.stringContaining(why) });
    expect(await approvalsOf(scene, { rules: { selfApprove: true } })).toMatchObject({ by: ['bob'] });
  });
});

describe('the comment with the plan', () => {
  it.each([
    ['there is none', () => {}, 'it has no comment'],
    [
      'it is of another stack',
      (scene: Scene) => scene.post(sha('a'), { stack: 'other' }),
      'it has no comment',
    ],
    [
      'another user wrote it',
      (scene: Scene) => scene.state.comment(scene.pull, { by: 'mallory', body: planComment(sha('a')) }),
      'is from "mallory", not from "github-actions[bot]"',
    ],
    ['it is about another commit', (scene: Scene) => scene.post(sha('9')), 'is not about commit'],
    [
      'its work tree had changes',
      (scene: Scene) => scene.post(sha('a'), { dirty: true }),
      'is not about commit',
    ],
    [
      'two of them differ',
      (scene: Scene) => [scene.post(), scene.post(sha('a'), { digest: 'e'.repeat(32) })],
      'several comments with different plans',
    ],
    [
      'its hidden line was edited',
      (scene: Scene) => {
        const body = planComment(sha('a')).split('\n').with(1, '<!-- oops -->').join('\n');
        scene.state.comment(scene.pull, { by: 'github-actions[bot]', body });
      },
      'is not about commit',
    ],
  ])('allows no approval if %s', async (_, make, why) => {
    const scene = await openGithubScene();
    make(scene);
    scene.state.review(scene.pull, { by: 'bob' });
    expect(await approvalsOf(scene)).toMatchObject({ by: [], why: expect.stringContaining(why) });
  });

  it('must be from the account that --author names, or else from the account of the token', async () => {
    const scene = await openGithubScene();
    scene.state.comment(scene.pull, { by: 'deployer[bot]', body: planComment(sha('a')) });
    scene.state.review(scene.pull, { by: 'bob' });
    expect(await approvalsOf(scene)).toMatchObject({ by: [], why: expect.stringContaining('--author') });
    expect(await approvalsOf(scene, { author: 'deployer[bot]' })).toMatchObject({ by: ['bob'] });

    const person = await openGithubScene(githubTokens.person);
    person.state.comment(person.pull, { by: 'ann', body: planComment(sha('a')) });
    person.state.review(person.pull, { by: 'bob' });
    expect(await approvalsOf(person)).toMatchObject({ by: ['bob'] });
  });
});

it('the merged pull request of a commit is found, however it was merged', async () => {
  const { state, pull, reader } = await openGithubScene();
  const other = state.openPull({ number: 8, author: 'bob', head: sha('b') });
  state.openPull({ number: 9, author: 'bob', head: sha('c'), base: 'release' });
  state.merge(pull, { by: 'ann', commits: [sha('1'), sha('2')] });
  state.merge(other, { by: 'ann', commits: [sha('3')] });
  const pullRequests = reader();
  const numbers = async (commit: string, base = 'main') =>
    (await pullRequests.ofCommit(commit, base)).map(({ number, merged }) => [number, merged?.commit]);
  expect(await numbers(sha('1'))).toEqual([[7, sha('2')]]);
  expect(await numbers(sha('3'))).toEqual([[8, sha('3')]]);
  expect(await numbers(sha('3'), 'release')).toEqual([]);
  expect(await numbers(sha('c'), 'release')).toEqual([]);
  expect(await numbers(sha('5'))).toEqual([]);
});
