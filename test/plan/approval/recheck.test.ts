import { describe, expect, test } from 'vitest';
import { formatAddress } from '../../../src/model/resource/address.ts';
import type { Kind } from '../../../src/model/kind/kind.ts';
import type { LiveResource, Spec } from '../../../src/model/resource/resource.ts';
import { fence, garden, house, registryOf } from '../../support/toys/toy-kind.ts';
import {
  at,
  changeAt,
  desired,
  type LiveAbout,
  live,
  planOf,
  record,
  type World,
} from '../../support/toys/toy-plan.ts';

const home = at('House', 'home');
const text = formatAddress(home);

/** Plans, then looks again: what is to be done about the change at this address, now that this is live. */
function look(world: World, now: LiveResource | undefined, address = now?.address ?? home): string {
  const planning = planOf(world);
  expect(planning.plan.problems).toEqual([]);
  const verdict = planning.recheck(changeAt(planning, address), now);
  return verdict.is === 'stale' ? `stale: ${verdict.why}` : verdict.is;
}

function ofHome(spec: Spec, about: LiveAbout = {}): LiveResource {
  return live(home, { claim: 'mine', ...about, spec });
}

describe('just before an update', () => {
  const before = {
    colour: 'red',
    timer: 60,
    rooms: ['a'],
    labels: { x: '1' },
    box: { lid: 'l', toys: ['t'] },
  };
  const wants = (spec: Spec): World => ({ desired: [desired(home, spec)], live: [ofHome(before)] });

  test.each<[string, Spec, Spec, string]>([
    ['what is as it was is sent', { colour: 'blue' }, {}, 'send'],
    ['what is as it was in another spelling is sent', { timer: '2h' }, { timer: '1m' }, 'send'],
    ['what somebody has done already is not sent', { colour: 'blue' }, { colour: 'blue' }, 'done'],
    [
      'what somebody has done in another spelling is not sent',
      { timer: '2h', rooms: ['b', 'a'] },
      { timer: 7200, rooms: ['a', 'b', 'b'] },
      'done',
    ],
    [
      'what moved is stale, and says which field',
      { colour: 'blue' },
      { colour: 'green' },
      'stale: colour moved since the plan was made',
    ],
    ['what is done in part is sent', { colour: 'blue', timer: 5 }, { colour: 'blue' }, 'send'],
    [
      'what is done in part and moved in part is stale',
      { colour: 'blue', timer: 5 },
      { colour: 'blue', timer: 6 },
      'stale: timer moved since the plan was made',
    ],
    ['a field that the change is not about may move', { colour: 'blue' }, { timer: 999 }, 'send'],
    [
      'another key of a map that is written may not',
      { labels: { x: '2' } },
      { labels: { x: '1', y: '1' } },
      'stale: labels.y moved since the plan was made',
    ],
    [
      'a key of a map that is written already is done',
      { labels: { x: '2' } },
      { labels: { x: '2' } },
      'done',
    ],
    [
      'a member that moved is stale',
      { box: { lid: 'm' } },
      { box: { lid: 'n', toys: ['t'] } },
      'stale: box.lid moved since the plan was made',
    ],
    ['a member that is as it was is sent', { box: { lid: 'm' } }, { box: { lid: 'l', toys: ['u'] } }, 'send'],
    [
      'an object that went away is not its members already written',
      { box: { lid: 'm' } },
      { box: null },
      'stale: box moved since the plan was made',
    ],
  ])('%s', (_, wanted, moved, expected) => {
    expect(look(wants(wanted), ofHome({ ...before, ...moved }))).toBe(expected);
  });

  test('an object that appeared is not the one that was to be written', () => {
    const world = { desired: [desired(home, { box: { lid: 'm' } })], live: [ofHome({ box: null })] };
    expect(look(world, ofHome({ box: { lid: 'x' } }))).toBe('stale: box.lid moved since the plan was made');
    expect(look(world, ofHome({ box: { lid: 'm' } }))).toBe('done');
  });

  test('what is gone is stale', () => {
    expect(look(wants({ colour: 'blue' }), undefined)).toBe('stale: it is gone from the service');
  });

  test('a claim that somebody put on it is stale, whatever else is as it was', () => {
    const now = ofHome({ ...before, colour: 'blue' }, { claim: 'yours' });
    expect(look(wants({ colour: 'blue' }), now)).toBe('stale: its claim moved since the plan was made');
  });

  test('a claim that is gone is stale', () => {
    expect(look(wants({ colour: 'blue' }), live(home, { spec: before }))).toBe(
      'stale: its claim moved since the plan was made',
    );
  });
});

describe('just before the claim is written', () => {
  const world: World = { desired: [desired(home, {}, { adopt: true })], live: [live(home)] };

  test.each<[string, LiveAbout, string]>([
    ['it is sent when there is none still', {}, 'send'],
    ['nothing is sent when it is there', { claim: 'mine' }, 'done'],
    [
      'it is stale when another stack was faster',
      { claim: 'yours' },
      'stale: claim moved since the plan was made',
    ],
    [
      'it is stale when its project hands one down by now',
      { claim: 'mine', inherited: true },
      'stale: claim moved since the plan was made',
    ],
  ])('%s', (_, about, expected) => {
    expect(look(world, live(home, about))).toBe(expected);
  });
});

