/** A workspace refers by name to a project that the same plan creates, renames or deletes. */
import { describe, expect, it } from 'vitest';
import { tagBindings, workspace } from '../../support/cli/documents.ts';
import { actionsOf, bothDialects, openProjects, project } from '../../support/cli/projects-scene.ts';

describe.each(bothDialects)(
  'In the dialect %s, a workspace of a project that the same plan creates',
  (dialect) => {
    it('is planned with the address of the project, created after it, and recorded with its id', async () => {
      const { bench, stack, projectNameOf, idOfProject, written, listed } = await openProjects(dialect);
      await stack.declare(
        workspace('app', { project: 'payments', tags: { env: 'prod' } }),
        project('payments', { tags: { team: 'payments' } }),
      );
      const plan = await stack.plan();
      expect(actionsOf(plan)).toEqual([
        'create Project/acme/payments',
        'create Workspace/acme/app',
        'create TagBindings/acme/app',
      ]);
      expect(listed()).toBe(1);
      expect(plan.changes[1]?.fields).toContainEqual(
        expect.objectContaining({
          path: '/projectId',
          after: 'Project/acme/payments',
          names: [{ at: '', after: 'payments' }],
        }),
      );
      const { out } = await stack.run(['plan'], 0);
      expect(out).toContain('payments (Project/acme/payments)');
      let recorded: Awaited<ReturnType<typeof stack.ledger>> | undefined;
      const readLedger = async () => {
        recorded = await stack.ledger().catch(() => undefined);
      };
      // Each list is read by the plan of the apply, and by the one that verifies it.
      bench.wire.add({
        method: 'GET',
        path: /\/acme\/workspaces\?/,
        fault: { first: readLedger },
        times: 10,
      });
      const done = await stack.run(['apply', '--approve', plan.digest], 0);
      expect(done.out).not.toContain('answered');
      expect(recorded?.records['Workspace/acme/app']?.fields).toMatchObject({
        projectId: await idOfProject('payments'),
      });
      expect(written()).toEqual(['POST /organizations/acme/projects', 'POST /organizations/acme/workspaces']);
      expect(await projectNameOf('app')).toBe('payments');
      const id = await idOfProject('payments');
      expect((await stack.ledger()).records['Workspace/acme/app']).toMatchObject({
        fields: { projectId: id },
        names: { projectId: { name: 'payments', id } },
      });
      const after = await stack.plan();
      expect([after.changes, after.guards]).toEqual([[], []]);
    });

    it('is moved there from another project', async () => {
      const { stack, projectNameOf } = await openProjects(dialect);
      await stack.setUp(workspace('app', { project: 'network', description: 'one' }));
      await stack.declare(workspace('app', { project: 'payments', description: 'two' }), project('payments'));
      const { digest, changes } = await stack.plan();
      expect(changes[1]?.fields).toContainEqual(
        expect.objectContaining({
          path: '/projectId',
          before: 'prj-network',
          after: 'Project/acme/payments',
        }),
      );
      await stack.run(['apply', '--approve', digest], 0);
      expect(await projectNameOf('app')).toBe('payments');
      expect((await stack.plan()).changes).toEqual([]);
    });

    it('is not created if the project fails, and the same approval covers both later', async () => {
      const { bench, stack, projectNameOf, names } = await openProjects(dialect);
      await stack.declare(workspace('app', { project: 'payments' }), project('payments'));
      const { digest } = await stack.plan();
      bench.wire.add({ method: 'POST', path: /\/projects$/, fault: { answer: 422 } });
      const { out, err } = await stack.run(['apply', '--approve', digest], 1);
      expect(`${out}${err}`).toContain('depends on Project/acme/payments#create, which did not succeed');
      expect(await names()).not.toContain('payments');
      bench.wire.reset();
      await stack.run(['apply', '--approve', digest], 0);
      expect(await projectNameOf('app')).toBe('payments');
    });

    it('is created by a rerun of the same approval after the apply created only the project', async () => {
      const { bench, stack, projectNameOf, names, idOfProject } = await openProjects(dialect);
      await stack.declare(workspace('app', { project: 'payments' }), project('payments'));
      await stack.run(['plan', '--out', 'plan.json'], 0);
      const { digest } = await stack.plan();
      bench.wire.add({ method: 'POST', path: /\/workspaces$/, fault: { answer: 422 } });
      await stack.run(['apply', 'plan.json', '--approve', digest], 6);
      expect(await names()).toContain('payments');
      bench.wire.reset();
      const rest = await stack.plan();
      expect(rest.changes[0]?.fields).toContainEqual(
        expect.objectContaining({ path: '/projectId', after: await idOfProject('payments') }),
      );
      expect(rest.digest).not.toBe(digest);
      await stack.run(['apply', 'plan.json', '--approve', digest], 0);
      expect(await projectNameOf('app')).toBe('payments');
      expect((await stack.plan()).changes).toEqual([]);
    });

    it('is created by such a rerun also if it inherits a duration', async () => {
      const { bench, stack, projectNameOf } = await openProjects(dialect);
      await stack.declare(
        workspace('app', { project: 'payments' }),
        project('payments', { autoDestroyActivityDuration: '14d' }),
      );
      await stack.run(['plan', '--out', 'plan.json'], 0);
      const { digest } = await stack.plan();
      const apply = ['apply', 'plan.json', '--approve', digest, '--ack', 'scheduled-destroy'];
      bench.wire.add({ method: 'POST', path: /\/workspaces$/, fault: { answer: 422 } });
      await stack.run(apply, 6);
      bench.wire.reset();
      await stack.run(apply, 0);
      expect(await projectNameOf('app')).toBe('payments');
      expect((await stack.plan()).changes).toEqual([]);
    });

    it('is not created by such a rerun in a project of somebody else with the same name', async () => {
      const { bench, stack, written } = await openProjects(dialect);
      await stack.declare(workspace('app', { project: 'payments' }), project('payments'));
      await stack.run(['plan', '--out', 'plan.json'], 0);
      const { digest } = await stack.plan();
      bench.wire.add({ method: 'POST', path: /\/projects$/, fault: { answer: 422 } });
      await stack.run(['apply', 'plan.json', '--approve', digest], 1);
      bench.wire.reset();
      const attributes = { name: 'payments' };
      await bench.byHand.post('/organizations/acme/projects', { data: { type: 'projects', attributes } });
      await stack.declare(workspace('app', { project: 'payments' }));
      await stack.run(['apply', 'plan.json', '--approve', digest], 4);
      expect(written()).toEqual([]);
    });

    it('inherits the planned settings of the project, and the guard says so', async () => {
      const { stack } = await openProjects(dialect);
      await stack.declare(
        workspace('app', { project: 'payments' }),
        project('payments', { autoDestroyActivityDuration: '14d', defaultExecutionMode: 'local' }),
      );
      const { changes, guards } = await stack.plan();
      expect(changes[1]?.fields.filter(({ path }) => path.startsWith('/inherited'))).toEqual([
        expect.objectContaining({ path: '/inherited/executionMode', after: 'local' }),
        expect.objectContaining({ path: '/inherited/autoDestroyActivityDuration', after: '14d' }),
      ]);
      expect(guards.map(({ id, concerns }) => [id, concerns.map(({ says }) => says)])).toEqual([
        [
          'scheduled-destroy',
          [['its resources are destroyed after 14d without activity, inherited from project "payments"']],
        ],
      ]);
      await stack.applyAcknowledged();
      expect((await stack.plan()).changes).toEqual([]);
    });
  },
);

