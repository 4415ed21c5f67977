/** Nothing destroys the resources of a workspace, now or later, without an acknowledgement of exactly that. */
import { describe, expect, it } from 'vitest';
import { trueup } from '../../support/captured-host.ts';
import { openBench } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';

const soon = '2031-01-31T08:00:00.000Z';
const sooner = '2031-01-30T08:00:00.000Z';
const past = '2020-01-31T08:00:00.000Z';

const projects = [
  { name: 'plain', id: 'prj-plain' },
  { name: 'week', id: 'prj-week', 'auto-destroy-activity-duration': '7d' },
  {
    name: 'sandbox',
    id: 'prj-sandbox',
    'auto-destroy-activity-duration': '1d',
    'default-execution-mode': 'local',
  },
] as const;

interface Scene {
  readonly dialect?: string;
  /** of the workspace when the test begins */
  readonly begin?: object;
  readonly allow?: readonly string[];
}

async function openScene({ dialect = 'neutral', begin, allow = [] }: Scene = {}) {
  const bench = await openBench({ dialects: [dialect], organization: { projects: [...projects] } });
  const place = (guards: object) => bench.checkout({ workspaces: { dialect }, spec: { guards } });
  const stack = await place({ allow });
  if (begin !== undefined) {
    await stack.declare(workspace('app', begin));
    const { digest, acknowledge = [] } = await stack.plan();
    const ack = acknowledge.length === 0 ? [] : ['--ack', acknowledge.join(',')];
    await stack.run(['apply', '--approve', digest, ...ack], 0);
  }
  const guardsOf = async () => {
    const { guards } = await stack.plan();
    return guards.map(({ id, effect, concerns }) => [id, effect, concerns.flatMap(({ says }) => says)]);
  };
  const live = async () => {
    const attributes = await bench.byHand.attributes(await bench.idOf('app'));
    return [attributes['auto-destroy-at'], attributes['auto-destroy-activity-duration']];
  };
  const at = (time: string) => (args: readonly string[]) =>
    trueup(args, { cwd: stack.directory, env: stack.env, now: () => Date.parse(time) });
  return { bench, stack, guardsOf, live, at };
}

