/**
 * Health assessments that nobody declares, in a workspace whose project decides the execution mode: an update repeats them, but
 * never to a mode that has none.
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
    await stack.begin(workspace('app', spec));
    const id = await bench.idOf('app');
    const attributes = { 'assessments-enabled': true };
    const { status } = await bench.byHand.patch(`/workspaces/${id}`, {
      data: { type: 'workspaces', attributes },
    });
    expect(status).toBe(200);
  };
  const askings = () => bench.wire.seen.flatMap(({ path }) => asked.exec(path)?.[1] ?? []);
  return { bench, stack, begin, askings };
}

const notKept =
  'health assessments need the execution mode remote: with local, an update does not keep assessmentsEnabled';

describe('Undeclared health assessments, where the execution mode comes to be inherited', () => {
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
  ])('are not repeated to another mode that comes %s, and the plan says it', async (_, before, after) => {
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
    ['the project says remote', { projectId: 'prj-remote' }, ['organizations/acme/projects']],
    [
      'neither says anything but the organization',
      { projectId: 'prj-plain' },
      ['organizations/acme/projects', 'organizations/acme'],
    ],
  ])('are kept where %s', async (_, after, documents) => {
    const { bench, stack, begin, askings } = await openProjects();
    await begin({ executionMode: 'remote', projectId: 'prj-local' });
    await stack.declare(workspace('app', { executionMode: null, ...after }));
    const before = askings().length;
    const { changes } = await stack.plan();
    expect(changes.map(({ notes }) => notes)).toEqual([[]]);
    expect(askings().slice(before)).toEqual(documents);
    await stack.run(['apply', '--yes'], 0);
    expect(await bench.byHand.attributes(await bench.idOf('app'))).toMatchObject({
      'assessments-enabled': true,
      'execution-mode': 'remote',
    });
  });

  it('are not repeated in a mode that the project took on since', async () => {
    const { bench, stack, begin } = await openProjects();
    await begin({ projectId: 'prj-plain' });
    const attributes = { 'default-execution-mode': 'local' };
    await bench.byHand.patch('/projects/prj-plain', { data: { type: 'projects', attributes } });
    await stack.declare(workspace('app', { description: 'as before', projectId: 'prj-plain' }));
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('ask no question while neither the project nor the inheritance changes', async () => {
    const { stack, begin, askings } = await openProjects();
    await begin({ projectId: 'prj-plain' });
    const before = askings().length;
    await stack.declare(workspace('app', { description: 'as before', projectId: 'prj-plain' }));
    expect((await stack.plan()).changes).toHaveLength(1);
    expect(askings().slice(before)).toEqual([]);
  });

  it('are repeated where the project cannot be read: the service has the last word', async () => {
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
  it('are kept where the dialect takes them, by settings and by tags', async () => {
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
    await stack.begin(workspace('app', onAgents));
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
