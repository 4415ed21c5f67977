/** Effects of a project on its workspaces, also on those of others, and what prevents its deletion or rename. */
import { describe, expect, it } from 'vitest';
import { removalRequest, workspace } from '../../support/cli/documents.ts';
import { actionsOf, bothDialects, openProjects, project } from '../../support/cli/projects-scene.ts';

const adopted = { adopt: true };

/** The body that creates the workspace "late" in a project. */
const lateIn = (id: string) => ({
  data: {
    type: 'workspaces',
    attributes: { name: 'late' },
    relationships: { project: { data: { type: 'projects', id } } },
  },
});

describe.each(bothDialects)('In the dialect %s, the duration of a project', (dialect) => {
  it('blocks with the number and names of all its workspaces, until somebody acknowledges it', async () => {
    const { stack, change, find } = await openProjects(dialect);
    await stack.declare(project('theirs', { autoDestroyActivityDuration: '14d' }, adopted));
    const { guards } = await stack.plan();
    const message =
      'the resources of 2 workspaces in it ("theirs-a", "theirs-b") are destroyed after "14d" without activity';
    expect(guards).toMatchObject([
      {
        id: 'scheduled-destroy',
        effect: 'blocks',
        concerns: [{ address: 'Project/acme/theirs', says: [message.replaceAll('"14d"', '14d')] }],
      },
    ]);
    await stack.run(['apply', '--yes'], 5);
    await stack.applyAcknowledged();
    expect((await find('theirs'))?.attributes['auto-destroy-activity-duration']).toBe('14d');
    await stack.declare(project('theirs', { autoDestroyActivityDuration: '30d' }, adopted));
    expect((await stack.plan()).guards).toEqual([]);
    await stack.run(['apply', '--yes'], 0);
    await stack.declare(project('theirs', { autoDestroyActivityDuration: '36h' }, adopted));
    expect((await stack.plan()).guards).toMatchObject([
      {
        id: 'scheduled-destroy',
        concerns: [{ says: [expect.stringContaining('after 36h without activity instead of 30d')] }],
      },
    ]);
    await change('prj-theirs', { 'auto-destroy-activity-duration': '1h' });
    expect((await stack.plan()).guards).toEqual([]);
  });

  it('does not count a workspace that has its own duration', async () => {
    const { bench, stack } = await openProjects(dialect);
    await bench.byHand.patch('/workspaces/ws-theirs-a', {
      data: {
        type: 'workspaces',
        attributes: { 'auto-destroy-activity-duration': '90d', 'inherits-project-auto-destroy': false },
      },
    });
    await stack.declare(project('theirs', { autoDestroyActivityDuration: '14d' }, adopted));
    const { guards } = await stack.plan();
    expect(guards[0]?.concerns[0]?.says[0]).toContain('1 workspace in it ("theirs-b")');
  });

  it('is not written if another workspace was added to the project after the plan', async () => {
    const { bench, stack, find } = await openProjects(dialect);
    await stack.declare(project('theirs', { autoDestroyActivityDuration: '14d' }, adopted));
    const { digest, acknowledge } = await stack.plan();
    const relationships = { project: { data: { type: 'projects', id: 'prj-theirs' } } };
    const attributes = { name: 'late' };
    bench.wire.add({
      method: 'GET',
      path: /\/projects\/prj-theirs$/,
      fault: {
        first: () =>
          bench.byHand.post('/organizations/acme/workspaces', {
            data: { type: 'workspaces', attributes, relationships },
          }),
      },
    });
    const { out, err } = await stack.run(['apply', '--approve', digest, '--ack', acknowledge.join(',')], 4);
    expect(`${out}${err}`).toContain('"late"');
    expect((await find('theirs'))?.attributes['auto-destroy-activity-duration']).toBeNull();
  });
});

