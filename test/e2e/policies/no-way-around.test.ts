/** A policy cannot be evaded by tags that a manifest omits, names of targets, links, or missing files and refs. */
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Bench, openBench, type StackOptions } from '../../support/cli/bench.ts';
import { openCiScene } from '../../support/cli/ci-scene.ts';
import { consumers, role, tagBindings, workspace } from '../../support/cli/documents.ts';
import { policiesText, policy, withPolicies } from '../../support/cli/policies-scene.ts';
import { project } from '../../support/cli/projects-scene.ts';
import { git } from '../../support/ledger/git-remote.ts';
import { documentsText } from '../../support/rig/stack-folder.ts';

async function begin(policies: readonly object[], options: StackOptions = { spec: withPolicies }) {
  const bench = await openBench();
  const stack = await bench.checkout(options);
  await stack.write('policies/rules.yaml', policiesText(...policies));
  const guards = async () => (await stack.plan()).guards.map(({ id }) => id);
  return { bench, stack, guards };
}

const noAutoApply = (more: object = {}) =>
  policy('no-auto-apply', { match: { kinds: ['Workspace'] }, rule: '!resource.spec.autoApply', ...more });
const inProduction = noAutoApply({ match: { kinds: ['Workspace'], tags: { env: 'prod' } } });

/** Tags the workspace by hand, so that no manifest declares the tag. */
async function bind(bench: Bench): Promise<void> {
  await bench.byHand.patch(`/workspaces/${await bench.idOf('app')}/tag-bindings`, {
    data: [{ type: 'tag-bindings', attributes: { key: 'env', value: 'prod' } }],
  });
}

describe('A policy by tags', () => {
  it('applies to tags of a workspace that no manifest declares', async () => {
    const { bench, stack, guards } = await begin([inProduction]);
    await stack.declare(workspace('app'));
    await stack.run(['apply', '--yes'], 0);
    await bind(bench);
    await stack.declare(workspace('app', { autoApply: true }));
    expect(await guards()).toContain('policy/no-auto-apply');
    await stack.run(['apply', '--yes'], 5);
  });

  it('applies to a tag that the manifest left to others before', async () => {
    const { stack, guards } = await begin([inProduction]);
    await stack.declare(workspace('app', { tags: { env: 'prod' } }));
    await stack.run(['apply', '--yes'], 0);
    await stack.declare(workspace('app'), tagBindings('app', { tags: {}, keep: ['env'] }));
    await stack.run(['apply', '--yes'], 0);
    await stack.declare(workspace('app'));
    await stack.run(['apply', '--yes'], 0);
    await stack.declare(workspace('app', { autoApply: true }));
    expect(await guards()).toContain('policy/no-auto-apply');
  });

  it('checks a workspace that only gets the tag', async () => {
    const { stack, guards } = await begin([inProduction]);
    await stack.declare(workspace('app', { autoApply: true, tags: { env: 'dev' } }));
    await stack.run(['apply', '--yes'], 0);
    await stack.declare(workspace('app', { autoApply: true, tags: { env: 'prod' } }));
    expect(await guards()).toContain('policy/no-auto-apply');
    await stack.run(['apply', '--yes'], 5);
    await stack.declare(workspace('app', { autoApply: false, tags: { env: 'prod' } }));
    await stack.run(['apply', '--yes'], 0);
  });

  it('applies to the tags of a workspace that is adopted', async () => {
    const { bench, stack, guards } = await begin([inProduction]);
    await bench.byHand.post('/organizations/acme/workspaces', {
      data: { type: 'workspaces', attributes: { name: 'app' } },
    });
    await bind(bench);
    await stack.declare(workspace('app', { autoApply: true }, { adopt: true }));
    expect(await guards()).toContain('policy/no-auto-apply');
  });

  it('distinguishes a workspace from a project with the same name', async () => {
    const { stack, guards } = await begin([inProduction]);
    await stack.declare(
      { ...workspace('app', { tags: { env: 'prod' } }), kind: 'Project' },
      workspace('app', { autoApply: true }),
    );
    expect(await guards()).not.toContain('policy/no-auto-apply');
  });

  it('applies to tags that a workspace inherits from a project of the same plan', async () => {
    const { stack, guards } = await begin([inProduction]);
    const inProject = (name: string, more: object = {}) => workspace('app', { project: name, ...more });
    const production = project('p', { tags: { env: 'prod' } });
    await stack.declare(production, inProject('p', { autoApply: true }));
    expect(await guards()).toContain('policy/no-auto-apply');
    await stack.declare(production, inProject('p', { autoApply: true, tags: { env: 'dev' } }));
    expect(await guards()).not.toContain('policy/no-auto-apply');
    await stack.declare(production, project('q'), inProject('p'));
    await stack.run(['apply', '--yes'], 0);
    await stack.declare(production, project('q'), inProject('p', { autoApply: true }));
    expect(await guards()).toContain('policy/no-auto-apply');
    // The policy still applies if the same plan changes the project or its tag.
    await stack.declare(production, project('q'), inProject('q', { autoApply: true }));
    expect(await guards()).toContain('policy/no-auto-apply');
    const untagged = project('p', { tags: { env: 'dev' } });
    await stack.declare(untagged, project('q'), inProject('p', { autoApply: true }));
    expect(await guards()).toContain('policy/no-auto-apply');
    await stack.run(['apply', '--yes'], 5);
    await stack.declare(untagged, project('q'), inProject('p'));
    await stack.run(['apply', '--yes'], 0);
    await stack.declare(untagged, project('q'), inProject('q', { autoApply: true }));
    expect(await guards()).not.toContain('policy/no-auto-apply');
  });

  it('is refused for kinds that have no tags', async () => {
    const { stack } = await begin([
      policy('roles', { match: { kinds: ['ClusterAuthRole'], tags: { env: 'prod' } } }),
    ]);
    await stack.declare(role('web'));
    expect((await stack.run(['validate'], 7)).err).toContain('have no tags');
  });
});

