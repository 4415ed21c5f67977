/**
 * Services that lack parts of the API: the report says once, at the beginning, what is lacking, and nothing is written that the
 * service would drop.
 */
import { describe, expect, it } from 'vitest';
import { openBench } from '../../support/cli/bench.ts';
import { removalRequest, workspace } from '../../support/cli/documents.ts';
import { keepingTagCase, type Lack, lacking } from '../../support/simulation/limited-service.ts';

async function openLimited(missing: readonly Lack[], target: object = {}) {
  const bench = await openBench({
    organization: {
      'agent-pools': [{ name: 'build', id: 'apool-build' }],
      projects: [{ name: 'payments', id: 'prj-1' }],
    },
  });
  bench.wire.setHandler(lacking(...missing));
  const stack = await bench.checkout({ workspaces: target });
  return { bench, stack };
}

const byLedger = { ownership: 'ledger' };

describe('A service without tag bindings', () => {
  it('is refused before the first create, with a fix, if a workspace shows it', async () => {
    const { bench, stack } = await openLimited(['tag-bindings']);
    await bench.byHand.create({ name: 'somebody-elses' });
    await stack.declare(workspace('app'), workspace('web'));
    const { err, out } = await stack.run(['apply', '--yes'], 7);
    const output = (out + err).replace(/\s+/g, ' ');
    expect(output.split('the service has no tag bindings').length, 'once').toBe(2);
    expect(output).toContain('fix: set "ownership: ledger" for the target');
    expect(bench.written()).toEqual([]);
  });

  it('in an empty organization is detected by the first create, and nothing more is created', async () => {
    const { bench, stack } = await openLimited(['tag-bindings']);
    await stack.declare(workspace('app'), workspace('web'), workspace('zoo'));
    const { out } = await stack.run(['apply', '--yes'], 6);
    expect(out.replace(/\s+/g, ' ')).toContain(
      'set "ownership: ledger" for the target, remove declared tags of that target, and apply again',
    );
    expect(bench.written()).toEqual(['POST /api/v2/organizations/acme/workspaces']);
    const again = await stack.reconfigure({ workspaces: byLedger });
    await again.run(['apply', '--yes'], 0);
    expect(bench.written()).toHaveLength(3);
    await again.run(['plan', '--exit-code'], 0);
  });

  it('can be managed by the ledger: own workspaces are updated and deleted, and the report says what is lacking', async () => {
    const { bench, stack } = await openLimited(['tag-bindings'], byLedger);
    await stack.declare(workspace('app'), workspace('web'));
    await stack.run(['apply', '--yes'], 0);
    await stack.declare(workspace('app', { description: 'changed' }));
    const { out } = await stack.run(['plan'], 0);
    expect(out).toMatch(
      /^What acme lacks\n {2}- the service has no tag bindings, so neither tags nor ownership tags\n/,
    );
    expect(out).not.toMatch(/claim +(?!s)/);
    await stack.run(['apply', '--yes'], 0);
    expect(await bench.idsOf('web')).toEqual([]);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('needs an acknowledgement for each adoption, and adopted workspaces are only released', async () => {
    const { bench, stack } = await openLimited(['tag-bindings'], byLedger);
    await bench.byHand.create({ name: 'app' });
    await stack.declare(workspace('app', { description: 'ours' }));
    expect((await stack.run(['apply', '--yes'], 9)).err + (await stack.run(['plan'], 9)).out).toContain(
      'the ledger of this stack has no record of it',
    );
    await stack.declare(workspace('app', { description: 'ours' }, { adopt: true }));
    await stack.run(['apply', '--yes'], 5);
    await stack.applyAcknowledged();
    await stack.run(['plan', '--exit-code'], 0);
    await stack.declare(removalRequest('Workspace', 'app', 'safe'));
    expect((await stack.run(['plan'], 9)).out).toMatch(
      /does not belong to this stack|only released, not removed/,
    );
    await stack.declare(workspace('other'));
    await stack.applyAcknowledged();
    expect(await bench.idsOf('app')).toHaveLength(1);
  });

  it('keeps a workspace whose creator mark somebody removed', async () => {
    const { bench, stack } = await openLimited(['tag-bindings'], byLedger);
    await stack.declare(workspace('app'), workspace('web', { sourceName: 'nobody' }));
    await stack.run(['apply', '--yes'], 0);
    await stack.declare(workspace('app'));
    const { out } = await stack.run(['plan'], 0);
    expect(out).toContain('without the creator mark of this stack: it is kept');
    expect(await bench.idsOf('web')).toHaveLength(1);
  });

  it('makes a plan with declared tags fail, with their line', async () => {
    const { bench, stack } = await openLimited(['tag-bindings'], byLedger);
    await bench.byHand.create({ name: 'somebody-elses' });
    await stack.declare(workspace('app', { tags: { env: 'prod' } }));
    const { out, err } = await stack.run(['apply', '--yes'], 7);
    expect(out + err).toContain('the service has no tag bindings');
    expect(out + err).toMatch(/manifests\/all\.yaml:\d+:\d+/);
    expect(bench.written()).toEqual([]);
  });

  it('makes a second stack refuse a workspace that another one created, until it is adopted', async () => {
    const { bench, stack } = await openLimited(['tag-bindings'], byLedger);
    await stack.declare(workspace('app'));
    await stack.run(['apply', '--yes'], 0);
    const other = await bench.checkout({ name: 'other', workspaces: byLedger });
    await other.declare(workspace('app', { description: 'theirs' }));
    const { out } = await other.run(['plan'], 9);
    expect(out.replace(/\s+/g, ' ')).toContain('has no record of it: stack "payments" created it');
  });
});

describe('A service that ignores the filter by tags', () => {
  it('does not make this stack own or read workspaces of others', async () => {
    const { bench, stack } = await openLimited(['tag-filter']);
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) await bench.byHand.create({ name });
    await stack.declare(workspace('app'));
    await stack.run(['apply', '--yes'], 0);
    bench.wire.reset();
    const { out } = await stack.run(['plan', '--exit-code'], 0);
    expect(out).toContain('the service ignores the filter by tags');
    expect(bench.wire.seen.length).toBeLessThan(9);
  });
});

describe('A service that refuses the filter by tags', () => {
  it('is treated as one without the filter: the report says so, and undeclared workspaces are deleted anyway', async () => {
    const { bench, stack } = await openLimited([]);
    const includeless = lacking('included-tags');
    const refused = {
      status: 400,
      headers: { 'content-type': 'application/vnd.api+json' },
      text: '{"errors":[]}',
    };
    bench.wire.setHandler(async (request, pass) =>
      request.path.includes('filter%5Btagged') ? refused : includeless(request, pass),
    );
    await stack.setUp(workspace('app'), workspace('web'));
    await stack.declare(workspace('app'));
    const { out } = await stack.run(['apply', '--yes'], 0);
    expect(out).toContain('the service ignores the filter by tags');
    expect(await bench.idsOf('web')).toEqual([]);
  });
});

describe('A service without remote state consumers', () => {
  it('does not prevent deletes: the plan says that the readers of the state are unknown', async () => {
    const { bench, stack } = await openLimited(['consumers']);
    await stack.declare(workspace('app'), workspace('web'));
    await stack.run(['apply', '--yes'], 0);
    await stack.declare(workspace('app'));
    const { out } = await stack.run(['apply', '--yes'], 0);
    expect(out).toContain('which workspaces read its state is unknown');
    expect(await bench.idsOf('web')).toEqual([]);
  });

  it('is an error only if consumers are declared, and nothing is shared because of it', async () => {
    const { bench, stack } = await openLimited(['consumers']);
    await stack.setUp(workspace('app'), workspace('web'));
    await stack.declare(workspace('app', { remoteStateConsumers: ['web'] }), workspace('web'));
    const { out, err } = await stack.run(['apply', '--yes'], 7);
    expect(out + err).toContain('the service has no remote state consumers');
    expect(bench.written()).toEqual([]);
    expect(await bench.byHand.attributes(await bench.idOf('app'))).toMatchObject({
      'global-remote-state': false,
    });
  });

  it('is detected before sharing with all workspaces is switched off', async () => {
    const { bench, stack } = await openLimited(['consumers']);
    const names = ['app', 'web', 'zoo'];
    for (const name of names) await bench.byHand.create({ name, 'global-remote-state': true });
    const closed = { globalRemoteState: false, remoteStateConsumers: ['web'] };
    await stack.declare(workspace('app', closed, { adopt: true }), workspace('zoo', closed, { adopt: true }));
    const { out, err } = await stack.run(['apply', '--yes'], 7);
    expect(out + err).toContain('the service has no remote state consumers');
    expect(bench.written()).toEqual([]);
  });
});

describe('A service without a safe delete', () => {
  it('keeps workspaces that are no longer declared, until the target sets "deletes: plain"', async () => {
    const { bench, stack } = await openLimited(['safe-delete']);
    await stack.declare(workspace('app'), workspace('web'));
    await stack.run(['apply', '--yes'], 0);
    await stack.declare(workspace('app'));
    expect((await stack.run(['plan'], 0)).out.replace(/\s+/g, ' ')).toContain(
      'the target does not set "deletes: plain"',
    );
    const plain = await stack.reconfigure({ workspaces: { deletes: 'plain' } });
    bench.wire.reset();
    await plain.run(['apply', '--yes'], 0);
    expect(bench.written()).toEqual(['DELETE /api/v2/workspaces/ws-…']);
    expect(await bench.idsOf('web')).toEqual([]);
  });

  it('keeps a workspace that got resources after the plan', async () => {
    const { bench, stack } = await openLimited(['safe-delete'], { deletes: 'plain' });
    await stack.declare(workspace('app'), workspace('web'));
    await stack.run(['apply', '--yes'], 0);
    await stack.declare(workspace('app'));
    const id = await bench.idOf('web');
    const lacks = lacking('safe-delete');
    let reads = 0;
    bench.wire.setHandler(async (request, pass) => {
      const answer = await lacks(request, pass);
      if (answer === undefined || request.method !== 'GET' || !request.path.includes(`/workspaces/${id}`))
        return answer;
      reads += 1;
      return { ...answer, text: answer.text.replace('"resource-count":0', '"resource-count":4') };
    });
    await stack.run(['apply', '--yes'], 4);
    expect(reads).toBeGreaterThan(0);
    expect(await bench.idsOf('web')).toHaveLength(1);
  });
});

describe('A service that never says that an execution mode is a workspace’s own', () => {
  it('is trusted about the mode itself, with a note, and nothing is sent again', async () => {
    const { bench, stack } = await openLimited(['own-mode', 'pool-relationship']);
    const spec = { executionMode: 'agent', agentPoolId: 'apool-build' };
    await stack.setUp(workspace('app', spec), workspace('web', { executionMode: 'local' }));
    const { out } = await stack.run(['plan', '--exit-code'], 0);
    expect(out.split('does not show whether a workspace inherits its execution mode').length).toBe(2);
    expect(out).not.toContain('Not changed');
    await stack.setUp(workspace('app', spec));
    await bench.byHand.update(await bench.idOf('app'), { 'execution-mode': 'local' });
    const { changes } = await stack.plan();
    expect(changes.map(({ address }) => address)).toEqual(['Workspace/acme/app']);
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
  });
});

describe('A service without projects, automatic destruction and assessments', () => {
  const spec = { autoDestroyAt: '2031-01-01T00:00:00Z', assessmentsEnabled: true, projectId: 'prj-1' };

  it('has them listed as lacking, and each plan warns if they are declared', async () => {
    const { bench, stack } = await openLimited(['hosted-fields']);
    await bench.byHand.create({ name: 'of-others' });
    bench.wire.setHandler(async (request, pass) => {
      const { data } =
        request.text === '' ? {} : (JSON.parse(request.text) as { data?: Record<string, object> });
      if (data === undefined) return lacking('hosted-fields')(request, pass);
      const {
        'assessments-enabled': _,
        'auto-destroy-at': __,
        ...attributes
      } = (data['attributes'] ?? {}) as Record<string, unknown>;
      const { project: ___, ...relationships } = (data['relationships'] ?? {}) as Record<string, unknown>;
      const text = JSON.stringify({ data: { ...data, attributes, relationships } });
      return lacking('hosted-fields')({ ...request, text }, pass);
    });
    await stack.declare(workspace('app', spec), workspace('web', { assessmentsEnabled: false }));
    const { digest } = await stack.plan();
    const applied = await stack.run(['apply', '--approve', digest, '--ack', 'scheduled-destroy'], 0);
    expect(applied.out).not.toContain('nothing is left to do');
    const { out } = await stack.run(['plan', '--exit-code'], 0);
    expect(out).not.toContain('No changes');
    for (const name of Object.keys(spec)) {
      expect(out).toContain(`the service does not have, or does not show, "${name}" of a workspace`);
      expect(out.replace(/\s+/g, ' ')).toContain(`"${name}" of "Workspace/acme/app" has no visible effect`);
    }
    expect(out).not.toContain('"Workspace/acme/web" has no effect');
    expect((await stack.plan()).problems.map(({ code, severity }) => [code, severity])).toEqual(
      Array(3).fill(['field-not-available', 'warning']),
    );
  });
});

describe('A service without projects', () => {
  it('does not schedule destroys by a project: a declared project is a warning, and no guard fires', async () => {
    const { bench, stack } = await openLimited(['hosted-fields', 'projects']);
    await bench.byHand.create({ name: 'of-others' });
    await stack.declare(workspace('app', { projectId: 'prj-1' }));
    const { guards, problems } = await stack.plan();
    expect(guards).toEqual([]);
    expect(problems.map(({ code, severity }) => [code, severity])).toEqual([
      ['field-not-available', 'warning'],
    ]);
  });

  it('is not detected in an empty organization, where the guard fires', async () => {
    const { stack } = await openLimited(['hosted-fields', 'projects']);
    await stack.declare(workspace('app', { projectId: 'prj-1' }));
    expect((await stack.plan()).guards.map(({ id }) => id)).toEqual(['scheduled-destroy']);
  });
});

describe('A service that shows neither who holds a lock nor why', () => {
  it('has our lock removed when it is no longer declared, and keeps locks of others', async () => {
    const { bench, stack } = await openLimited(['lock-facts']);
    await stack.setUp(workspace('app', { lock: { reason: 'frozen' } }), workspace('web'));
    await bench.byHand.post(`/workspaces/${await bench.idOf('web')}/actions/lock`, { reason: 'by hand' });
    await stack.declare(workspace('app'), workspace('web', { lock: null }));
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
    const locks = await Promise.all(
      ['app', 'web'].map(async (name) => (await bench.byHand.attributes(await bench.idOf(name)))['locked']),
    );
    expect(locks).toEqual([false, true]);
  });
});

describe('A service that keeps upper and lower case of flat tags apart', () => {
  it('has them compared and written as they are spelled', async () => {
    const { bench, stack } = await openLimited([]);
    bench.wire.setHandler(keepingTagCase);
    const tagsOf = async (name: string) =>
      (await bench.byHand.attributes(await bench.idOf(name)))['tag-names'];
    await stack.setUp(workspace('app', { tagNames: ['B', 'keep'] }), workspace('web', { tagNames: ['b'] }));
    expect(await tagsOf('app')).toEqual(['upper-b', 'keep']);
    await stack.run(['plan', '--exit-code'], 0);
    await stack.declare(workspace('app', { tagNames: ['keep'] }), workspace('web', { tagNames: ['B'] }));
    const { out } = await stack.run(['plan'], 0);
    expect(out).toMatch(/- +B\b/);
    await stack.run(['apply', '--yes'], 0);
    expect([await tagsOf('app'), await tagsOf('web')]).toEqual([['keep'], ['upper-b']]);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('is treated like one that keeps them in lower case, if no live tag has upper case', async () => {
    const { stack } = await openLimited([]);
    await stack.setUp(workspace('app', { tagNames: ['B', 'keep'] }));
    await stack.run(['plan', '--exit-code'], 0);
    await stack.declare(workspace('app', { tagNames: ['Keep', 'c'] }));
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
  });
});

describe('Null lists, plain 404 answers, small pages and missing rate headers', () => {
  it.each([
    [['full-lists']],
    [['error-documents']],
    [['page-size']],
    [['rate-headers']],
    [['full-lists', 'error-documents', 'page-size', 'rate-headers', 'pool-relationship']],
  ] as const)('do not change the result of an apply: %j', async (missing) => {
    const { bench, stack } = await openLimited(missing);
    for (const name of ['a', 'b', 'c', 'd', 'e']) await bench.byHand.create({ name });
    await stack.declare(
      workspace('app', { tags: { env: 'prod' }, remoteStateConsumers: ['web'], triggerPatterns: [] }),
      workspace('web', { tagNames: [] }),
    );
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
    await stack.declare(workspace('app'), workspace('new'));
    await stack.applyAcknowledged();
    await stack.run(['plan', '--exit-code'], 0);
    expect(await bench.idsOf('web')).toEqual([]);
  });
});
