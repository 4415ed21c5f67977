/** A service whose list of projects lacks one, or whose workspaces do not show their project. */
import { describe, expect, it } from 'vitest';
import { workspace } from '../../support/cli/documents.ts';
import {
  actionsOf,
  bothDialects,
  openProjects,
  project,
  withoutProjectRelationships,
  withoutProject,
} from '../../support/cli/projects-scene.ts';

const listOfProjects = { method: 'GET', path: /\/acme\/projects\?/, times: 99 };

describe.each(bothDialects)('In the dialect %s, a recorded project that the list lacks', (dialect) => {
  async function openUnlisted() {
    const scene = await openProjects(dialect);
    const { bench, stack, change, idOfProject } = scene;
    await stack.setUp(project('payments', { tags: { team: 'payments' } }), workspace('other'));
    const id = await idOfProject('payments');
    await change(id, { 'auto-destroy-activity-duration': '2d' });
    bench.wire.reset();
    bench.wire.add({ ...listOfProjects, fault: { rewrite: withoutProject('payments') } });
    return { ...scene, id };
  }

  it('still determines the settings and guards of a new workspace in it, and the plan reports the gap', async () => {
    const { bench, stack, id, projectNameOf } = await openUnlisted();
    await stack.declare(
      project('payments', { tags: { team: 'payments' } }),
      workspace('other'),
      workspace('app', { project: 'payments' }),
    );
    const { changes, guards, coverage, digest } = await stack.plan(1);
    expect(actionsOf({ changes })).toEqual(['create Workspace/acme/app']);
    expect(changes[0]?.fields).toContainEqual(expect.objectContaining({ path: '/projectId', after: id }));
    expect(guards.map(({ id: guard, concerns }) => [guard, concerns.map(({ says }) => says)])).toEqual([
      [
        'scheduled-destroy',
        [['its resources are destroyed after 2d without activity, inherited from project "payments"']],
      ],
    ]);
    expect(coverage.complete).toBe(false);
    expect(JSON.stringify(coverage)).toContain(`(${id}), which is found by its id, so it may lack others`);
    await stack.run(['apply', '--yes'], 5);
    expect(bench.wire.writes()).toEqual([]);
    await stack.run(['apply', '--approve', digest, '--ack', 'scheduled-destroy'], 6);
    bench.wire.reset();
    expect(await projectNameOf('app')).toBe('payments');
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('is not created again, and its workspaces stay in it, also if it is found by its id only', async () => {
    const { bench, stack } = await openUnlisted();
    bench.wire.reset();
    await stack.declare(project('payments'), workspace('other'), workspace('app', { project: 'payments' }));
    await stack.applyAcknowledged();
    bench.wire.add({ ...listOfProjects, fault: { rewrite: withoutProject('payments') } });
    expect((await stack.plan(1)).changes).toEqual([]);
  });

  it('and that cannot be read by its id makes all project names uncertain: nothing is written', async () => {
    const { bench, stack } = await openUnlisted();
    bench.wire.add({ method: 'GET', path: /\/projects\/prj-[^/?]+$/, fault: { answer: 403 }, times: 99 });
    await stack.declare(
      project('payments', { description: 'new' }),
      workspace('other'),
      workspace('app', { project: 'payments' }),
    );
    const { out } = await stack.run(['apply', '--yes'], 1);
    expect(out.replace(/\s+/g, ' ')).toContain('a project in the ledger could not be read');
    expect(bench.wire.writes()).toEqual([]);
  });
});

const workspaces = {
  method: 'GET',
  path: /\/workspaces/,
  times: 999,
  fault: { rewrite: withoutProjectRelationships },
};

describe.each(bothDialects)('In the dialect %s, a workspace without a visible project', (dialect) => {
  it('may be in each project: no project is deleted, and the plan says why', async () => {
    const { bench, stack, names } = await openProjects(dialect);
    await stack.setUp(project('payments'), project('empty'), workspace('app', { project: 'payments' }));
    await stack.declare(workspace('app'));
    bench.wire.add(workspaces);
    const { changes, coverage } = await stack.plan(1);
    expect(actionsOf({ changes }).filter((one) => one.startsWith('delete'))).toEqual([]);
    expect(coverage.complete).toBe(false);
    const { out } = await stack.run(['apply', '--yes'], 1);
    expect(out.replace(/\s+/g, ' ')).toContain(
      'the service does not say in which project 3 workspaces ("app", "theirs-a", "theirs-b") are',
    );
    expect(await names()).toEqual(expect.arrayContaining(['payments', 'empty']));
  });

  it('is named by the guard of a duration as possibly affected, and can be acknowledged', async () => {
    const { bench, stack, find } = await openProjects(dialect);
    await stack.setUp(project('payments'));
    await stack.declare(project('payments', { autoDestroyActivityDuration: '2d' }));
    bench.wire.add(workspaces);
    const { guards, digest } = await stack.plan(1);
    expect(guards.flatMap(({ concerns }) => concerns.flatMap(({ says }) => says))).toEqual([
      'the resources of perhaps 2 workspaces whose project the service does not say ("theirs-a", "theirs-b") are destroyed after 2d without activity',
    ]);
    await stack.run(['apply', '--approve', digest, '--ack', 'scheduled-destroy'], 6);
    expect((await find('payments'))?.attributes['auto-destroy-activity-duration']).toBe('2d');
  });
});

it('A project is deleted after a manually renamed workspace was moved out of it', async () => {
  const { bench, stack, names, projectNameOf } = await openProjects();
  await stack.setUp(project('old'), project('new'), workspace('app', { project: 'old' }));
  await bench.byHand.update(await bench.idOf('app'), { name: 'renamed' });
  await stack.declare(project('new'), workspace('app', { project: 'new' }));
  const { changes } = await stack.plan();
  const deleting = changes.find(({ action }) => action === 'delete');
  expect(deleting?.calls?.flatMap(({ needs = [] }) => needs)).toEqual(['Workspace/acme/app#update']);
  await stack.applyAcknowledged();
  expect(await names()).not.toContain('old');
  expect(await projectNameOf('app')).toBe('new');
});

it('A project with a setting of an unexpected type is not changed, and the message names the setting', async () => {
  const { bench, stack } = await openProjects();
  await stack.setUp(project('payments', { description: 'old' }), workspace('app'));
  await stack.declare(project('payments', { description: 'new' }), workspace('app', { description: 'new' }));
  bench.wire.reset();
  bench.wire.setHandler(async ({ method, path }, pass) => {
    const answer = await pass();
    const isProjects = method === 'GET' && /\/projects[/?]/.test(path);
    return isProjects
      ? { ...answer, text: answer.text.replaceAll('"description":"old"', '"description":{"x":1}') }
      : answer;
  });
  const { out, err } = await stack.tryRun(['apply', '--yes']);
  expect((out + err).replace(/\s+/g, ' ')).toContain(
    'the project "payments" was not understood: its "description" is not text',
  );
  expect(bench.written().filter((call) => call.includes('/projects'))).toEqual([]);
});
