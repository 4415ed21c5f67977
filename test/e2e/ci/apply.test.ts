/** `trueup ci apply` applies from the protected branch only what was approved in pull requests. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openApplyScene } from '../../support/ci/apply-scene.ts';
import { trueup } from '../../support/captured-host.ts';
import { role, workspace } from '../../support/cli/documents.ts';
import { setByHand } from '../../support/cli/two-clones.ts';
import { findPostgres, startPostgres } from '../../support/ledger/postgres-server.ts';
import { documentsText } from '../../support/rig/stack-folder.ts';

const bin = findPostgres();

const first = workspace('first', { description: 'one' });
const second = workspace('second', { description: 'two' });

describe('A pull request with a review of its head', () => {
  it.each(['merge', 'squash', 'rebase'] as const)('is applied after a %s', async (how) => {
    const scene = await openApplyScene();
    const { pull, digest, approve, merge } = await scene.pull([first]);
    approve('alice');
    merge(how);
    if (how !== 'merge') scene.github.state.protection.set('main', how === 'squash' ? 'flag' : 'ruleset');
    const { out, err } = await scene.ciApply(0);
    expect(err.includes('warning: no rules protect the branch "main"')).toBe(how === 'merge');
    expect(out).toContain('approved by "alice" (review, pull request 11)');
    expect(out).toContain('Planned again: nothing is left to do');
    expect(await scene.bench.idsOf('first')).toHaveLength(1);
    expect(scene.applyComment(pull)).toContain('Applied');
    const { entries } = JSON.parse((await scene.run(['history', '--limit', '1', '--format', 'json'], 0)).out);
    expect(entries).toMatchObject([
      { approvals: [{ method: 'review', by: 'alice', digest, pullRequest: 11, commit: pull.head }] },
    ]);
    const shown = await scene.run(['history', 'show', 'latest'], 0);
    expect(shown.out).toMatch(/approved +alice by review, pull request 11/);
  });

  it('is applied with the ledger in git', async () => {
    const scene = await openApplyScene({ spec: { ledger: 'git' } });
    const { approve, merge } = await scene.pull([first]);
    approve('alice');
    merge();
    await scene.ciApply(0);
    const { out } = await scene.ciApply(0, ['.']);
    expect(out).toContain('No changes');
  });

  it.skipIf(bin === undefined)('is applied with the ledger in PostgreSQL', async () => {
    const server = startPostgres(bin ?? '');
    onTestFinished(() => server.stop());
    const env = { TRUEUP_LEDGER_URL: server.newDatabase() };
    const scene = await openApplyScene({ spec: { ledger: 'postgres' } }, { env });
    const { digest, approve, merge } = await scene.pull([first]);
    merge();
    await scene.ciApply(0, ['--record']);
    await scene.ciApply(4);
    approve('alice');
    await scene.ciApply(0);
    expect((await scene.ciApply(0, ['.'])).out).toContain('No changes');
    const { entries } = JSON.parse((await scene.run(['history', '--limit', '1', '--format', 'json'], 0)).out);
    expect(entries).toMatchObject([{ approvals: [{ by: 'alice', digest }] }]);
  });

  it('is not applied without the review, and a comment says what to do', async () => {
    const scene = await openApplyScene();
    const { pull, merge } = await scene.pull([first]);
    merge();
    const { err, out } = await scene.ciApply(4);
    expect(err).toContain('no valid approval was found');
    expect(err).toContain('not counted: review in pull request 11: the pull request has no approving review');
    expect(err).toContain('exit code 4, stale: Approve the plan');
    expect(out).toContain('Workspace/acme/first');
    expect(scene.bench.wire.writes()).toEqual([]);
    expect(scene.applyComment(pull)).toContain('Not applied');
    expect(scene.applyComment(pull)).toContain('Workspace/acme/first');
  });

  it('is not applied if drift changed its plan', async () => {
    const scene = await openApplyScene();
    const begin = await scene.pull([first]);
    begin.approve('alice');
    begin.merge();
    await scene.ciApply(0);
    const next = await scene.pull([workspace('first', { description: 'new' })]);
    next.approve('alice');
    next.merge();
    await setByHand(scene.bench, 'first', { description: 'by hand' });
    scene.bench.wire.reset();
    const { err, out } = await scene.ciApply(4);
    expect(err).toContain('not what was approved, nor what is left of it');
    expect(out).toContain('In both, and different');
    expect(scene.bench.wire.writes()).toEqual([]);
    await setByHand(scene.bench, 'first', { description: 'one' });
    await scene.ciApply(0);
  });
});

describe('Two pull requests', () => {
  it('are applied together if both were merged before the first was applied', async () => {
    const scene = await openApplyScene();
    const [one, two] = [
      await scene.pull([first], { file: 'one.yaml' }),
      await scene.pull([second], { file: 'two.yaml' }),
    ];
    one.approve('alice');
    two.approve('bob');
    one.merge();
    two.merge('squash');
    await scene.ciApply(0);
    const { entries } = JSON.parse((await scene.run(['history', '--limit', '1', '--format', 'json'], 0)).out);
    expect(entries[0].approvals.map(({ by }: { by: string }) => by)).toEqual(['alice', 'bob']);
    expect(Object.keys(entries[0].endedApprovals)).toEqual(expect.arrayContaining([one.digest, two.digest]));
    expect(scene.applyComment(two.pull)).toContain('Applied');
  });

  it('are not applied if only one of them was approved', async () => {
    const scene = await openApplyScene();
    const [one, two] = [
      await scene.pull([first], { file: 'one.yaml' }),
      await scene.pull([second], { file: 'two.yaml' }),
    ];
    one.approve('alice');
    one.merge();
    two.merge();
    const { out } = await scene.ciApply(4);
    expect(out).toContain('Only in now');
    expect(scene.bench.wire.writes()).toEqual([]);
    two.approve('bob');
    await scene.ciApply(0);
  });
});

describe('A guard that two pull requests trip', () => {
  const wide = (name: string) =>
    role(name, {
      ...{ boundServiceAccountNames: ['*'], boundServiceAccountNamespaces: [name] },
      tokenPolicies: [`${name}-policy`],
    });

  it('must be acknowledged on both, because each plan shows only its own resource', async () => {
    const scene = await openApplyScene({ clusterAuth: {} });
    const one = await scene.pull([wide('sandbox')], { file: 'one.yaml', isPlannedByJob: true });
    const two = await scene.pull([wide('kube-system')], { file: 'two.yaml', isPlannedByJob: true });
    one.approve('alice');
    two.approve('bob');
    scene.github.state.label(one.pull, 'trueup-ack/wildcard', 'alice');
    one.merge();
    two.merge();
    const { out, err } = await scene.ciApply(5);
    expect(out + err).toContain(
      'no plan for which wildcard was acknowledged showed what it says now of "ClusterAuthRole/',
    );
    expect(out + err).toContain('/kube-system": acknowledge the plan of this commit');
    scene.github.state.label(two.pull, 'trueup-ack/wildcard', 'bob');
    await scene.ciApply(0);
  });
});

describe('An approval', () => {
  it('does not count for the same plan again after it was used', async () => {
    const scene = await openApplyScene();
    const { approve, merge } = await scene.pull([first]);
    approve('alice');
    merge();
    await scene.ciApply(0);
    await scene.bench.byHand.delete(`/workspaces/${await scene.bench.idOf('first')}`);
    const { err } = await scene.ciApply(4, ['.']);
    expect(err).toContain('no valid approval was found');
    expect(await scene.bench.idsOf('first')).toEqual([]);
  });

  it('still counts when the job runs again after an interrupted apply', async () => {
    const scene = await openApplyScene();
    const { approve, merge } = await scene.pull([first, second]);
    approve('alice');
    merge();
    const refused = { method: 'POST', path: /workspaces$/, fault: { answer: 403 } } as const;
    scene.bench.wire.add({ method: 'POST', path: /workspaces$/, fault: { first: async () => {} } }, refused);
    const { err } = await scene.ciApply(6);
    expect(err).toContain('goes on with the rest of what was approved');
    scene.bench.wire.reset();
    const { out } = await scene.ciApply(0, [], { env: { GITHUB_RUN_ATTEMPT: '2' } });
    expect(out).toContain('approved by "alice"');
    expect(scene.bench.written()).toEqual(['POST /api/v2/organizations/acme/workspaces']);
  });

  it('still counts after a failed write of the ledger, and a comment reports the result', async () => {
    const scene = await openApplyScene({ spec: { ledger: 'git' } });
    const { pull, approve, merge } = await scene.pull([first]);
    approve('alice');
    merge();
    const hook = join(scene.scene.remote.directory, 'hooks', 'pre-receive');
    const refuse = async () => writeFileSync(hook, '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    scene.bench.wire.add({ method: 'POST', path: /workspaces$/, fault: { first: refuse } });
    await scene.ciApply(1);
    expect(scene.applyComment(pull)).toMatch(
      /### Applied, but not verified: stack `payments`[\s\S]*: 1 applied\./,
    );
    rmSync(hook);
    scene.bench.wire.reset();
    await scene.ciApply(0, [], { env: { GITHUB_RUN_ATTEMPT: '2' } });
    expect(scene.applyComment(pull)).toMatch(
      /### Nothing left to apply: stack `payments`[\s\S]*An earlier apply may have made the changes/,
    );
    expect(scene.bench.wire.writes()).toEqual([]);
  });

  it('is for a commit, and files that differ from the commit are reported', async () => {
    const scene = await openApplyScene();
    const { cwd, env } = scene.job();
    writeFileSync(
      join(cwd, 'manifests', 'base.yaml'),
      documentsText([workspace('base', { description: 'x' })]),
    );
    writeFileSync(join(cwd, 'notes.md'), 'x');
    const { err } = await trueup(['ci', 'apply', '.'], { cwd, env });
    expect(err).toMatch(/changes that are not in commit [0-9a-f]{40}: "manifests\/base\.yaml"$/m);
  });

  it('is not needed for an empty plan', async () => {
    const scene = await openApplyScene();
    const { merge } = await scene.pull([workspace('base')], {
      file: 'base.yaml',
      files: { 'notes.md': 'x' },
    });
    merge();
    const { out } = await scene.ciApply(0, ['.']);
    expect(out).toContain('No changes');
  });

  it('is not needed if the stack required none at the last apply already', async () => {
    const scene = await openApplyScene({ spec: { approvals: { accept: ['none'] } } });
    const { merge } = await scene.pull([first]);
    merge();
    const { out } = await scene.ciApply(0);
    expect(out).toContain('no approval is needed');
  });
});
