/** Nothing destroys the resources of a workspace, now or later, without an acknowledgement of exactly that. */
import { describe, expect, it } from 'vitest';
import { workspace } from '../../support/cli/documents.ts';
import { blocked, openScene, past, soon, sooner } from '../../support/cli/destroy-scene.ts';

describe('The guard scheduled-destroy blocks', () => {
  it.each([
    ['a time', {}, { autoDestroyAt: soon }, `its resources are destroyed at ${soon}`],
    [
      'an earlier time',
      { autoDestroyAt: soon },
      { autoDestroyAt: sooner },
      `its resources are destroyed at ${sooner} instead of ${soon}`,
    ],
    [
      'a duration',
      {},
      { autoDestroyActivityDuration: '14d' },
      'its resources are destroyed after 14d without activity',
    ],
    [
      'a shorter duration',
      { autoDestroyActivityDuration: '2d' },
      { autoDestroyActivityDuration: '36h' },
      'its resources are destroyed after 36h without activity instead of 2d',
    ],
    [
      'a move to a project with a duration',
      { projectId: 'prj-plain' },
      { projectId: 'prj-week' },
      'its resources are destroyed after 7d without activity, inherited from project "week" (prj-week)',
    ],
    [
      'a move to a project with a shorter one',
      { projectId: 'prj-week' },
      { projectId: 'prj-sandbox' },
      'its resources are destroyed after 1d without activity instead of 7d, inherited from project "sandbox" (prj-sandbox)',
    ],
    [
      'a duration that is no longer declared, if the project has a shorter one',
      { projectId: 'prj-week', autoDestroyActivityDuration: '30d' },
      { projectId: 'prj-week' },
      'its resources are destroyed after 7d without activity instead of 30d, inherited from project "week" (prj-week)',
    ],
    [
      'a time that is no longer declared beside a duration',
      { autoDestroyAt: soon, autoDestroyActivityDuration: '14d' },
      { autoDestroyActivityDuration: '14d' },
      `its resources are destroyed after 14d without activity, and no longer at ${soon}`,
    ],
    [
      'destroy plans that are allowed again, with a time',
      { allowDestroyPlan: false, autoDestroyAt: soon },
      { allowDestroyPlan: true, autoDestroyAt: soon },
      `its resources can be destroyed again: at ${soon}`,
    ],
    [
      'destroy plans whose prohibition is no longer declared, with a duration of the project',
      { allowDestroyPlan: false, projectId: 'prj-week' },
      { projectId: 'prj-week' },
      'its resources can be destroyed again: after 7d without activity',
    ],
    [
      'runs that are no longer local, with a time',
      { executionMode: 'local', autoDestroyAt: soon },
      { executionMode: 'remote', autoDestroyAt: soon },
      `its resources can be destroyed again: at ${soon}`,
    ],
    [
      'runs that inherit a mode in place of local',
      { executionMode: 'local', autoDestroyAt: soon, projectId: 'prj-plain' },
      { executionMode: null, autoDestroyAt: soon, projectId: 'prj-plain' },
      `its resources can be destroyed again: at ${soon}`,
    ],
    [
      'local runs that are no longer declared, with a duration of the project',
      { executionMode: 'local', projectId: 'prj-week' },
      { projectId: 'prj-week' },
      'its resources can be destroyed again: after 7d without activity',
    ],
  ])('%s', async (_, begin, spec, message) => {
    const { stack, guardsOf, bench } = await openScene({ begin });
    await stack.declare(workspace('app', spec));
    expect(await guardsOf()).toEqual(blocked(message));
    const before = bench.written().length;
    await stack.run(['apply', '--yes'], 5);
    expect(bench.written()).toHaveLength(before);
    await stack.declare(workspace('app', spec, { protect: true }));
    const { out } = await stack.run(['plan'], 7);
    expect(out.replace(/\s+/g, ' ')).toContain(
      `"Workspace/acme/app" is protected, and with this plan ${message}`,
    );
    await stack.run(['apply', '--yes'], 7);
    expect(bench.written()).toHaveLength(before);
  });

  it.each([
    ['a time', { autoDestroyAt: soon }, `its resources are destroyed at ${soon}`],
    [
      'a project with a duration',
      { projectId: 'prj-week' },
      'its resources are destroyed after 7d without activity, inherited from project "week" (prj-week)',
    ],
  ])('the creation of a workspace with %s', async (_, spec, message) => {
    const { stack, guardsOf } = await openScene();
    await stack.declare(workspace('app', spec));
    expect(await guardsOf()).toEqual(blocked(message));
    await stack.run(['apply', '--yes'], 5);
  });

  it('a time for a workspace whose protection ends with the same plan, as the error suggests', async () => {
    const { stack, guardsOf } = await openScene({ begin: {} });
    await stack.declare(workspace('app', {}, { protect: true }));
    await stack.applyAcknowledged();
    const spec = { autoDestroyAt: soon };
    await stack.declare(workspace('app', spec, { protect: true }));
    const { out } = await stack.run(['plan'], 7);
    expect(out.replace(/\s+/g, ' ')).toContain(
      'declare "protect: false", and acknowledge the guard "scheduled-destroy"',
    );
    await stack.declare(workspace('app', spec, { protect: false }));
    expect(await guardsOf()).toEqual(blocked(`its resources are destroyed at ${soon}`));
    const { changes } = await stack.plan();
    expect(changes[0]?.fields).toContainEqual(
      expect.objectContaining({ path: '/claim', before: 'payments:protect', after: 'payments' }),
    );
  });

  it('the creation in a default project that has a duration', async () => {
    const { stack, guardsOf, bench } = await openScene();
    const { resources } = await bench.byHand.get('/organizations/acme/projects');
    const id = resources.find(({ attributes }) => attributes['name'] === 'Default Project')?.id ?? '';
    const attributes = { 'auto-destroy-activity-duration': '3d' };
    await bench.byHand.patch(`/projects/${id}`, { data: { type: 'projects', attributes } });
    await stack.declare(workspace('app', {}));
    expect(await guardsOf()).toEqual(
      blocked(
        `its resources are destroyed after 3d without activity, inherited from project "Default Project" (${id})`,
      ),
    );
  });

  it('a creation whose project cannot be read, and says so', async () => {
    const { stack, guardsOf, bench } = await openScene();
    bench.wire.add({ method: 'GET', path: /acme\/projects/, times: 1000, fault: { answer: 403 } });
    await stack.declare(workspace('app', { projectId: 'prj-plain' }));
    const [guard] = await guardsOf();
    expect(guard?.slice(0, 2)).toEqual(['scheduled-destroy', 'blocks']);
    expect(String(guard?.[2])).toContain('project "prj-plain", which sets this, could not be read');
  });

  it('a creation in the default project if the token sees only another project', async () => {
    const { stack, guardsOf, bench } = await openScene();
    const onlyOne = (body: unknown) => {
      const { data } = body as { data: { attributes: { name: string } }[] };
      const shown = data.filter(({ attributes }) => attributes.name === 'plain');
      return { data: shown, meta: { pagination: { 'total-count': 1, 'next-page': null } } };
    };
    bench.wire.add({ method: 'GET', path: /acme\/projects/, times: 1000, fault: { rewrite: onlyOne } });
    await stack.declare(workspace('app', {}));
    const [guard] = await guardsOf();
    expect(guard?.slice(0, 2)).toEqual(['scheduled-destroy', 'blocks']);
    expect(String(guard?.[2])).toContain('could not be read');
  });

  it('nothing that keeps, delays or ends a destroy', async () => {
    const { stack, guardsOf } = await openScene({
      begin: { autoDestroyAt: sooner, projectId: 'prj-week', description: 'one' },
    });
    const changes = [
      { autoDestroyAt: sooner, projectId: 'prj-week', description: 'two' },
      { autoDestroyAt: soon, projectId: 'prj-week' },
      { autoDestroyAt: sooner, projectId: 'prj-week', autoDestroyActivityDuration: '30d' },
    ];
    for (const spec of changes) {
      await stack.declare(workspace('app', spec));
      expect(await guardsOf()).toEqual([]);
    }
  });
});

