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

/** Plans, then reads again: what is to be done about the change at this address, now that this is live. */
function look(world: World, now: LiveResource | undefined, address = now?.address ?? app): string {
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
    ['what is as it was is sent', { colour: 'blue' }, {}, 'send'],
    ['what is as it was in another spelling is sent', { timeout: '2h' }, { timeout: '1m' }, 'send'],
    ['what somebody has done already is not sent', { colour: 'blue' }, { colour: 'blue' }, 'done'],
    [
      'what somebody has done in another spelling is not sent',
      { timeout: '2h', readers: ['b', 'a'] },
      { timeout: 7200, readers: ['a', 'b', 'b'] },
      'done',
    ],
    [
      'what moved is stale, and says which field',
      { colour: 'blue' },
      { colour: 'green' },
      'stale: colour changed since the plan was made',
    ],
    ['what is done in part is sent', { colour: 'blue', timeout: 5 }, { colour: 'blue' }, 'send'],
    [
      'what is done in part and moved in part is stale',
      { colour: 'blue', timeout: 5 },
      { colour: 'blue', timeout: 6 },
      'stale: timeout changed since the plan was made',
    ],
    ['a field that the change is not about may move', { colour: 'blue' }, { timeout: 999 }, 'send'],
    [
      'another key of a map that is written may not',
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
      'a member that moved is stale',
      { access: { note: 'm' } },
      { access: { note: 'n', users: ['t'] } },
      'stale: access.note changed since the plan was made',
    ],
    [
      'a member that is as it was is sent',
      { access: { note: 'm' } },
      { access: { note: 'l', users: ['u'] } },
      'send',
    ],
    [
      'an object that went away is not its members already written',
      { access: { note: 'm' } },
      { access: null },
      'stale: access changed since the plan was made',
    ],
  ])('%s', (_, wanted, moved, expected) => {
    expect(look(wants(wanted), ofApp({ ...before, ...moved }))).toBe(expected);
  });

  it('an object that appeared is not the one that was to be written', () => {
    const world = { desired: [desired(app, { access: { note: 'm' } })], live: [ofApp({ access: null })] };
    expect(look(world, ofApp({ access: { note: 'x' } }))).toBe(
      'stale: access.note changed since the plan was made',
    );
    expect(look(world, ofApp({ access: { note: 'm' } }))).toBe('done');
  });

  it('what is gone is stale', () => {
    expect(look(wants({ colour: 'blue' }), undefined)).toBe('stale: it no longer exists in the service');
  });

  it('an ownership tag that somebody put on it is stale, whatever else is as it was', () => {
    const now = ofApp({ ...before, colour: 'blue' }, { ownershipTag: 'yours' });
    expect(look(wants({ colour: 'blue' }), now)).toBe(
      'stale: its ownership tag changed since the plan was made',
    );
  });

  it('an ownership tag that is gone is stale', () => {
    expect(look(wants({ colour: 'blue' }), live(app, { spec: before }))).toBe(
      'stale: its ownership tag changed since the plan was made',
    );
  });
});

describe('just before the ownership tag is written', () => {
  const world: World = { desired: [desired(app, {}, { adopt: true })], live: [live(app)] };

  it.each<[string, LiveAbout, string]>([
    ['it is sent when there is none still', {}, 'send'],
    ['nothing is sent when it is there', { ownershipTag: 'mine' }, 'done'],
    [
      'it is stale when another stack was faster',
      { ownershipTag: 'yours' },
      'stale: claim changed since the plan was made',
    ],
    [
      'it is stale when its project hands one down by now',
      { ownershipTag: 'mine', inherited: true },
      'stale: claim changed since the plan was made',
    ],
  ])('%s', (_, about, expected) => {
    expect(look(world, live(app, about))).toBe(expected);
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
    ['the old name is sent a new one', 'app', 'send'],
    ['the new name is there already', 'web', 'done'],
    ['a third name is stale', 'site', 'stale: name changed since the plan was made'],
  ])('%s', (_, name, expected) => {
    expect(look(world, named(name))).toBe(expected);
  });
});

