/**
 * Attacks on `trueup ci apply` in a project of GitLab, whose approvals name no commit and whose deployments are approved one by one. Each
 * of them applies nothing; the same merge request is applied once the attack is undone.
 */
import { describe, expect, it } from 'vitest';
import { type GitlabScene, openGitlabScene } from '../../support/ci/apply-scene.ts';
import { workspace } from '../../support/cli/documents.ts';
import type { GivenAnswer } from '../../support/code-host/api-double.ts';

const first = workspace('first', { description: 'one' });
const ack = 'trueup-ack/deletes';

/** @returns makes requests whose path matches get an answer, until it is called with undefined */
function faults({ gitlab }: GitlabScene) {
  let [concerned, given]: [RegExp, GivenAnswer | undefined] = [/$^/, undefined];
  gitlab.always(({ path }) => (concerned.test(path) ? given : undefined));
  return (path: RegExp, answer: GivenAnswer | undefined) => {
    [concerned, given] = [path, answer];
  };
}

describe('A merge request that was approved and merged is not applied', { timeout: 180_000 }, () => {
  it('while its approval does not qualify, and is applied when it does', async () => {
    const scene = await openGitlabScene();
    const { state } = scene.gitlab;
    const { pull, approve, merge } = await scene.pull([first]);
    approve('bob');
    merge();
    const { approvals, author, notes, versions } = pull;
    const [given] = approvals;
    const [note] = notes;
    if (given === undefined || note === undefined) throw new Error('there is no approval, or no note');

    // The approval itself, and who gave it.
    state.isOld = true;
    await scene.expectRefused('this version of GitLab does not say when it was given');
    state.isOld = false;
    pull.approvals = [{ ...given, by: author }];
    await scene.expectRefused(`"${author}" is the author of the pull request`);
    state.members.set('project_5_bot_2', 40);
    pull.approvals = [{ ...given, by: 'project_5_bot_2' }];
    await scene.expectRefused('"project_5_bot_2" is not a person');
    pull.approvals = [];
    await scene.expectRefused('the pull request has no approving review');
    pull.approvals = approvals;
    state.members.set('bob', 20);
    await scene.expectRefused('"bob" has no write permission');
    state.members.set('bob', 30);
    state.user('bob').state = 'blocked';
    await scene.expectRefused('"bob" has no write permission');
    state.user('bob').state = 'active';

    // The user who pushed, whom no commit names.
    const [push] = state.pushes.splice(0);
    if (push === undefined) throw new Error('there is no push');
    await scene.expectRefused('GitLab does not say who pushed');
    state.pushes.push({ ...push, by: 'bob' });
    await scene.expectRefused('"bob" is the author of the pull request, or wrote or pushed');
    state.pushes.splice(0, 1, push);
    state.pushes.push({ ...push, branch: 'copy', by: 'bob' });
    await scene.expectRefused('"bob" is the author of the pull request, or wrote or pushed');
    state.pushes.pop();

    // Changes of the head after the approval.
    versions.push({ id: 9, head: pull.head, at: state.clock.next() });
    await scene.expectRefused('it is not newer than the head');
    versions.splice(1, 1, { id: 9, head: 'd'.repeat(40), at: versions[0]?.at ?? '' });
    await scene.expectRefused('the newest version of the merge request is of another commit than its head');
    versions.pop();
    const { head } = pull;
    pull.head = 'd'.repeat(40);
    await scene.expectRefused('the newest version of the merge request is of another commit than its head');
    pull.head = head;

    // The note with the plan.
    const { updatedAt = '', body } = note;
    state.editComment(note, body);
    await scene.expectRefused('is not later than the comment with the plan');
    note.updatedAt = updatedAt;
    notes.splice(0, 1);
    state.comment(pull, { by: 'mallory', body });
    await scene.expectRefused('is from "mallory", not from "project_5_bot_1"');
    notes.splice(0, notes.length, note);

    // A merge request into another branch, and one that is still open.
    Object.assign(pull, { base: 'release' });
    await scene.expectRefused('no valid approval was found');
    Object.assign(pull, { base: 'main' });
    const { merged } = pull;
    delete pull.merged;
    await scene.expectRefused('no valid approval was found');
    if (merged !== undefined) pull.merged = merged;

    await scene.ciApply(0);
  });

  it('while an answer of GitLab is incomplete', async () => {
    const scene = await openGitlabScene();
    const { approve, merge } = await scene.pull([first]);
    approve('bob');
    merge();
    const fault = faults(scene);
    const body = { message: 'no' };
    const closed = 'nothing is approved as long as the code host does not give it in full';
    for (const status of [403, 404, 500, 502, 302]) {
      fault(/\/approvals$/, { status, body, headers: { location: '/elsewhere' } });
      const { err } = await scene.expectRefused(closed, 1);
      expect(err).toMatch(new RegExp(`/merge_requests/11/approvals answered ${status}`));
      expect(err).toContain('exit code 1, error');
    }
    for (const [path, status] of [
      [/\/merge_requests$/, 403],
      [/\/versions$/, 404],
      [/\/notes$/, 500],
      [/\/commits$/, 403],
      [/\/events$/, 403],
      [/\/users\/\d+$/, 404],
    ] as const) {
      fault(path, { status, body });
      await scene.expectRefused(closed, 1);
    }
    // GitLab answers 404 for users who are not members, or whom the token cannot see.
    fault(/\/members\/all\/\d+$/, { status: 404, body });
    await scene.expectRefused('"bob" has no write permission');
    fault(/\/members\/all\/\d+$/, { status: 403, body });
    await scene.expectRefused(closed, 1);
    fault(/$^/, undefined);
    await scene.ciApply(0);
  });

  it('with approvals from before its last push', async () => {
    const scene = await openGitlabScene();
    const harmless = await scene.pull([first]);
    harmless.approve('bob');
    harmless.approve('carol');
    // GitLab removes approvals some seconds after a push, or not at all.
    const evil = await harmless.change([first, workspace('evil')]);
    evil.merge();
    await scene.expectRefused('it is not newer than the head');
    scene.gitlab.state.withdraw(evil.pull, 'bob');
    evil.approve('bob');
    const { out } = await scene.ciApply(0);
    expect(out).toContain('approved by "bob"');
    expect(out).not.toContain('carol');
  });

  it('with 100 approvals that do not count, or with evidence on later pages of notes, events and labels', async () => {
    const scene = await openGitlabScene({ spec: { guards: { maxDeletes: 0 } } });
    const { state } = scene.gitlab;
    const { pull, approve, merge } = await scene.pull([first], { file: 'base.yaml' });
    const [note] = pull.notes;
    if (note === undefined) throw new Error('there is no note');
    for (let count = 0; count < 120; count += 1) state.approve(pull, `guest${count}`);
    approve('ann');
    merge();
    const { err } = await scene.expectRefused('no valid approval was found');
    expect(err).toContain('"guest119" has no write permission');
    expect(err).toContain('"ann" is the author of the pull request');

    // The note of the plan follows a hundred others, and a push of the approver follows a hundred others.
    pull.notes.splice(0);
    for (let count = 0; count < 110; count += 1) state.comment(pull, { by: 'alice', body: `LGTM ${count}` });
    pull.notes.push({ ...note, updatedAt: state.clock.next() });
    await scene.expectRefused('no valid approval was found');
    approve('bob');
    const [push] = state.pushes.splice(0);
    if (push === undefined) throw new Error('there is no push');
    const others = Array.from({ length: 110 }, (_, at) => ({
      ...push,
      branch: 'other',
      head: `${at}`.padStart(40, '0'),
    }));
    state.pushes.push({ ...push, branch: 'copy', by: 'bob' }, push, ...others);
    await scene.expectRefused('"bob" is the author of the pull request, or wrote or pushed');
    state.pushes.shift();

    // A label that another person set, and that the author set again a hundred events later.
    state.label(pull, ack, 'bob');
    for (let count = 0; count < 55; count += 1) {
      state.label(pull, 'ready', 'ann');
      state.unlabel(pull, 'ready', 'ann');
    }
    state.unlabel(pull, ack, 'ann');
    state.label(pull, ack, 'ann');
    await scene.expectRefused('"ann" is the author of the pull request', 5);
    pull.events.splice(-2);
    const { out } = await scene.ciApply(0);
    expect(out).toContain('approved by "bob"');
  });

  it('while its guard is acknowledged by a label that does not count', async () => {
    const scene = await openGitlabScene({ spec: { guards: { maxDeletes: 0 } } });
    const { state } = scene.gitlab;
    const { pull, approve, merge } = await scene.pull([first], { file: 'base.yaml' });
    approve('bob');
    merge();
    const unset = () => {
      pull.labels.clear();
      pull.events.splice(0);
    };

    const early = pull.versions[0]?.at ?? '';
    state.label(pull, ack, 'carol');
    const [event] = pull.events;
    if (event === undefined) throw new Error('there is no event');
    pull.events.splice(0, 1, { ...event, at: early });
    await scene.expectRefused(
      /the label "trueup-ack\/deletes" of pull request 11: it was set .* remove it and set it again/,
      5,
    );
    unset();
    pull.labels.add(ack);
    await scene.expectRefused('the code host does not say who set it', 5);
    unset();
    state.label(pull, ack, null);
    await scene.expectRefused('the code host does not say who set it', 5);
    unset();
    state.label(pull, ack, 'guest');
    await scene.expectRefused('"guest" has no write permission', 5);
    unset();
    state.label(pull, 'ready', 'carol');
    state.renameLabel('ready', ack);
    await scene.expectRefused('the label was renamed or changed', 5);
    unset();
    state.label(pull, 'trueup-ack/zero', 'carol');
    await scene.expectRefused('guards that are not acknowledged: deletes', 5);
    state.label(pull, ack, 'carol');
    await scene.ciApply(0);
  });

  it('with the approval of another deployment, or of a plan that its pipeline did not record', async () => {
    const scene = await openGitlabScene({ spec: { approvals: { accept: ['environment'] } } });
    const { state } = scene.gitlab;
    const { pull, digest, merge } = await scene.pull([first]);
    merge();
    const recorder = { env: { CI_JOB_ID: '999', CI_JOB_NAME: 'record' } };
    const waited = ['--digest', digest, '--environment', 'production'];
    const place = { job: 1000, pipeline: 100, environment: 'production', triggeredBy: 'ann' };
    const commit = scene.main();
    await scene.ciApply(0, ['--record'], recorder);

    // Another environment, another job, another pipeline with another commit, and a rejection.
    await scene.expectRefused('job 1000 has no deployment to environment "production"', 4, waited);
    state.clock.pass(60);
    const staging = state.deploy({ ...place, environment: 'staging', commit });
    state.approveDeployment(staging, 'alice');
    await scene.expectRefused('job 1000 has no deployment to environment "production"', 4, waited);
    const other = state.deploy({ ...place, job: 1001, pipeline: 101, commit });
    state.approveDeployment(other, 'alice');
    await scene.expectRefused('job 1000 has no deployment to environment "production"', 4, waited);
    state.deployments.splice(0);
    state.approveDeployment(state.deploy({ ...place, commit: pull.head }), 'alice');
    await scene.expectRefused('the run is of commit', 4, waited);
    state.deployments.splice(0);
    const deployment = state.deploy({ ...place, commit });
    state.approveDeployment(deployment, 'alice');
    state.approveDeployment(deployment, 'bob', 'rejected');
    await scene.expectRefused('"bob" rejected the run', 4, waited);
    deployment.approvals.splice(0);

    // An approval from before the plan, one of its starter, and an edition without approvals.
    deployment.approvals.push({ by: 'alice', status: 'approved', at: '2020-01-01T00:00:00.000Z' });
    await scene.expectRefused(/the approval \(2020.*\) is not later than the plan/, 4, waited);
    deployment.approvals.splice(0);
    state.approveDeployment(deployment, 'ann');
    await scene.expectRefused('"ann" started the run', 4, waited);
    deployment.startedBy = 'carol';
    deployment.approvals.splice(0);
    state.approveDeployment(deployment, 'carol');
    await scene.expectRefused('"carol" started the run', 4, waited);
    state.approveDeployment(deployment, 'alice');
    state.isFree = true;
    await scene.expectRefused('the run has no approval for environment "production"', 4, waited);
    state.isFree = false;

    // A digest that no job of this pipeline has recorded.
    const wrong = ['--digest', 'f'.repeat(32), '--environment', 'production'];
    await scene.expectRefused(`this run has recorded the plan "${digest}"`, 4, wrong);
    const { out } = await scene.ciApply(0, waited);
    expect(out).toContain('approved by "alice" (environment)');
  });
});
