/**
 * Undeclared health assessments of a workspace whose project decides the execution mode: an update sends them again, but
 * not for a mode without assessments.
 */
import { describe, expect, it } from 'vitest';
import { openBench } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';

const asked = /\/(organizations\/acme(?:\/projects)?)(?:\?|$)/;

async function openProjects() {
  const bench = await openBench({
    organization: {
      projects: [
        { name: 'plain', id: 'prj-plain' },
        { name: 'remote', id: 'prj-remote', 'default-execution-mode': 'remote' },
        { name: 'local', id: 'prj-local', 'default-execution-mode': 'local' },
      ],
    },
  });
  const stack = await bench.checkout();
  /** The first writes of the workspace; assessments are switched on by hand, so that no manifest declares them. */
  const begin = async (spec: object) => {
    await stack.setUp(workspace('app', spec));
    const id = await bench.idOf('app');
    const attributes = { 'assessments-enabled': true };
    const { status } = await bench.byHand.patch(`/workspaces/${id}`, {
      data: { type: 'workspaces', attributes },
    });
    expect(status).toBe(200);
  };
  const defaultReads = () => bench.wire.seen.flatMap(({ path }) => asked.exec(path)?.[1] ?? []);
  return { bench, stack, begin, defaultReads };
}

const notKept =
  'health assessments need the execution mode remote: with local, an update does not keep assessmentsEnabled';

describe('Undeclared health assessments of a workspace that inherits its execution mode', () => {
  it.each([
    ['with the project', { projectId: 'prj-plain' }, { projectId: 'prj-local' }],
    [
      'with the inheritance',
      { executionMode: 'remote', projectId: 'prj-local' },
      { executionMode: null, projectId: 'prj-local' },
    ],
    [
      'when the mode is no longer declared',
      { executionMode: 'remote', projectId: 'prj-local' },
      { projectId: 'prj-local' },
    ],
  ])('are not sent again if another mode comes %s, and the plan says so', async (_, before, after) => {
    const { bench, stack, begin } = await openProjects();
    await begin(before);
    await stack.declare(workspace('app', { description: 'moved', ...after }));
    const { changes } = await stack.plan();
    expect(changes.map(({ notes }) => notes)).toEqual([[notKept]]);
    await stack.run(['apply', '--yes'], 0);
    const sent = bench.wire.writes().map(({ text }) => JSON.parse(text).data.attributes);
    expect(sent.filter((attributes) => 'assessments-enabled' in attributes)).toEqual([]);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it.each([
    ['the project has remote runs', { projectId: 'prj-remote' }, ['organizations/acme/projects']],
    [
      'only the organization has a mode',
      { projectId: 'prj-plain' },
      ['organizations/acme/projects', 'organizations/acme'],
    ],
  ])('are kept if %s', async (_, after, documents) => {
    const { bench, stack, begin, defaultReads } = await openProjects();
    await begin({ executionMode: 'remote', projectId: 'prj-local' });
    await stack.declare(workspace('app', { executionMode: null, ...after }));
    const before = defaultReads().length;
    const { changes } = await stack.plan();
    expect(changes.map(({ notes }) => notes)).toEqual([[]]);
    expect(defaultReads().slice(before)).toEqual(documents);
    await stack.run(['apply', '--yes'], 0);
    expect(await bench.byHand.attributes(await bench.idOf('app'))).toMatchObject({
      'assessments-enabled': true,
      'execution-mode': 'remote',
    });
  });

  it('are not sent again for a new mode of the project', async () => {
    const { bench, stack, begin } = await openProjects();
    await begin({ projectId: 'prj-plain' });
    const attributes = { 'default-execution-mode': 'local' };
    await bench.byHand.patch('/projects/prj-plain', { data: { type: 'projects', attributes } });
    await stack.declare(workspace('app', { description: 'as before', projectId: 'prj-plain' }));
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('need no extra read if neither the project nor the inheritance changes', async () => {
    const { stack, begin, defaultReads } = await openProjects();
    await begin({ projectId: 'prj-plain' });
    const before = defaultReads().length;
    await stack.declare(workspace('app', { description: 'as before', projectId: 'prj-plain' }));
    expect((await stack.plan()).changes).toHaveLength(1);
    expect(defaultReads().slice(before)).toEqual([]);
  });

  it('are sent again if the project cannot be read, and the service decides', async () => {
    const { bench, stack, begin } = await openProjects();
    await begin({ projectId: 'prj-plain' });
    bench.wire.add({ method: 'GET', path: asked, times: 1000, fault: { answer: 403 } });
    await stack.declare(workspace('app', { projectId: 'prj-local' }));
    const { digest } = await stack.plan();
    const { out } = await stack.run(['apply', '--approve', digest, '--ack', 'scheduled-destroy'], 1);
    expect(out).toContain('assessments-enabled needs the execution mode remote');
  });
});

describe('Undeclared health assessments on agents', () => {
  it('are kept if the dialect accepts them, by changes of settings and of tags', async () => {
    const bench = await openBench({
      dialects: ['hcp-terraform'],
      organization: { 'agent-pools': [{ name: 'build', id: 'apool-build' }] },
    });
    const stack = await bench.checkout({ workspaces: { dialect: 'hcp-terraform' } });
    const onAgents = {
      executionMode: 'agent',
      agentPoolId: 'apool-build',
      tags: { env: 'test', team: 'net' },
    };
    await stack.setUp(workspace('app', onAgents));
    const id = await bench.idOf('app');
    await bench.byHand.update(id, { 'assessments-enabled': true });
    for (const change of [{ autoApply: true }, { tags: { env: 'prod' } }]) {
      await stack.declare(workspace('app', { ...onAgents, ...change }));
      const { changes } = await stack.plan();
      expect(changes.flatMap(({ notes }) => notes)).toEqual([]);
      await stack.run(['apply', '--yes'], 0);
      expect(await bench.byHand.attributes(id)).toMatchObject({ 'assessments-enabled': true });
    }
  });
});