describe('just before something is deleted', () => {
  const world: World = { live: [ofApp({})], records: { [appAddress]: record({ id: 'id-app' }) } };

  it.each<[string, LiveResource | undefined, string]>([
    ['it is sent when nothing moved', ofApp({}), 'send'],
    ['nothing is sent when it is gone', undefined, 'done'],
    ['it is stale when somebody moved in', ofApp({}, { facts: { inUse: true } }), 'stale: it is in use'],
    [
      'it is stale when somebody protected it',
      ofApp({}, { ownershipTag: 'mine:protect' }),
      'stale: its ownership tag changed since the plan was made',
    ],
    [
      'it is stale when its claim is gone',
      live(app),
      'stale: its ownership tag changed since the plan was made',
    ],
    [
      'it is stale when another stack claimed it',
      ofApp({}, { ownershipTag: 'yours' }),
      'stale: its ownership tag changed since the plan was made',
    ],
  ])('%s', (_, now, expected) => {
    expect(look(world, now, app)).toBe(expected);
  });

  it('a removal request that forces does not ask who lives in it', () => {
    const forced = { ...world, desired: [desired(app, {}, { remove: 'force' as const })] };
    expect(look(forced, ofApp({}, { facts: { inUse: true } }))).toBe('send');
  });

  it('a role that changed since our last write stays', () => {
    const job = at('Role', 'job');
    const content = { colour: 'blue', timeout: 0, readers: [] };
    const roles: World = {
      live: [live(job, { spec: content })],
      records: { 'Role/acme/job': record({ content }) },
    };
    expect(look(roles, live(job, { spec: content }))).toBe('send');
    expect(look(roles, live(job, { spec: { ...content, timeout: 5 } }))).toBe(
      'stale: it changed since this stack last wrote it',
    );
  });

  it('a role that a removal request asks for goes, but only as the plan saw it', () => {
    const job = at('Role', 'job');
    const seen = live(job, { spec: { colour: 'red' }, facts: { content: 'red' } });
    const roles: World = {
      desired: [desired(job, {}, { remove: 'safe' })],
      live: [seen],
      records: { 'Role/acme/job': record({ content: { colour: 'blue' } }) },
    };
    expect(look(roles, seen)).toBe('send');
    expect(look(roles, { ...seen, facts: { content: 'green' } })).toBe(
      'stale: content changed since the plan was made',
    );
  });
});

describe('just before something is released', () => {
  const world: World = { live: [ofApp({}, { ownershipTag: 'mine:release' })] };

  it.each<[string, LiveResource | undefined, string]>([
    ['the claim is taken away', ofApp({}, { ownershipTag: 'mine:release' }), 'send'],
    ['nothing is sent when it has none any more', live(app), 'done'],
    ['nothing is sent when it is gone', undefined, 'done'],
    [
      'it is stale when another stack has claimed it',
      ofApp({}, { ownershipTag: 'yours' }),
      'stale: claim changed since the plan was made',
    ],
  ])('%s', (_, now, expected) => {
    expect(look(world, now, app)).toBe(expected);
  });

  // Who has painted it for us lets it go unpainted.
  const painted: World = {
    live: [ofApp({ colour: 'blue' }, { ownershipTag: 'mine:release' })],
    kinds: registryOf({ ...parentKind, released: () => ({ colour: null }) }, childKind),
  };

  it.each<[string, LiveResource, string]>([
    ['what it takes back is as it was', ofApp({ colour: 'blue' }, { ownershipTag: 'mine:release' }), 'send'],
    ['only the claim has gone already', live(app, { spec: { colour: 'blue' } }), 'send'],
    ['claim and colour have gone already', live(app, { spec: { colour: 'red' } }), 'done'],
    [
      'what it takes back is something else by now',
      ofApp({ colour: 'green' }, { ownershipTag: 'mine:release' }),
      'stale: colour changed since the plan was made',
    ],
  ])('with more than the ownership tag: %s', (_, now, expected) => {
    expect(look(painted, now)).toBe(expected);
  });
});

