/** `trueup ci apply` with signatures: signed plans are applied, with and without a code host. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { trueup } from '../../support/captured-host.ts';
import { emptyStack, noCodeHost, openApplyScene } from '../../support/ci/apply-scene.ts';
import { makeSigner } from '../../support/ci/signers.ts';
import { secrets } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import { git } from '../../support/ledger/git-remote.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

const first = workspace('first', { description: 'one' });
const second = workspace('second', { description: 'two' });
const spec = { approvals: { accept: ['signature'], from: [{ signers: 'allowed_signers' }] } };

/** A signer whose clock is four minutes ahead. */
const ahead = () => ({ at: new Date(Date.now() + 240_000).toISOString() });

describe('A signature', () => {
  it('of the head of a pull request is enough, even after a squash', async () => {
    const scene = await openApplyScene({ spec }, { signers: ['alice'] });
    const { pull, digest, merge } = await scene.pull([first]);
    await scene.sign({ digest, commit: pull.head, by: 'alice' });
    merge('squash');
    // The author of the pull request can have signed under another name than that of the account.
    const { keys } = scene.github.state;
    keys.set('ann', [scene.publicKey('alice')]);
    expect((await scene.ciApply(4)).err).toContain('it is by an author of the commits');
    keys.set('ann', []);
    const { out } = await scene.ciApply(0);
    expect(out).toContain('approved by "alice@example.com" (signature, pull request 11)');
  });

  it('of merged commits is enough without a code host, also for two commits together', async () => {
    const scene = await openApplyScene({ spec }, { signers: ['alice'] });
    const [one, two] = [
      await scene.pull([first], { file: 'one.yaml' }),
      await scene.pull([second], { file: 'two.yaml' }),
    ];
    one.merge();
    two.merge();
    await scene.sign({ digest: one.digest, plan: one.plan, commit: one.pull.head, by: 'alice' });
    expect((await scene.ciApply(4, [], noCodeHost)).out).toContain('Only in now');
    await scene.sign({ digest: two.digest, plan: two.plan, commit: two.pull.head, by: 'alice' });
    await scene.ciApply(0, [], noCodeHost);
  });

  it('of a plan of the protected branch approves what had no approval, and only once', async () => {
    const scene = await openApplyScene({ spec }, { signers: ['alice'] });
    const { merge, digest } = await scene.pull([first]);
    merge();
    const { err } = await scene.ciApply(4, [], noCodeHost);
    expect(err).toContain(`"trueup approve ${digest} --commit ${scene.main()}"`);
    await scene.sign({ digest, commit: scene.main(), by: 'alice', forged: ahead() });
    await scene.ciApply(0, [], noCodeHost);
    await scene.bench.byHand.delete(`/workspaces/${await scene.bench.idOf('first')}`);
    expect((await scene.ciApply(4, ['.'], noCodeHost)).err).toContain('it was applied already');
  });

  it('does not count from a signer that the same pull request adds', async () => {
    const scene = await openApplyScene({ spec }, { signers: ['alice'] });
    const files = { allowed_signers: makeSigner(scene.keys, 'mallory') };
    const { pull, digest, merge } = await scene.pull([first], { files });
    await scene.sign({ digest, commit: pull.head, by: 'mallory' });
    await scene.sign({ digest, commit: pull.head, by: 'alice' });
    merge();
    const { err } = await scene.ciApply(4);
    expect(err).toMatch(/not admitted at the base commit/);
    expect(err).toMatch(/not admitted at the head/);
    expect(scene.bench.wire.writes()).toEqual([]);
  });

  it('does not count if the pull request loosens what the stack accepts', async () => {
    const strict = { approvals: { ...spec.approvals, count: 2 } };
    const scene = await openApplyScene({ spec: strict }, { signers: ['alice', 'bob'] });
    const files = { 'trueup.yaml': emptyStack(scene.bench, { spec: { approvals: { accept: ['none'] } } }) };
    const { pull, digest, merge } = await scene.pull([first], { files });
    await scene.sign({ digest, commit: pull.head, by: 'alice', acknowledged: ['loosened'] });
    merge();
    const { err, out } = await scene.ciApply(4);
    expect(out).toContain('loosened');
    expect(err).toContain('no valid approval was found');
    expect(scene.bench.wire.writes()).toEqual([]);
  });

  it('can acknowledge the guards of a plan', async () => {
    const strict = { ...spec, guards: { maxDeletes: 0 } };
    const scene = await openApplyScene({ spec: strict }, { signers: ['alice', 'bob'] });
    const { pull, digest, merge } = await scene.pull([workspace('other')], { file: 'base.yaml' });
    await scene.sign({ digest, commit: pull.head, by: 'alice' });
    scene.github.state.label(pull, 'trueup-ack/deletes', 'bob');
    merge();
    const { err } = await scene.ciApply(5);
    expect(err).toContain(
      'the label "trueup-ack/deletes" of pull request 11: the stack accepts only signatures',
    );
    expect(err).toMatch(/signature by "alice@example.com".*: it approves the plan, and does not acknowledge/);
    expect(err).not.toContain('set the label');
    expect(err).toMatch(/has guards that are not acknowledged: .*deletes/);
    expect(err).toMatch(new RegExp(`trueup approve ${digest} --commit \\w{40} --ack .*deletes`));
    expect(scene.bench.wire.writes()).toEqual([]);
    const acknowledged = ['deletes', 'zero', 'rename'] as const;
    await scene.sign({ digest, commit: pull.head, by: 'bob', acknowledged });
    const { out } = await scene.ciApply(0);
    expect(out).toContain('deletes acknowledged by "bob@example.com" (signature)');
    expect(out).not.toContain('until');
    expect(scene.applyComment(pull)).toContain('deletes acknowledged by `bob@example.com` (signature)');
  });

  it('of only a digest is compared with the plan in the comment, and the apply comment shows differences', async () => {
    const changed = workspace('base', { description: 'declared' });
    const scene = await openApplyScene({ spec }, { signers: ['alice'] });
    const { pull, digest, merge } = await scene.pull([changed], { file: 'base.yaml' });
    await scene.sign({ digest, commit: pull.head, by: 'alice' });
    merge();
    const id = await scene.bench.idOf('base');
    const workspaces = { data: { type: 'workspaces', attributes: { description: 'by hand' } } };
    await scene.bench.byHand.patch(`/workspaces/${id}`, workspaces);
    const { err, out } = await scene.ciApply(4);
    expect(err).toContain('nor what is left of it: "Workspace/acme/base" changed');
    expect(out).toContain('In both, and different');
    const told = scene.applyComment(pull) ?? '';
    expect(told).toContain('**Difference from the approved plan**');
    expect(told).toContain('by hand');
  });

  it('is read from the remote that the job names, and names that repository', async () => {
    const scene = await openApplyScene({ spec: { ...spec, ledger: 'git' } }, { signers: ['alice'] });
    const other = join(temporaryFolder(), 'other.git');
    git(scene.keys, 'init', '--quiet', '--bare', other);
    const run = async (commit: string, code: number, ...args: readonly string[]) => {
      const cwd = scene.scene.at(commit);
      git(cwd, 'remote', 'add', 'other', other);
      const ran = await trueup(args, { cwd, env: { ...process.env, ...secrets, GITHUB_ACTIONS: '' } });
      expect(ran, ran.out + ran.err).toMatchObject({ code });
      return ran;
    };
    const { pull, digest, merge } = await scene.pull([first]);
    const by = ['--key', join(scene.keys, 'alice'), '--remote', 'other', '--yes'];
    await run(pull.head, 0, 'approve', digest, 'pay', ...by);
    merge();
    const main = scene.main();
    expect((await run(main, 4, 'ci', 'apply')).err).toContain('no valid approval was found');
    expect((await run(main, 1, 'ci', 'apply', '--remote', 'none')).err).toContain('has no remote "none"');
    const { out } = await run(main, 0, 'ci', 'apply', '--remote', 'other');
    expect(out).toContain('approved by "alice@example.com" (signature)');
    const listed = await run(main, 0, 'approve', '--list', 'pay', '--remote', 'other');
    expect(listed.out).toContain('does not count: it was used: an apply of its plan ended at');
  });

  it('can become required by two pull requests, of which a review approves the first one', async () => {
    const scene = await openApplyScene();
    const stackOf = (...accept: string[]) =>
      emptyStack(scene.bench, { spec: { approvals: { ...spec.approvals, accept } } });
    const begin = await scene.pull([workspace('base')], {
      file: 'base.yaml',
      files: {
        'trueup.yaml': stackOf('signature', 'review'),
        allowed_signers: makeSigner(scene.keys, 'bob'),
      },
      isPlannedByJob: true,
    });
    begin.approve('alice');
    scene.github.state.label(begin.pull, 'trueup-ack/loosened', 'alice');
    begin.merge();
    expect((await scene.ciApply(0)).out).toContain(
      'loosened acknowledged by "alice" (label, pull request 11)',
    );
    const end = await scene.pull([workspace('base')], {
      file: 'base.yaml',
      files: { 'trueup.yaml': stackOf('signature') },
      isPlannedByJob: true,
    });
    end.merge();
    await scene.ciApply(0);
    const { pull, digest, merge, approve } = await scene.pull([first]);
    approve('alice');
    merge();
    await scene.ciApply(4);
    await scene.sign({ digest, commit: pull.head, by: 'bob' });
    await scene.ciApply(0);
  });
});
