/** Projects in exports, templates, defaults, explanations and the history, and after lost answers or a lost ledger. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { removalRequest, workspace } from '../../support/cli/documents.ts';
import { actionsOf, bothDialects, openProjects, project } from '../../support/cli/projects-scene.ts';

describe.each(bothDialects)('In the dialect %s, an export', (dialect) => {
  it('of workspaces alone needs no right to list projects', async () => {
    const { stack, bench } = await openProjects(dialect);
    bench.wire.add({ method: 'GET', path: /\/acme\/projects\?/, fault: { answer: 403 }, times: 99 });
    await stack.run(['export', '--target', 'acme', '--select', 'Workspace/acme/*'], 0);
    await stack.run(['export', '--target', 'acme', '--kind', 'Workspace'], 0);
    await stack.run(['export', '--target', 'acme', '--kind', 'Project'], 1);
  });

  it('of everything omits projects if the token may not list them, and writes their ids', async () => {
    const { stack, bench } = await openProjects(dialect);
    await bench.byHand.post('/organizations/acme/workspaces', {
      data: {
        type: 'workspaces',
        attributes: { name: 'inside' },
        relationships: { project: { data: { type: 'projects', id: 'prj-theirs' } } },
      },
    });
    bench.wire.add({ method: 'GET', path: /\/acme\/projects\?/, fault: { answer: 403 }, times: 99 });
    const { out, err } = await stack.run(['export', '--target', 'acme'], 0);
    expect(out).toContain('projectId: prj-theirs');
    expect(err).toContain('no Project is exported, as the token may not list them: ');
    expect(err).toContain('ids are written in place of the names of projects: ');
    expect(err).toMatch(/^To export without Project: --kind Workspace .*$/m);
  });

  it('whose list of projects fails in another way is reported as incomplete', async () => {
    const { stack, bench } = await openProjects(dialect);
    bench.wire.add({ method: 'GET', path: /\/acme\/projects\?/, fault: { answer: 401 }, times: 99 });
    const { err } = await stack.run(['export', '--target', 'acme'], 1);
    expect(err).toContain('not everything was read: ');
  });

  it('writes projects before workspaces, with names in place of ids, and its plan only adopts them', async () => {
    const { bench, stack, listed } = await openProjects(dialect, {
      projects: [
        { name: 'theirs', id: 'prj-theirs' },
        {
          name: 'network',
          id: 'prj-network',
          description: 'by hand',
          'default-execution-mode': 'agent',
          'default-agent-pool': 'linux',
          'auto-destroy-activity-duration': '14d',
          'tag-bindings': { team: 'network' },
        },
      ],
      workspaces: [{ name: 'theirs-a', id: 'ws-theirs-a', project: 'network' }],
    });
    const { out } = await stack.run(['export', '--target', 'acme'], 0);
    expect(listed()).toBe(1);
    expect(out).toContain('kind: Project');
    expect(out.indexOf('kind: Project')).toBeLessThan(out.indexOf('kind: Workspace'));
    expect(out).toContain('defaultAgentPool: linux');
    expect(out).toContain('project: network');
    await stack.write('manifests/exported.yaml', out);
    const { changes } = await stack.plan();
    expect(new Set(changes.map(({ action }) => action))).toEqual(new Set(['adopt']));
    expect(changes.flatMap(({ fields }) => fields.map(({ path }) => path))).toEqual(
      changes.filter(({ kind }) => kind !== 'TagBindings').map(() => '/claim'),
    );
    await stack.run(['apply', '--yes'], 0);
    expect((await stack.plan()).changes).toEqual([]);
    const again = await stack.run(['export', '--target', 'acme', '--all'], 0);
    expect(again.out).not.toContain('trueup-project');
    expect(bench.written()).not.toEqual([]);
  });
});

describe('Projects', () => {
  it('come from templates and defaults, and each value is explained', async () => {
    const { stack, names, find } = await openProjects(
      undefined,
      {},
      { spec: { defaults: { Project: { description: 'from the stack', tags: { managed: 'yes' } } } } },
    );
    await stack.declare(
      project(
        '${each.key}',
        { tags: { team: '${each.value.team}' } },
        { each: { one: { team: 'red' }, two: { team: 'blue' } } },
      ),
      workspace('app-${each.key}', { project: '${each.key}' }, { each: ['one', 'two'] }),
    );
    await stack.run(['apply', '--yes'], 0);
    expect(await names()).toEqual(expect.arrayContaining(['one', 'two']));
    expect((await find('two'))?.attributes['description']).toBe('from the stack');
    expect((await stack.plan()).changes).toEqual([]);
    const { out } = await stack.run(['explain', 'Project/acme/two'], 0);
    expect(out).toContain('"blue"');
    expect(out).toContain('defaults of the stack');
    const { out: history } = await stack.run(
      ['history', 'show', 'latest', '--resource', 'Project/acme/two'],
      0,
    );
    expect(history).toContain('create  Project/acme/two');
  });

  it('are recovered after the ledger was lost, and then only released', async () => {
    const { stack } = await openProjects();
    await stack.setUp(project('payments', { tags: { team: 'payments' } }));
    await stack.loseLedger();
    await stack.run(['recover', '--yes'], 0);
    expect((await stack.plan()).changes).toEqual([]);
    await stack.declare(workspace('other'));
    expect(actionsOf(await stack.plan())).toContain('release Project/acme/payments');
  });

  it('with "protect" are kept when their document is removed', async () => {
    const { stack, tagsOfProject } = await openProjects();
    await stack.setUp(project('payments', {}, { protect: true }));
    expect(await tagsOfProject('payments')).toEqual({ 'trueup-project': 'payments:protect' });
    await stack.declare(workspace('other'));
    expect(actionsOf(await stack.plan())).toEqual(['create Workspace/acme/other']);
  });
});

describe.each(bothDialects)('In the dialect %s, the creation of a project', (dialect) => {
  it('whose answer was lost is found by its name, and the project counts as created', async () => {
    const { bench, stack, written } = await openProjects(dialect);
    bench.wire.add({ method: 'POST', path: /\/projects$/, fault: { drop: 'after' } });
    await stack.declare(project('payments'), workspace('app', { project: 'payments' }));
    await stack.run(['apply', '--yes'], 0);
    expect(written()).toEqual(['POST /organizations/acme/projects', 'POST /organizations/acme/workspaces']);
    expect((await stack.ledger()).records['Project/acme/payments']?.origin).toBe('created');
  });

  it('that was interrupted before it was recorded continues with the same approval', async () => {
    const { bench, stack, projectNameOf } = await openProjects(dialect);
    await stack.declare(project('payments'), workspace('app', { project: 'payments' }));
    await stack.run(['plan', '--out', 'plan.json'], 0);
    const { digest } = await stack.plan();
    // After its own plan has read the list, this apply cannot read the project any more.
    bench.wire.add(
      { method: 'POST', path: /\/projects$/, fault: { drop: 'after' } },
      { method: 'GET', path: /projects\?include/, fault: { first: async () => {} } },
      { method: 'GET', path: /\/acme\/projects\?/, fault: { answer: 403 }, times: 1000 },
    );
    const { code } = await stack.tryRun(['apply', 'plan.json', '--approve', digest]);
    expect(code).not.toBe(0);
    expect(Object.keys((await stack.ledger()).records)).toEqual([]);
    bench.wire.reset();
    await stack.run(['apply', 'plan.json', '--approve', digest], 0);
    expect(await projectNameOf('app')).toBe('payments');
    expect((await stack.ledger()).records['Project/acme/payments']?.origin).toBe('created');
  });
});

describe('A write of the tags of a project', () => {
  it('keeps the tag of another owner there, and is not sent if others changed them since the plan', async () => {
    const { bench, stack, tagsOfProject, idOfProject } = await openProjects();
    await stack.setUp(project('payments', { tags: { team: 'payments' } }));
    const id = await idOfProject('payments');
    const bind = (key: string, value: string) =>
      bench.byHand.patch(`/projects/${id}/tag-bindings`, {
        data: [{ type: 'tag-bindings', attributes: { key, value } }],
      });
    await bind('trueup-stack', 'other');
    await stack.declare(project('payments', { tags: { team: 'money' } }));
    await stack.run(['apply', '--yes'], 0);
    expect(await tagsOfProject('payments')).toEqual({
      team: 'money',
      'trueup-stack': 'other',
      'trueup-project': 'payments',
    });
    await stack.declare(project('payments', { tags: { team: 'payments' } }));
    const { digest } = await stack.plan();
    bench.wire.add({
      method: 'GET',
      path: new RegExp(`/projects/${id}$`),
      fault: { first: () => bind('trueup-stack', 'another') },
    });
    await stack.run(['apply', '--approve', digest], 4);
    expect(await tagsOfProject('payments')).toMatchObject({ team: 'money', 'trueup-stack': 'another' });
  });

  it('is refused if there would be more tags than the service allows', async () => {
    const { stack } = await openProjects();
    const tags = Object.fromEntries([...'abcdefghij'].map((key) => [key, '1']));
    await stack.declare(project('payments', { tags }));
    const { out, err } = await stack.run(['plan'], 7);
    expect(`${out}${err}`).toContain('a project can have 10 tag bindings');
  });
});

describe('A removal request of a project', () => {
  it('in a part ignores deletions that are not in the part', async () => {
    const { stack, written, bench } = await openProjects();
    await stack.setUp(project('payments'), workspace('app', { project: 'payments' }), project('money'));
    await stack.declare(
      removalRequest('Project', 'payments', 'safe'),
      workspace('app', { project: 'money' }),
      project('money'),
    );
    bench.wire.reset();
    const { out } = await stack.run(['plan', '--select', 'Project/acme/payments'], 0);
    expect(out.replace(/\s+/g, ' ')).toContain('kept: it is not empty: "Workspace/acme/app"');
    await stack.run(['apply', '--select', 'Project/acme/payments', '--yes'], 0);
    expect(written()).toEqual([]);
    expect(actionsOf(await stack.plan())).toEqual([
      'update Workspace/acme/app',
      'delete Project/acme/payments',
    ]);
  });

  it('does not delete a project with workspaces that the token does not see', async () => {
    const { bench, stack, written } = await openProjects();
    await stack.setUp(project('payments'), project('stays'));
    const withHidden = (body: unknown) => {
      const { data } = body as { data: { attributes: Record<string, unknown> }[] };
      for (const { attributes } of data) attributes['workspace-count'] = 2;
      return body;
    };
    bench.wire.add({
      method: 'GET',
      path: /\/acme\/projects\?/,
      fault: { rewrite: withHidden },
      times: 1000,
    });
    await stack.declare(project('stays'));
    const { out } = await stack.run(['plan'], 0);
    expect(out.replace(/\s+/g, ' ')).toContain('2 workspaces in it cannot be seen by this token');
    await stack.run(['apply', '--yes'], 0);
    await stack.declare(removalRequest('Project', 'payments', 'force'), project('stays'));
    expect((await stack.plan()).changes).toEqual([]);
    await stack.run(['apply', '--yes'], 0);
    expect(written()).toEqual([]);
    await stack.declare(project('payments', { autoDestroyActivityDuration: '1d' }), project('stays'));
    expect((await stack.plan()).guards[0]?.concerns[0]?.says[0]).toContain(
      '2 workspaces in it that this token does not see',
    );
  });
});

it('Accept writes values of a project into its manifest, also the pool by its name', async () => {
  const { stack, change, idOfProject } = await openProjects();
  await stack.setUp(project('payments', { defaultExecutionMode: 'agent', defaultAgentPool: 'linux' }));
  await change(await idOfProject('payments'), {
    'default-execution-mode': 'agent',
    'default-agent-pool-id': 'apool-windows',
  });
  await stack.run(['accept', 'Project/acme/payments', '--yes'], 0);
  expect(await readFile(join(stack.directory, 'manifests', 'all.yaml'), 'utf8')).toContain('windows');
  expect((await stack.plan()).changes).toEqual([]);
});