describe('A policy for a target', () => {
  it('names its organization, so that it still applies if the target has another name', async () => {
    const ofAcme = policy('acme', { match: { kinds: ['Workspace'], targets: ['acme'] } });
    const { bench, stack } = await begin([ofAcme], {
      spec: withPolicies,
      workspaces: { name: 'sandbox' },
    });
    await stack.declare({ ...workspace('app'), metadata: { name: 'app', target: 'sandbox' } });
    await stack.run(['apply', '--yes'], 5);
    expect(bench.wire.writes()).toEqual([]);
  });

  it('names its organization as the service shows it, in capitals as well', async () => {
    const bench = await openBench({ others: ['Platform'] });
    for (const pattern of ['Platform', 'PLAT*']) {
      const stack = await bench.checkout({ spec: withPolicies, workspaces: { organization: 'Platform' } });
      const inPlatform = policy('platform', { match: { kinds: ['Workspace'], targets: [pattern] } });
      await stack.write('policies/rules.yaml', policiesText(inPlatform));
      await stack.declare(workspace('app'));
      await stack.run(['apply', '--yes'], 5);
    }
    expect(bench.wire.writes()).toEqual([]);
  });

  it('can compare the organization in the rule', async () => {
    const { guards, stack } = await begin([policy('acme', { rule: 'change.place != "acme"' })]);
    await stack.declare(workspace('app'), role('web'));
    expect(await guards()).toEqual(['policy/acme', 'new-role']);
  });
});

const rules = 'stacks/pay/policies/rules.yaml';
const auto = { 'stacks/pay/manifests/app.yaml': documentsText([workspace('pay-app', { autoApply: true })]) };

describe('Files of policies', () => {
  it.each([
    ['a folder', 'stacks/pay/policies', '../../shared'],
    ['a file', rules, '../../../shared/rules.yaml'],
  ])('behind a link to %s are an error, because a commit does not show their content', async (_, at, to) => {
    const scene = await openCiScene();
    mkdirSync(join(scene.work, at, '..'), { recursive: true });
    symlinkSync(to, join(scene.work, at));
    scene.push({
      'stacks/pay/trueup.yaml': scene.stack('pay', { spec: withPolicies }),
      'shared/rules.yaml': policiesText(noAutoApply()),
    });
    const { err } = await scene.run(['validate', 'stacks/pay']);
    expect(err).toContain('behind a symbolic link');
    scene.propose({ ...auto, 'shared/rules.yaml': policiesText(policy('other', { rule: 'true' })) });
    const { code, out } = await scene.job();
    expect([code, out]).toEqual([7, expect.stringContaining('behind a symbolic link')]);
  });

  it('that a sparse checkout omits are an error', async () => {
    const scene = await openCiScene();
    scene.push({
      'stacks/pay/trueup.yaml': scene.stack('pay', { spec: withPolicies }),
      [rules]: policiesText(noAutoApply()),
      'stacks/pay/policies/other.yaml': policiesText(policy('other', { rule: 'true' })),
      ...auto,
    });
    git(scene.work, 'update-index', '--skip-worktree', rules);
    rmSync(join(scene.work, rules));
    const { code, err } = await scene.run(['apply', 'stacks/pay', '--yes']);
    expect([code, err]).toEqual([7, expect.stringContaining('this checkout lacks "policies/rules.yaml"')]);
    expect(scene.bench.wire.writes()).toEqual([]);
  });
});

