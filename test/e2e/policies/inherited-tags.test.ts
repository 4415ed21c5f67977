/** A policy by tags, and the tags that workspaces inherit from projects that the stack does not declare. */
import { describe, expect, it } from 'vitest';
import { workspace } from '../../support/cli/documents.ts';
import { policiesText, policy, withPolicies } from '../../support/cli/policies-scene.ts';
import { openProjects } from '../../support/cli/projects-scene.ts';

const inProduction = policy('no-auto-apply', {
  match: { kinds: ['Workspace'], tags: { env: 'prod' } },
  rule: '!resource.spec.autoApply',
});

async function begin(rule: object = inProduction, more: object = {}) {
  const scene = await openProjects(
    undefined,
    {
      projects: [
        { name: 'live', id: 'prj-live', 'tag-bindings': { env: 'prod' } },
        { name: 'lab', id: 'prj-lab', 'tag-bindings': { env: 'dev' } },
      ],
      workspaces: [
        { name: 'old', id: 'ws-old', project: 'live' },
        { name: 'own', id: 'ws-own', project: 'live', 'tag-bindings': { env: 'dev' } },
      ],
      ...more,
    },
    { spec: withPolicies },
  );
  const { stack, bench } = scene;
  await stack.write('policies/rules.yaml', policiesText(rule));
  const guards = async () => (await stack.plan()).guards.map(({ id }) => id);
  return { ...scene, bench, stack, guards };
}

const auto = (name: string, more: object = {}, metadata: object = {}) =>
  workspace(name, { autoApply: true, ...more }, metadata);
const found = 'policy/no-auto-apply';

describe('A policy by tags, if the stack does not declare the project', () => {
  it('applies to the tags of the project of a new workspace, by name and by id', async () => {
    const { stack, guards, bench } = await begin();
    await stack.declare(auto('app', { project: 'live' }));
    expect(await guards()).toContain(found);
    await stack.declare(auto('app', { projectId: 'prj-live' }));
    expect(await guards()).toContain(found);
    await stack.run(['apply', '--yes'], 5);
    expect(bench.wire.writes()).toEqual([]);
    await stack.declare(auto('app', { project: 'lab' }));
    expect(await guards()).not.toContain(found);
    await stack.declare(auto('app', { project: 'live', tags: { env: 'dev' } }));
    expect(await guards()).not.toContain(found);
  });

  it('applies to the project tags of a workspace that is adopted, changed or moved to another project', async () => {
    const { stack, guards } = await begin();
    await stack.declare(auto('old', {}, { adopt: true }));
    expect(await guards()).toContain(found);
    await stack.declare(workspace('old', {}, { adopt: true }), workspace('app', { project: 'lab' }));
    await stack.run(['apply', '--yes'], 0);
    await stack.declare(auto('old'), workspace('app', { project: 'lab' }));
    expect(await guards()).toContain(found);
    await stack.declare(auto('old', { project: 'lab' }), workspace('app', { project: 'lab' }));
    expect(await guards()).toContain(found);
    await stack.declare(workspace('old'), auto('app', { project: 'live' }));
    expect(await guards()).toContain(found);
    await stack.declare(workspace('old'), auto('app', { project: 'lab' }));
    expect(await guards()).not.toContain(found);
  });

  it('applies to a tag of the project that a tag of the workspace has overridden until now', async () => {
    const { stack, guards } = await begin();
    await stack.declare(auto('own', { tags: { env: 'dev' } }, { adopt: true }));
    expect(await guards()).not.toContain(found);
    await stack.run(['apply', '--yes'], 0);
    await stack.declare(auto('own', { tags: {} }));
    expect(await guards()).toContain(found);
  });

  it('has the project tags in a rule that uses the tags of the resource', async () => {
    const { stack, guards } = await begin(
      policy('no-auto-apply', {
        match: { kinds: ['Workspace'] },
        rule: '!("env" in resource.tags && resource.tags.env == "prod" && resource.spec.autoApply)',
      }),
    );
    await stack.declare(auto('app', { project: 'live' }));
    expect(await guards()).toContain(found);
    await stack.declare(auto('app', { project: 'lab' }));
    expect(await guards()).not.toContain(found);
  });

  it.each([
    '[resource].all(r, !("env" in r.tags && r.tags.env == "prod" && r.spec.autoApply))',
    '!(resource["tags"].exists(key, resource["tags"][key] == "prod") && resource.spec.autoApply)',
  ])('has the project tags in the rule %s, and unknown tags violate it', async (rule) => {
    const { stack, guards, bench } = await begin(
      policy('no-auto-apply', { match: { kinds: ['Workspace'] }, rule }),
    );
    await stack.declare(auto('app', { project: 'live' }));
    expect(await guards()).toContain(found);
    await stack.declare(auto('app', { projectId: 'prj-lab' }));
    expect(await guards()).not.toContain(found);
    bench.wire.add({ path: /\/projects/, times: 99, fault: { answer: 403, body: { errors: [] } } });
    expect(await guards()).toContain(found);
  });

  it('applies to a workspace without a project in its manifest if the token may not list projects', async () => {
    const { stack, bench, guards } = await begin();
    await stack.declare(auto('app'));
    expect(await guards()).not.toContain(found);
    bench.wire.add({ method: 'GET', path: /\/acme\/projects/, times: 99, fault: { answer: 404 } });
    expect(await guards()).toContain(found);
    // The token may not read the organization either.
    bench.wire.add({ method: 'GET', path: /\/organizations\/acme$/, times: 99, fault: { answer: 404 } });
    expect(await guards()).toContain(found);
    await stack.run(['apply', '--yes'], 5);
    expect(bench.wire.writes()).toEqual([]);
  });

  it('applies only to the part that is planned', async () => {
    const { stack } = await begin();
    await stack.declare(auto('app', { project: 'live' }), workspace('other'));
    expect((await stack.run(['plan', '--select', 'Workspace/acme/app'], 0)).out).toContain(found);
    expect((await stack.run(['plan', '--select', 'Workspace/acme/other'], 0)).out).not.toContain(found);
  });

  it('applies to a workspace whose project cannot be read, and says why', async () => {
    const { stack, bench } = await begin();
    bench.wire.add({ path: /\/projects/, times: 99, fault: { answer: 403, body: { errors: [] } } });
    await stack.declare(auto('app', { projectId: 'prj-lab' }));
    const { out } = await stack.run(['plan'], 0);
    expect(out).toContain(found);
    expect(out).toContain('the tags of its project are not known');
  });

  it('reads no projects without such a policy, and one list for many workspaces with one', async () => {
    const { stack, bench } = await begin(policy('any', { match: { kinds: ['Workspace'] }, rule: 'true' }));
    const reads = () => bench.wire.seen.filter(({ path }) => /projects/.test(path)).length;
    const many = Array.from({ length: 30 }, (_, at) => workspace(`n${at}`, { projectId: 'prj-live' }));
    await stack.declare(...many);
    await stack.run(['plan'], 0);
    const without = reads();
    await stack.write('policies/rules.yaml', policiesText(inProduction));
    await stack.run(['plan'], 0);
    expect(reads() - 2 * without).toBe(1);
  });
});
