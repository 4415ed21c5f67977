import { describe, expect, it } from 'vitest';
import type { Kind } from '../../src/model/kind.ts';
import type { LiveResource, Spec } from '../../src/model/resource.ts';
import { settingsKind, childKind, parentKind, registryOf } from '../support/sample-kinds/sample-kind.ts';
import {
  app,
  appAddress,
  at,
  changeAt,
  desired,
  live,
  type LiveAbout,
  planOf,
  record,
  type World,
} from '../support/sample-kinds/sample-plan.ts';

/** Plans, reads again, and returns what to do about the change at this address. */
function recheckedAs(world: World, now: LiveResource | undefined, address = now?.address ?? app): string {
  const planning = planOf(world);
  expect(planning.plan.problems).toEqual([]);
  const verdict = planning.recheck(changeAt(planning, address), now, { now: 0 });
  return verdict.is === 'stale' ? `stale: ${verdict.why}` : verdict.is;
}

function ofApp(spec: Spec, about: LiveAbout = {}): LiveResource {
  return live(app, { ownershipTag: 'mine', ...about, spec });
}

describe('just before an update', () => {
  const before = {
    colour: 'red',
    timeout: 60,
    readers: ['a'],
    labels: { x: '1' },
    access: { note: 'l', users: ['t'] },
  };
  const wants = (spec: Spec): World => ({ desired: [desired(app, spec)], live: [ofApp(before)] });

  it.each<[string, Spec, Spec, string]>([
    ['a change of an unchanged resource is sent', { colour: 'blue' }, {}, 'send'],
    ['a change of a live value in another spelling is sent', { timeout: '2h' }, { timeout: '1m' }, 'send'],
    ['a change that is live already is not sent', { colour: 'blue' }, { colour: 'blue' }, 'done'],
    [
      'a change that is live already in another spelling is not sent',
      { timeout: '2h', readers: ['b', 'a'] },
      { timeout: 7200, readers: ['a', 'b', 'b'] },
      'done',
    ],
    [
      'a field that changed is stale, and is named',
      { colour: 'blue' },
      { colour: 'green' },
      'stale: colour changed since the plan was made',
    ],
    ['a change that is live in part is sent', { colour: 'blue', timeout: 5 }, { colour: 'blue' }, 'send'],
    [
      'a change that is live in part is stale if another field changed',
      { colour: 'blue', timeout: 5 },
      { colour: 'blue', timeout: 6 },
      'stale: timeout changed since the plan was made',
    ],
    ['a field outside of the change may differ', { colour: 'blue' }, { timeout: 999 }, 'send'],
    [
      'another key of a map that is written may not differ',
      { labels: { x: '2' } },
      { labels: { x: '1', y: '1' } },
      'stale: labels.y changed since the plan was made',
    ],
    [
      'a key of a map that is written already is done',
      { labels: { x: '2' } },
      { labels: { x: '2' } },
      'done',
    ],
    [
      'a member that changed is stale',
      { access: { note: 'm' } },
      { access: { note: 'n', users: ['t'] } },
      'stale: access.note changed since the plan was made',
    ],
    [
      'a change of an unchanged member is sent',
      { access: { note: 'm' } },
      { access: { note: 'l', users: ['u'] } },
      'send',
    ],
    [
      'an object that disappeared is stale, and not done',
      { access: { note: 'm' } },
      { access: null },
      'stale: access changed since the plan was made',
    ],
  ])('%s', (_, wanted, moved, expected) => {
    expect(recheckedAs(wants(wanted), ofApp({ ...before, ...moved }))).toBe(expected);
  });

  it('an object that appeared is stale if it has other values', () => {
    const world = { desired: [desired(app, { access: { note: 'm' } })], live: [ofApp({ access: null })] };
    expect(recheckedAs(world, ofApp({ access: { note: 'x' } }))).toBe(
      'stale: access.note changed since the plan was made',
    );
    expect(recheckedAs(world, ofApp({ access: { note: 'm' } }))).toBe('done');
  });

  it('a deleted resource is stale', () => {
    expect(recheckedAs(wants({ colour: 'blue' }), undefined)).toBe(
      'stale: it no longer exists in the service',
    );
  });

  it('an ownership tag of another stack is stale, even if the fields are as planned', () => {
    const now = ofApp({ ...before, colour: 'blue' }, { ownershipTag: 'yours' });
    expect(recheckedAs(wants({ colour: 'blue' }), now)).toBe(
      'stale: its ownership tag changed since the plan was made',
    );
  });

  it('a removed ownership tag is stale', () => {
    expect(recheckedAs(wants({ colour: 'blue' }), live(app, { spec: before }))).toBe(
      'stale: its ownership tag changed since the plan was made',
    );
  });
});

