/** Merge requests of GitLab from the plan job until they are applied, with each kind of approval. The commands are the real ones. */
import { describe, expect, it } from 'vitest';
import { type GitlabScene, openGitlabScene } from '../../support/ci/apply-scene.ts';
import { workspace } from '../../support/cli/documents.ts';
import { setByHand } from '../../support/cli/two-clones.ts';
import { gitlabTokens } from '../../support/code-host/gitlab.ts';
import { git } from '../../support/ledger/git-remote.ts';

const first = workspace('first', { description: 'one' });
const second = workspace('second', { description: 'two' });
const isPlannedByJob = true;

/** The deployment of the apply job to a protected environment. */
function deployed(
  { gitlab: { state }, main }: GitlabScene,
  about: { job?: number; environment?: string } = {},
) {
  state.clock.pass(60);
  const place = { job: 1000, pipeline: 100, environment: 'production', ...about };
  return state.deploy({ ...place, commit: main(), triggeredBy: 'ann' });
}

describe('A merge request', { timeout: 180_000 }, () => {
  it('is applied after its approval and a merge, a squash or a fast-forward', async () => {
    const scene = await openGitlabScene({ spec: { ledger: 'git' } });
    for (const how of ['merge', 'squash', 'fast-forward'] as const) {
      const opened = await scene.pull([workspace(how)], { file: `${how}.yaml`, isPlannedByJob });
      const { pull, digest } = opened;
      expect(pull.notes.map(({ author, body }) => [author, body.includes(how)])).toEqual([
        ['project_5_bot_1', true],
      ]);
      opened.merge(how);
      const { err } = await scene.expectRefused('not counted: review in pull request');
      expect(err).toContain('to do: let another person approve the pull request in a review');
      expect(scene.applyComment(pull)).toContain('Not applied');
      opened.approve('bob');
      const { out } = await scene.ciApply(0);
      expect(out).toContain(`approved by "bob" (review, pull request ${pull.number})`);
      expect(scene.applyComment(pull)).toContain('Applied');
      expect(await scene.lastApprovals()).toMatchObject([
        { method: 'review', by: 'bob', digest, pullRequest: pull.number, commit: pull.head },
      ]);
    }
    expect((await scene.ciApply(0)).out).toContain('no commits since the last apply');
  });

  it('is applied by the job whose deployment was approved, with the plan of an earlier job', async () => {
    const scene = await openGitlabScene({ spec: { ledger: 'git', approvals: { accept: ['environment'] } } });
    const { digest, merge } = await scene.pull([workspace('base', { description: 'new' })], {
      ...{ file: 'base.yaml', isPlannedByJob },
    });
    merge('squash');
    const recorder = { env: { CI_JOB_ID: '999', CI_JOB_NAME: 'record', CI_JOB_URL: '' } };
    const recorded = await scene.ciApply(0, ['--record', '--format', 'json'], recorder);
    expect(JSON.parse(recorded.out)).toMatchObject({ digest });
    const deployment = deployed(scene);
    const waited = ['--digest', digest, '--environment', 'production'];
    await scene.expectRefused('the run has no approval for environment "production"', 4, waited);
    scene.gitlab.state.approveDeployment(deployment, 'alice');
    await setByHand(scene.bench, 'base', { description: 'by hand' });
    await scene.expectRefused('is not this one, and its content is not known', 4, waited);
    await setByHand(scene.bench, 'base', { description: '' });
    const { out } = await scene.ciApply(0, waited);
    expect(out).toContain('approved by "alice" (environment)');
    expect(await scene.lastApprovals()).toMatchObject([{ method: 'environment', by: 'alice', digest }]);
  });

  it('is applied with a signature after a label acknowledged its guard', async () => {
    const approvals = { accept: ['signature', 'review'], from: [{ signers: 'allowed_signers' }] };
    const scene = await openGitlabScene(
      { spec: { ledger: 'git', guards: { maxDeletes: 0 }, approvals } },
      { signers: ['alice'] },
    );
    const { pull, digest, merge } = await scene.pull([first], { file: 'base.yaml', isPlannedByJob });
    merge('squash');
    await scene.expectRefused('no valid approval was found');
    await scene.sign({ digest, commit: pull.head, by: 'alice' });
    const { err } = await scene.expectRefused('guards that are not acknowledged: deletes', 5);
    expect(err).toContain('set the label "trueup-ack/deletes"');
    const { state } = scene.gitlab;
    state.label(pull, 'trueup-ack/deletes', 'ann');
    await scene.expectRefused('"ann" is the author of the pull request', 5);
    state.unlabel(pull, 'trueup-ack/deletes', 'bob');
    state.label(pull, 'trueup-ack/deletes', 'bob');
    const { out } = await scene.ciApply(0);
    expect(out).toContain(`approved by "alice@example.com" (signature, pull request ${pull.number})`);
    expect(scene.applyComment(pull)).toContain('Applied');
  });

  it('is applied even if the token may not write notes, which is printed', async () => {
    const scene = await openGitlabScene();
    const { pull, approve, merge } = await scene.pull([first]);
    approve('bob');
    merge();
    // Another account than that of this job's token posts the notes with plans.
    const job = { token: gitlabTokens.reader };
    await scene.expectRefused(
      'is from "project_5_bot_1", not from "eve"; name the account that posts the plans with --author',
      4,
      [],
      job,
    );
    const { err } = await scene.ciApply(0, ['--author', 'project_5_bot_1'], job);
    expect(err).toContain('the comment about this apply was not written in pull request 11');
    expect(scene.applyComment(pull)).toBeUndefined();
  });

  it('cannot be approved by the author of an unapproved one that its fast-forward contains', async () => {
    const scene = await openGitlabScene();
    const { author } = scene.scene;
    const one = await scene.pull([first], { author: 'bob', file: 'one.yaml' });
    const two = await scene.pull([second], { author: 'carol', file: 'two.yaml' });
    one.merge('fast-forward');
    git(author, 'fetch', '--quiet', 'origin');
    git(author, 'checkout', '--quiet', two.pull.branch);
    git(author, 'merge', '--quiet', '--no-ff', '-m', 'update', 'origin/main');
    git(author, 'push', '--quiet', 'origin', two.pull.branch);
    const later = await two.change([second], { files: { 'note.txt': 'x' } });
    later.approve('bob');
    later.merge('fast-forward');
    await scene.expectRefused('"bob" may have made pull request 11');
    one.approve('alice');
    await scene.ciApply(0);
  });
});