describe('just before a create that would overwrite', () => {
  const job = at('Role', 'job');
  const world: World = { desired: [desired(job, { colour: 'blue' })] };

  it.each<[string, LiveResource | undefined, string]>([
    ['it is sent when there is nothing', undefined, 'send'],
    ['nothing is sent when there is exactly that', live(job, { spec: { colour: 'blue' } }), 'done'],
    [
      'it is stale when there is something else of that name',
      live(job, { spec: { colour: 'red' } }),
      'stale: a resource with this name appeared since the plan was made',
    ],
  ])('%s', (_, now, expected) => {
    expect(look(world, now, job)).toBe(expected);
  });

  it('is read; a create that fails by itself when the name is taken is not', () => {
    const roles = planOf(world);
    expect(roles.needsRecheck(changeAt(roles, job))).toBe(true);
    const parents = planOf({ desired: [desired(app)] });
    expect(parents.needsRecheck(changeAt(parents, app))).toBe(false);
  });
});

describe('facts that the calls were built on', () => {
  const job = at('Role', 'job');
  const seen = live(job, { spec: { colour: 'red' }, facts: { content: 'as it was' } });
  const world: World = {
    desired: [desired(job, { colour: 'blue' })],
    live: [seen],
    records: { 'Role/acme/job': record() },
  };

  it('are stale when they moved', () => {
    expect(look(world, { ...seen, facts: { content: 'another' } })).toBe(
      'stale: content changed since the plan was made',
    );
    expect(look(world, seen)).toBe('send');
  });

  it('do not matter when everything is done already', () => {
    const done = live(job, { spec: { colour: 'blue' }, facts: { content: 'another' } });
    expect(look(world, done)).toBe('done');
  });
});

describe('where every write replaces everything', () => {
  const long = at('Settings', 'config');
  const seen = { colour: 'red', timeout: 0, readers: [] };
  const world: World = {
    kinds: registryOf(settingsKind),
    desired: [desired(long, { colour: 'blue' })],
    live: [live(long, { spec: seen })],
    records: { 'Settings/acme/config': record() },
  };

  it('a field that moved is stale, also when the change is not about it', () => {
    expect(look(world, live(long, { spec: { ...seen, timeout: 5 } }))).toBe(
      'stale: timeout changed since the plan was made',
    );
    expect(look(world, live(long, { spec: seen }))).toBe('send');
  });
});

describe('a value that nobody could see when the plan was made', () => {
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
    ['may be seen by now, whatever it is', ofApp({ readers: ['q'] }), 'send'],
    ['may be seen to be as it shall be', ofApp({ readers: ['a'] }), 'done'],
  ])('%s', (_, now, expected) => {
    expect(look(world, now)).toBe(expected);
  });
});

it('what its kind refuses by now is not sent', () => {
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
  expect(look(world, ofApp({ colour: 'red' }, { facts: { wet: true } }))).toBe('stale: the paint is wet');
});

describe('a part', () => {
  const part = at('Child', 'app');
  const kinds = registryOf(parentKind, childKind);
  const tags = (ownershipTag: string | undefined, now: readonly string[] = []) =>
    live(part, { spec: { tags: now }, ownershipTag });

  it('goes on when its parent got its ownership tag by the same plan', () => {
    const world: World = {
      kinds,
      desired: [desired(app, {}, { adopt: true }), desired(part, { tags: ['prod'] })],
      live: [live(app), tags(undefined)],
    };
    expect(look(world, tags(undefined), part)).toBe('send');
    expect(look(world, tags('mine'), part)).toBe('send');
    expect(look(world, tags('yours'), part)).toBe('stale: its ownership tag changed since the plan was made');
  });

  it('that is taken back goes on when its parent got other flags by the same plan', () => {
    const world: World = {
      kinds,
      desired: [desired(app, {}, { protect: true })],
      live: [ofApp({}), tags('mine', ['prod', 'live'])],
      records: { 'Child/acme/app': record({ fields: { tags: ['prod'] } }) },
    };
    expect(look(world, tags('mine:protect', ['prod', 'live']), part)).toBe('send');
    expect(look(world, tags('mine', ['live']), part)).toBe('done');
    expect(look(world, tags('mine', ['prod', 'live', 'edge']), part)).toMatch('stale: tags changed');
  });

  it('whose parent is gone has nothing left to take back', () => {
    const world: World = {
      kinds,
      desired: [desired(app)],
      live: [ofApp({}), tags('mine', ['prod'])],
      records: { 'Child/acme/app': record({ fields: { tags: ['prod'] } }) },
    };
    expect(look(world, undefined, part)).toBe('done');
  });
});