describe('The default execution mode of a project', () => {
  it('is shown with the workspaces that do not have their own mode', async () => {
    const { bench, stack } = await openProjects();
    await bench.byHand.patch('/workspaces/ws-theirs-b', {
      data: { type: 'workspaces', attributes: { 'execution-mode': 'remote' } },
    });
    await stack.declare(
      project('theirs', { defaultExecutionMode: 'agent', defaultAgentPool: 'windows' }, adopted),
    );
    const { changes, guards } = await stack.plan();
    expect(changes[0]?.risks).toEqual([
      {
        path: '/defaultExecutionMode',
        effect: 'affects',
        says: 'runs of 1 workspace in it ("theirs-a") execute in the mode agent afterwards',
      },
    ]);
    expect(guards).toEqual([]);
  });

  it('is not applied with an approval from before another workspace was added to the project', async () => {
    const { bench, stack, find } = await openProjects();
    await stack.declare(project('theirs', { defaultExecutionMode: 'local' }, adopted));
    const { digest } = await stack.plan();
    await bench.byHand.post('/organizations/acme/workspaces', lateIn('prj-theirs'));
    expect((await stack.plan()).digest).not.toBe(digest);
    await stack.run(['apply', '--approve', digest], 4);
    expect((await find('theirs'))?.attributes['default-execution-mode']).toBe('remote');
  });

  it('is not written if another workspace is added to the project while the apply runs', async () => {
    const { bench, stack, find } = await openProjects();
    await stack.declare(project('theirs', { defaultExecutionMode: 'local' }, adopted));
    const { digest } = await stack.plan();
    const first = () => bench.byHand.post('/organizations/acme/workspaces', lateIn('prj-theirs'));
    bench.wire.add({ method: 'GET', path: /\/projects\/prj-theirs$/, fault: { first } });
    const { out, err } = await stack.run(['apply', '--approve', digest], 4);
    expect(`${out}${err}`).toContain('"late"');
    expect((await find('theirs'))?.attributes['default-execution-mode']).toBe('remote');
  });
});

describe.each(bothDialects)('In the dialect %s, a project with workspaces', (dialect) => {
  it('is kept, and the plan names them', async () => {
    const { stack, written, bench } = await openProjects(dialect);
    await stack.setUp(project('payments'), workspace('app', { project: 'payments' }));
    await stack.declare(workspace('app', { project: 'payments' }));
    const { out } = await stack.run(['plan'], 0);
    expect(out.replace(/\s+/g, ' ')).toContain(
      'Project/acme/payments to be deleted, but kept: it is not empty: "Workspace/acme/app"',
    );
    bench.wire.reset();
    await stack.declare(
      removalRequest('Project', 'payments', 'force'),
      workspace('app', { project: 'payments' }),
    );
    expect((await stack.plan()).changes).toEqual([]);
    await stack.run(['apply', '--yes'], 0);
    expect(written()).toEqual([]);
  });

  it('is deleted after them, if the same plan deletes them', async () => {
    const { stack, names, written } = await openProjects(dialect);
    await stack.setUp(project('payments'), workspace('app', { project: 'payments' }), project('stays'));
    await stack.declare(project('stays'));
    expect(actionsOf(await stack.plan())).toEqual([
      'delete Workspace/acme/app',
      'delete Project/acme/payments',
    ]);
    await stack.applyAcknowledged();
    expect(written()).toEqual(['POST /workspaces/ws-…/actions/safe-delete', 'DELETE /projects/prj-…']);
    expect(await names()).not.toContain('payments');
  });

  it('is deleted after they were moved to another one', async () => {
    const { stack, names, projectNameOf } = await openProjects(dialect);
    await stack.setUp(project('payments'), workspace('app', { project: 'payments' }), project('money'));
    await stack.declare(workspace('app', { project: 'money' }), project('money'));
    await stack.applyAcknowledged();
    expect(await projectNameOf('app')).toBe('money');
    expect(await names()).not.toContain('payments');
    expect((await stack.plan()).changes).toEqual([]);
  });

  it('is not deleted if a workspace was added to it after the plan', async () => {
    const { bench, stack, names, idOfProject } = await openProjects(dialect);
    await stack.setUp(project('payments'), project('stays'));
    await stack.declare(project('stays'));
    const { digest, acknowledge } = await stack.plan();
    const relationships = {
      project: { data: { type: 'projects', id: await idOfProject('payments') } },
    };
    await bench.byHand.post('/organizations/acme/workspaces', {
      data: { type: 'workspaces', attributes: { name: 'late' }, relationships },
    });
    bench.wire.reset();
    const approval = ['--approve', digest, '--ack', acknowledge.join(',')];
    await stack.tryRun(['apply', ...approval]);
    expect(bench.written()).toEqual([]);
    expect(await names()).toContain('payments');
  });

  it('is not deleted if a workspace is added to it while the apply runs', async () => {
    const { bench, stack, names, idOfProject, written } = await openProjects(dialect);
    await stack.setUp(project('payments'), project('stays'));
    await stack.declare(project('stays'));
    const id = await idOfProject('payments');
    const relationships = { project: { data: { type: 'projects', id } } };
    const addWorkspace = () =>
      bench.byHand.post('/organizations/acme/workspaces', {
        data: { type: 'workspaces', attributes: { name: 'late' }, relationships },
      });
    const { digest, acknowledge } = await stack.plan();
    bench.wire.add({ method: 'GET', path: new RegExp(`/projects/${id}$`), fault: { first: addWorkspace } });
    const approval = ['--approve', digest, '--ack', acknowledge.join(',')];
    const { out, err } = await stack.run(['apply', ...approval], 4);
    expect(`${out}${err}`).toContain('it has 1 workspace ("late")');
    expect(written()).toEqual([]);
    expect(await names()).toContain('payments');
  });

  it('is not deleted if a workspace in it could not be deleted before', async () => {
    const { bench, stack, names } = await openProjects(dialect);
    await stack.setUp(project('payments'), workspace('app', { project: 'payments' }), project('stays'));
    await stack.declare(project('stays'));
    bench.wire.add({ method: 'POST', path: /safe-delete$/, fault: { answer: 409 } });
    const { digest, acknowledge } = await stack.plan();
    const { out, err } = await stack.run(['apply', '--approve', digest, '--ack', acknowledge.join(',')], 1);
    expect(`${out}${err}`).toContain('depends on Workspace/acme/app#delete');
    expect(await names()).toContain('payments');
  });
});

