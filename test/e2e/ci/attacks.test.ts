/**
 * Attacks on `trueup ci apply` by people who may push to the repository, but are not approvers: nothing is applied that
 * was not approved. Other attacks are in test/approvals (reviews, labels, environments, code hosts that fail) and next to this file.
 */
import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hiddenContent, hiddenLines } from '../../../src/approvals/hidden-lines.ts';
import { planContent } from '../../../src/plan/approved-plans.ts';
import { type ApplyScene, emptyStack, openApplyScene } from '../../support/ci/apply-scene.ts';
import { makeSigner } from '../../support/ci/signers.ts';
import { trueup } from '../../support/captured-host.ts';
import { secrets } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import { git } from '../../support/ledger/git-remote.ts';
import { findPostgres, startPostgres } from '../../support/ledger/postgres-server.ts';
import { documentsText } from '../../support/rig/stack-folder.ts';

const bin = findPostgres();

const first = workspace('first', { description: 'one' });
const signed = { approvals: { accept: ['signature'], from: [{ signers: 'allowed_signers' }] } };

/** Nothing is applied, and the message says why. */
async function refused(scene: ApplyScene, why: string | RegExp, code = 4, job = {}): Promise<void> {
  const { err } = await scene.ciApply(code, [], job);
  expect(err).toMatch(why);
  expect(scene.bench.wire.writes()).toEqual([]);
}

