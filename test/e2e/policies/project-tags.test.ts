/** A policy by tags, and workspaces without a change of their own that a plan gives other tags through their project. */
import { describe, expect, it } from 'vitest';
import { trueup } from '../../support/captured-host.ts';
import { secrets } from '../../support/cli/bench.ts';
import { consumers, tagBindings, workspace } from '../../support/cli/documents.ts';
import { policiesText, policy, withPolicies } from '../../support/cli/policies-scene.ts';
import { openProjects, project, withoutProjectRelationships } from '../../support/cli/projects-scene.ts';
import { documentsText } from '../../support/rig/stack-folder.ts';

const match = { kinds: ['Workspace'], tags: { env: 'prod' } };
const inProduction = policy('no-auto-apply', { match, rule: '!resource.spec.autoApply' });
const found = 'policy/no-auto-apply';

const auto = (more: object = {}, name = 'app') =>
  workspace(name, { autoApply: true, project: 'home', ...more });
const home = (env: string, metadata: object = {}, more: object = {}) =>
  project('home', { tags: { env }, ...more }, metadata);

/** A workspace that violates the rule only in production, in a project that is not in production yet. */
async function begin(policies: readonly object[] = [inProduction], more: readonly object[] = []) {
  const scene = await openProjects(undefined, {}, { spec: withPolicies });
  const { stack, bench, idOfProject } = scene;
  await stack.write('policies/rules.yaml', policiesText(...policies));
  await stack.declare(home('dev'), auto(), ...more);
  await stack.run(['apply', '--yes'], 0);
  bench.wire.reset();
  const guards = async () => (await stack.plan()).guards.map(({ id }) => id);
  const bindByHand = async (value: string) =>
    bench.byHand.patch(`/projects/${await idOfProject('home')}/tag-bindings`, {
      data: [{ type: 'tag-bindings', attributes: { key: 'env', value } }],
    });
  return { ...scene, guards, bindByHand };
}