describe.each(bothDialects)('In the dialect %s, a workspace of a renamed project', (dialect) => {
  it('stays in it if the project was also renamed by hand, and another one was created with its name', async () => {
    const { bench, stack, change, idOfProject, projectNameOf } = await openProjects(dialect);
    await stack.setUp(project('payments'), workspace('app', { project: 'payments' }));
    await change(await idOfProject('payments'), { name: 'byhand' });
    const attributes = { name: 'payments' };
    await bench.byHand.post('/organizations/acme/projects', { data: { type: 'projects', attributes } });
    await stack.declare(
      project('money', {}, { renamedFrom: 'payments' }),
      workspace('app', { project: 'money' }),
    );
    expect(actionsOf(await stack.plan())).toEqual(['update Project/acme/money']);
    await stack.run(['apply', '--yes'], 0);
    expect(await projectNameOf('app')).toBe('money');
  });

  it('is created in the project that has the name after the plan, not in the one that "renamedFrom" names', async () => {
    const { stack, change, idOfProject, projectNameOf } = await openProjects(dialect);
    await stack.setUp(project('payments'));
    await change(await idOfProject('payments'), { name: 'x' });
    await stack.declare(
      project('payments'),
      project('money', {}, { renamedFrom: 'x' }),
      workspace('new', { project: 'money' }),
    );
    expect(actionsOf(await stack.plan())).toEqual([
      'create Project/acme/money',
      'update Project/acme/payments',
      'create Workspace/acme/new',
    ]);
    await stack.run(['apply', '--yes'], 0);
    expect(await projectNameOf('new')).toBe('money');
    expect((await stack.plan()).changes).toEqual([]);
  });
});