describe('A merged and approved pull request is not applied', { timeout: 180_000 }, () => {
  it('if the comment that shows its plan was changed, or its commits differ', async () => {
    const scene = await openApplyScene();
    const { github } = scene;
    const { state } = github;
    const { pull, plan, approve, merge } = await scene.pull([first]);
    const [comment] = pull.comments;
    if (comment === undefined) throw new Error('there is no comment');
    const { body } = comment;
    const bodyFor = (digest: string, commit: string) =>
      [
        ...hiddenLines(plan.stack, {
          shown: { post: 'y', at: '', commit, digest, summary: '' },
          earlier: [],
        }),
        hiddenContent(planContent(plan)),
      ].join('\n');
    approve('alice');
    merge();
    const { updatedAt = '' } = comment;

    // A comment that somebody edited after the review, with the same text again.
    state.editComment(comment, body);
    await refused(scene, 'is not later than the comment with the plan');
    comment.updatedAt = updatedAt;

    // The plan in the hidden line differs from the shown content, and the other way around.
    comment.body = bodyFor('f'.repeat(32), pull.head);
    await refused(scene, 'its content is not known');
    comment.body = body.replace(
      hiddenContent(planContent(plan)),
      hiddenContent({ ...planContent(plan), items: [] }),
    );
    await scene.push({ 'pay/manifests/more.yaml': documentsText([workspace('more')]) });
    await refused(scene, 'its content is not known');
    comment.body = body;
    // A commit without a pull request.
    await refused(scene, 'not what was approved, nor what is left of it');
    await scene.push({ 'pay/manifests/more.yaml': undefined });

    // The plan of another commit.
    comment.body = bodyFor(plan.digest, 'e'.repeat(40));
    await refused(scene, 'is not about commit');
    comment.body = body;

    // A comment of another user in place of one that was removed.
    pull.comments.splice(0, 1);
    state.comment(pull, { by: 'mallory', body });
    await refused(scene, 'is from "mallory"');
    pull.comments.splice(0, pull.comments.length, comment);

    await scene.ciApply(0);
  });

  it('if review, people or pull request do not qualify, and is applied when they do', async () => {
    const scene = await openApplyScene();
    const { state } = scene.github;
    const { pull, approve, merge } = await scene.pull([first]);
    approve('alice');
    merge();
    const [review] = pull.reviews;
    if (review === undefined) throw new Error('there is no review');

    // Reviews that do not count.
    review.state = 'DISMISSED';
    await refused(scene, 'the review was dismissed');
    review.state = 'COMMENTED';
    await refused(scene, 'the pull request has no approving review');
    review.state = 'APPROVED';
    state.review(pull, { by: 'alice', state: 'CHANGES_REQUESTED' });
    await refused(scene, 'requests changes');
    pull.reviews.pop();
    pull.reviews.splice(0, 1, { ...review, by: 'github-actions[bot]' });
    await refused(scene, 'is not a person');
    pull.reviews.splice(0, 1, { ...review, by: 'ann' });
    await refused(scene, '"ann" is the author of the pull request');
    pull.reviews.splice(0, 1, { ...review, commit: 'e'.repeat(40) });
    await refused(scene, 'the review is of commit "e');
    pull.reviews.splice(0, 1, review);

    // Approvers who are removed between approval and apply, and one who pushed to the branch.
    state.permissions.set('alice', 'read');
    await refused(scene, '"alice" has no write permission');
    state.permissions.set('alice', 'write');
    const [pushed] = state.pushes.filter(({ after }) => after === pull.head);
    const at = pushed === undefined ? -1 : state.pushes.indexOf(pushed);
    if (pushed !== undefined) state.pushes.splice(at, 1, { ...pushed, by: 'alice' });
    await refused(scene, '"alice" is the author of the pull request, or wrote or pushed');
    if (pushed !== undefined) state.pushes.splice(at, 1, pushed);

    // A pull request into another branch, and one that was not merged.
    Object.assign(pull, { base: 'release' });
    await refused(scene, 'no valid approval was found');
    Object.assign(pull, { base: 'main' });
    const { merged } = pull;
    Object.assign(pull, { merged: undefined });
    await refused(scene, 'no valid approval was found');
    Object.assign(pull, { merged });

    // A job of a pull request, which has checked out content of its author.
    for (const event of ['pull_request', 'pull_request_target', 'merge_group', 'issue_comment'])
      await refused(scene, 'runs on the protected branch', 1, { env: { GITHUB_EVENT_NAME: event } });

    await scene.ciApply(0);
    expect(await scene.bench.idsOf('first')).toHaveLength(1);
  });

  it.each(['a merge commit', 'a squash'])('if %s contains more than was reviewed', async (how) => {
    const scene = await openApplyScene();
    const { pull, approve } = await scene.pull([first]);
    approve('alice');
    const { author } = scene.scene;
    git(author, 'checkout', '--quiet', '-B', 'main', 'origin/main');
    git(
      author,
      'merge',
      '--quiet',
      ...(how === 'a squash' ? ['--squash'] : ['--no-ff', '--no-commit']),
      pull.head,
    );
    writeFileSync(join(author, 'pay/manifests/evil.yaml'), documentsText([workspace('evil')]));
    git(author, 'add', '.');
    git(author, 'commit', '--quiet', '-m', 'merge');
    git(author, 'push', '--quiet', 'origin', 'main');
    scene.github.state.merge(pull, { by: 'mallory', commits: [scene.main()] });
    await refused(scene, 'not what was approved, nor what is left of it');
  });

  it('if its branch was replaced after the approval', async () => {
    const scene = await openApplyScene();
    const { pull, approve, merge } = await scene.pull([first]);
    approve('alice');
    merge();
    scene.github.state.push(pull, { by: 'mallory', head: 'd'.repeat(40), force: true });
    await refused(scene, 'the review is of commit');
  });

  it('if a later commit without an approval changed what it adds', async () => {
    const scene = await openApplyScene();
    const { approve, merge } = await scene.pull([first, workspace('second')]);
    approve('alice');
    merge();
    scene.push({ 'pay/manifests/all.yaml': documentsText([first]) });
    await refused(scene, 'not what was approved, nor what is left of it');
  });
});

describe('An approved plan that was reverted', () => {
  it('is not applied by a new run of the older commit', async () => {
    const scene = await openApplyScene();
    const { approve, merge } = await scene.pull([first]);
    approve('alice');
    merge();
    const old = scene.main();
    const reverted = scene.push({ 'pay/manifests/all.yaml': undefined });
    expect((await scene.ciApply(0)).out).toContain('Nothing to apply: no stack has commits');
    const left = await scene.ciAt(old);
    expect(left, left.out + left.err).toMatchObject({ code: 0 });
    expect(left.out).toContain(`the newer commit ${reverted.slice(0, 12)} of the branch changes it`);
    await scene.ciApply(0, ['.']);
    const ran = await scene.ciAt(old, ['.']);
    expect(ran, ran.out + ran.err).toMatchObject({ code: 4 });
    expect(ran.out).toMatch(/blocks\s+older-commit/);
    expect(scene.bench.wire.writes()).toEqual([]);
  });
});