describe('just before a rename', () => {
  const villa = at('House', 'villa');
  const world: World = {
    desired: [desired(villa, {}, { renamedFrom: 'home' })],
    live: [ofHome({})],
  };
  const named = (name: string) => live(villa, { id: 'id-home', claim: 'mine', spec: { name } });

  test.each([
    ['the old name is sent a new one', 'home', 'send'],
    ['the new name is there already', 'villa', 'done'],
    ['a third name is stale', 'shed', 'stale: name moved since the plan was made'],
  ])('%s', (_, name, expected) => {
    expect(look(world, named(name))).toBe(expected);
  });
});

describe('just before something is deleted', () => {
  const world: World = { live: [ofHome({})], records: { [text]: record({ id: 'id-home' }) } };

  test.each<[string, LiveResource | undefined, string]>([
    ['it is sent when nothing moved', ofHome({}), 'send'],
    ['nothing is sent when it is gone', undefined, 'done'],
    [
      'it is stale when somebody moved in',
      ofHome({}, { facts: { inhabited: true } }),
      'stale: somebody lives in it',
    ],
    [
      'it is stale when somebody protected it',
      ofHome({}, { claim: 'mine:protect' }),
      'stale: its claim moved since the plan was made',
    ],
    ['it is stale when its claim is gone', live(home), 'stale: its claim moved since the plan was made'],
    [
      'it is stale when another stack claimed it',
      ofHome({}, { claim: 'yours' }),
      'stale: its claim moved since the plan was made',
    ],
  ])('%s', (_, now, expected) => {
    expect(look(world, now, home)).toBe(expected);
  });

  test('a tombstone that forces does not ask who lives in it', () => {
    const forced = { ...world, desired: [desired(home, {}, { remove: 'force' as const })] };
    expect(look(forced, ofHome({}, { facts: { inhabited: true } }))).toBe('send');
  });

  test('a door that changed since our last write stays', () => {
    const front = at('Door', 'front');
    const content = { colour: 'blue', timer: 0, rooms: [] };
    const doors: World = {
      live: [live(front, { spec: content })],
      records: { 'Door/acme/front': record({ content }) },
    };
    expect(look(doors, live(front, { spec: content }))).toBe('send');
    expect(look(doors, live(front, { spec: { ...content, timer: 5 } }))).toBe(
      'stale: it changed since our last write',
    );
  });

  test('a door that a tombstone asks for goes, but only as the plan saw it', () => {
    const front = at('Door', 'front');
    const seen = live(front, { spec: { colour: 'red' }, facts: { content: 'red' } });
    const doors: World = {
      desired: [desired(front, {}, { remove: 'safe' })],
      live: [seen],
      records: { 'Door/acme/front': record({ content: { colour: 'blue' } }) },
    };
    expect(look(doors, seen)).toBe('send');
    expect(look(doors, { ...seen, facts: { content: 'green' } })).toBe(
      'stale: content moved since the plan was made',
    );
  });
});

describe('just before something is released', () => {
  const world: World = { live: [ofHome({}, { claim: 'mine:release' })] };

  test.each<[string, LiveResource | undefined, string]>([
    ['the claim is taken away', ofHome({}, { claim: 'mine:release' }), 'send'],
    ['nothing is sent when it has none any more', live(home), 'done'],
    ['nothing is sent when it is gone', undefined, 'done'],
    [
      'it is stale when another stack has claimed it',
      ofHome({}, { claim: 'yours' }),
      'stale: claim moved since the plan was made',
    ],
  ])('%s', (_, now, expected) => {
    expect(look(world, now, home)).toBe(expected);
  });

  // Who has painted it for us lets it go unpainted.
  const painted: World = {
    live: [ofHome({ colour: 'blue' }, { claim: 'mine:release' })],
    kinds: registryOf({ ...house, released: () => ({ colour: null }) }, garden),
  };

  test.each<[string, LiveResource, string]>([
    ['what it takes back is as it was', ofHome({ colour: 'blue' }, { claim: 'mine:release' }), 'send'],
    ['only the claim has gone already', live(home, { spec: { colour: 'blue' } }), 'send'],
    ['claim and colour have gone already', live(home, { spec: { colour: 'red' } }), 'done'],
    [
      'what it takes back is something else by now',
      ofHome({ colour: 'green' }, { claim: 'mine:release' }),
      'stale: colour moved since the plan was made',
    ],
  ])('with more than the claim: %s', (_, now, expected) => {
    expect(look(painted, now)).toBe(expected);
  });
});

