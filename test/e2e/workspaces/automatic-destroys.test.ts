/** Automatic destroys of workspaces: null switches them off, and the plan says if a project decides. */
import { describe, expect, it } from 'vitest';
import type { PlanJson } from '../../../src/report/json/plan-schema.ts';
import { openBench } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import { dialectUnderTest } from '../../support/rig/dialect-under-test.ts';

const soon = '2031-01-31T08:00:00.000Z';
const off = { autoDestroyAt: null, autoDestroyActivityDuration: null };

function fieldsOf({ changes }: PlanJson): unknown[] {
  return changes.flatMap(({ fields }) => fields.map(({ path, before, after }) => [path, before, after]));
}

/** An adopted `app` in a project with this duration, if one is given. */
async function openWithApp(projectDuration?: string, dialect: string = dialectUnderTest) {
  const project = { name: 'sandbox', id: 'prj-sandbox' };
  const timed =
    projectDuration === undefined
      ? project
      : { ...project, 'auto-destroy-activity-duration': projectDuration };
  const bench = await openBench({
    dialects: [dialect],
    organization: {
      projects: [timed, { name: 'plain', id: 'prj-plain' }],
      workspaces: [{ name: 'app', project: 'sandbox' }],
    },
  });
  const stack = await bench.checkout({
    workspaces: { dialect },
    spec: { guards: { allow: ['scheduled-destroy'] } },
  });
  const app = (spec: object) => workspace('app', spec, { adopt: true });
  const live = async () => {
    const attributes = await bench.byHand.attributes(await bench.idOf('app'));
    return [attributes['auto-destroy-at'], attributes['auto-destroy-activity-duration']];
  };
  return { bench, stack, app, live };
}