describe('People who make themselves approvers', () => {
  it('by a commit that only adds a key to the file of signers need an acknowledgement', async () => {
    const scene = await openApplyScene({ spec: signed }, { signers: ['alice'] });
    scene.push({ 'pay/allowed_signers': makeSigner(scene.keys, 'mallory') });
    await refused(scene, 'guards that are not acknowledged: loosened', 5);
    const head = scene.push({ 'pay/manifests/first.yaml': documentsText([first]) });
    const { err } = await scene.ciApply(4);
    const digest = /trueup approve (\w{32})/.exec(err)?.[1] ?? '';
    await scene.sign({ digest, commit: head, by: 'mallory', acknowledged: ['loosened'] });
    await refused(scene, 'is not admitted at the base commit');
  });

  it('by a pull request that only adds a key need another signer first, and then may sign', async () => {
    const scene = await openApplyScene({ spec: signed }, { signers: ['alice'] });
    const known = git(scene.scene.author, 'show', 'HEAD:pay/allowed_signers');
    const files = { allowed_signers: `${known}\n${makeSigner(scene.keys, 'mallory')}` };
    const unchanged = { file: 'base.yaml', author: 'mallory', isPlannedByJob: true } as const;
    const { pull, digest, merge } = await scene.pull([workspace('base')], { ...unchanged, files });
    merge();
    await refused(scene, 'guards that are not acknowledged: loosened', 5);
    const ack = { digest, commit: pull.head, acknowledged: ['loosened'] } as const;
    await scene.sign({ ...ack, by: 'mallory' });
    await refused(scene, 'guards that are not acknowledged: loosened', 5);
    await scene.sign({ ...ack, by: 'alice' });
    expect((await scene.ciApply(0)).out).toContain('No changes');
    const next = await scene.pull([first]);
    await scene.sign({ digest: next.digest, commit: next.pull.head, by: 'mallory' });
    next.merge();
    await scene.ciApply(0);
  });

  it('by a link in place of the file of signers get an error', async () => {
    const scene = await openApplyScene({ spec: signed }, { signers: ['alice'] });
    const { author } = scene.scene;
    rmSync(join(author, 'pay/allowed_signers'));
    symlinkSync('/tmp/signers', join(author, 'pay/allowed_signers'));
    scene.push({ 'pay/manifests/first.yaml': documentsText([first]) });
    await refused(scene, 'is not a regular file', 1);
  });

  it('by the name of another reviewer in the stack file cannot approve', async () => {
    const people = (user: string) => ({ approvals: { accept: ['review'], from: [{ user }] } });
    const scene = await openApplyScene({ spec: people('alice') });
    const files = { 'trueup.yaml': emptyStack(scene.bench, { spec: people('bob') }) };
    const { approve, merge } = await scene.pull([first], { files });
    approve('bob');
    merge();
    await refused(scene, 'no method of "spec.approvals" counts');
  });

  it('by a stack in another folder with the same name keep the old rules', async () => {
    const rules = { approvals: { accept: ['review'], from: [{ user: 'alice' }] } };
    const scene = await openApplyScene({ spec: rules }, { isNew: true });
    const open = { approvals: { accept: ['none'], selfApprove: true, selfAck: true } };
    scene.push({
      'pay/trueup.yaml': undefined,
      'pay/notes.md': 'x',
      'pay2/trueup.yaml': emptyStack(scene.bench, { spec: open }),
      'pay2/manifests/all.yaml': documentsText([first]),
    });
    const { err } = await scene.ciApply(4, ['../pay2']);
    expect(err).toContain('no valid approval was found');
    // Only a review counts, as before.
    expect(err).toContain('let another person approve the pull request');
    expect(err).not.toContain('an environment with required reviewers');
    expect(scene.bench.wire.writes()).toEqual([]);
  });

  it('by a new stack that needs no approval still need one, in one commit or in two', async () => {
    const scene = await openApplyScene();
    const open = { approvals: { accept: ['none'], selfApprove: true, selfAck: true } };
    scene.push({
      'pay2/trueup.yaml': emptyStack(scene.bench, { name: 'evil', spec: open }),
      'pay2/manifests/a.yaml': documentsText([workspace('a')]),
    });
    for (const name of ['one', 'two']) {
      const { err } = await scene.ciApply(4, ['../pay2']);
      expect(err, name).toContain('no valid approval was found');
      scene.push({ 'pay2/manifests/b.yaml': documentsText([first]) });
    }
    expect(scene.bench.wire.writes()).toEqual([]);
  });

  it('by removing the ledger from the repository cannot apply the stack', async () => {
    const scene = await openApplyScene({ spec: { ledger: 'git', approvals: { accept: ['review'] } } });
    git(scene.scene.author, 'push', '--quiet', 'origin', '--delete', 'refs/trueup/payments');
    const spec = { ledger: 'git', approvals: { accept: ['none'] } };
    scene.push({ 'pay/trueup.yaml': emptyStack(scene.bench, { spec }) });
    scene.push({ 'pay/manifests/base.yaml': documentsText([workspace('base', { description: 'evil' })]) });
    await refused(scene, 'the stack was never applied');
  });
});