describe('just before a create that would overwrite', () => {
  const front = at('Door', 'front');
  const world: World = { desired: [desired(front, { colour: 'blue' })] };

  test.each<[string, LiveResource | undefined, string]>([
    ['it is sent when there is nothing', undefined, 'send'],
    ['nothing is sent when there is exactly that', live(front, { spec: { colour: 'blue' } }), 'done'],
    [
      'it is stale when there is something else of that name',
      live(front, { spec: { colour: 'red' } }),
      'stale: something of that name appeared since the plan was made',
    ],
  ])('%s', (_, now, expected) => {
    expect(look(world, now, front)).toBe(expected);
  });

  test('is looked at; a create that fails by itself when the name is taken is not', () => {
    const doors = planOf(world);
    expect(doors.needsRecheck(changeAt(doors, front))).toBe(true);
    const houses = planOf({ desired: [desired(home)] });
    expect(houses.needsRecheck(changeAt(houses, home))).toBe(false);
  });
});

describe('facts that the calls were built on', () => {
  const front = at('Door', 'front');
  const seen = live(front, { spec: { colour: 'red' }, facts: { content: 'as it was' } });
  const world: World = {
    desired: [desired(front, { colour: 'blue' })],
    live: [seen],
    records: { 'Door/acme/front': record() },
  };

  test('are stale when they moved', () => {
    expect(look(world, { ...seen, facts: { content: 'another' } })).toBe(
      'stale: content moved since the plan was made',
    );
    expect(look(world, seen)).toBe('send');
  });

  test('do not matter when everything is done already', () => {
    const done = live(front, { spec: { colour: 'blue' }, facts: { content: 'another' } });
    expect(look(world, done)).toBe('done');
  });
});

describe('where every write replaces everything', () => {
  const long = at('Fence', 'long');
  const seen = { colour: 'red', timer: 0, rooms: [] };
  const world: World = {
    kinds: registryOf(fence),
    desired: [desired(long, { colour: 'blue' })],
    live: [live(long, { spec: seen })],
    records: { 'Fence/acme/long': record() },
  };

  test('a field that moved is stale, also when the change is not about it', () => {
    expect(look(world, live(long, { spec: { ...seen, timer: 5 } }))).toBe(
      'stale: timer moved since the plan was made',
    );
    expect(look(world, live(long, { spec: seen }))).toBe('send');
  });
});

describe('a value that nobody could see when the plan was made', () => {
  const hidden: Kind = {
    ...house,
    prepare: ({ desired: wanted, live: found }) => ({
      desired: wanted,
      ...(found?.facts['fog'] === true ? { unknown: { rooms: 'hidden by fog' } } : {}),
    }),
  };
  const world: World = {
    kinds: registryOf(hidden),
    desired: [desired(home, { rooms: ['a'] })],
    live: [ofHome({ rooms: ['z'] }, { facts: { fog: true } })],
  };

  test.each<[string, LiveResource, string]>([
    ['may still be hidden', ofHome({ rooms: ['z'] }, { facts: { fog: true } }), 'send'],
    ['may be seen by now, whatever it is', ofHome({ rooms: ['q'] }), 'send'],
    ['may be seen to be as it shall be', ofHome({ rooms: ['a'] }), 'done'],
  ])('%s', (_, now, expected) => {
    expect(look(world, now)).toBe(expected);
  });
});

test('what its kind refuses by now is not sent', () => {
  const careful: Kind = {
    ...house,
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
    desired: [desired(home, { colour: 'blue' })],
    live: [ofHome({ colour: 'red' })],
  };
  expect(look(world, ofHome({ colour: 'red' }, { facts: { wet: true } }))).toBe('stale: the paint is wet');
});

describe('a part', () => {
  const yard = at('Garden', 'home');
  const kinds = registryOf(house, garden);
  const trees = (claim: string | undefined, now: readonly string[] = []) =>
    live(yard, { spec: { trees: now }, claim });

  test('goes on when its house got its claim by the same plan', () => {
    const world: World = {
      kinds,
      desired: [desired(home, {}, { adopt: true }), desired(yard, { trees: ['oak'] })],
      live: [live(home), trees(undefined)],
    };
    expect(look(world, trees(undefined), yard)).toBe('send');
    expect(look(world, trees('mine'), yard)).toBe('send');
    expect(look(world, trees('yours'), yard)).toBe('stale: its claim moved since the plan was made');
  });

  test('that is taken back goes on when its house got other flags by the same plan', () => {
    const world: World = {
      kinds,
      desired: [desired(home, {}, { protect: true })],
      live: [ofHome({}), trees('mine', ['oak', 'fir'])],
      records: { 'Garden/acme/home': record({ fields: { trees: ['oak'] } }) },
    };
    expect(look(world, trees('mine:protect', ['oak', 'fir']), yard)).toBe('send');
    expect(look(world, trees('mine', ['fir']), yard)).toBe('done');
    expect(look(world, trees('mine', ['oak', 'fir', 'elm']), yard)).toMatch('stale: trees moved');
  });

  test('whose whole is gone has nothing left to take back', () => {
    const world: World = {
      kinds,
      desired: [desired(home)],
      live: [ofHome({}), trees('mine', ['oak'])],
      records: { 'Garden/acme/home': record({ fields: { trees: ['oak'] } }) },
    };
    expect(look(world, undefined, yard)).toBe('done');
  });
});