describe('The default project', () => {
  it('is never renamed or deleted', async () => {
    const { stack } = await openProjects();
    await stack.declare(project('Standard', {}, { renamedFrom: 'Default Project', adopt: true }));
    const { out } = await stack.run(['plan'], 9);
    expect(out).toContain('is the default project of the organization, which is never renamed');
    await stack.declare(project('Default Project', { description: 'ours' }, { adopt: true }));
    await stack.run(['apply', '--yes'], 0);
    for (const how of ['safe', 'force'] as const) {
      await stack.declare(removalRequest('Project', 'Default Project', how));
      const asked = await stack.run(['plan'], 9);
      expect(asked.out).toContain('cannot be removed: it is the default project of the organization');
    }
    await stack.declare(project('other'));
    expect(actionsOf(await stack.plan())).toContain('release Project/acme/Default Project');
  });

  it('protects all projects from rename and deletion if it is not known which one it is', async () => {
    const { bench, stack, idOfProject, change } = await openProjects();
    await stack.setUp(project('payments'), project('stays'));
    bench.wire.add({ method: 'GET', path: /\/organizations\/acme$/, fault: { answer: 404 }, times: 100 });
    await stack.declare(project('stays'));
    const kept = await stack.run(['plan'], 0);
    expect(kept.out.replace(/\s+/g, ' ')).toContain('it is not known whether it is the default project');
    await change(await idOfProject('payments'), { name: 'by hand' });
    await stack.declare(project('payments'), project('stays'));
    const { out } = await stack.run(['plan'], 1);
    expect(out).toContain('it is not known whether it is the default project');
  });
});

