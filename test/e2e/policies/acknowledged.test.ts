/** What an acknowledgement of a policy covers: what the policy reported about each resource in the plan that was read. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checksumOf } from '../../../src/report/json/plan.ts';
import type { PlanJson } from '../../../src/report/json/plan-schema.ts';
import { emptyStack, noCodeHost, openApplyScene } from '../../support/ci/apply-scene.ts';
import { openBench, secrets } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import { policiesText, policy, withPolicies } from '../../support/cli/policies-scene.ts';
import { trueup } from '../../support/captured-host.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

const rules = 'policies/rules.yaml';
const confirm = (rule: string, more: object = {}) =>
  policy('x', { severity: 'confirm', match: { kinds: ['Workspace'] }, rule, ...more });
const auto = (name: string) => workspace(name, { autoApply: true });
const noAutoApply = confirm('!resource.spec.autoApply', { message: '"turn off autoApply"' });

describe('An acknowledgement with a plan file', () => {
  const begin = async (...policies: readonly object[]) => {
    const bench = await openBench();
    const stack = await bench.checkout({ spec: withPolicies });
    await stack.write(rules, policiesText(...policies));
    return { bench, stack, file: join(stack.directory, 'plan.json') };
  };

  it('covers only what the file reports for each resource', async () => {
    const { bench, stack, file } = await begin(confirm('resource.name != "app"', { message: '"a name"' }));
    await stack.declare(auto('app'));
    await stack.run(['plan', '--out', file], 0);
    await stack.write(
      rules,
      policiesText(confirm('!resource.spec.autoApply', { message: '"wipes production"' })),
    );
    const { err } = await stack.run(['apply', file, '--ack', 'policy/x'], 4);
    expect(err).toContain('policy/x');
    expect(bench.wire.writes()).toEqual([]);
  });

  it('does not cover another rule with the same name, also if neither has a message', async () => {
    const { bench, stack, file } = await begin(confirm('resource.name != "app"'));
    await stack.declare(auto('app'));
    await stack.run(['plan', '--out', file], 0);
    await stack.write(rules, policiesText(confirm('!resource.spec.autoApply')));
    const { err } = await stack.run(['apply', file, '--ack', 'policy/x'], 4);
    expect(err).toContain('policy/x');
    await stack.write(rules, policiesText(confirm('resource.name != "app"', { match: {} })));
    await stack.run(['apply', file, '--ack', 'policy/x'], 4);
    expect(bench.wire.writes()).toEqual([]);
    await stack.write(rules, policiesText(confirm('resource.name != "app"')));
    await stack.run(['apply', file, '--ack', 'policy/x'], 0);
  });

  it('of an unknown policy is reported as it is with a digest', async () => {
    const { stack, file } = await begin(noAutoApply);
    await stack.declare(auto('app'));
    await stack.run(['plan', '--out', file], 0);
    const { digest } = await stack.plan();
    const note = 'note: this plan does not trip policy/xy: did you mean "policy/x"?';
    expect((await stack.run(['apply', '--approve', digest, '--ack', 'policy/xy'], 5)).err).toContain(note);
    expect((await stack.run(['apply', file, '--ack', 'policy/xy'], 5)).err).toContain(note);
    expect((await stack.run(['apply', file, '--ack', 'policy/x,policy/xy'], 0)).err).toContain(note);
  });

  it('does not count if the file is of an earlier version, without the hash of the rule', async () => {
    const { bench, stack, file } = await begin(noAutoApply);
    await stack.declare(auto('app'));
    await stack.run(['plan', '--out', file], 0);
    const { checksum: _, ...plan } = JSON.parse(await readFile(file, 'utf8')) as PlanJson;
    const earlier = { ...plan, guards: plan.guards.map(({ ruleHash: __, ...guard }) => guard) };
    await writeFile(file, JSON.stringify({ ...earlier, checksum: checksumOf(earlier) }));
    await stack.run(['apply', file, '--ack', 'policy/x'], 4);
    expect(bench.wire.writes()).toEqual([]);
  });

  it('does not cover a policy that the file shows only as a warning', async () => {
    const { bench, stack, file } = await begin(confirm('false', { severity: 'warn' }));
    await stack.declare(auto('app'));
    await stack.run(['plan', '--out', file], 0);
    await stack.write(rules, policiesText(confirm('false')));
    await stack.run(['apply', file, '--ack', 'policy/x'], 4);
    expect(bench.wire.writes()).toEqual([]);
  });

  it('does not cover a policy that the file does not show', async () => {
    const { bench, stack, file } = await begin(policy('y', { severity: 'warn', rule: 'true' }));
    await stack.declare(workspace('app'));
    await stack.run(['plan', '--out', file], 0);
    await stack.write(rules, policiesText(confirm('false')));
    const { err } = await stack.run(['apply', file, '--ack', 'policy/x'], 5);
    expect(err).toContain('policy/x');
    expect(bench.wire.writes()).toEqual([]);
  });

  it('allows the same policy, also in the rest of an incomplete apply', async () => {
    const { bench, stack, file } = await begin(noAutoApply);
    await stack.declare(auto('a'), auto('b'));
    await stack.run(['plan', '--out', file], 0);
    bench.wire.add({ method: 'POST', path: /workspaces$/, body: /"b"/, fault: { answer: 422 } });
    await stack.run(['apply', file, '--ack', 'policy/x'], 6);
    bench.wire.reset();
    await stack.run(['apply', file], 0);
    expect(await bench.idsOf('b')).toHaveLength(1);
  });
});

describe('An incomplete apply', () => {
  it('continues without another acknowledgement only if the policies are the same', async () => {
    const bench = await openBench();
    const stack = await bench.checkout({ spec: withPolicies });
    await stack.write(rules, policiesText(noAutoApply));
    await stack.declare(auto('a'), auto('b'));
    const { digest } = await stack.plan();
    bench.wire.add({ method: 'POST', path: /workspaces$/, body: /"b"/, fault: { answer: 422 } });
    await stack.run(['apply', '--approve', digest, '--ack', 'policy/x'], 6);
    bench.wire.reset();
    await stack.write(rules, policiesText(confirm('false', { message: '"another rule"' })));
    const { err } = await stack.run(['apply', '--approve', digest], 5);
    expect(err).toContain('policy/x');
    expect(bench.wire.writes()).toEqual([]);
    await stack.write(rules, policiesText(noAutoApply));
    await stack.run(['apply', '--approve', digest], 0);
    expect(await bench.idsOf('b')).toHaveLength(1);
  });
});

describe('An acknowledgement in ci apply', () => {
  const spec = { ...withPolicies, ledger: 'git' };
  const begin = async (more: object = {}, signers: readonly string[] = []) => {
    const scene = await openApplyScene({ spec: { ledger: 'git', ...more } }, { signers });
    scene.push({
      'pay/trueup.yaml': emptyStack(scene.bench, { spec: { ...spec, ...more } }),
      'pay/policies/rules.yaml': policiesText(noAutoApply),
    });
    await scene.ciApply(0);
    scene.bench.wire.reset();
    return scene;
  };
  const label = 'trueup-ack/policy/x';

  it('by a label covers only the resources that its pull request showed', async () => {
    const scene = await begin();
    const pullOf = (name: string) => scene.pull([auto(name)], { file: `${name}.yaml`, isPlannedByJob: true });
    const [one, two] = [await pullOf('app'), await pullOf('second')];
    for (const { approve, merge } of [one, two]) {
      approve('alice');
      merge();
    }
    scene.github.state.label(one.pull, label, 'alice');
    const { err } = await scene.expectRefused('guards that are not acknowledged: policy/x', 5);
    expect(err).toContain(
      'no plan for which policy/x was acknowledged showed what it says now of "Workspace/acme/second"',
    );
    scene.github.state.label(two.pull, label, 'alice');
    await scene.ciApply(0);
    expect(await scene.bench.idsOf('second')).toHaveLength(1);
  });

  it('by a label does not cover another rule that was pushed later to a branch of policies', async () => {
    const git = { policies: { from: { git: { remote: 'origin', ref: 'main', path: 'policies' } } } };
    const scene = await openApplyScene({ spec: { ledger: 'git' } });
    scene.push({
      'pay/trueup.yaml': emptyStack(scene.bench, { spec: { ...git, ledger: 'git' } }),
      [rules]: policiesText(noAutoApply),
    });
    await scene.ciApply(0);
    const { pull, approve, merge } = await scene.pull([auto('app'), workspace('other')], {
      file: 'app.yaml',
      isPlannedByJob: true,
    });
    approve('alice');
    scene.github.state.label(pull, label, 'alice');
    merge();
    const shown = 'no plan for which policy/x was acknowledged showed what it says now';
    scene.push({
      [rules]: policiesText(confirm('resource.name != "app"', { message: '"turn off autoApply"' })),
    });
    scene.bench.wire.reset();
    await scene.expectRefused(shown, 5);
    const more = confirm('false', { message: '"never do this"' });
    scene.push({ [rules]: policiesText(noAutoApply, { ...more, metadata: { name: 'y' } }) });
    await scene.expectRefused('guards that are not acknowledged: policy/y', 5);
    scene.push({ [rules]: policiesText(more) });
    await scene.expectRefused('policy/x', 5);
  });

  describe('by a signature', () => {
    const signed = { approvals: { accept: ['signature'], from: [{ signers: 'allowed_signers' }] } };
    const open = async () => {
      const scene = await begin(signed, ['alice']);
      const { digest, merge } = await scene.pull([auto('app')], { file: 'app.yaml' });
      merge();
      const cwd = scene.scene.at(scene.main());
      const run = async (code: number, ...args: readonly string[]) => {
        const ran = await trueup(args, { cwd, env: { ...process.env, ...secrets, GITHUB_ACTIONS: '' } });
        expect(ran, ran.out + ran.err).toMatchObject({ code });
        return ran;
      };
      const by = ['--key', join(scene.keys, 'alice'), '--yes', '--ack'];
      return { scene, run, digest, approve: (plan: string) => ['approve', plan, 'pay', ...by] };
    };

    it('of a digest covers only what the policy reports in the plan that the job prints', async () => {
      const { scene, run, digest, approve } = await open();
      // A name alone does not show what was read.
      const named = await run(1, ...approve(digest), 'policy/x');
      expect(named.err).toContain('a digest alone does not show what policy/x says');
      const { err } = await scene.ciApply(4, [], noCodeHost);
      const [, ack = ''] = /--ack (policy\/x@[0-9a-f]{32})"/.exec(err) ?? [];
      const other = ack.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
      await run(0, ...approve(digest), other);
      expect((await scene.ciApply(5, [], noCodeHost)).err).toContain('policy/x');
      expect(scene.bench.wire.writes()).toEqual([]);
      await run(0, ...approve(digest), ack);
      await scene.ciApply(0, [], noCodeHost);
      expect(await scene.bench.idsOf('app')).toHaveLength(1);
    });

    it('of a plan file covers what the file shows', async () => {
      const { scene, run, approve } = await open();
      const file = join(temporaryFolder(), 'plan.json');
      await run(0, 'plan', 'pay', '--out', file);
      await run(0, ...approve(file), 'policy/x');
      expect((await run(0, 'approve', '--list', 'pay')).out).toContain('acknowledges policy/x\n');
      await scene.ciApply(0, [], noCodeHost);
      expect(await scene.bench.idsOf('app')).toHaveLength(1);
    });
  });
});