describe('A plan with a date and a duration, if one ends the other,', () => {
  const dialect = 'hcp-terraform';
  const timed = { 'auto-destroy-activity-duration': '30d', 'inherits-project-auto-destroy': false };

  /** `app` with a manually set duration, which now declares a date */
  async function openWithDuration() {
    const scene = await openScene({ dialect, begin: {} });
    const { bench, stack } = scene;
    await bench.byHand.update(await bench.idOf('app'), timed);
    await stack.run(['plan', '--exit-code'], 0);
    await stack.declare(workspace('app', { autoDestroyAt: soon }));
    return scene;
  }

  it('shows and sends the end of an undeclared duration, and the guard reports the new date', async () => {
    const { stack, guardsOf, live } = await openWithDuration();
    const { changes, digest } = await stack.plan();
    expect(changes[0]?.fields).toEqual([
      { path: '/autoDestroyAt', before: expect.any(String), after: soon, shape: 'scalar' },
      {
        path: '/autoDestroyActivityDuration',
        before: '30d',
        after: null,
        shape: 'scalar',
        origin: 'default',
      },
    ]);
    expect(changes[0]?.notes).toEqual(['setting autoDestroyAt ends autoDestroyActivityDuration (30d)']);
    expect(await guardsOf()).toEqual(
      blocked(`its resources are destroyed at ${soon}, and no longer after 30d without activity`),
    );
    await stack.run(['apply', '--yes'], 5);
    await stack.run(['apply', '--approve', digest, '--ack', 'scheduled-destroy'], 0);
    expect(await live()).toEqual([soon, null]);
    await stack.run(['plan', '--exit-code'], 0);
    await stack.run(['drift'], 0);
  });

  it('has another digest with another duration', async () => {
    const { stack, bench } = await openWithDuration();
    const { digest } = await stack.plan();
    const other = { ...timed, 'auto-destroy-activity-duration': '31d' };
    await bench.byHand.update(await bench.idOf('app'), other);
    await stack.run(['apply', '--approve', digest, '--ack', 'scheduled-destroy'], 4);
  });

  it('does not end a duration that somebody sets before the write', async () => {
    const begin = { autoDestroyAt: sooner };
    const { stack, bench, live } = await openScene({ dialect, begin, allow: ['scheduled-destroy'] });
    const id = await bench.idOf('app');
    await stack.declare(workspace('app', { autoDestroyAt: soon }));
    bench.wire.setHandler(async ({ method }, pass) => {
      if (method !== 'PATCH') return pass();
      bench.wire.setHandler(undefined);
      await bench.byHand.update(id, timed);
      return { status: 429, headers: { 'retry-after': '0' }, text: '' };
    });
    const { out } = await stack.run(['apply', '--yes'], 4);
    expect(out).toContain('autoDestroyActivityDuration changed since the plan was made');
    expect(await live()).toEqual([sooner, '30d']);
  });

  it('shows that a date ends the duration of the project, for this workspace', async () => {
    const { stack, live } = await openScene({ dialect, allow: ['scheduled-destroy'] });
    await stack.setUp(workspace('app', { projectId: 'prj-week' }));
    await stack.declare(workspace('app', { projectId: 'prj-week', autoDestroyAt: soon }));
    const { changes } = await stack.plan();
    expect(changes[0]?.fields[1]).toMatchObject({
      path: '/autoDestroyActivityDuration',
      before: '7d',
      after: null,
    });
    await stack.run(['apply', '--yes'], 0);
    expect(await live()).toEqual([soon, null]);
    await stack.run(['drift'], 0);
    await stack.declare(workspace('app', { projectId: 'prj-week' }));
    await stack.run(['apply', '--yes'], 0);
    expect(await live()).toEqual([null, null]);
    await stack.run(['drift'], 0);
  });

  it('creates a workspace with a date that inherits no duration, and shows none', async () => {
    const { stack, guardsOf, live } = await openScene({ dialect });
    await stack.declare(workspace('app', { projectId: 'prj-week', autoDestroyAt: soon }));
    expect(await guardsOf()).toEqual(blocked(`its resources are destroyed at ${soon}`));
    const { changes, digest } = await stack.plan();
    expect(changes[0]?.fields.map(({ path }) => path)).not.toContain(
      '/inherited/autoDestroyActivityDuration',
    );
    await stack.run(['apply', '--approve', digest, '--ack', 'scheduled-destroy'], 0);
    expect(await live()).toEqual([soon, null]);
    await stack.run(['drift'], 0);
  });

  it('moves a workspace with a date without showing a duration that it does not inherit', async () => {
    const { stack, live, guardsOf } = await openScene({
      dialect,
      begin: { projectId: 'prj-plain', autoDestroyAt: soon },
    });
    await stack.declare(workspace('app', { projectId: 'prj-week', autoDestroyAt: soon }));
    const { changes, digest } = await stack.plan();
    expect(changes[0]?.fields.map(({ path }) => path)).toEqual(['/projectId']);
    expect(await guardsOf()).toEqual(
      blocked(
        'its resources may be destroyed after 7d without activity: project "week" (prj-week) sets this, and it is not known whether the workspace keeps its own date',
      ),
    );
    await stack.run(['apply', '--approve', digest, '--ack', 'scheduled-destroy'], 0);
    expect(await live()).toEqual([soon, null]);
    await stack.run(['drift'], 0);
  });

  it.each(['neutral', dialect])(
    'says that an undeclared date overrides a declared duration, in the dialect %s',
    async (spoken) => {
      const { bench, stack, live } = await openScene({ dialect: spoken, begin: {} });
      await bench.byHand.update(await bench.idOf('app'), { 'auto-destroy-at': soon });
      await stack.declare(workspace('app', { autoDestroyActivityDuration: '14d' }));
      const { changes, digest } = await stack.plan();
      expect(changes[0]?.fields.map(({ path }) => path)).toEqual(['/autoDestroyActivityDuration']);
      expect(changes[0]?.notes).toEqual([
        `the workspace has the autoDestroyAt ${soon}, which overrides the duration: declare "autoDestroyAt: null" to remove it`,
      ]);
      await stack.run(['apply', '--approve', digest, '--ack', 'scheduled-destroy'], 0);
      expect(await live()).toEqual([soon, '14d']);
    },
  );
});

