/**
 * A service that reports every execution mode as inherited: a mode that differs from the default of its project or organization
 * is the workspace's own, and a reset that the service ignores is a failure.
 */
import { describe, expect, it } from 'vitest';
import { type BenchOptions, openBench } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import { type Lack, lacking } from '../../support/simulation/limited-service.ts';

const pools = [
  { name: 'build', id: 'apool-build' },
  { name: 'private', id: 'apool-private' },
];

async function openService(
  more: readonly Lack[] = [],
  organization: Partial<BenchOptions['organization']> = {},
) {
  const bench = await openBench({ organization: { 'agent-pools': pools, ...organization } });
  bench.wire.setHandler(lacking('own-mode', 'pool-relationship', ...more));
  return { bench, stack: await bench.checkout() };
}

const oneLine = (text: string) => text.replace(/\s+/g, ' ');

describe('On a service that reports every execution mode as inherited', () => {
  it('a mode that somebody set is drift from "executionMode: null", and is reset', async () => {
    const { bench, stack } = await openService();
    await stack.setUp(workspace('app', { executionMode: null }));
    await bench.byHand.update(await bench.idOf('app'), { 'execution-mode': 'local' });
    const drifted = (await stack.run(['drift'], 3)).out;
    expect(drifted).toMatch(/executionMode +.*local/);
    expect(drifted, 'advice for a trail that is not there').not.toContain('auditToken');
    const { changes } = await stack.plan();
    expect(changes.flatMap(({ fields }) => fields.map(({ path, before }) => [path, before]))).toEqual([
      ['/executionMode', 'local'],
    ]);
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
    expect(await bench.byHand.attributes(await bench.idOf('app'))).toMatchObject({
      'execution-mode': 'remote',
      'setting-overwrites': { 'execution-mode': false, 'agent-pool': false },
    });
  });

  it('an undeclared mode that somebody changed is reported by drift --unmanaged', async () => {
    const { bench, stack } = await openService();
    await stack.setUp(workspace('app'), workspace('web'));
    await bench.byHand.update(await bench.idOf('app'), { 'execution-mode': 'local' });
    expect(oneLine((await stack.run(['drift', '--unmanaged'], 3)).out)).toMatch(
      /Workspace\/acme\/app.*executionMode.*local/,
    );
  });

  it.each([
    ['dropped', {}],
    ['null', { executionMode: null }],
  ])('a reset (%s) that the service ignores is a failure, and planned again', async (_, spec) => {
    const { bench, stack } = await openService(['mode-resets']);
    await stack.setUp(workspace('app', { executionMode: 'local', autoApply: true }));
    await stack.declare(workspace('app', { ...spec, autoApply: true }));
    const { out } = await stack.run(['apply', '--yes'], 6);
    expect(oneLine(out)).toContain('executionMode: the service did not reset it and returned the old value');
    expect(out).toMatch(/1 failed/);
    expect(out).not.toContain('nothing is left to do');
    expect(await bench.byHand.attributes(await bench.idOf('app'))).toMatchObject({
      'execution-mode': 'local',
    });
    const { changes } = await stack.plan();
    expect(changes.flatMap(({ fields }) => fields.map(({ path }) => path))).toEqual(['/executionMode']);
  });

  it('without readable defaults the plan says that it is unknown if the mode is inherited, and verifies a reset', async () => {
    const { stack } = await openService(['mode-resets', 'projects']);
    await stack.setUp(workspace('app', { executionMode: 'local' }));
    await stack.declare(workspace('app', { executionMode: null }));
    const planned = oneLine((await stack.run(['plan'], 0)).out);
    expect(planned).toContain(
      'of "app" as inherited, but the defaults of its project or organization could not be read',
    );
    expect(planned).toContain('is unknown');
    expect((await stack.run(['apply', '--yes'], 6)).out).toMatch(/1 failed/);
    await stack.run(['plan', '--exit-code'], 2);
  });

  it.each([[[]], [['projects']]] as const)(
    'an export writes the mode and the agent pool, so that a recreated workspace keeps its agents: %j',
    async (more) => {
      const { bench, stack } = await openService(more);
      await bench.byHand.create({ name: 'app', 'execution-mode': 'agent', 'agent-pool-id': 'apool-private' });
      const { out } = await stack.run(['export', '--out', '-'], 0);
      expect(out).toContain('executionMode: agent');
      expect(out).toContain('agentPool: private');
      await stack.write('manifests/all.yaml', out);
      await stack.applyAcknowledged();
      await stack.run(['plan', '--exit-code'], 0);
    },
  );

  it('an agent pool that differs from the default is the workspace’s own', async () => {
    const { bench, stack } = await openService([], {
      'default-execution-mode': 'agent',
      'default-agent-pool': 'build',
    });
    await bench.byHand.create({ name: 'app', 'execution-mode': 'agent', 'agent-pool-id': 'apool-private' });
    await bench.byHand.create({ name: 'web' });
    const { out } = await stack.run(['export', '--out', '-'], 0);
    expect(out.match(/agentPool: .*/g)).toEqual(['agentPool: private']);
  });

  it('the defaults of several projects, pools included, are read in one list', async () => {
    const agents = { 'default-execution-mode': 'agent', 'default-agent-pool': 'build' } as const;
    const { bench, stack } = await openService([], {
      projects: [
        { name: 'agents', id: 'prj-agents', ...agents },
        { name: 'local', id: 'prj-local', 'default-execution-mode': 'local' },
        { name: 'plain', id: 'prj-plain' },
      ],
    });
    const create = (name: string, project: string, attributes: object = {}) =>
      bench.byHand.create({ name, ...attributes }, { project: { data: { type: 'projects', id: project } } });
    const pool = (id: string) => ({ 'execution-mode': 'agent', 'agent-pool-id': id });
    await create('as-agents', 'prj-agents');
    await create('own-pool', 'prj-agents', pool('apool-private'));
    await create('as-local', 'prj-local');
    await create('own-mode', 'prj-plain', { 'execution-mode': 'local' });
    bench.wire.reset();
    const { out } = await stack.run(['export', '--out', '-'], 0);
    const own = out.split('---').flatMap((text) => {
      const [, name = ''] = /name: (\S+)/.exec(text) ?? [];
      const found = text.match(/(?:executionMode|agentPool): .*/g);
      return found === null ? [] : [[name, ...found]];
    });
    expect(own).toEqual([
      ['own-mode', 'executionMode: local'],
      ['own-pool', 'executionMode: agent', 'agentPool: private'],
    ]);
    const asked = bench.wire.seen.map(({ path }) => path.replace(/\?.*/, ''));
    expect(asked.filter((path) => path.includes('/projects'))).toEqual([
      '/api/v2/organizations/acme/projects',
    ]);
  });

  it('an accepted mode is written into the manifest, with its pool', async () => {
    const { bench, stack } = await openService();
    await stack.setUp(workspace('app', { executionMode: null, autoApply: true }));
    await bench.byHand.update(await bench.idOf('app'), {
      'execution-mode': 'agent',
      'agent-pool-id': 'apool-private',
    });
    await stack.run(['accept', '--all', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
  });
});

describe('On a service that reports whether a mode is inherited', () => {
  it('a reset to a default that is the same mode succeeds', async () => {
    const bench = await openBench({ organization: { 'default-execution-mode': 'local' } });
    const stack = await bench.checkout();
    await stack.setUp(workspace('app', { executionMode: 'local' }));
    await stack.declare(workspace('app'));
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
  });
});
