/** Policies in pull requests and on the protected branch: the author of a change does not choose the rules for it. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { PlanJson } from '../../../src/report/json/plan-schema.ts';
import { emptyStack, openApplyScene } from '../../support/ci/apply-scene.ts';
import { type CiScene, openCiScene } from '../../support/cli/ci-scene.ts';
import { workspace } from '../../support/cli/documents.ts';
import { policiesText, policy, withPolicies } from '../../support/cli/policies-scene.ts';
import { documentsText } from '../../support/rig/stack-folder.ts';

const noAutoApply = (more: object = {}) =>
  policy('no-auto-apply', { match: { kinds: ['Workspace'] }, rule: '!resource.spec.autoApply', ...more });
const auto = { 'stacks/pay/manifests/app.yaml': documentsText([workspace('pay-app', { autoApply: true })]) };
const rules = 'stacks/pay/policies/rules.yaml';

/** The base branch has the policy in files of the stack. */
async function openWithFiles(): Promise<CiScene> {
  const scene = await openCiScene();
  scene.push({
    'stacks/pay/trueup.yaml': scene.stack('pay', { spec: withPolicies }),
    [rules]: policiesText(noAutoApply()),
  });
  return scene;
}

/** The plan file that the job of the pull request writes. */
async function planOf(scene: CiScene): Promise<PlanJson> {
  const { clone, out, err } = await scene.job({ args: ['--out-dir', 'plans'] });
  const file = join(clone, 'plans', 'pay.plan.json');
  const text = await readFile(file, 'utf8').catch(() => {
    throw new Error(out + err);
  });
  return JSON.parse(text) as PlanJson;
}

async function guardsOf(scene: CiScene) {
  return (await planOf(scene)).guards.map(({ id, effect, message }) => ({ id, effect, message }));
}

describe('A pull request', () => {
  it.each([
    [
      'removes the policy',
      { [rules]: policiesText(policy('other', { rule: 'true' })) },
      'the policy "no-auto-apply" is loosened from deny to nothing',
    ],
    [
      'makes it a warning',
      { [rules]: policiesText(noAutoApply({ severity: 'warn' })) },
      'the severity of the policy "no-auto-apply" is loosened from deny to warn',
    ],
    [
      'changes its rule',
      { [rules]: policiesText(noAutoApply({ rule: 'true' })) },
      'the rule of the policy "no-auto-apply" is loosened',
    ],
    [
      'changes its match',
      { [rules]: policiesText(noAutoApply({ match: { kinds: ['Workspace'], actions: ['delete'] } })) },
      'the match of the policy "no-auto-apply" is loosened',
    ],
  ])(
    'that %s is planned with the policy of the base branch as well, and the plan says what it loosens',
    async (_, files, loosened) => {
      const scene = await openWithFiles();
      scene.propose({ ...auto, ...files });
      const guards = await guardsOf(scene);
      expect(guards).toContainEqual({
        id: 'policy/no-auto-apply',
        effect: 'denies',
        message: expect.any(String),
      });
      expect(guards).toContainEqual({
        id: 'loosened',
        effect: 'blocks',
        message: expect.stringContaining(loosened),
      });
    },
  );

  it('that removes the policies from the stack is planned with them, and the plan says so', async () => {
    const scene = await openWithFiles();
    scene.propose({ ...auto, 'stacks/pay/trueup.yaml': scene.stack('pay') });
    const ids = (await guardsOf(scene)).map(({ id }) => id);
    expect(ids).toEqual(['policy/no-auto-apply', 'loosened']);
  });

  it('that exempts its own resource is planned without the exemption, and the plan says so', async () => {
    const scene = await openWithFiles();
    const until = new Date(Date.now() + 20 * 24 * 60 * 60 * 1000).toISOString().slice(0, 10);
    const exemptions = [{ resource: 'Workspace/acme/pay-app', reason: 'r', owner: 'me', until }];
    scene.propose({ ...auto, [rules]: policiesText(noAutoApply({ exemptions })) });
    const ids = (await guardsOf(scene)).map(({ id }) => id);
    expect(ids).toEqual(['policy/no-auto-apply', 'loosened']);
  });

  it('that makes a policy stricter, or adds one, does not count as loosened', async () => {
    const scene = await openWithFiles();
    const added = policy('named', { rule: 'change.name.startsWith("pay-")' });
    scene.propose({ ...auto, [rules]: policiesText(noAutoApply({ description: 'people apply' }), added) });
    expect((await guardsOf(scene)).map(({ id }) => id)).toEqual(['policy/no-auto-apply']);
  });
});

