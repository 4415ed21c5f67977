/**
 * What `trueup ci apply` does not accept as an approval on GitHub: forged ones, those of something else, and incomplete answers. Each
 * scene ends with a proper approval, which is applied.
 */
import { describe, expect, it } from 'vitest';
import { hiddenLines } from '../../../src/approvals/hidden-lines.ts';
import { openApplyScene } from '../../support/ci/apply-scene.ts';
import { makeSigner } from '../../support/ci/signers.ts';
import { workspace } from '../../support/cli/documents.ts';
import type { GivenAnswer } from '../../support/code-host/api-double.ts';
import { git } from '../../support/ledger/git-remote.ts';

const first = workspace('first', { description: 'one' });
const days = (count: number) => new Date(Date.now() + count * 86_400_000).toISOString();

describe('Nothing is applied', { timeout: 180_000 }, () => {
  it('because of a text, a label, a status, an artifact, an attestation, or another run', async () => {
    const scene = await openApplyScene();
    const { github } = scene;
    const { state } = github;
    const { pull, digest, approve, merge } = await scene.pull([first]);
    merge();
    const forgeable = /\/(status|statuses|check-runs|check-suites|artifacts|attestations|deployments)(\/|$)/;
    github.always(({ path }) =>
      forgeable.test(path) ? { status: 200, body: { state: 'success', digest } } : undefined,
    );
    for (const body of [
      `LGTM, approved: ${digest}`,
      `/trueup approve ${digest}`,
      `trueup ci apply ${digest}`,
    ])
      state.comment(pull, { by: 'alice', body });
    for (const label of ['approved', `trueup-approve/${digest}`, 'trueup-ack/deletes'])
      state.label(pull, label, 'alice');
    state.review(pull, { by: 'alice', state: 'COMMENTED' });
    state.review(pull, { by: 'alice', state: 'PENDING' });
    await scene.expectRefused('the pull request has no approving review');

    // The reviewers of an environment have approved another run of the same commit.
    const commit = scene.main();
    state.approveRun(state.startRun({ id: 770, commit, by: 'ann' }), { by: 'alice', environment: 'prod' });
    const run = state.startRun({ id: 771, commit, by: 'ann' });
    const waited = ['--digest', digest, '--environment', 'prod'];
    await scene.expectRefused('the run has no approval for environment "prod"', 4, waited);
    state.approveRun(run, { by: 'alice', environment: 'prod' });
    // The digest of a plan from elsewhere, such as an artifact.
    await scene.expectRefused('no valid approval was found', 4, [
      '--digest',
      'f'.repeat(32),
      '--environment',
      'dev',
    ]);
    const foreign = ['--digest', 'f'.repeat(32), '--environment', 'prod'];
    await scene.expectRefused(`the approved plan "${'f'.repeat(32)}" is not this one`, 4, foreign);
    run.commit = pull.head;
    await scene.expectRefused(`the run is of commit "${pull.head}"`, 4, waited);
    expect(github.asked.filter(({ path }) => forgeable.test(path))).toEqual([]);

    approve('alice');
    await scene.ciApply(0);
  });

  it('because of a review of another stack or by a former member, or with incomplete answers of GitHub', async () => {
    const approvals = { accept: ['review'], from: [{ team: 'acme/platform' }] };
    const scene = await openApplyScene({ spec: { approvals } });
    const { state } = scene.github;
    const team = new Map([['alice', 'active' as 'active' | 'pending']]);
    state.teams.set('acme/platform', team);
    const { pull, plan, approve, merge } = await scene.pull([first]);
    approve('alice');
    merge();

    // A member who was removed from the team, or has not accepted the invitation yet.
    team.delete('alice');
    await scene.expectRefused('"alice" is not among the users and teams in "from" of spec.approvals');
    team.set('alice', 'pending');
    await scene.expectRefused('"alice" is not among the users and teams');
    team.set('alice', 'active');

    // The comment of another stack, and two that differ.
    const [comment] = pull.comments;
    if (comment === undefined) throw new Error('there is no comment');
    const shown = { post: 'y', at: '', commit: pull.head, digest: plan.digest, summary: '' };
    const bodyOf = (stack: string, digest: string) =>
      hiddenLines(stack, { shown: { ...shown, digest }, earlier: [] }).join('\n');
    const { body } = comment;
    comment.body = bodyOf('other', plan.digest);
    await scene.expectRefused('it has no comment with a plan of stack "payments"');
    comment.body = body;
    pull.comments.push({ ...comment, id: 1, body: bodyOf('payments', 'f'.repeat(32)) });
    await scene.expectRefused('it has several comments with different plans of stack "payments"');
    pull.comments.pop();

    // Requested changes on the third page, and a head that does not exist any more.
    for (let count = 0; count < 210; count += 1)
      state.review(pull, { by: `guest${count}`, state: 'COMMENTED' });
    state.review(pull, { by: 'alice', state: 'CHANGES_REQUESTED' });
    await scene.expectRefused('the review requests changes');
    pull.reviews.pop();
    const { commits, from } = pull;
    pull.commits = commits.map((one) => ({ ...one, sha: 'e'.repeat(40) }));
    await scene.expectRefused(`its head ${pull.head} is not among its commits`);
    pull.commits = [
      ...Array.from({ length: 250 }, (_, at) => ({ sha: `${at}`.padStart(40, '0') })),
      ...commits,
    ];
    await scene.expectRefused('GitHub lists only 250 commits of a pull request');
    pull.commits = commits;
    pull.from = null;
    await scene.expectRefused('the repository of its head branch was deleted');
    pull.from = from;

    // Each answer can be missing.
    let [failing, answer]: [RegExp, GivenAnswer] = [/$^/, { status: 500 }];
    scene.github.always(({ path }) => (failing.test(path) ? answer : undefined));
    const closed = 'nothing is approved as long as the code host does not give it in full';
    const message = { message: 'no' };
    for (const [path, status] of [
      [/\/commits\/\w+\/pulls$/, 404],
      [/\/issues\/11\/comments$/, 403],
      [/\/user$/, 500],
      [/\/pulls\/11\/commits$/, 301],
      [/\/activity$/, 403],
      [/\/memberships\/alice$/, 502],
      [/\/permission$/, 404],
    ] as const) {
      [failing, answer] = [path, { status, body: message, headers: { location: '/elsewhere' } }];
      await scene.expectRefused(closed, 1);
    }
    [failing, answer] = [/\/reviews$/, { status: 200, cut: true }];
    await scene.expectRefused(/\/pulls\/11\/reviews.* failed/, 1);
    [failing, answer] = [/\/reviews$/, { status: 200, silent: true }];
    await scene.expectRefused(/this run has reached its timeout of 4s; --timeout gives it more/, 1, [
      '--timeout',
      '4s',
    ]);

    failing = /$^/;
    await scene.ciApply(0);
  });

  it('because of signatures for something else, or by people who may not sign', async () => {
    const approvals = { accept: ['signature'], from: [{ signers: 'allowed_signers' }] };
    const scene = await openApplyScene({ spec: { approvals } }, { signers: ['alice', 'ann', 'bob'] });
    makeSigner(scene.keys, 'mallory');
    const older = await scene.pull([first]);
    await scene.sign({ digest: older.digest, commit: older.pull.head, by: 'alice' });
    const { pull, digest, merge } = await older.change([first, workspace('second')]);
    const { head: commit } = pull;
    await scene.sign({ digest: older.digest, commit: older.plan.made?.commit ?? '', by: 'alice' });
    merge();
    const forged = [
      [{ stack: 'other' }, 'it is for the stack "other"'],
      [{ repository: 'git.example.com/acme/other' }, 'it is for the repository "git.example.com/acme/other"'],
      [{ path: 'pay2/trueup.yaml' }, 'it is for the stack file "pay2/trueup.yaml"'],
      [{ at: days(1), until: days(2) }, 'which is in the future'],
      [{ until: days(40) }, 'it is valid for more than 30 days'],
      [{ at: days(-3), until: days(-1) }, 'it expired at'],
    ] as const;
    for (const [changed] of forged) await scene.sign({ digest, commit, by: 'alice', forged: changed });
    const { err } = await scene.expectRefused('no valid approval was found');
    for (const [, why] of forged) expect(err).toContain(why);
    expect(err).toContain('2 signatures for other commits, such as those of earlier applies');
    await scene.sign({ digest, commit, by: 'mallory' });
    await scene.sign({ digest, commit, by: 'ann' });
    await scene.sign({ digest, commit, by: 'bob' });
    const [own, ...others] = pull.commits;
    if (own !== undefined) pull.commits = [{ ...own, coAuthors: ['bob'] }, ...others];
    const people = await scene.expectRefused('no valid approval was found');
    expect(people.err).toMatch(/the key SHA256:\S+ is not admitted at the head/);
    for (const name of ['ann', 'bob'])
      expect(people.err).toContain(
        `signature by "${name}@example.com" in pull request 11: it is by an author`,
      );

    // A signature of another plan, by a person who may sign.
    await scene.sign({ digest: 'f'.repeat(32), commit, by: 'alice' });
    await scene.expectRefused(`the approved plan "${'f'.repeat(32)}" is not this one`);
    // A valid signature, whose signer is removed before the apply.
    await scene.sign({ digest, commit, by: 'alice' });
    const { author } = scene.scene;
    const signers = git(author, 'show', 'origin/main:pay/allowed_signers');
    scene.push({ 'pay/allowed_signers': `${signers.split('\n').slice(1).join('\n')}\n` });
    const removed = await scene.expectRefused('no valid approval was found');
    expect(removed.err).toMatch(/is not admitted at the head: No principal matched/);
    scene.push({ 'pay/allowed_signers': `${signers}\n` });
    const { out } = await scene.ciApply(0);
    expect(out).toContain('approved by "alice@example.com" (signature, pull request 11)');
  });

  it('if the commit of the last apply does not exist any more', async () => {
    const scene = await openApplyScene();
    const { pull, approve, merge } = await scene.pull([first]);
    approve('alice');
    merge();
    const { author, remote } = scene.scene;
    git(author, 'checkout', '--quiet', '--orphan', 'rewritten');
    git(author, 'commit', '--quiet', '-m', 'all of it');
    git(author, 'push', '--quiet', '--force', 'origin', 'rewritten:main', `:${pull.branch}`);
    git(remote.directory, 'reflog', 'expire', '--expire=now', '--all');
    git(remote.directory, 'gc', '--quiet', '--prune=now');
    scene.github.state.introduced.set(scene.main(), pull.number);
    // The second job is not locked by the first one.
    for (let job = 0; job < 2; job += 1) {
      const { err } = await scene.expectRefused('the commits since the last apply cannot be read', 1);
      expect(err).toContain('apply once by hand with "trueup apply"');
    }
  });
});