describe('The name of a project that the stack declares', () => {
  it('is an error if the same plan gives the project another name', async () => {
    const { stack } = await openProjects();
    await stack.setUp(project('payments'), workspace('app', { project: 'payments' }));
    await stack.declare(
      project('money', {}, { renamedFrom: 'payments' }),
      workspace('app', { project: 'payments' }),
    );
    const { out } = await stack.run(['plan'], 7);
    expect(out).toContain('which this plan renames to "money"');
    expect(out).toContain('write "project: money"');
  });

  it('follows a project that somebody renamed by hand, and that the plan renames back', async () => {
    const { stack, change, idOfProject, names } = await openProjects();
    await stack.setUp(project('payments'), workspace('app', { project: 'payments' }));
    await change(await idOfProject('payments'), { name: 'by hand' });
    expect(actionsOf(await stack.plan())).toEqual(['update Project/acme/payments']);
    await stack.run(['apply', '--yes'], 0);
    expect(await names()).toContain('payments');
  });

  it('brings the project along with a selected workspace, if it does not exist yet', async () => {
    const { stack, projectNameOf } = await openProjects();
    await stack.declare(
      workspace('app', { project: 'payments' }),
      workspace('other', { project: 'payments' }),
      project('payments'),
      project('unneeded'),
    );
    const { out } = await stack.run(['plan', '--select', 'Workspace/acme/app'], 0);
    expect(out).toContain('not selected: it comes along, because "Workspace/acme/app" needs it');
    expect(out).not.toContain('unneeded');
    await stack.run(['apply', '--select', 'Workspace/acme/app', '--yes'], 0);
    expect(await projectNameOf('app')).toBe('payments');
    expect(actionsOf(await stack.plan())).toEqual([
      'create Project/acme/unneeded',
      'create Workspace/acme/other',
    ]);
  });

  it('brings a change of the project along with a selected workspace that is created in it', async () => {
    const { stack, find } = await openProjects();
    await stack.setUp(project('payments'), workspace('one', { project: 'payments' }));
    await stack.declare(
      project('payments', { autoDestroyActivityDuration: '14d' }),
      workspace('one', { project: 'payments', description: 'changes' }),
      workspace('two', { project: 'payments' }),
    );
    const { changes } = JSON.parse(
      (await stack.run(['plan', '--format', 'json', '--select', 'Workspace/acme/one'], 0)).out,
    );
    expect(actionsOf({ changes })).toEqual(['update Workspace/acme/one']);
    const select = ['--select', 'Workspace/acme/two'];
    const part = JSON.parse((await stack.run(['plan', '--format', 'json', ...select], 0)).out);
    expect(actionsOf(part)).toEqual(['update Project/acme/payments', 'create Workspace/acme/two']);
    await stack.run(['apply', ...select, '--approve', part.digest, '--ack', part.acknowledge.join(',')], 0);
    expect((await find('payments'))?.attributes['auto-destroy-activity-duration']).toBe('14d');
  });

  it('brings a change of the project along with a selected workspace that resets its mode', async () => {
    const { stack, find } = await openProjects();
    await stack.setUp(
      project('payments'),
      workspace('one', { project: 'payments', executionMode: 'local' }),
      workspace('two', { project: 'payments', executionMode: 'local' }),
    );
    await stack.declare(
      project('payments', { autoDestroyActivityDuration: '14d' }),
      workspace('one', { project: 'payments' }),
      workspace('two', { project: 'payments' }),
    );
    const select = ['--select', 'Workspace/acme/one'];
    const part = JSON.parse((await stack.run(['plan', '--format', 'json', ...select], 0)).out);
    expect(actionsOf(part)).toEqual(['update Project/acme/payments', 'update Workspace/acme/one']);
    expect(part.changes[0].notes.join()).toContain('because "Workspace/acme/one" needs it');
    await stack.run(['apply', ...select, '--approve', part.digest, '--ack', part.acknowledge.join(',')], 0);
    expect((await find('payments'))?.attributes['auto-destroy-activity-duration']).toBe('14d');
    expect(actionsOf(await stack.plan())).toEqual(['update Workspace/acme/two']);
  });

  it('selects the workspaces in it, with the project if it does not exist', async () => {
    const { stack, names } = await openProjects();
    await stack.declare(
      workspace('app', { project: 'payments' }),
      workspace('other', { project: 'network' }),
      project('payments'),
    );
    await stack.run(['apply', '--select', 'project:payments', '--yes'], 0);
    expect(await names()).toContain('payments');
    expect(actionsOf(await stack.plan())).toEqual(['create Workspace/acme/other']);
  });

  it('cannot be an address in place of the id', async () => {
    const { stack } = await openProjects();
    await stack.declare(workspace('app', { projectId: 'Project/acme/payments' }), project('payments'));
    await stack.run(['plan'], 7);
  });
});

