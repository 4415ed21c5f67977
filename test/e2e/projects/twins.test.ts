/** Two projects with one name in the list of a service: trueup uses neither of them for the declared one. */
import { describe, expect, it } from 'vitest';
import { removalRequest, workspace } from '../../support/cli/documents.ts';
import { actionsOf, openProjects, project } from '../../support/cli/projects-scene.ts';

const flat = (text: string) => text.replace(/\s+/g, ' ');

/** Rewrites an answer: a project of others also has the name `one`, and is listed before or after the declared one. */
function twin(isFirst: boolean, [from, to]: readonly [string, string] = ['theirs', 'one']) {
  return (body: unknown) => {
    const list = JSON.parse(JSON.stringify(body).replaceAll(`"name":"${from}"`, `"name":"${to}"`)) as {
      data: { id: string }[];
    };
    const [theirs, others] = [true, false].map((is) =>
      list.data.filter(({ id }) => (id === 'prj-theirs') === is),
    );
    return { ...list, data: isFirst ? [theirs, others].flat() : [others, theirs].flat() };
  };
}

describe.each([true, false])('Two projects with one name, the foreign one listed first: %s', (isFirst) => {
  async function begin(names?: readonly [string, string]) {
    const scene = await openProjects();
    const { bench, stack } = scene;
    await stack.setUp(
      project('one', { description: 'about one' }),
      project('two', { description: 'about two' }),
      workspace('app', { project: 'one' }),
    );
    bench.wire.reset();
    const fault = { rewrite: twin(isFirst, names) };
    bench.wire.add({ method: 'GET', path: /\/acme\/projects\?/, times: 99, fault });
    return scene;
  }

  it('are an error for a workspace that uses the name, and neither is changed', async () => {
    const { bench, stack } = await begin();
    await stack.declare(
      project('one', { description: 'other' }),
      project('two', { description: 'about two' }),
      workspace('app', { project: 'one', description: 'other' }),
      workspace('new', { project: 'one' }),
    );
    const { out, err, code } = await stack.tryRun(['apply', '--yes']);
    expect(code).not.toBe(0);
    expect(flat(out + err)).toMatch(
      /refers to the project "one", and 2 projects have this name: "prj-\w+", "prj-\w+"/,
    );
    expect(flat(out + err)).toMatch(/has "prj-\w+", "prj-\w+" as "one": give them different names/);
    expect(bench.wire.writes()).toEqual([]);
  });

  it('keep the declared one out of the plan, and nothing undeclared is removed', async () => {
    const { bench, stack } = await begin();
    await stack.declare(project('one', { description: 'other' }));
    const plan = JSON.parse((await stack.tryRun(['plan', '--format', 'json'])).out);
    expect(actionsOf(plan)).toEqual([]);
    expect(plan.coverage.complete).toBe(false);
    await stack.declare(
      removalRequest('Project', 'one', 'safe'),
      project('two', { description: 'about two' }),
    );
    expect(actionsOf(JSON.parse((await stack.tryRun(['plan', '--format', 'json'])).out))).toEqual([]);
    await stack.tryRun(['apply', '--yes']);
    expect(bench.wire.writes()).toEqual([]);
  });

  it('do not count as a deleted project, if the declared one got the name of the other one', async () => {
    const { bench, stack } = await begin(['one', 'theirs']);
    const planned = async (...documents: object[]) => {
      await stack.declare(...documents, project('two', { description: 'about two' }));
      const plan = JSON.parse((await stack.tryRun(['plan', '--format', 'json'])).out);
      return [...actionsOf(plan), ...plan.guards.map(({ id }: { id: string }) => id)];
    };
    expect(await planned(project('one', { description: 'other' }))).toEqual([]);
    expect(await planned(project('new', { description: 'other' }, { renamedFrom: 'one' }))).toEqual([]);
    await stack.tryRun(['apply', '--yes']);
    expect(bench.wire.writes()).toEqual([]);
  });
});
