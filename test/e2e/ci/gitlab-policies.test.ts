/** Policies in merge requests of GitLab, from the plan job until they are applied: authors do not choose the rules for their changes. */
import { describe, expect, it } from 'vitest';
import { emptyStack, type GitlabScene, openGitlabScene } from '../../support/ci/apply-scene.ts';
import { workspace } from '../../support/cli/documents.ts';
import { policiesText, policy, withPolicies } from '../../support/cli/policies-scene.ts';

const noAutoApply = (severity: string, more: object = {}) =>
  policiesText(
    policy('no-auto-apply', {
      ...{ severity, match: { kinds: ['Workspace'] }, rule: '!resource.spec.autoApply' },
      ...more,
    }),
  );
const app = workspace('app', { autoApply: true });
const label = 'trueup-ack/policy/no-auto-apply';

/** A scene whose protected branch has the policy, and was applied with it. */
async function begin(severity: string): Promise<GitlabScene> {
  const scene = await openGitlabScene({ spec: { ledger: 'git' } });
  scene.push({
    'pay/trueup.yaml': emptyStack(scene.bench, { spec: { ...withPolicies, ledger: 'git' } }),
    'pay/policies/rules.yaml': noAutoApply(severity),
  });
  await scene.ciApply(0);
  scene.bench.wire.reset();
  return scene;
}

const guardsOf = ({ guards }: { readonly guards: readonly { id: string; effect: string }[] }) =>
  guards.map(({ id, effect }) => `${effect} ${id}`);

describe('A merge request that violates a policy', { timeout: 180_000 }, () => {
  it('that needs a confirmation is applied after another person set the label that the plan names', async () => {
    const scene = await begin('confirm');
    const opened = await scene.pull([app], { file: 'app.yaml', isPlannedByJob: true });
    const { pull, plan, approve, merge } = opened;
    expect(guardsOf(plan)).toEqual(['blocks policy/no-auto-apply']);
    expect(pull.notes.map(({ body }) => body.includes(label))).toEqual([true]);
    approve('bob');
    merge();
    const { err } = await scene.expectRefused('guards that are not acknowledged: policy/no-auto-apply', 5);
    expect(err).toContain(`set the label "${label}"`);
    scene.gitlab.state.label(pull, label, 'ann');
    await scene.expectRefused('"ann" is the author of the pull request', 5);
    scene.gitlab.state.unlabel(pull, label, 'bob');
    scene.gitlab.state.label(pull, label, 'bob');
    await scene.ciApply(0);
    expect(scene.applyComment(pull)).toContain('Applied');
    expect(await scene.bench.idsOf('app')).toHaveLength(1);
  });

  it('that denies it is not applied, even with approvals and labels', async () => {
    const scene = await begin('deny');
    const opened = await scene.pull([app], { file: 'app.yaml', isPlannedByJob: true });
    const { pull, plan, approve, merge } = opened;
    expect(guardsOf(plan)).toEqual(['denies policy/no-auto-apply']);
    expect(pull.notes[0]?.body).toContain('cannot be acknowledged: change what violates it');
    approve('bob');
    scene.gitlab.state.label(pull, label, 'bob');
    merge();
    await scene.expectRefused('a policy denies the plan', 5);
    expect(scene.applyComment(pull)).toContain('Not applied');
    expect(await scene.bench.idsOf('app')).toEqual([]);
  });

  it.each([
    ['makes a warning of it', noAutoApply('warn')],
    ['changes its rule', noAutoApply('deny', { rule: 'true' })],
  ])('is planned and applied with the old policy, even if the merge request %s', async (_, loosened) => {
    const scene = await begin('deny');
    const files = { 'policies/rules.yaml': loosened };
    const opened = await scene.pull([app], { file: 'app.yaml', isPlannedByJob: true, files });
    const { pull, plan, approve, merge } = opened;
    expect(guardsOf(plan)).toContain('denies policy/no-auto-apply');
    expect(guardsOf(plan)).toContain('blocks loosened');
    approve('bob');
    for (const one of [label, 'trueup-ack/loosened']) scene.gitlab.state.label(pull, one, 'bob');
    merge();
    await scene.expectRefused('a policy denies the plan', 5);
    expect(await scene.bench.idsOf('app')).toEqual([]);
  });
});