describe('Policies of a remote', () => {
  const from = (remote = 'origin') => ({
    policies: { from: { git: { remote, ref: 'main', path: 'policies' } } },
  });

  it('come from a remote of the clone, and never from a folder with its name', async () => {
    const scene = await openCiScene();
    scene.push({
      'stacks/pay/trueup.yaml': scene.stack('pay', { spec: from('org') }),
      'policies/rules.yaml': policiesText(noAutoApply()),
      ...auto,
    });
    const loose = join(scene.work, '..', 'loose');
    git(join(scene.work, '..'), 'init', '--quiet', '-b', 'main', loose);
    mkdirSync(join(loose, 'policies'));
    await writeFile(join(loose, 'policies/rules.yaml'), policiesText(policy('other', { rule: 'true' })));
    git(loose, 'add', '.');
    git(loose, 'commit', '--quiet', '-m', 'x');
    git(scene.work, 'clone', '--quiet', '--bare', loose, join(scene.work, 'org'));
    const { code, err } = await scene.run(['apply', 'stacks/pay', '--yes']);
    expect([code, err]).toEqual([1, expect.stringContaining('this clone has no remote "org"')]);
    expect(err).toContain('name a remote of this clone in "spec.policies"');
  });

  it('come from the branch if a tag has the same name, and from a tag if there is no such branch', async () => {
    const scene = await openCiScene();
    scene.push({
      'stacks/pay/trueup.yaml': scene.stack('pay', { spec: from() }),
      'policies/rules.yaml': policiesText(noAutoApply()),
      ...auto,
    });
    scene.git('checkout', '--quiet', '-b', 'loose');
    scene.commit({ 'policies/rules.yaml': policiesText(policy('other', { rule: 'true' })) });
    scene.git('push', '--quiet', 'origin', 'HEAD:refs/tags/main', 'HEAD:refs/tags/v1');
    scene.git('checkout', '--quiet', 'main');
    const planned = async () => (await scene.run(['plan', 'stacks/pay'])).out;
    expect(await planned()).toContain('policy/no-auto-apply');
    const spec = { policies: { from: { git: { remote: 'origin', ref: 'v1', path: 'policies' } } } };
    scene.push({ 'stacks/pay/trueup.yaml': scene.stack('pay', { spec }) });
    expect(await planned()).not.toContain('policy/no-auto-apply');
  });
});

describe('A plan with policies', () => {
  it('lists each violation that is exempt', async () => {
    const until = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
    const exemptions = [{ resource: '*', reason: 'r', owner: 'o', until }];
    const { stack } = await begin([noAutoApply({ exemptions })]);
    await stack.declare(
      ...['a', 'b', 'c', 'd', 'e', 'f'].map((name) => workspace(name, { autoApply: true })),
    );
    expect((await stack.run(['plan'], 0)).out).toContain('Workspace/acme/f is exempt');
  });

  it('refuses an exemption until a date that does not exist', async () => {
    const exemptions = [{ resource: '*', reason: 'r', owner: 'o', until: '2027-02-30T10:00:00Z' }];
    const { stack } = await begin([noAutoApply({ exemptions })]);
    await stack.declare(workspace('a'));
    expect((await stack.run(['plan'], 7)).err).toContain('is not a valid date');
  });

  it('refuses a rule about a field that only manifests have', async () => {
    const match = { kinds: ['ClusterAuthRole'] };
    const { stack } = await begin([policy('x', { match, rule: '!has(resource.spec.policies)' })]);
    await stack.declare(workspace('a'));
    expect((await stack.run(['plan'], 7)).err).toContain('"policies"');
  });

  it('is reported as unknown by a replay if a slow rule kept others from being evaluated', async () => {
    const { stack } = await begin([]);
    await stack.write('policies/rules.yaml', policiesText(policy('fine', { rule: 'true' })));
    await stack.setUp(workspace('app'));
    const list = `[${Array.from({ length: 60 }, (_, index) => index).join(',')}]`;
    const rule = 'abcdef'.split('').reduce((inner, name) => `${list}.all(${name}, ${inner})`, 'true');
    await stack.write(
      'policies/rules.yaml',
      policiesText(policy('endless', { severity: 'warn', rule }), policy('fine', { rule: 'true' })),
    );
    const { out } = await stack.run(['policy', 'replay', '--since', '1d'], 0);
    expect(out).toContain('unknown');
    expect(out).not.toContain('denied');
  });
});

describe('The history of applies with policies', () => {
  it('stores a referenced resource once, even if many changes refer to it', async () => {
    const { stack } = await begin([
      policy('fine', {
        match: { actions: ['create'] },
        rule: 'resource.references.all(r, r.target == "acme")',
      }),
    ]);
    const sizeFor = async (count: number) => {
      const names = Array.from({ length: count }, (_, index) => `n${count}-${index}`);
      await stack.declare(
        ...names.map((name) => workspace(name)),
        ...names.map((name) => consumers(name, { consumers: names.filter((one) => one !== name) })),
      );
      const { digest, acknowledge } = await stack.plan();
      await stack.run(['apply', '--approve', digest, '--ack', acknowledge.join(',')], 0);
      const folder = join(stack.directory, '.trueup', 'payments.history');
      const files = await readdir(folder);
      return Math.max(
        ...(await Promise.all(files.map(async (name) => (await stat(join(folder, name))).size))),
      );
    };
    const ten = await sizeFor(10);
    expect(await sizeFor(40)).toBeLessThan(8 * ten);
  });
});