describe('A destroy time or duration of null', () => {
  it('switches off a manually scheduled destroy, and leaves nothing to plan', async () => {
    const { bench, stack, app, live } = await openWithApp();
    await stack.setUp(app(off));
    const id = await bench.idOf('app');
    await bench.byHand.update(id, { 'auto-destroy-at': soon, 'auto-destroy-activity-duration': '2d' });
    expect(fieldsOf(await stack.plan())).toEqual([
      ['/autoDestroyAt', soon, null],
      ['/autoDestroyActivityDuration', '2d', null],
    ]);
    await stack.run(['apply', '--yes'], 0);
    expect(await live()).toEqual([null, null]);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it.each([
    ['a time', { autoDestroyAt: soon }],
    ['a duration', { autoDestroyActivityDuration: '14d' }],
    ['both', { autoDestroyAt: soon, autoDestroyActivityDuration: '14d' }],
  ])('is the value of %s after it is no longer declared', async (_, spec) => {
    const { stack, app, live } = await openWithApp();
    await stack.setUp(app(spec));
    await stack.declare(app({}));
    await stack.run(['apply', '--yes'], 0);
    expect(await live()).toEqual([null, null]);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('is not compared for a time beside a duration, because the service computes the time', async () => {
    const { bench, stack, app, live } = await openWithApp();
    const both = { autoDestroyAt: null, autoDestroyActivityDuration: '14d' };
    await stack.setUp(app({ ...both, autoDestroyAt: soon }));
    await stack.declare(app(both));
    await stack.run(['apply', '--yes'], 0);
    expect(bench.written()).toHaveLength(1);
    expect((await live())[0]).not.toBe(soon);
    const { out } = await stack.run(['plan', '--exit-code'], 0);
    expect(out.replace(/\s+/g, ' ')).toContain(
      'while there is a duration (14d), the service computes autoDestroyAt from it: null is not compared',
    );
  });

  it('is sent again for our own time if the service ignores it, although there is a duration', async () => {
    const { bench, stack, app, live } = await openWithApp();
    const duration = { autoDestroyActivityDuration: '14d' };
    await stack.setUp(app({ ...duration, autoDestroyAt: soon }));
    await stack.declare(app(duration));
    const { document } = await bench.byHand.get(`/workspaces/${await bench.idOf('app')}`);
    bench.wire.add({
      method: 'PATCH',
      path: /\/workspaces\/ws-\w+$/,
      fault: { answer: 200, body: document },
    });
    await stack.run(['apply', '--yes'], 6);
    expect(fieldsOf(await stack.plan())).toEqual([['/autoDestroyAt', soon, null]]);
    await stack.run(['apply', '--yes'], 0);
    expect((await live())[0]).not.toBe(soon);
  });
});

// Tests in which null inherits from the project name the dialect: in others null ends the duration.
describe('A duration of the project', () => {
  it('is overridden by a declared one, and applies again with null', async () => {
    const { stack, app, live } = await openWithApp('7d', 'neutral');
    await stack.setUp(app({}));
    await stack.declare(app({ autoDestroyActivityDuration: '14d' }));
    expect(fieldsOf(await stack.plan())).toEqual([['/autoDestroyActivityDuration', '7d', '14d']]);
    await stack.run(['apply', '--yes'], 0);
    expect((await live())[1]).toBe('14d');
    await stack.run(['plan', '--exit-code'], 0);
    await stack.declare(app({ autoDestroyActivityDuration: null }));
    await stack.run(['apply', '--yes'], 0);
    expect((await live())[1]).toBe('7d');
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('applies again when the workspace no longer declares one', async () => {
    const { stack, app, live } = await openWithApp('7d', 'neutral');
    await stack.setUp(app({ autoDestroyActivityDuration: '14d' }));
    expect((await live())[1]).toBe('14d');
    await stack.declare(app({}));
    await stack.run(['apply', '--yes'], 0);
    expect((await live())[1]).toBe('7d');
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('stays if null cannot end it in a dialect, and the plan says so', async () => {
    const { bench, stack, app, live } = await openWithApp('7d', 'neutral');
    await stack.setUp(app({}));
    await stack.declare(app({ autoDestroyActivityDuration: null, queueAllRuns: true }));
    expect(fieldsOf(await stack.plan())).toEqual([['/queueAllRuns', false, true]]);
    await stack.run(['apply', '--yes'], 0);
    expect(bench.wire.writes()[0]?.text).not.toContain('auto-destroy');
    expect((await live())[1]).toBe('7d');
    const { out } = await stack.run(['plan', '--exit-code'], 0);
    expect(out.replace(/\s+/g, ' ')).toContain(
      'in this dialect null inherits from the project: autoDestroyActivityDuration stays 7d',
    );
  });

  it('is not reset when the same value is no longer declared', async () => {
    const { bench, stack, app } = await openWithApp('7d');
    await stack.setUp(app({ autoDestroyActivityDuration: '7d' }));
    await stack.declare(app({}));
    await stack.run(['apply', '--yes'], 0);
    expect(bench.wire.writes()).toEqual([]);
    expect((await stack.ledger()).records['Workspace/acme/app']?.fields).toEqual({});
  });

  it('no longer applies when the same change moves the workspace to another project', async () => {
    const { stack, app, live } = await openWithApp('7d');
    await stack.setUp(app({}));
    await stack.declare(app({ projectId: 'prj-plain', autoDestroyActivityDuration: '14d' }));
    await stack.run(['apply', '--yes'], 0);
    expect((await live())[1]).toBe('14d');
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('is predicted for new workspaces in the project, from one list of projects', async () => {
    const { bench, stack, app } = await openWithApp('7d', 'neutral');
    const projectId = 'prj-sandbox';
    await stack.declare(
      app({}),
      workspace('new', { autoDestroyActivityDuration: null, projectId }),
      workspace('same', { autoDestroyActivityDuration: '7d', projectId }),
      workspace('silent', { projectId }),
    );
    const { changes } = await stack.plan();
    const created = changes.filter(({ action }) => action === 'create');
    expect(created.map(({ notes }) => notes)).toEqual([
      ['in this dialect null inherits from the project: autoDestroyActivityDuration stays 7d'],
      [],
      [],
    ]);
    expect(bench.wire.seen.filter(({ path }) => path.includes('/projects'))).toHaveLength(1);
  });

  it('is overridden by the declared one of a new workspace', async () => {
    const { bench, stack, app } = await openWithApp('7d');
    await stack.declare(
      app({}),
      workspace('new', { autoDestroyActivityDuration: '14d', projectId: 'prj-sandbox' }),
    );
    await stack.run(['apply', '--yes'], 0);
    expect(await bench.byHand.attributes(await bench.idOf('new'))).toMatchObject({
      'auto-destroy-activity-duration': '14d',
    });
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('of a new workspace with null is not a failure, and the next plan explains it', async () => {
    const { stack, live, app } = await openWithApp('7d', 'neutral');
    await stack.declare(app({}), workspace('new', { ...off, projectId: 'prj-sandbox' }));
    const { out } = await stack.run(['apply', '--yes'], 0);
    expect(out).not.toContain('with another value than sent');
    expect((await live())[1]).toBe('7d');
    expect((await stack.run(['plan', '--exit-code'], 0)).out).toContain('null inherits');
  });
});
