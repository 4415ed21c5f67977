/** The life of a managed project: created, changed, renamed, adopted, released and removed, in both dialects. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { removalRequest, workspace } from '../../support/cli/documents.ts';
import {
  actionsOf,
  bothDialects,
  openProjects,
  project,
  withoutProject,
} from '../../support/cli/projects-scene.ts';

const whole = {
  description: 'Everything of payments',
  defaultExecutionMode: 'agent',
  defaultAgentPool: 'linux',
  autoDestroyActivityDuration: '14d',
  tags: { team: 'payments', tier: '1' },
};

describe.each(bothDialects)('In the dialect %s, a project', (dialect) => {
  it('is created with its tags and its ownership tag in one request, and the next plan is empty', async () => {
    const { stack, find, tagsOfProject, written } = await openProjects(dialect);
    await stack.declare(project('payments', whole));
    const { changes } = await stack.plan();
    expect(changes[0]?.fields).toContainEqual(
      expect.objectContaining({
        path: '/defaultAgentPoolId',
        after: 'apool-linux',
        names: [{ at: '', after: 'linux' }],
      }),
    );
    await stack.run(['apply', '--yes'], 0);
    expect(written()).toEqual(['POST /organizations/acme/projects']);
    expect(await tagsOfProject('payments')).toEqual({
      team: 'payments',
      tier: '1',
      'trueup-project': 'payments',
    });
    expect((await find('payments'))?.attributes).toMatchObject({
      description: 'Everything of payments',
      'default-execution-mode': 'agent',
      'auto-destroy-activity-duration': '14d',
    });
    expect((await stack.plan()).changes).toEqual([]);
    expect((await stack.ledger()).records['Project/acme/payments']).toMatchObject({
      origin: 'created',
      fields: { defaultAgentPoolId: 'apool-linux', tags: { team: 'payments', tier: '1' } },
      names: { defaultAgentPoolId: { name: 'linux', id: 'apool-linux' } },
    });
  });

  it('is changed field by field, and keeps tags that are not declared', async () => {
    const { bench, stack, find, tagsOfProject, written } = await openProjects(dialect);
    await stack.setUp(project('payments', whole));
    const { tags: _, ...rest } = whole;
    await stack.declare(
      project('payments', {
        ...rest,
        description: null,
        defaultExecutionMode: 'remote',
        defaultAgentPool: null,
        autoDestroyActivityDuration: null,
        tags: { team: 'payments', area: 'money' },
      }),
    );
    await stack.run(['apply', '--yes'], 0);
    expect(written()).toEqual(['PATCH /projects/prj-…']);
    expect(await tagsOfProject('payments')).toEqual({
      team: 'payments',
      area: 'money',
      'trueup-project': 'payments',
    });
    expect((await find('payments'))?.attributes).toMatchObject({
      'default-execution-mode': 'remote',
      'auto-destroy-activity-duration': null,
    });
    expect((await stack.plan()).changes).toEqual([]);
    bench.wire.reset();
    await stack.declare(project('payments', { defaultExecutionMode: null, tags: { team: 'payments' } }));
    await stack.run(['apply', '--yes'], 0);
    expect((await find('payments'))?.attributes['setting-overwrites']).toEqual({
      'default-execution-mode': false,
      'default-agent-pool': false,
    });
    expect((await stack.plan()).changes).toEqual([]);
  });

  it('that no longer declares tags loses the tags that the stack wrote, and keeps tags that others set', async () => {
    const { bench, stack, idOfProject, tagsOfProject } = await openProjects(dialect);
    await stack.setUp(project('payments', { description: 'one', tags: { team: 'payments', tier: '1' } }));
    const byHand = Object.entries({ tier: '2', owner: 'me' }).map(([key, value]) => ({
      type: 'tag-bindings',
      attributes: { key, value },
    }));
    await bench.byHand.patch(`/projects/${await idOfProject('payments')}/tag-bindings`, { data: byHand });
    const kept = { tier: '2', owner: 'me', 'trueup-project': 'payments' };
    await stack.declare(project('payments', { description: 'one' }));
    const { changes } = await stack.plan();
    expect(changes.map(({ fields }) => fields)).toEqual([
      [expect.objectContaining({ path: '/tags/team', before: 'payments', origin: 'no longer declared' })],
    ]);
    expect(changes[0]?.fields[0]).not.toHaveProperty('after');
    await stack.run(['apply', '--yes'], 0);
    expect(await tagsOfProject('payments')).toEqual(kept);
    expect((await stack.plan()).changes).toEqual([]);
    expect((await stack.ledger()).records['Project/acme/payments']?.fields).toEqual({ description: 'one' });
    await stack.declare(project('payments', { description: 'one', tags: {} }));
    await stack.run(['apply', '--yes'], 0);
    expect(await tagsOfProject('payments')).toEqual({ 'trueup-project': 'payments' });
  });

  it('without an owner is refused, adopted with each difference shown, and released when its document is removed', async () => {
    const { stack, tagsOfProject, names } = await openProjects(dialect);
    await stack.declare(project('network', { description: 'by trueup', tags: { team: 'network' } }));
    const { out } = await stack.run(['plan'], 9);
    expect(out).toContain('"Project/acme/network" exists without an ownership tag of any stack');
    await stack.declare(
      project('network', { description: 'by trueup', tags: { team: 'network' } }, { adopt: true }),
    );
    const { changes } = await stack.plan();
    expect(actionsOf({ changes })).toEqual(['adopt Project/acme/network']);
    expect(changes[0]?.fields.map(({ path, before, after }) => [path, before, after])).toEqual([
      ['/claim', undefined, 'payments'],
      ['/description', 'by hand', 'by trueup'],
    ]);
    await stack.run(['apply', '--yes'], 0);
    expect(await tagsOfProject('network')).toEqual({ team: 'network', 'trueup-project': 'payments' });
    await stack.declare(workspace('other'));
    expect(actionsOf(await stack.plan())).toContain('release Project/acme/network');
    await stack.applyAcknowledged();
    expect(await tagsOfProject('network')).toEqual({ team: 'network' });
    expect(await names()).toContain('network');
  });

  it('that another stack owns is a conflict, and is not written', async () => {
    const { stack, checkout, written, bench } = await openProjects(dialect);
    await stack.setUp(project('payments'));
    const other = await checkout({ name: 'other' });
    await other.declare(project('payments', { description: 'mine' }, { adopt: true }));
    const { out } = await other.run(['plan'], 9);
    expect(out).toContain('"Project/acme/payments" belongs to stack "payments"');
    bench.wire.reset();
    await other.run(['apply', '--yes'], 9);
    expect(written()).toEqual([]);
  });

  it('is renamed in place by "renamedFrom", and keeps its workspaces', async () => {
    const { stack, names, projectNameOf, idOfProject } = await openProjects(dialect);
    await stack.setUp(project('payments'), workspace('app', { project: 'payments' }));
    const id = await idOfProject('payments');
    await stack.declare(
      project('money', {}, { renamedFrom: 'payments' }),
      workspace('app', { project: 'money' }),
    );
    const { changes, guards } = await stack.plan();
    expect(actionsOf({ changes })).toEqual(['update Project/acme/money']);
    expect(guards).toEqual([]);
    await stack.run(['apply', '--yes'], 0);
    expect(await idOfProject('money')).toBe(id);
    expect(await names()).not.toContain('payments');
    expect(await projectNameOf('app')).toBe('money');
    expect((await stack.plan()).changes).toEqual([]);
  });

  it('that the stack created is deleted when its document is removed, and by a removal request', async () => {
    const { stack, names, written } = await openProjects(dialect);
    await stack.setUp(project('one'), project('two'));
    await stack.declare(project('one'));
    expect(actionsOf(await stack.plan())).toEqual(['delete Project/acme/two']);
    await stack.applyAcknowledged();
    expect(await names()).not.toContain('two');
    await stack.declare(removalRequest('Project', 'one', 'safe'));
    await stack.applyAcknowledged();
    expect(await names()).not.toContain('one');
    expect(written()).toEqual(['DELETE /projects/prj-…', 'DELETE /projects/prj-…']);
  });

  it('shows manual changes as drift, which accept writes into the manifest', async () => {
    const { stack, change, idOfProject } = await openProjects(dialect);
    await stack.setUp(project('payments', { description: 'one', tags: { team: 'payments' } }));
    await change(await idOfProject('payments'), { description: 'by hand' });
    const { out } = await stack.run(['drift'], 3);
    expect(out).toContain('Project/acme/payments');
    expect(out).toContain('by hand');
    await stack.run(['accept', 'Project/acme/payments', '--yes'], 0);
    expect((await stack.plan()).changes).toEqual([]);
    expect(await readFile(join(stack.directory, 'manifests', 'all.yaml'), 'utf8')).toContain('by hand');
  });
});

describe.each(bothDialects)('In the dialect %s, a project that is no longer declared', (dialect) => {
  it('keeps its record while the token does not see it, and is planned when it does', async () => {
    const { stack, bench } = await openProjects(dialect);
    await stack.setUp(project('payments'), workspace('app'));
    const hide = withoutProject('payments');
    bench.wire.add({ method: 'GET', path: /\/acme\/projects\?/, fault: { rewrite: hide }, times: 99 });
    bench.wire.add({ method: 'GET', path: /\/projects\/prj-[^/]+$/, fault: { answer: 404 }, times: 99 });
    await stack.declare(workspace('app'));
    expect((await stack.run(['apply', '--yes'], 0)).out).toContain('not found, and its record is kept');
    bench.wire.reset();
    expect(actionsOf(await stack.plan())).toEqual(['delete Project/acme/payments']);
  });

  it.each([
    ['', 'payments'],
    [' after it was renamed by hand', 'paid'],
  ])('is deleted%s, and is forgotten then', async (_, name) => {
    const { stack, change, idOfProject } = await openProjects(dialect);
    await stack.setUp(project('payments'), workspace('app'));
    await change(await idOfProject('payments'), { name });
    await stack.declare(workspace('app'));
    expect(actionsOf(await stack.plan())).toEqual([`delete Project/acme/${name}`]);
    await stack.applyAcknowledged();
    expect((await stack.run(['drift'], 0)).out).not.toContain('Project/');
    expect((await stack.run(['plan', '--exit-code'], 0)).out).not.toContain('Project/');
    // This stack has deleted it, so the guard "recreate" does not apply.
    await stack.declare(project('payments'), workspace('app'));
    expect((await stack.plan()).guards).toEqual([]);
  });

  it('and was deleted in the service loses its record by a removal request', async () => {
    const { stack, bench, idOfProject } = await openProjects(dialect);
    await stack.setUp(project('payments'), workspace('app'));
    await bench.byHand.delete(`/projects/${await idOfProject('payments')}`);
    await stack.declare(workspace('app'), removalRequest('Project', 'payments', 'safe'));
    await stack.run(['apply', '--yes'], 0);
    await stack.declare(workspace('app'));
    expect((await stack.run(['plan'], 0)).out).not.toContain('payments"');
    expect((await stack.run(['plan'], 0)).out).not.toContain('its record is kept');
  });
});

describe('A project that its manifest renamed', () => {
  async function openRenamed() {
    const opened = await openProjects();
    const { stack } = opened;
    await stack.setUp(project('payments', { description: 'one' }), project('q'));
    await stack.declare(project('money', {}, { renamedFrom: 'payments' }), project('q'));
    await stack.run(['apply', '--yes'], 0);
    return opened;
  }

  it('has one record, and its former name is not reported as "not found"', async () => {
    const { stack } = await openRenamed();
    expect(Object.keys((await stack.ledger()).records)).toEqual(['Project/acme/money', 'Project/acme/q']);
    await stack.declare(project('money'), project('q'));
    expect((await stack.plan()).mentions).toEqual([]);
  });

  it('keeps a value that others set, when it is renamed back', async () => {
    const { stack, change, idOfProject, find } = await openRenamed();
    await change(await idOfProject('money'), { description: 'by hand' });
    await stack.declare(project('payments', {}, { renamedFrom: 'money' }), project('q'));
    await stack.run(['apply', '--yes'], 0);
    expect((await find('payments'))?.attributes['description']).toBe('by hand');
  });
});