describe('just before the ownership tag is written', () => {
  const world: World = { desired: [desired(app, {}, { adopt: true })], live: [live(app)] };

  it.each<[string, LiveAbout, string]>([
    ['it is sent when there is still none', {}, 'send'],
    ['nothing is sent when it is there already', { ownershipTag: 'mine' }, 'done'],
    [
      'it is stale when another stack wrote its own',
      { ownershipTag: 'yours' },
      'stale: claim changed since the plan was made',
    ],
    [
      'it is stale when the resource inherits one from its project',
      { ownershipTag: 'mine', inherited: true },
      'stale: claim changed since the plan was made',
    ],
  ])('%s', (_, about, expected) => {
    expect(recheckedAs(world, live(app, about))).toBe(expected);
  });
});

describe('just before a rename', () => {
  const web = at('Parent', 'web');
  const world: World = {
    desired: [desired(web, {}, { renamedFrom: 'app' })],
    live: [ofApp({})],
  };
  const named = (name: string) => live(web, { id: 'id-app', ownershipTag: 'mine', spec: { name } });

  it.each([
    ['a rename from the old name is sent', 'app', 'send'],
    ['nothing is sent when the new name is there already', 'web', 'done'],
    ['a third name is stale', 'site', 'stale: name changed since the plan was made'],
  ])('%s', (_, name, expected) => {
    expect(recheckedAs(world, named(name))).toBe(expected);
  });
});

describe('just before something is deleted', () => {
  const world: World = { live: [ofApp({})], records: { [appAddress]: record({ id: 'id-app' }) } };

  it.each<[string, LiveResource | undefined, string]>([
    ['it is sent when nothing changed', ofApp({}), 'send'],
    ['nothing is sent when it is gone', undefined, 'done'],
    [
      'it is stale when the resource came into use',
      ofApp({}, { facts: { inUse: true } }),
      'stale: it is in use',
    ],
    [
      'it is stale when the resource was protected',
      ofApp({}, { ownershipTag: 'mine:protect' }),
      'stale: its ownership tag changed since the plan was made',
    ],
    [
      'it is stale when the ownership tag was removed',
      live(app),
      'stale: its ownership tag changed since the plan was made',
    ],
    [
      'it is stale when another stack tagged the resource',
      ofApp({}, { ownershipTag: 'yours' }),
      'stale: its ownership tag changed since the plan was made',
    ],
  ])('%s', (_, now, expected) => {
    expect(recheckedAs(world, now, app)).toBe(expected);
  });

  it('a forced removal request ignores that the resource is in use', () => {
    const forced = { ...world, desired: [desired(app, {}, { remove: 'force' as const })] };
    expect(recheckedAs(forced, ofApp({}, { facts: { inUse: true } }))).toBe('send');
  });

  it('a role that changed since our last write stays', () => {
    const job = at('Role', 'job');
    const content = { colour: 'blue', timeout: 0, readers: [] };
    const roles: World = {
      live: [live(job, { spec: content })],
      records: { 'Role/acme/job': record({ content }) },
    };
    expect(recheckedAs(roles, live(job, { spec: content }))).toBe('send');
    expect(recheckedAs(roles, live(job, { spec: { ...content, timeout: 5 } }))).toBe(
      'stale: it changed since this stack last wrote it',
    );
  });

  it('a role with a removal request is deleted, but only as the plan saw it', () => {
    const job = at('Role', 'job');
    const seen = live(job, { spec: { colour: 'red' }, facts: { content: 'red' } });
    const roles: World = {
      desired: [desired(job, {}, { remove: 'safe' })],
      live: [seen],
      records: { 'Role/acme/job': record({ content: { colour: 'blue' } }) },
    };
    expect(recheckedAs(roles, seen)).toBe('send');
    expect(recheckedAs(roles, { ...seen, facts: { content: 'green' } })).toBe(
      'stale: content changed since the plan was made',
    );
  });
});