describe('An approval of a destroy', () => {
  /** A stack that no longer declares a date, beside an undeclared duration. */
  async function openWithoutDate() {
    const scene = await openScene({
      dialect: 'hcp-terraform',
      begin: { autoDestroyAt: soon },
    });
    const setDuration = async (value: string) =>
      scene.bench.byHand.update(await scene.bench.idOf('app'), { 'auto-destroy-activity-duration': value });
    await setDuration('30d');
    await scene.stack.declare(workspace('app'));
    return { ...scene, setDuration };
  }

  it('covers the destroy that it showed, and no earlier one', async () => {
    const { stack, setDuration, guardsOf } = await openWithoutDate();
    const { digest } = await stack.plan();
    expect(JSON.stringify(await guardsOf())).toContain('after 30d without activity');
    await setDuration('1h');
    await stack.run(['apply', '--approve', digest, '--ack', 'scheduled-destroy'], 4);
    const fresh = await stack.plan();
    await stack.run(['apply', '--approve', fresh.digest, '--ack', 'scheduled-destroy'], 0);
  });

  it('does not cover an earlier destroy that somebody schedules just before the write', async () => {
    const { bench, stack, setDuration, live } = await openWithoutDate();
    const { digest } = await stack.plan();
    bench.wire.add(
      { method: 'PATCH', path: /\/workspaces\/ws-/, fault: { answer: 429, headers: { 'retry-after': '0' } } },
      { method: 'GET', path: /\/workspaces\/ws-/, fault: { first: () => setDuration('1h') } },
    );
    const { out } = await stack.run(['apply', '--approve', digest, '--ack', 'scheduled-destroy'], 4);
    expect(out.replace(/\s+/g, ' ')).toContain('its resources are destroyed after 1h without activity');
    expect(await live()).toEqual([soon, '1h']);
  });
});

