/** Policies that a pull request loosens: the plan says so and blocks, and the former policies hold for the plan as well. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { PlanJson } from '../../../src/report/json/plan-schema.ts';
import { emptyStack, openApplyScene } from '../../support/ci/apply-scene.ts';
import { type CiScene, openCiScene } from '../../support/cli/ci-scene.ts';
import { workspace } from '../../support/cli/documents.ts';
import { policiesText, policy, withPolicies } from '../../support/cli/policies-scene.ts';
import { git } from '../../support/ledger/git-remote.ts';
import { documentsText } from '../../support/rig/stack-folder.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

const noAutoApply = (more: object = {}) =>
  policy('no-auto-apply', { match: { kinds: ['Workspace'] }, rule: '!resource.spec.autoApply', ...more });
const auto = { 'stacks/pay/manifests/app.yaml': documentsText([workspace('pay-app', { autoApply: true })]) };
const rules = 'stacks/pay/policies/rules.yaml';
const other = policiesText(policy('other', { rule: 'true' }));
const fromBranch = (ref = 'main', path = 'policies') => ({
  policies: { from: { git: { remote: 'origin', ref, path } } },
});
const long = (tail: string) =>
  `${Array.from({ length: 12 }, (_, index) => `resource.name != "reserved-${index}"`).join(' && ')} && ${tail}`;

async function openWith(files: Readonly<Record<string, string>>, spec: object = withPolicies) {
  const scene = await openCiScene();
  scene.push({ 'stacks/pay/trueup.yaml': scene.stack('pay', { spec }), ...files });
  return scene;
}

async function planOf(scene: CiScene, before: (clone: string) => void = () => {}) {
  const { clone, out, err } = await scene.job({ args: ['--out-dir', 'plans'], before });
  const file = join(clone, 'plans', 'pay.plan.json');
  const text = await readFile(file, 'utf8').catch(() => {
    throw new Error(out + err);
  });
  const plan = JSON.parse(text) as PlanJson;
  return {
    file,
    clone,
    plan,
    guardLines: plan.guards.map(({ id, effect, message }) => `${id} ${effect}: ${message}`),
  };
}

describe('A pull request', () => {
  it('that changes only policies of its own repository is planned, and the plan says what it loosens', async () => {
    const scene = await openWith({ 'policies/rules.yaml': policiesText(noAutoApply()) }, fromBranch());
    scene.propose({ 'policies/rules.yaml': policiesText(noAutoApply({ severity: 'warn' })) });
    const { guardLines } = await planOf(scene);
    expect(guardLines).toEqual([expect.stringContaining('is loosened from deny to warn')]);
  });

  it('that leaves policies of a deleted branch can be planned, and the plan says that they do not hold', async () => {
    const scene = await openWith({ [rules]: policiesText(noAutoApply()) }, fromBranch('no-such-branch'));
    scene.propose({ 'stacks/pay/trueup.yaml': scene.stack('pay', { spec: withPolicies }) });
    const { plan, guardLines } = await planOf(scene);
    expect(guardLines).toEqual([expect.stringContaining('spec.policies.from is loosened')]);
    expect(plan.problems).toContainEqual(
      expect.objectContaining({
        severity: 'warning',
        message: expect.stringContaining('there is no branch or tag "no-such-branch"'),
      }),
    );
  });

  it.each([
    [
      'an expression',
      policiesText(noAutoApply({ rule: '!resource.spec.autoAply' })),
      'the policy "no-auto-apply"',
    ],
    ['a document', policiesText(noAutoApply({ severty: 'deny' })), 'the files of "spec.policies"'],
  ])(
    'that repairs %s of the base branch that is not valid can be planned, and the plan says so',
    async (_, text, subject) => {
      const scene = await openWith({ [rules]: text });
      scene.propose({ ...auto, [rules]: policiesText(noAutoApply()) });
      const found = await planOf(scene);
      expect(found.guardLines).toEqual([
        expect.stringMatching(/^policy\/no-auto-apply denies/),
        expect.stringContaining(`${subject} is loosened from`),
      ]);
      expect(found.guardLines[1]).toContain('not valid');
      expect(found.guardLines[1]).toContain('the former value does not hold for this plan');
    },
  );

  it('that changes files at the path where another repository has its policies loosens nothing', async () => {
    const scene = await openWith({ 'policies/rules.yaml': 'kind: Other\n' });
    const org = temporaryFolder({ 'policies/rules.yaml': policiesText(noAutoApply()) });
    git(org, 'init', '--quiet', '-b', 'main');
    git(org, 'add', '.');
    git(org, 'commit', '--quiet', '-m', 'policies');
    const spec = { policies: { from: { git: { remote: 'org', ref: 'main', path: 'policies' } } } };
    scene.push({ 'stacks/pay/trueup.yaml': scene.stack('pay', { spec }) });
    scene.propose({ ...auto, 'policies/rules.yaml': 'kind: Another\n' });
    const { guardLines } = await planOf(scene, (clone) => void git(clone, 'remote', 'add', 'org', org));
    expect(guardLines).toEqual([expect.stringMatching(/^policy\/no-auto-apply denies/)]);
  });

  it('with an invalid rule in its own policy cannot be planned', async () => {
    const scene = await openWith({ [rules]: policiesText(noAutoApply()) });
    scene.propose({ ...auto, [rules]: policiesText(noAutoApply({ rule: 'chnge.name == ""' })) });
    expect((await scene.job()).code).toBe(7);
  });

  it('has each exemption that it adds in its plan', async () => {
    const scene = await openWith({ [rules]: policiesText(noAutoApply()) });
    const until = new Date(Date.now() + 20 * 86_400_000).toISOString().slice(0, 10);
    const names = ['legacy-billing-eu', 'legacy-billing-us', 'legacy-invoices', '*'];
    const exemptions = names.map((name) => ({
      resource: `Workspace/acme/${name}`,
      ...{ reason: 'r', owner: 'me', until },
    }));
    scene.propose({ [rules]: policiesText(noAutoApply({ exemptions })) });
    const { guardLines } = await planOf(scene);
    expect(guardLines).toEqual(
      names.map((name) =>
        expect.stringContaining(
          `the exemption of "Workspace/acme/${name}" from the policy "no-auto-apply" is loosened from nothing to ${until}`,
        ),
      ),
    );
  });

  it('has the changed part of a long rule in its plan', async () => {
    const scene = await openWith({
      [rules]: policiesText(noAutoApply({ rule: long('!resource.spec.autoApply') })),
    });
    scene.propose({ [rules]: policiesText(noAutoApply({ rule: long('true') })) });
    const { guardLines } = await planOf(scene);
    const [, before, after] =
      /is loosened from (.*) to (.*), and the stricter/.exec(guardLines[0] ?? '') ?? [];
    expect(before).toMatch(/^….*!resource\.spec\.autoApply \(sha256 [0-9a-f]{32}\)$/);
    expect(after).toMatch(/^….* true \(sha256 [0-9a-f]{32}\)$/);
  });

  it('with a denied plan cannot be applied by its plan file, although its own policy only warns', async () => {
    const scene = await openWith({ [rules]: policiesText(noAutoApply()) });
    scene.propose({ ...auto, [rules]: policiesText(noAutoApply({ severity: 'warn' })) });
    const { file, clone } = await planOf(scene);
    scene.bench.wire.reset();
    const ran = await scene.run(['apply', file, 'stacks/pay', '--ack', 'loosened'], clone);
    expect(ran, ran.out + ran.err).toMatchObject({ code: 5 });
    expect(ran.err).toContain('a policy denies this plan');
    expect(scene.bench.wire.writes()).toEqual([]);
  });

  it.each([
    ['that has policies', withPolicies, withPolicies],
    ['that gets policies', {}, withPolicies],
  ])('that gives a target another name in a stack %s has this in its plan', async (_, before, after) => {
    const scene = await openWith({ [rules]: other }, before);
    scene.propose({ 'stacks/pay/trueup.yaml': scene.stack('pay', { spec: after }, { name: 'sandbox' }) });
    const { guardLines } = await planOf(scene);
    expect(guardLines).toEqual([
      expect.stringMatching(
        /^loosened blocks: the name of the target workspaces acme at .* is loosened from "acme" to "sandbox"/,
      ),
    ]);
  });
});

describe('trueup ci apply', () => {
  it('does not apply a denied change although its pull request removes the policy as well', async () => {
    const scene = await openApplyScene({ spec: { ledger: 'git' } });
    scene.push({
      'pay/trueup.yaml': emptyStack(scene.bench, { spec: { ...fromBranch(), ledger: 'git' } }),
      'policies/rules.yaml': policiesText(noAutoApply()),
    });
    await scene.ciApply(0);
    const { pull, plan, approve, merge } = await scene.pull([workspace('app', { autoApply: true })], {
      ...{ file: 'app.yaml', isPlannedByJob: true },
      files: { '../policies/rules.yaml': other },
    });
    expect(plan.guards.map(({ id }) => id)).toEqual(['policy/no-auto-apply', 'loosened']);
    approve('alice');
    scene.github.state.label(pull, 'trueup-ack/loosened', 'alice');
    merge();
    scene.bench.wire.reset();
    await scene.expectRefused('a policy denies the plan', 5);
  });

  it('does not apply an older commit with policies that were loosened later', async () => {
    const scene = await openApplyScene({ spec: { ledger: 'git' } });
    scene.push({
      'pay/trueup.yaml': emptyStack(scene.bench, { spec: { ...fromBranch(), ledger: 'git' } }),
      'policies/rules.yaml': policiesText(noAutoApply()),
    });
    await scene.ciApply(0);
    const { approve, merge } = await scene.pull([workspace('app', { autoApply: true })], {
      file: 'app.yaml',
      isPlannedByJob: true,
    });
    approve('alice');
    merge();
    const commit = scene.main();
    scene.push({ 'policies/rules.yaml': other });
    scene.bench.wire.reset();
    const ran = await scene.ciAt(commit, ['.'], { env: { GITHUB_REF: 'refs/heads/main' } });
    expect(ran, ran.out + ran.err).toMatchObject({ code: 5 });
    expect(scene.bench.wire.writes()).toEqual([]);
  });

  it('does not accept the acknowledgement of a changed long rule for a later change of it', async () => {
    const spec = { ...withPolicies, ledger: 'git' };
    const scene = await openApplyScene({ spec: { ledger: 'git' } });
    const ruled = (tail: string) => policiesText(noAutoApply({ rule: long(tail) }));
    scene.push({
      'pay/trueup.yaml': emptyStack(scene.bench, { spec }),
      'pay/policies/rules.yaml': ruled('!resource.spec.autoApply'),
    });
    await scene.ciApply(0);
    const { pull, approve, merge } = await scene.pull([workspace('app')], {
      ...{ file: 'app.yaml', isPlannedByJob: true },
      files: { 'policies/rules.yaml': ruled('resource.spec.autoApply == false') },
    });
    approve('alice');
    scene.github.state.label(pull, 'trueup-ack/loosened', 'alice');
    merge();
    scene.push({ 'pay/policies/rules.yaml': ruled('true') });
    scene.bench.wire.reset();
    await scene.expectRefused('no acknowledged plan showed that the rule of the policy "no-auto-apply"', 5);
    scene.push({ 'pay/policies/rules.yaml': ruled('resource.spec.autoApply == false') });
    await scene.ciApply(0);
    expect(await scene.bench.idsOf('app')).toHaveLength(1);
  });

  it('does not accept the acknowledgement of a removed policy whose rule was weakened outside of the pull request', async () => {
    const scene = await openApplyScene({ spec: { ledger: 'git' } });
    scene.push({
      'pay/trueup.yaml': emptyStack(scene.bench, { spec: { ...withPolicies, ledger: 'git' } }),
      'pay/policies/rules.yaml': policiesText(noAutoApply()),
    });
    await scene.ciApply(0);
    const change = async (name: string, text: string) => {
      const { pull, approve, merge } = await scene.pull([workspace(name)], {
        ...{ file: `${name}.yaml`, isPlannedByJob: true, files: { 'policies/rules.yaml': text } },
      });
      approve('alice');
      scene.github.state.label(pull, 'trueup-ack/loosened', 'alice');
      merge();
    };
    scene.push({ 'pay/policies/rules.yaml': policiesText(noAutoApply({ rule: 'true' })) });
    await change('app', other);
    scene.bench.wire.reset();
    await scene.expectRefused('no acknowledged plan showed that the policy "no-auto-apply" is loosened', 5);
    // A pull request that removes the policy as it was applied shows it.
    scene.push({ 'pay/policies/rules.yaml': policiesText(noAutoApply()) });
    await change('more', other);
    await scene.ciApply(0);
  });
});