describe('just before something is released', () => {
  const world: World = { live: [ofApp({}, { ownershipTag: 'mine:release' })] };

  it.each<[string, LiveResource | undefined, string]>([
    ['the ownership tag is removed', ofApp({}, { ownershipTag: 'mine:release' }), 'send'],
    ['nothing is sent when the ownership tag is gone already', live(app), 'done'],
    ['nothing is sent when it is gone', undefined, 'done'],
    [
      'it is stale when another stack tagged the resource',
      ofApp({}, { ownershipTag: 'yours' }),
      'stale: claim changed since the plan was made',
    ],
  ])('%s', (_, now, expected) => {
    expect(recheckedAs(world, now, app)).toBe(expected);
  });

  // A release of this kind also resets the colour.
  const painted: World = {
    live: [ofApp({ colour: 'blue' }, { ownershipTag: 'mine:release' })],
    kinds: registryOf({ ...parentKind, released: () => ({ colour: null }) }, childKind),
  };

  it.each<[string, LiveResource, string]>([
    [
      'the values to reset are unchanged',
      ofApp({ colour: 'blue' }, { ownershipTag: 'mine:release' }),
      'send',
    ],
    ['only the ownership tag is gone already', live(app, { spec: { colour: 'blue' } }), 'send'],
    ['ownership tag and colour are gone already', live(app, { spec: { colour: 'red' } }), 'done'],
    [
      'a value to reset has changed',
      ofApp({ colour: 'green' }, { ownershipTag: 'mine:release' }),
      'stale: colour changed since the plan was made',
    ],
  ])('a release that also resets fields is checked: %s', (_, now, expected) => {
    expect(recheckedAs(painted, now)).toBe(expected);
  });
});

describe('just before a create that would overwrite', () => {
  const job = at('Role', 'job');
  const world: World = { desired: [desired(job, { colour: 'blue' })] };

  it.each<[string, LiveResource | undefined, string]>([
    ['it is sent when nothing exists', undefined, 'send'],
    ['nothing is sent when an equal resource exists', live(job, { spec: { colour: 'blue' } }), 'done'],
    [
      'it is stale when a different resource with that name exists',
      live(job, { spec: { colour: 'red' } }),
      'stale: a resource with this name appeared since the plan was made',
    ],
  ])('%s', (_, now, expected) => {
    expect(recheckedAs(world, now, job)).toBe(expected);
  });

  it('the resource is read, unless the create fails by itself when the name is taken', () => {
    const roles = planOf(world);
    expect(roles.needsRecheck(changeAt(roles, job))).toBe(true);
    const parents = planOf({ desired: [desired(app)] });
    expect(parents.needsRecheck(changeAt(parents, app))).toBe(false);
  });
});

describe('facts that the calls depend on', () => {
  const job = at('Role', 'job');
  const seen = live(job, { spec: { colour: 'red' }, facts: { content: 'as it was' } });
  const world: World = {
    desired: [desired(job, { colour: 'blue' })],
    live: [seen],
    records: { 'Role/acme/job': record() },
  };

  it('are stale when they changed', () => {
    expect(recheckedAs(world, { ...seen, facts: { content: 'another' } })).toBe(
      'stale: content changed since the plan was made',
    );
    expect(recheckedAs(world, seen)).toBe('send');
  });

  it('do not matter when everything is done already', () => {
    const done = live(job, { spec: { colour: 'blue' }, facts: { content: 'another' } });
    expect(recheckedAs(world, done)).toBe('done');
  });
});