describe('A service', () => {
  it('without projects is an error for each document', async () => {
    const { bench, stack } = await openProjects();
    bench.wire.add({ method: 'GET', path: /\/acme\/projects\?/, fault: { answer: 404 }, times: 100 });
    await stack.declare(project('one'), project('two'), workspace('app'));
    const { out } = await stack.run(['plan'], 7);
    expect(out.match(/the service has no projects, or hides them from this token/g)).toHaveLength(2);
  });

  it('that does not let the token read its projects makes the plan incomplete, without changes of projects', async () => {
    const { bench, stack } = await openProjects();
    await stack.setUp(project('one'));
    bench.wire.add({ method: 'GET', path: /\/acme\/projects\?/, fault: { answer: 403 }, times: 100 });
    await stack.declare(project('one', { description: 'x' }), project('two'));
    const { changes, coverage } = await stack.plan(1);
    expect([changes, coverage.complete]).toEqual([[], false]);
  });

  it('without tags in its list of projects gets one request for each project of the stack', async () => {
    const { bench, stack } = await openProjects();
    await stack.setUp(project('one', { tags: { team: 'one' } }));
    bench.wire.add({
      method: 'GET',
      path: /\/acme\/projects\?include/,
      fault: { answer: 400, body: { errors: [{ status: '400', title: 'Invalid include parameter' }] } },
      times: 100,
    });
    await stack.declare(project('one', { tags: { team: 'two' } }));
    const { changes } = await stack.plan();
    expect(changes[0]?.fields).toEqual([
      expect.objectContaining({ path: '/tags/team', before: 'one', after: 'two' }),
    ]);
    const asked = bench.wire.seen.filter(({ path }) => path.endsWith('/tag-bindings'));
    expect(asked).toHaveLength(1);
  });

  it('gets a request for projects only from stacks that declare, record or name projects', async () => {
    const { bench, stack, listed } = await openProjects();
    await stack.setUp(workspace('app', { autoApply: true }));
    await stack.plan();
    expect(listed()).toBe(0);
    await stack.setUp(workspace('app', { autoApply: true }), project('one'));
    await stack.plan();
    expect(listed()).toBe(1);
    bench.wire.reset();
    await stack.declare(workspace('app', { autoApply: true }));
    expect(actionsOf(await stack.plan())).toEqual(['delete Project/acme/one']);
  });
});

describe.each(bothDialects)('A change of a project in the dialect %s', (dialect) => {
  it('that fails to remove its duration keeps a workspace of the same plan from moving there', async () => {
    const { stack, bench, projectNameOf } = await openProjects(dialect);
    const days = { autoDestroyActivityDuration: '14d' };
    await stack.setUp(project('payments', days), workspace('app', { project: 'network' }));
    await stack.declare(
      project('payments', { autoDestroyActivityDuration: null }),
      workspace('app', { project: 'payments' }),
    );
    expect((await stack.plan()).guards).toEqual([]);
    bench.wire.add({ method: 'PATCH', path: /\/projects\/prj-[^/]+$/, fault: { answer: 422 }, times: 9 });
    await stack.tryRun(['apply', '--yes']);
    expect(await projectNameOf('app')).toBe('network');
  });

  it('that ends local runs fires the guard also if the service does not show what workspaces inherit', async () => {
    const { bench, stack, change } = await openProjects(dialect);
    await change('prj-theirs', {
      'default-execution-mode': 'local',
      'auto-destroy-activity-duration': '1d',
    });
    await stack.declare(project('theirs', { defaultExecutionMode: 'remote' }, adopted));
    const { guards: shown } = await stack.plan();
    const strip = (body: unknown) => {
      const { data } = body as { data: { attributes: Record<string, unknown> }[] };
      for (const { attributes } of [data].flat()) delete attributes['setting-overwrites'];
      return body;
    };
    bench.wire.add({ method: 'GET', path: /\/workspaces/, fault: { rewrite: strip }, times: 1000 });
    const { guards } = await stack.plan();
    expect(shown.map(({ id }) => id)).toEqual(['scheduled-destroy']);
    expect(guards.map(({ id }) => id)).toEqual(['scheduled-destroy']);
  });

  it('that removes only the pool is refused if the live mode needs the pool', async () => {
    const { stack, bench } = await openProjects(dialect, {
      projects: [
        {
          name: 'theirs',
          id: 'prj-theirs',
          'default-execution-mode': 'agent',
          'default-agent-pool': 'linux',
        },
      ],
    });
    await stack.declare(project('theirs', { defaultAgentPool: null }, { adopt: true }));
    expect((await stack.run(['apply', '--yes'], 7)).out).toContain('the manifest removes the pool alone');
    expect(bench.wire.writes()).toEqual([]);
  });
});
