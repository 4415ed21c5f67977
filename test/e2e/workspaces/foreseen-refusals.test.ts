/** Requests that the service would certainly refuse are refused before anything is sent, with a fix. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type BenchOptions, openBench } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';

const flat = (text: string) => text.replace(/\s+/g, ' ');

const dialects = ['neutral', 'hcp-terraform'];

async function openStack(dialect = 'neutral', organization: Partial<BenchOptions['organization']> = {}) {
  const bench = await openBench({ dialects: [dialect], organization });
  return { bench, stack: await bench.checkout({ workspaces: { dialect } }) };
}

describe('Validate and plan refuse', () => {
  const onAgents = { executionMode: 'agent', agentPoolId: 'apool-1', assessmentsEnabled: true };

  it.each([
    ['local runs with health assessments', 'neutral', { executionMode: 'local', assessmentsEnabled: true }],
    [
      'local runs with health assessments',
      'hcp-terraform',
      { executionMode: 'local', assessmentsEnabled: true },
    ],
    [
      'the deprecated name of local runs with health assessments',
      'neutral',
      { operations: false, assessmentsEnabled: true },
    ],
    ['agents with health assessments', 'neutral', onAgents],
  ])('%s, in the dialect %s', async (_, dialect, spec) => {
    const { bench, stack } = await openStack(dialect);
    await stack.declare(workspace('app', spec));
    expect(flat((await stack.run(['validate'], 7)).err)).toContain('needs remote runs');
    await stack.run(['plan'], 7);
    expect(bench.wire.seen).toEqual([]);
  });

  it('an absolute working directory, in the dialect neutral', async () => {
    const { bench, stack } = await openStack();
    await stack.declare(workspace('app', { workingDirectory: '/envs' }));
    expect(flat((await stack.run(['validate'], 7)).err)).toContain('is an absolute path');
    await stack.run(['plan'], 7);
    expect(bench.wire.seen).toEqual([]);
  });

  it('no health assessments on agents if the dialect accepts them', async () => {
    const { stack } = await openStack('hcp-terraform');
    await stack.declare(workspace('app', onAgents));
    await stack.run(['validate'], 0);
  });

  it('no absolute working directory if the dialect accepts it', async () => {
    const { stack } = await openStack('hcp-terraform');
    await stack.declare(workspace('app', { workingDirectory: '/envs' }));
    await stack.run(['validate'], 0);
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it.each(dialects)('"remove: true", and name the two allowed words, in the dialect %s', async (dialect) => {
    const { stack } = await openStack(dialect);
    await stack.declare({ ...workspace('app'), metadata: { name: 'app', remove: true }, spec: undefined });
    const { err } = await stack.run(['validate'], 7);
    expect(err).toContain('fix: write "safe" or "force"');
    expect(err).not.toContain('quotes');
  });

  it.each([
    [
      'a swap of two names',
      [
        ['a', 'b'],
        ['b', 'a'],
      ],
    ],
    [
      'a cycle of three names',
      [
        ['a', 'b'],
        ['b', 'c'],
        ['c', 'a'],
      ],
    ],
  ])('%s, and suggest a third name', async (_, renames) => {
    const { bench, stack } = await openStack();
    await stack.declare(...renames.map(([name]) => workspace(name ?? '')));
    await stack.run(['apply', '--yes'], 0);
    const before = bench.written().length;
    await stack.declare(...renames.map(([name = '', renamedFrom]) => workspace(name, {}, { renamedFrom })));
    const { err } = await stack.run(['validate'], 7);
    expect(flat(err)).toContain('rename in two applies, over a third name');
    await stack.run(['apply', '--yes'], 7);
    expect(bench.written()).toHaveLength(before);
  });
});

describe('A changed repository', () => {
  it('is named among the risks of the plan', async () => {
    const { stack } = await openStack();
    const repository = (identifier: string) => ({ vcsRepo: { identifier, oauthTokenId: 'ot-git' } });
    await stack.declare(workspace('app', repository('acme/network')));
    await stack.run(['apply', '--yes'], 0);
    await stack.declare(workspace('app', repository('mallory/network')));
    const { changes, guards } = await stack.plan();
    expect(changes.flatMap(({ risks = [] }) => risks.map(({ effect, says }) => [effect, says]))).toEqual([
      ['widens', 'runs execute what the repository "mallory/network" holds instead of "acme/network"'],
    ]);
    expect(guards.map(({ id, effect }) => [id, effect])).toEqual([['widening', 'warns']]);
  });
});

const retained = workspace('app', { dataRetentionPolicy: { deleteOlderThanNDays: 30 } });

describe.each(dialects)('In the dialect %s, plan refuses health assessments', (dialect) => {
  const projects = [
    { name: 'local', id: 'prj-local', 'default-execution-mode': 'local' },
    { name: 'remote', id: 'prj-remote', 'default-execution-mode': 'remote' },
  ] as const;
  const assessed = (spec: object) => workspace('app', { assessmentsEnabled: true, ...spec });
  const needsRemoteRuns = '"assessmentsEnabled: true" needs remote runs, and the execution mode is local';

  it.each([
    ['that has local runs', { 'execution-mode': 'local' }, {}],
    ['that inherits them', {}, { projectId: 'prj-local' }],
    [
      'that will inherit them',
      { 'execution-mode': 'remote' },
      { projectId: 'prj-local', executionMode: null },
    ],
  ])('of a workspace %s', async (_, byHand, spec) => {
    const { bench, stack } = await openStack(dialect, { projects });
    await bench.byHand.created({ name: 'app', ...byHand });
    await stack.declare({ ...assessed(spec), metadata: { name: 'app', adopt: true } });
    await stack.run(['validate'], 0);
    const { out, err } = await stack.run(['plan'], 7);
    expect(flat(out + err)).toContain(needsRemoteRuns);
    await stack.run(['apply', '--yes'], 7);
    expect(bench.written()).toEqual([]);
  });

  it('of a new workspace whose project or organization has local runs', async () => {
    const { bench, stack } = await openStack(dialect, { projects, 'default-execution-mode': 'local' });
    await bench.byHand.created({ name: 'other' });
    for (const spec of [{ projectId: 'prj-local' }, {}]) {
      await stack.declare(assessed(spec));
      expect(flat((await stack.run(['plan'], 7)).out)).toContain(needsRemoteRuns);
    }
    await stack.declare(assessed({ projectId: 'prj-remote' }));
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('but not if the organization enforces them', async () => {
    const { bench, stack } = await openStack(dialect, {
      'default-execution-mode': 'local',
      'assessments-enforced': true,
    });
    await bench.byHand.created({ name: 'other' });
    await stack.declare(assessed({}));
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
  });
});

describe('Patterns beside file triggers that are off', () => {
  const idle = { triggerPatterns: ['/infra/**'], fileTriggersEnabled: false };

  it('are refused by plan in the dialect "hcp-terraform", whose service refuses a request with both', async () => {
    const { bench, stack } = await openStack('hcp-terraform');
    await stack.declare(workspace('app', idle));
    const { out, err } = await stack.run(['plan'], 7);
    expect(flat(out + err)).toContain('fix: remove one of the two: patterns have no effect');
    await stack.run(['apply', '--yes'], 7);
    expect(bench.written()).toEqual([]);
  });

  it('are accepted if only one of the two changes', async () => {
    const { stack } = await openStack('hcp-terraform');
    await stack.setUp(workspace('app', { triggerPatterns: idle.triggerPatterns }));
    await stack.declare(workspace('app', idle));
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
  });
});

describe('A data retention policy', () => {
  it('is refused by validate if the host is known to be the hosted edition', async () => {
    const bench = await openBench();
    const stack = await bench.checkout({
      workspaces: { dialect: 'hcp-terraform', url: 'https://app.terraform.io' },
    });
    await stack.declare(retained);
    const { err } = await stack.run(['validate'], 7);
    expect(flat(err)).toContain('"dataRetentionPolicy" needs the self-hosted edition');
    expect(flat(err)).toContain('fix: remove "dataRetentionPolicy"');
  });

  it('is refused by plan if the answers of the service name the hosted edition', async () => {
    const bench = await openBench({ dialects: ['hcp-terraform'], edition: 'hosted' });
    const stack = await bench.checkout({ workspaces: { dialect: 'hcp-terraform' } });
    await stack.declare(retained);
    await stack.run(['validate'], 0);
    const { out, err } = await stack.run(['plan'], 7);
    expect(flat(out + err)).toContain('"dataRetentionPolicy" needs the self-hosted edition');
    await stack.run(['apply', '--yes'], 7);
    await bench.byHand.create({ name: 'app' });
    await stack.declare(workspace('app', { dataRetentionPolicy: { dontDelete: true } }, { adopt: true }));
    await stack.run(['apply', '--yes'], 7);
    expect(bench.written()).toEqual([]);
    await stack.declare(workspace('web', { dataRetentionPolicy: null }));
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('is applied if the service is the self-hosted edition', async () => {
    const bench = await openBench({ dialects: ['hcp-terraform'], edition: 'self-hosted' });
    const stack = await bench.checkout({ workspaces: { dialect: 'hcp-terraform' } });
    await stack.setUp(retained);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('that a service refuses without naming its edition fails with a fix', async () => {
    const bench = await openBench({ dialects: ['neutral'], edition: 'hosted' });
    const stack = await bench.checkout({ workspaces: { dialect: 'neutral' } });
    await stack.declare(retained);
    const { out } = await stack.run(['apply', '--yes'], 6);
    expect(flat(out)).toContain('if this is one, remove "dataRetentionPolicy"');
  });
});

describe.each(['neutral', 'hcp-terraform'])('In the dialect %s, an agent pool', (dialect) => {
  const onAgents = (agentPoolId: string) => workspace('app', { executionMode: 'agent', agentPoolId });

  async function openPools() {
    const bench = await openBench({
      dialects: [dialect],
      organization: { 'agent-pools': [{ name: 'build', id: 'apool-build' }] },
    });
    return { bench, stack: await bench.checkout({ workspaces: { dialect } }) };
  }
  const listed = ({ path }: { readonly path: string }) => path.includes('/agent-pools');

  it('that the organization does not have is refused by plan', async () => {
    const { bench, stack } = await openPools();
    await stack.declare(onAgents('apool-foreign'));
    const { out, err } = await stack.run(['plan'], 7);
    expect(flat(out + err)).toContain('the organization "acme" has no agent pool "apool-foreign"');
    await stack.run(['apply', '--yes'], 7);
    expect(bench.written()).toEqual([]);
  });

  it('is looked up in one list, and only if the plan sets one', async () => {
    const { bench, stack } = await openPools();
    await stack.declare(workspace('app'), workspace('web'));
    await stack.run(['plan'], 0);
    expect(bench.wire.seen.filter(listed)).toEqual([]);
    await stack.declare(onAgents('apool-build'), { ...onAgents('apool-build'), metadata: { name: 'web' } });
    await stack.run(['plan'], 0);
    expect(bench.wire.seen.filter(listed)).toHaveLength(1);
    await stack.run(['apply', '--yes'], 0);
    bench.wire.reset();
    await stack.run(['plan', '--exit-code'], 0);
    expect(bench.wire.seen.filter(listed)).toEqual([]);
  });

  it('is not refused if the list cannot be read', async () => {
    const { bench, stack } = await openPools();
    const text = '{"errors":[{"status":"404","title":"not found"}]}';
    const headers = { 'content-type': 'application/vnd.api+json' };
    bench.wire.setHandler(async (request, pass) =>
      request.path.includes('/agent-pools') ? { status: 404, headers, text } : pass(),
    );
    await stack.setUp(onAgents('apool-build'));
    await stack.run(['plan', '--exit-code'], 0);
  });
});

describe.each(dialects)('In the dialect %s, an engine version', (dialect) => {
  it.each(['v1.9.8', '1.9.x', 'newest', '=> 1.9', '1.9.0 - 1.10.0'])(
    '%s is refused by validate: it is neither a version nor a constraint',
    async (engineVersion) => {
      const { bench, stack } = await openStack(dialect);
      await stack.declare(workspace('app', { engineVersion }));
      expect(flat((await stack.run(['validate'], 7)).err)).toContain(
        'is neither a version nor a version constraint',
      );
      await stack.run(['plan'], 7);
      expect(bench.wire.seen).toEqual([]);
    },
  );

  it.each(['1.9.8', '99.0.0', '1.10.0-beta1', '~> 1.9.0', '>= 1.2, < 2.0', '!=1.3.0', 'latest'])(
    '%s is accepted by validate and plan',
    async (engineVersion) => {
      const { stack } = await openStack(dialect);
      await stack.declare(workspace('app', { engineVersion }));
      await stack.run(['validate'], 0);
      await stack.run(['plan'], 0);
    },
  );
});

describe('structuredRunOutputEnabled', () => {
  it('is a field of the dialect "hcp-terraform": applied, seen as drift, accepted and exported', async () => {
    const { bench, stack } = await openStack('hcp-terraform');
    await stack.setUp(workspace('app', { structuredRunOutputEnabled: false }));
    const id = await bench.idOf('app');
    expect(await bench.byHand.attributes(id)).toMatchObject({ 'structured-run-output-enabled': false });
    await bench.byHand.update(id, { 'structured-run-output-enabled': true });
    expect(flat((await stack.run(['drift'], 3)).out)).toContain('structuredRunOutputEnabled false -> true');
    await stack.run(['accept', '--all', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
    await bench.byHand.create({ name: 'other', 'structured-run-output-enabled': false });
    expect((await stack.run(['export', '--out', '-'], 0)).out).toContain('structuredRunOutputEnabled: false');
  });

  it('is refused in the dialect "neutral", also in the defaults of a stack', async () => {
    const { bench, stack } = await openStack();
    await stack.declare(workspace('app', { structuredRunOutputEnabled: true }));
    const message = '"structuredRunOutputEnabled" is not a field of the dialect "neutral"';
    const { err } = await stack.run(['validate'], 7);
    expect(err).toContain('error[not-in-dialect]');
    expect(flat(err)).toContain(message);
    await stack.run(['apply', '--yes'], 7);
    const withDefaults = await stack.reconfigure({
      spec: { defaults: { Workspace: { structuredRunOutputEnabled: false } } },
    });
    await withDefaults.declare(workspace('app'));
    expect(flat((await withDefaults.run(['validate'], 7)).err)).toContain(message);
    expect(bench.wire.seen).toEqual([]);
  });

  it('is in no export, drift or manifest of the dialect "neutral", although the service returns it', async () => {
    const { bench, stack } = await openStack();
    await stack.setUp(workspace('app', { autoApply: true }));
    await bench.byHand.update(await bench.idOf('app'), { 'structured-run-output-enabled': false });
    await stack.run(['drift', '--unmanaged'], 0);
    await bench.byHand.update(await bench.idOf('app'), { 'auto-apply': false });
    await stack.run(['accept', '--all', '--yes'], 0);
    await bench.byHand.create({ name: 'other', 'structured-run-output-enabled': false });
    const manifest = await readFile(join(stack.directory, 'manifests/all.yaml'), 'utf8');
    const { out } = await stack.run(['export', '--out', '-'], 0);
    expect(out).toContain('name: other');
    expect(manifest + out + JSON.stringify(await stack.ledger())).not.toMatch(/structured/i);
    await stack.run(['plan', '--exit-code'], 0);
  });
});