describe('Policies of a branch of a remote', () => {
  const from = (ref = 'main', path = 'policies') => ({
    policies: { from: { git: { remote: 'origin', ref, path } } },
  });
  const openWithRef = async () => {
    const scene = await openCiScene();
    const commit = scene.push({
      'stacks/pay/trueup.yaml': scene.stack('pay', { spec: from() }),
      'policies/rules.yaml': policiesText(noAutoApply()),
    });
    return { scene, commit };
  };

  it('hold for a pull request that changes the files, and the plan shows their commit', async () => {
    const { scene, commit } = await openWithRef();
    scene.propose({ ...auto, 'policies/rules.yaml': policiesText(policy('other', { rule: 'true' })) });
    const plan = await planOf(scene);
    expect(plan.guards.map(({ id }) => id)).toEqual(['policy/no-auto-apply', 'loosened']);
    expect(plan.policies?.sources).toEqual([
      { policies: 1, remote: 'origin', ref: 'main', path: 'policies', commit },
    ]);
    expect((await scene.run(['plan', 'stacks/pay'])).out).toContain(commit);
  });

  it('warn about an unused exemption only if a resource with a similar address violates the policy', async () => {
    const scene = await openCiScene();
    const until = new Date(Date.now() + 20 * 24 * 60 * 60 * 1000).toISOString().slice(0, 10);
    const exemptions = ['Workspace/acme/other-stack', 'Workspace/acme/pay-ap', 'Workspace/acme/net-ap'].map(
      (resource) => ({ resource, reason: 'r', owner: 'o', until }),
    );
    const files = { 'policies/rules.yaml': policiesText(noAutoApply({ severity: 'warn', exemptions })) };
    scene.push({ 'stacks/pay/trueup.yaml': scene.stack('pay', { spec: from() }), ...auto, ...files });
    const { out } = await scene.run(['plan', 'stacks/pay', '--format', 'json']);
    const { problems } = JSON.parse(out) as PlanJson;
    expect(problems.filter((one) => one.code === 'exemption-unused').map(({ message }) => message)).toEqual([
      'the exemption of "Workspace/acme/pay-ap" from the policy "no-auto-apply" is about no resource of this stack; did you mean "Workspace/acme/pay-app"?',
    ]);
  });

  it('hold also if the pull request names another source', async () => {
    const { scene } = await openWithRef();
    scene.propose({
      ...auto,
      'stacks/pay/trueup.yaml': scene.stack('pay', { spec: from('change') }),
      'policies/rules.yaml': policiesText(policy('other', { rule: 'true' })),
    });
    const guards = await guardsOf(scene);
    expect(guards.map(({ id }) => id)).toEqual(['policy/no-auto-apply', 'loosened', 'loosened']);
    expect(guards[1]?.message).toContain(
      'spec.policies.from is loosened from ["origin/main:policies"] to ["origin/change:policies"], with "origin/change:policies" added and "origin/main:policies" removed',
    );
  });

  it('are recorded with their commit in the history', async () => {
    const { scene, commit } = await openWithRef();
    scene.git('checkout', '--quiet', 'main');
    expect(await scene.run(['apply', 'stacks/pay', '--yes'])).toMatchObject({ code: 0 });
    const { out } = await scene.run(['history', 'stacks/pay', '--format', 'json']);
    expect(JSON.parse(out).entries[0].policies.sources).toMatchObject([{ commit, remote: 'origin' }]);
  });

  it.each([
    ['the branch', from('no-such-branch')],
    ['the folder', from('main', 'no-such-folder')],
  ])('are required: without %s nothing is planned', async (_, spec) => {
    const { scene } = await openWithRef();
    scene.push({ 'stacks/pay/trueup.yaml': scene.stack('pay', { spec }) });
    const { code, out, err } = await scene.run(['plan', 'stacks/pay']);
    expect(code).toBe(1);
    expect(out + err).toContain('policies');
    expect(await scene.run(['apply', 'stacks/pay', '--yes'])).toMatchObject({ code: 1 });
    expect(scene.bench.wire.writes()).toEqual([]);
  });
});

describe('trueup ci apply', () => {
  const spec = { ...withPolicies, ledger: 'git' };

  it('applies nothing that a policy denies, despite approvals and acknowledgements', async () => {
    const scene = await openApplyScene({ spec: { ledger: 'git' } });
    const denied = policiesText(noAutoApply());
    const { pull, approve, merge } = await scene.pull([workspace('app', { autoApply: true })], {
      ...{ file: 'app.yaml', isPlannedByJob: true },
      files: { 'trueup.yaml': emptyStack(scene.bench, { spec }), 'policies/rules.yaml': denied },
    });
    approve('alice');
    scene.github.state.label(pull, 'trueup-ack/policy/no-auto-apply', 'alice');
    merge();
    const { err } = await scene.ciApply(5);
    expect(err).toContain('a policy denies the plan');
    expect(scene.bench.wire.writes()).toEqual([]);
  });

  it('applies a change with a "confirm" policy after a label acknowledges it', async () => {
    const scene = await openApplyScene({ spec: { ledger: 'git' } });
    const confirmed = policiesText(noAutoApply({ severity: 'confirm' }));
    const { pull, approve, merge } = await scene.pull([workspace('app', { autoApply: true })], {
      ...{ file: 'app.yaml', isPlannedByJob: true },
      files: { 'trueup.yaml': emptyStack(scene.bench, { spec }), 'policies/rules.yaml': confirmed },
    });
    approve('alice');
    merge();
    const { err } = await scene.ciApply(5);
    expect(err).toContain('policy/no-auto-apply');
    expect(scene.bench.wire.writes()).toEqual([]);
    scene.github.state.label(pull, 'trueup-ack/policy/no-auto-apply', 'alice');
    await scene.ciApply(0);
    expect(await scene.bench.idsOf('app')).toHaveLength(1);
  });
});