describe('if every write replaces the whole resource', () => {
  const long = at('Settings', 'config');
  const seen = { colour: 'red', timeout: 0, readers: [] };
  const world: World = {
    kinds: registryOf(settingsKind),
    desired: [desired(long, { colour: 'blue' })],
    live: [live(long, { spec: seen })],
    records: { 'Settings/acme/config': record() },
  };

  it('a field that changed is stale, even if the change is not about it', () => {
    expect(recheckedAs(world, live(long, { spec: { ...seen, timeout: 5 } }))).toBe(
      'stale: timeout changed since the plan was made',
    );
    expect(recheckedAs(world, live(long, { spec: seen }))).toBe('send');
  });
});

describe('a value that was unknown when the plan was made', () => {
  const hidden: Kind = {
    ...parentKind,
    prepare: ({ desired: wanted, live: found }) => ({
      desired: wanted,
      ...(found?.facts['fog'] === true ? { unknown: { readers: 'hidden by fog' } } : {}),
    }),
  };
  const world: World = {
    kinds: registryOf(hidden),
    desired: [desired(app, { readers: ['a'] })],
    live: [ofApp({ readers: ['z'] }, { facts: { fog: true } })],
  };

  it.each<[string, LiveResource, string]>([
    ['may still be hidden', ofApp({ readers: ['z'] }, { facts: { fog: true } }), 'send'],
    ['may be visible now, with any value', ofApp({ readers: ['q'] }), 'send'],
    ['may be visible now, with the declared value', ofApp({ readers: ['a'] }), 'done'],
  ])('%s', (_, now, expected) => {
    expect(recheckedAs(world, now)).toBe(expected);
  });
});

it('a change that its kind refuses now is not sent', () => {
  const careful: Kind = {
    ...parentKind,
    prepare: ({ desired: wanted, live: found }) => ({
      desired: wanted,
      problems:
        found?.facts['wet'] === true
          ? [{ code: 'not-allowed', severity: 'error', class: 'failure', message: 'the paint is wet' }]
          : [],
    }),
  };
  const world: World = {
    kinds: registryOf(careful),
    desired: [desired(app, { colour: 'blue' })],
    live: [ofApp({ colour: 'red' })],
  };
  expect(recheckedAs(world, ofApp({ colour: 'red' }, { facts: { wet: true } }))).toBe(
    'stale: the paint is wet',
  );
});

describe('a child', () => {
  const child = at('Child', 'app');
  const kinds = registryOf(parentKind, childKind);
  const tags = (ownershipTag: string | undefined, now: readonly string[] = []) =>
    live(child, { spec: { tags: now }, ownershipTag });

  it('is sent when its parent got its ownership tag by the same plan', () => {
    const world: World = {
      kinds,
      desired: [desired(app, {}, { adopt: true }), desired(child, { tags: ['prod'] })],
      live: [live(app), tags(undefined)],
    };
    expect(recheckedAs(world, tags(undefined), child)).toBe('send');
    expect(recheckedAs(world, tags('mine'), child)).toBe('send');
    expect(recheckedAs(world, tags('yours'), child)).toBe(
      'stale: its ownership tag changed since the plan was made',
    );
  });

  it('that is withdrawn is sent when its parent got other flags by the same plan', () => {
    const world: World = {
      kinds,
      desired: [desired(app, {}, { protect: true })],
      live: [ofApp({}), tags('mine', ['prod', 'live'])],
      records: { 'Child/acme/app': record({ fields: { tags: ['prod'] } }) },
    };
    expect(recheckedAs(world, tags('mine:protect', ['prod', 'live']), child)).toBe('send');
    expect(recheckedAs(world, tags('mine', ['live']), child)).toBe('done');
    expect(recheckedAs(world, tags('mine', ['prod', 'live', 'edge']), child)).toMatch('stale: tags changed');
  });

  it('is done when its parent is gone', () => {
    const world: World = {
      kinds,
      desired: [desired(app)],
      live: [ofApp({}), tags('mine', ['prod'])],
      records: { 'Child/acme/app': record({ fields: { tags: ['prod'] } }) },
    };
    expect(recheckedAs(world, undefined, child)).toBe('done');
  });
});