describe('A time that has passed', () => {
  it('is a warning of validate, and an error of a plan that would send it', async () => {
    const { stack, bench } = await openScene();
    await stack.declare(workspace('app', { autoDestroyAt: past }));
    const { err } = await stack.run(['validate'], 0);
    expect(err).toContain('remove this line');
    const { out } = await stack.run(['plan'], 7);
    expect(out).toContain('it would destroy its resources at once');
    await stack.run(['apply', '--yes'], 7);
    expect(bench.written()).toEqual([]);
  });

  it('is only a warning if it is live already', async () => {
    const { stack, bench } = await openScene({ begin: {} });
    await bench.byHand.update(await bench.idOf('app'), { 'auto-destroy-at': past });
    await stack.declare(workspace('app', { autoDestroyAt: past }));
    const { err } = await stack.run(['plan', '--exit-code'], 0);
    expect(err).toContain('remove this line');
  });

  it('is a warning after its destroy ran, and is neither sent again nor drift', async () => {
    const { bench, at } = await openScene({ begin: { autoDestroyAt: soon } });
    await bench.byHand.update(await bench.idOf('app'), { 'auto-destroy-at': null });
    const later = at('2031-02-01T08:00:00.000Z');
    const planned = await later(['plan', '--exit-code']);
    expect(planned).toMatchObject({ code: 0 });
    expect(planned.out + planned.err).toContain('remove this line');
    expect(await later(['drift'])).toMatchObject({ code: 0 });
    const before = bench.written().length;
    expect(await later(['apply', '--yes'])).toMatchObject({ code: 0 });
    expect(bench.written()).toHaveLength(before);
  });

  it.each([
    ['update', { begin: {} }],
    ['create', {}],
  ])('between approval and apply makes the %s stale, and sends nothing', async (_, scene) => {
    const { stack, bench, at } = await openScene(scene);
    await stack.declare(workspace('app', { autoDestroyAt: soon }));
    const { digest } = await stack.plan();
    const before = bench.written().length;
    const ran = await at('2031-02-01T08:00:00.000Z')([
      'apply',
      '--approve',
      digest,
      '--ack',
      'scheduled-destroy',
    ]);
    expect(ran.out + ran.err).toContain('stale');
    expect(ran.code).toBe(4);
    expect(bench.written()).toHaveLength(before);
  });

  it('must be a date of the calendar', async () => {
    const { stack } = await openScene();
    await stack.declare(workspace('app', { autoDestroyAt: '2027-02-30T08:00:00Z' }));
    expect((await stack.run(['validate'], 7)).err).toContain('is not a timestamp');
  });
});