const blocked = (...says: string[]) => [['scheduled-destroy', 'blocks', says]];

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
      'its resources are destroyed after 7d without activity, as project "week" (prj-week) says',
    ],
    [
      'a move to a project with a shorter one',
      { projectId: 'prj-week' },
      { projectId: 'prj-sandbox' },
      'its resources are destroyed after 1d without activity instead of 7d, as project "sandbox" (prj-sandbox) says',
    ],
    [
      'a duration that is no longer declared, where the project has a shorter one',
      { projectId: 'prj-week', autoDestroyActivityDuration: '30d' },
      { projectId: 'prj-week' },
      'its resources are destroyed after 7d without activity instead of 30d, as project "week" (prj-week) says',
    ],
    [
      'a time that is no longer declared beside a duration',
      { autoDestroyAt: soon, autoDestroyActivityDuration: '14d' },
      { autoDestroyActivityDuration: '14d' },
      `its resources are destroyed after 14d without activity, and no longer at ${soon}`,
    ],
  ])('%s', async (_, begin, spec, says) => {
    const { stack, guardsOf, bench } = await openScene({ begin });
    await stack.declare(workspace('app', spec));
    expect(await guardsOf()).toEqual(blocked(says));
    const before = bench.written().length;
    await stack.run(['apply', '--yes'], 5);
    expect(bench.written()).toHaveLength(before);
    await stack.declare(workspace('app', spec, { protect: true }));
    const { out } = await stack.run(['plan'], 7);
    expect(out.replace(/\s+/g, ' ')).toContain(
      `"Workspace/acme/app" is protected, and with this plan ${says}`,
    );
    await stack.run(['apply', '--yes'], 7);
    expect(bench.written()).toHaveLength(before);
  });

  it.each([
    ['a time', { autoDestroyAt: soon }, `its resources are destroyed at ${soon}`],
    [
      'a project with a duration',
      { projectId: 'prj-week' },
      'its resources are destroyed after 7d without activity, as project "week" (prj-week) says',
    ],
  ])('the creation of a workspace with %s', async (_, spec, says) => {
    const { stack, guardsOf } = await openScene();
    await stack.declare(workspace('app', spec));
    expect(await guardsOf()).toEqual(blocked(says));
    await stack.run(['apply', '--yes'], 5);
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
        `its resources are destroyed after 3d without activity, as project "Default Project" (${id}) says`,
      ),
    );
  });

  it('a creation whose project cannot be read, and says so', async () => {
    const { stack, guardsOf, bench } = await openScene();
    bench.wire.add({ method: 'GET', path: /acme\/projects/, times: 1000, fault: { answer: 403 } });
    await stack.declare(workspace('app', { projectId: 'prj-plain' }));
    const [guard] = await guardsOf();
    expect(guard?.slice(0, 2)).toEqual(['scheduled-destroy', 'blocks']);
    expect(String(guard?.[2])).toContain('project "prj-plain", which decides it, could not be read');
  });

  it('a creation in the default project where the token sees another project alone', async () => {
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

describe('A move to another project', () => {
  it('shows the fields that its defaults change, and drift sees them afterwards', async () => {
    const { stack, bench } = await openScene({ begin: { projectId: 'prj-plain' } });
    await stack.declare(workspace('app', { projectId: 'prj-sandbox' }));
    const { changes, digest } = await stack.plan();
    const from = 'project "sandbox" (prj-sandbox)';
    expect(changes[0]?.fields).toEqual([
      { path: '/projectId', before: 'prj-plain', after: 'prj-sandbox', shape: 'scalar' },
      { path: '/inherited/executionMode', before: 'remote', after: 'local', shape: 'scalar', origin: from },
      {
        path: '/inherited/autoDestroyActivityDuration',
        before: null,
        after: '1d',
        shape: 'scalar',
        origin: from,
      },
    ]);
    await stack.run(['apply', '--approve', digest, '--ack', 'scheduled-destroy'], 0);
    await stack.run(['plan', '--exit-code'], 0);
    await stack.run(['drift'], 0);
    const attributes = { 'auto-destroy-activity-duration': '1h', 'default-execution-mode': 'remote' };
    await bench.byHand.patch('/projects/prj-sandbox', { data: { type: 'projects', attributes } });
    const { out } = await stack.run(['drift'], 3);
    expect(out).toContain('inherited.autoDestroyActivityDuration');
    expect(out).toMatch(/inherited\.executionMode +local -> remote/);
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['drift'], 0);
  });

  it('keeps a declared end of destroys where the dialect can say so', async () => {
    const { stack, guardsOf, live } = await openScene({
      dialect: 'hcp-terraform',
      begin: { projectId: 'prj-plain', autoDestroyActivityDuration: null },
    });
    await stack.declare(workspace('app', { projectId: 'prj-week', autoDestroyActivityDuration: null }));
    expect(await guardsOf()).toEqual([]);
    await stack.run(['apply', '--yes'], 0);
    expect(await live()).toEqual([null, null]);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('is approved with the duration that it had then: another one is another plan', async () => {
    const { stack, bench } = await openScene({ begin: { projectId: 'prj-plain' } });
    await stack.declare(workspace('app', { projectId: 'prj-week' }));
    const { digest } = await stack.plan();
    const attributes = { 'auto-destroy-activity-duration': '1h' };
    await bench.byHand.patch('/projects/prj-week', { data: { type: 'projects', attributes } });
    await stack.run(['apply', '--approve', digest, '--ack', 'scheduled-destroy'], 4);
  });

  it('reads the projects in one list, and an update that moves nothing reads none', async () => {
    const { stack, bench } = await openScene({ begin: { projectId: 'prj-plain' } });
    const asked = () => bench.wire.seen.filter(({ path }) => path.includes('/projects')).length;
    const before = asked();
    await stack.declare(workspace('app', { projectId: 'prj-plain', description: 'another one' }));
    await stack.plan();
    expect(asked()).toBe(before);
    await stack.declare(
      workspace('app', { projectId: 'prj-week' }),
      workspace('two', { projectId: 'prj-sandbox' }),
      workspace('three', {}),
    );
    await stack.plan();
    expect(asked()).toBe(before + 1);
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

  it('and is live is a warning only', async () => {
    const { stack, bench } = await openScene({ begin: {} });
    await bench.byHand.update(await bench.idOf('app'), { 'auto-destroy-at': past });
    await stack.declare(workspace('app', { autoDestroyAt: past }));
    const { err } = await stack.run(['plan', '--exit-code'], 0);
    expect(err).toContain('remove this line');
  });

  it('and was carried out by the service is a warning, never sent again, and no drift', async () => {
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

  it('is no time at all on a day that no calendar has', async () => {
    const { stack } = await openScene();
    await stack.declare(workspace('app', { autoDestroyAt: '2027-02-30T08:00:00Z' }));
    expect((await stack.run(['validate'], 7)).err).toContain('is no timestamp');
  });
});
