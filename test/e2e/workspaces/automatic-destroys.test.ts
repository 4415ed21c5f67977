/** When a workspace is destroyed by itself: switched off with null, and said where a project decides. */
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

/** `app` is adopted, in a project that says after how long its workspaces are destroyed, where one is given. */
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

describe('null', () => {
  it('switches off what somebody scheduled by hand, and holds it off', async () => {
    const { bench, stack, app, live } = await openWithApp();
    await stack.begin(app(off));
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
  ])('is what %s goes back to once it is no longer declared', async (_, spec) => {
    const { stack, app, live } = await openWithApp();
    await stack.begin(app(spec));
    await stack.declare(app({}));
    await stack.run(['apply', '--yes'], 0);
    expect(await live()).toEqual([null, null]);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('of a time beside a duration is said not to be compared: the service computes the one from the other', async () => {
    const { bench, stack, app, live } = await openWithApp();
    const both = { autoDestroyAt: null, autoDestroyActivityDuration: '14d' };
    await stack.begin(app({ ...both, autoDestroyAt: soon }));
    await stack.declare(app(both));
    await stack.run(['apply', '--yes'], 0);
    expect(bench.written()).toHaveLength(1);
    expect((await live())[0]).not.toBe(soon);
    const { out } = await stack.run(['plan', '--exit-code'], 0);
    expect(out.replace(/\s+/g, ' ')).toContain(
      'while there is a duration (14d), the service computes autoDestroyAt from it: null is not compared',
    );
  });

  it('of a time that was ours is sent again when the service ignores it, although there is a duration', async () => {
    const { bench, stack, app, live } = await openWithApp();
    const duration = { autoDestroyActivityDuration: '14d' };
    await stack.begin(app({ ...duration, autoDestroyAt: soon }));
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

// Where null inherits what the project says, the dialect is named: in the others null ends it.
describe('a duration of the project', () => {
  it('gives way to an own one, and comes back with null', async () => {
    const { stack, app, live } = await openWithApp('7d', 'neutral');
    await stack.begin(app({}));
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

  it('comes back once an own one is no longer declared', async () => {
    const { stack, app, live } = await openWithApp('7d', 'neutral');
    await stack.begin(app({ autoDestroyActivityDuration: '14d' }));
    expect((await live())[1]).toBe('14d');
    await stack.declare(app({}));
    await stack.run(['apply', '--yes'], 0);
    expect((await live())[1]).toBe('7d');
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('that null cannot end in a dialect is left alone, and the plan says so', async () => {
    const { bench, stack, app, live } = await openWithApp('7d', 'neutral');
    await stack.begin(app({}));
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

  it('is nothing to reset once it is no longer declared', async () => {
    const { bench, stack, app } = await openWithApp('7d');
    await stack.begin(app({ autoDestroyActivityDuration: '7d' }));
    await stack.declare(app({}));
    await stack.run(['apply', '--yes'], 0);
    expect(bench.wire.writes()).toEqual([]);
    expect((await stack.ledger()).records['Workspace/acme/app']?.fields).toEqual({});
  });

  it('goes with the project when the same change moves the workspace out of it', async () => {
    const { stack, app, live } = await openWithApp('7d');
    await stack.begin(app({}));
    await stack.declare(app({ projectId: 'prj-plain', autoDestroyActivityDuration: '14d' }));
    await stack.run(['apply', '--yes'], 0);
    expect((await live())[1]).toBe('14d');
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('is predicted of a workspace that is to be created there, from one list of projects', async () => {
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

  it('does not stand against the own one of a new workspace', async () => {
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

  it('that a new workspace gets is no failure: null is what the manifest says, and the next plan says why not', async () => {
    const { stack, live, app } = await openWithApp('7d', 'neutral');
    await stack.declare(app({}), workspace('new', { ...off, projectId: 'prj-sandbox' }));
    const { out } = await stack.run(['apply', '--yes'], 0);
    expect(out).not.toContain('with another value than sent');
    expect((await live())[1]).toBe('7d');
    expect((await stack.run(['plan', '--exit-code'], 0)).out).toContain('null inherits');
  });
});