/** Makes the ledger that the stack names, as an attacker could who knows its format. @returns the folder of the stack */
async function recoverIn(scene: ApplyScene): Promise<string> {
  const cwd = join(scene.scene.remote.clone(), 'pay');
  const made = await trueup(['recover', '--yes'], { cwd, env: secrets });
  expect(made, made.out + made.err).toMatchObject({ code: 0 });
  scene.bench.wire.reset();
  return cwd;
}

describe('Another ledger', () => {
  it('in a file of the repository does not count, because anybody who merges a commit could write it', async () => {
    const scene = await openApplyScene();
    const spec = { ledger: { local: { folder: 'state' } } };
    scene.push({ 'pay/trueup.yaml': emptyStack(scene.bench, { spec }) });
    const made = await recoverIn(scene);
    const file = 'state/payments.ledger.json';
    scene.push({ [`pay/${file}`]: readFileSync(join(made, file), 'utf8') });
    await refused(scene, '"state/payments.ledger.json" is in the repository', 1);
  });

  it.skipIf(bin === undefined)('in git does not replace one in a database', async () => {
    const server = startPostgres(bin ?? '');
    onTestFinished(() => server.stop());
    const env = { TRUEUP_LEDGER_URL: server.newDatabase() };
    const scene = await openApplyScene({ spec: { ledger: 'postgres' } }, { env });
    scene.push({ 'pay/trueup.yaml': emptyStack(scene.bench, { spec: { ledger: 'git' } }) });
    await recoverIn(scene);
    await refused(scene, 'has its ledger in PostgreSQL', 9);
  });
});

describe('Guards', () => {
  it('of a pull request cannot be acknowledged by its author in another one that is applied with it', async () => {
    const scene = await openApplyScene({ spec: { guards: { maxDeletes: 0 } } });
    const other = await scene.pull([first], { file: 'other.yaml', author: 'ann' });
    const evil = await scene.pull([workspace('evil')], { file: 'base.yaml', author: 'carol' });
    for (const one of [other, evil]) {
      one.approve('alice');
      one.merge();
    }
    await refused(scene, 'not acknowledged: deletes', 5);
    scene.github.state.label(other.pull, 'trueup-ack/deletes', 'carol');
    await refused(
      scene,
      /"carol" is the author of pull request 12 \(applied together with this one\), or wrote or pushed/,
      5,
    );
    scene.github.state.unlabel(other.pull, 'trueup-ack/deletes', 'carol');
    scene.github.state.label(other.pull, 'trueup-ack/deletes', 'bob');
    await scene.ciApply(0);
  });
});