describe('A policy by tags, if only the project of a workspace gets the tag', () => {
  it('checks the workspace, which has no change of its own, and says so', async () => {
    const { stack, bench } = await begin();
    await stack.declare(home('prod'), auto());
    const { changes, guards } = await stack.plan();
    expect(changes.map(({ address }) => address)).toEqual(['Project/acme/home']);
    expect(guards.map(({ id }) => id)).toContain(found);
    const { out } = await stack.run(['plan'], 0);
    expect(out).toContain('of this resource, the plan changes only inherited tags');
    await stack.run(['apply', '--yes'], 5);
    expect(bench.wire.writes()).toEqual([]);
    await stack.declare(home('prod'), auto({ autoApply: false }));
    await stack.run(['apply', '--yes'], 0);
  });

  it('checks the live workspace in a part with the project alone', async () => {
    const { stack } = await begin();
    const part = ['--select', 'Project/acme/home'];
    await stack.declare(home('prod'), auto());
    expect((await stack.run(['plan', ...part], 0)).out).toContain(found);
    await stack.run(['apply', '--yes', ...part], 5);
    // The values of its manifest count only after they are applied.
    await stack.declare(home('prod'), auto({ autoApply: false }));
    expect((await stack.run(['plan', ...part], 0)).out).toContain(found);
    await stack.run(['apply', '--yes', '--select', 'Workspace/acme/app'], 0);
    await stack.run(['apply', '--yes', ...part], 0);
  });

  it('checks the workspace if standard input has the project alone', async () => {
    const { stack } = await begin();
    const stdin = documentsText([home('prod')]);
    const { out, err } = await trueup(['plan', '-'], { cwd: stack.directory, env: secrets, stdin });
    expect(`${out}${err}`).toContain(found);
    expect((await trueup(['apply', '-', '--yes'], { cwd: stack.directory, env: secrets, stdin })).code).toBe(
      5,
    );
  });

  it('checks the workspace as an update with its content, its line, and no changed fields', async () => {
    const of = (name: string, ...actions: string[]) =>
      policy(name, { match: { ...match, actions }, rule: 'false' });
    const asked =
      'change.fields == [] && change.before.autoApply && change.after.autoApply && change.declaredAt.startsWith("manifests/") && resource.tags.env == "prod" && resource.spec.project == "home" && plan.counts.update == 1';
    const { stack, guards } = await begin([
      of('new', 'create', 'adopt'),
      of('changed', 'update'),
      of('gone', 'delete', 'release'),
      policy('asked', { match, rule: `!(${asked})` }),
    ]);
    await stack.declare(home('prod'), auto());
    expect(await guards()).toEqual(['policy/asked', 'policy/changed']);
    expect((await stack.run(['plan'], 0)).out).not.toContain('not be evaluated');
  });

  it('is checked without other policies, and not for a workspace with its own value of the tag', async () => {
    const own = auto({ tags: { env: 'dev' } }, 'own');
    const rules = [
      inProduction,
      policy('any', { match: { kinds: ['Workspace'] }, rule: 'change.action == "create"' }),
    ];
    const { stack, guards } = await begin(rules, [own]);
    await stack.declare(home('prod'), auto(), own);
    expect(await guards()).toEqual([found]);
    const { guards: all } = await stack.plan();
    expect(all.flatMap(({ concerns }) => concerns.map(({ address }) => address))).toEqual([
      'Workspace/acme/app',
    ]);
  });

  it('checks children of the workspace, also if the workspace itself changes', async () => {
    const parts = [
      consumers('app', { consumers: ['theirs-a'] }),
      tagBindings('app', { tags: { team: 'net' } }),
    ];
    const of = (kind: string) =>
      policy(`no-${kind.toLowerCase()}`, { match: { kinds: [kind], tags: { env: 'prod' } }, rule: 'false' });
    const { stack, guards } = await begin([of('RemoteStateConsumers'), of('TagBindings')], parts);
    await stack.declare(home('prod'), auto(), ...parts);
    expect(await guards()).toEqual(['policy/no-remotestateconsumers', 'policy/no-tagbindings']);
    const [shared] = parts;
    await stack.declare(
      home('dev'),
      auto(),
      ...[shared ?? {}],
      tagBindings('app', { tags: { env: 'prod' } }),
    );
    expect(await guards()).toEqual(['policy/no-remotestateconsumers', 'policy/no-tagbindings']);
  });

  it('checks the workspace if a manual change of the project is reverted, or the project is renamed', async () => {
    const { stack, guards, bindByHand } = await begin();
    await stack.declare(home('prod'), auto({ autoApply: false }));
    await stack.run(['apply', '--yes'], 0);
    await bindByHand('dev');
    await stack.declare(home('prod'), auto());
    await stack.run(['apply', '--yes', '--select', 'Workspace/acme/app'], 0);
    expect(await guards()).toContain(found);
    await stack.declare(
      project('other', { tags: { env: 'prod' } }, { renamedFrom: 'home' }),
      auto({ project: 'other' }),
    );
    expect(await guards()).toContain(found);
  });

  it('checks the workspace if its project exchanges names with another one', async () => {
    const { stack, guards, change, idOfProject } = await begin(
      [inProduction],
      [project('live', { tags: { env: 'prod' } })],
    );
    const [one, other] = [await idOfProject('home'), await idOfProject('live')];
    await change(one, { name: 'between' });
    await change(other, { name: 'home' });
    await change(one, { name: 'live' });
    await stack.declare(home('dev'), project('live', { tags: { env: 'prod' } }), auto());
    // With the whole plan, the workspace moves to the project that has the name now, and its tags stay the same.
    expect(await guards()).not.toContain(found);
    const part = ['--select', 'Project/acme/*'];
    expect((await stack.run(['plan', ...part], 0)).out).toContain(found);
  });

  it('checks a workspace of the stack that is no longer declared', async () => {
    const { stack } = await begin();
    await stack.declare(home('prod'));
    const part = ['--select', 'Project/acme/home'];
    expect((await stack.run(['plan', ...part], 0)).out).toContain(found);
  });

  it('applies to the workspace if the tags of its project are not known', async () => {
    const { stack, bench, guards } = await begin([
      policy('no-auto-apply', { match, rule: '!resource.spec.autoApply' }),
    ]);
    bench.wire.add({ path: /tag-bindings/, times: 999, fault: { answer: 404 } });
    await stack.declare(home('prod'), auto());
    expect(await guards()).toContain(found);
  });

  it('applies to a workspace if the service does not show its project', async () => {
    const { stack, bench } = await begin();
    await stack.declare(home('dev'), workspace('app', { autoApply: true }));
    await stack.run(['apply', '--yes'], 0);
    const fault = { rewrite: withoutProjectRelationships };
    bench.wire.add({ method: 'GET', path: /\/workspaces/, times: 999, fault });
    await stack.declare(home('prod'), workspace('app', { autoApply: true }));
    expect((await stack.plan(1)).guards.map(({ id }) => id)).toContain(found);
  });

  it('ignores workspaces of others, and sees manual changes only when the workspace changes', async () => {
    const { stack, guards, bindByHand, bench, idOfProject } = await begin();
    await bench.byHand.post('/organizations/acme/workspaces', {
      data: {
        type: 'workspaces',
        attributes: { name: 'theirs', 'auto-apply': true },
        relationships: { project: { data: { type: 'projects', id: await idOfProject('home') } } },
      },
    });
    await stack.declare(home('prod'), auto({ autoApply: false }));
    expect(await guards()).not.toContain(found);
    await stack.declare(project('home', {}), auto());
    await stack.run(['apply', '--yes'], 0);
    await bindByHand('prod');
    expect((await stack.plan()).changes).toEqual([]);
    expect(await guards()).toEqual([]);
    await stack.declare(project('home', {}), auto({ description: 'changed' }));
    expect(await guards()).toContain(found);
  });

  it('is checked by a replay of the policies over the history', async () => {
    const { stack } = await begin([policy('other', { match, rule: 'true' })]);
    await stack.declare(home('prod'), auto());
    await stack.run(['apply', '--yes'], 0);
    await stack.write('policies/rules.yaml', policiesText(inProduction));
    const { out } = await stack.run(['policy', 'replay', '--since', '1d'], 0);
    expect(out).toContain('denied  policy/no-auto-apply  Workspace/acme/app');
  });

  it('needs no further request for a stack of many workspaces', async () => {
    const many = Array.from({ length: 30 }, (_, at) => auto({ autoApply: false }, `n${at}`));
    const { stack, bench } = await begin([inProduction], many);
    bench.wire.reset();
    await stack.plan();
    const before = bench.wire.seen.length;
    await stack.declare(home('prod'), auto({ autoApply: false }), ...many);
    bench.wire.reset();
    await stack.plan();
    expect(bench.wire.seen.length).toBe(before);
  });
});