describe('The tags of a project', () => {
  it('are inherited by its workspaces, and its ownership tag is neither drift of them nor exported', async () => {
    const { bench, stack, projectNameOf } = await openProjects();
    await stack.setUp(
      project('payments', { tags: { team: 'payments' } }),
      workspace('app', { project: 'payments', tags: { env: 'prod' } }),
    );
    expect(await projectNameOf('app')).toBe('payments');
    expect((await stack.plan()).changes).toEqual([]);
    await stack.declare(
      project('payments', { tags: { team: 'payments' } }),
      workspace('app', { project: 'payments', tags: { env: 'test' } }),
    );
    await stack.run(['apply', '--yes'], 0);
    expect(await bench.tagsOf('app')).toEqual({ env: 'test', 'trueup-stack': 'payments' });
    const { out } = await stack.run(['export', '--all', '--kind', 'Workspace'], 0);
    expect(out).toContain('env: test');
    expect(out).not.toContain('trueup-project');
  });

  it('with the key of its ownership tag are not changed if somebody bound them to a workspace', async () => {
    const { bench, stack } = await openProjects();
    await stack.setUp(workspace('app', { tags: { env: 'prod' } }));
    await bench.byHand.patch(`/workspaces/${await bench.idOf('app')}/tag-bindings`, {
      data: [{ type: 'tag-bindings', attributes: { key: 'trueup-project', value: 'other' } }],
    });
    expect((await stack.plan()).changes).toEqual([]);
    await stack.declare(workspace('app', { tags: { team: 'red' } }));
    const { changes } = await stack.plan();
    expect(changes[0]?.fields.map(({ path }) => path)).toEqual(['/tags/env', '/tags/team']);
    await stack.run(['apply', '--yes'], 0);
    expect(await bench.tagsOf('app')).toMatchObject({ team: 'red', 'trueup-project': 'other' });
  });

  it('and of a workspace may not have the key of an ownership tag', async () => {
    const { stack } = await openProjects();
    await stack.declare(
      workspace('app', { tags: { 'trueup-project': 'x' } }),
      tagBindings('other', { tags: { 'trueup-project': 'x' } }),
      workspace('other'),
      project('payments', { tags: { 'trueup-stack': 'x' } }),
    );
    const { out, err } = await stack.run(['validate'], 7);
    expect(`${out}${err}`.match(/is the key of an ownership tag, which only trueup writes/g)).toHaveLength(3);
  });
});
