import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatAddress } from '../../src/model/address.ts';
import { blockingIds, type GuardId } from '../../src/model/guard.ts';
import type { Kind } from '../../src/model/kind.ts';
import type { LedgerRecord } from '../../src/model/ledger.ts';
import type { Spec } from '../../src/model/resource.ts';
import type { Risk } from '../../src/model/risk.ts';
import type { Guards } from '../../src/model/target.ts';
import { door, fence, garden, house, registryOf } from './toy-kind.ts';
import { at, changeAt, desired, live, planOf, record, type World } from './toy-plan.ts';

/** Houses that were painted with glass can be looked into; two of one owner look alike, the more so with one colour. */
const watchedHouse: Kind = {
  ...house,
  risk: (before, after) => {
    const [was, is] = [before?.['colour'] === 'glass', after?.['colour'] === 'glass'];
    if (was === is || after === undefined) return [];
    return [
      is ? opens('colour', 'everyone can look in', 'global-sharing') : closes('colour', 'nobody looks in'),
    ];
  },
  likeness: ({ owner, colour }) => (typeof owner === 'string' ? [owner, String(colour)] : undefined),
};

/** Whoever stands in `rooms` may come in. */
const watchedDoor: Kind = {
  ...door,
  risk: (before, after) => {
    if (after === undefined) return [closes('rooms', `${roomsOf(before)} stay out`)];
    if (before === undefined) return [opens('rooms', `${roomsOf(after)} may come in`, 'new-role')];
    const gained = roomsOf(after).filter((room) => !roomsOf(before).includes(room));
    const lost = roomsOf(before).filter((room) => !roomsOf(after).includes(room));
    return [
      ...gained.map((room) =>
        room === '*' ? opens('rooms', 'all may come in', 'wildcard') : opens('rooms', `${room} may come in`),
      ),
      ...lost.map((room) => closes('rooms', `${room} stays out`)),
    ];
  },
  likeness: (spec) => (roomsOf(spec).length === 0 ? undefined : [roomsOf(spec).join()]),
};

function opens(path: string, says: string, guard?: Risk['guard']): Risk {
  return { path: [path], effect: 'widens', says, ...(guard === undefined ? {} : { guard }) };
}

function closes(path: string, says: string): Risk {
  return { path: [path], effect: 'narrows', says };
}

function roomsOf(spec: Spec | undefined): string[] {
  const rooms = spec?.['rooms'];
  return Array.isArray(rooms) ? rooms.map(String) : [];
}

const kinds = registryOf(watchedHouse, watchedDoor, fence, garden);

function guardsOf(world: World) {
  return planOf({ kinds, ...world }).plan.guards;
}

/** The guards that fire, each with its numbers: `deletes blocks 4 of 12 (3)`. */
function fired(world: World): string[] {
  return guardsOf(world).map(({ id, effect, counted, of, limit }) =>
    [id, effect, counted, ...(of === undefined ? [] : [`of ${of} (${limit})`])].join(' '),
  );
}

interface Crowd {
  readonly kept?: number;
  readonly deleted?: number;
  readonly released?: number;
  readonly updated?: number;
  readonly adopted?: number;
  readonly created?: number;
  readonly target?: string;
  readonly guards?: Guards;
}

/** That many houses of each fate. */
function crowd(of: Crowd): World {
  const { target = 'acme' } = of;
  const some = (fate: string, count = 0) =>
    Array.from({ length: count }, (_, index) => at('House', `${fate}-${index}`, target));
  const ours = [
    ...some('kept', of.kept),
    ...some('deleted', of.deleted),
    ...some('released', of.released),
    ...some('updated', of.updated),
  ];
  const records: [string, LedgerRecord][] = ours.map((address) => [
    formatAddress(address),
    record({
      id: `id-${address.name}`,
      origin: address.name.startsWith('released') ? 'adopted' : 'created',
    }),
  ]);
  return {
    desired: [
      ...some('kept', of.kept).map((address) => desired(address, {})),
      ...some('updated', of.updated).map((address) => desired(address, { colour: 'blue' })),
      ...some('adopted', of.adopted).map((address) => desired(address, {}, { adopt: true })),
      ...some('created', of.created).map((address) => desired(address, {})),
    ],
    live: [
      ...ours.map((address) => live(address, { claim: 'mine', bornOf: 'mine', spec: { colour: 'red' } })),
      ...some('adopted', of.adopted).map((address) => live(address)),
    ],
    records: Object.fromEntries(records),
    ...(of.guards === undefined ? {} : { stack: { guards: of.guards } }),
  };
}

describe('a plan that changes much', () => {
  test.each<[string, Crowd, string[]]>([
    ['passes with three deletes', { kept: 5, deleted: 3 }, []],
    ['is stopped at four deletes', { kept: 5, deleted: 4 }, ['deletes blocks 4 of 9 (3)']],
    ['counts releases as deletes', { kept: 5, deleted: 2, released: 2 }, ['deletes blocks 4 of 9 (3)']],
    ['counts adoptions and creations as neither', { kept: 1, adopted: 50, created: 50 }, []],
    ['is stopped when the only one goes', { deleted: 1 }, ['zero blocks 1 of 1 (0)']],
    ['is stopped when all go, however few', { deleted: 1, released: 1 }, ['zero blocks 2 of 2 (0)']],
    [
      'is stopped when all go, whatever comes in their place',
      { deleted: 2, created: 5, adopted: 1 },
      ['zero blocks 2 of 2 (0)'],
    ],
    [
      'is stopped for both reasons when all of many go',
      { deleted: 4 },
      ['deletes blocks 4 of 4 (3)', 'zero blocks 4 of 4 (0)'],
    ],
    ['does not weigh percentages of nine', { kept: 7, deleted: 2 }, []],
    ['passes with ten percent of ten', { kept: 9, deleted: 1 }, []],
    ['is stopped above ten percent of ten', { kept: 8, deleted: 2 }, ['delete-percent blocks 2 of 10 (10)']],
    ['is stopped just above ten percent', { kept: 26, deleted: 3 }, ['delete-percent blocks 3 of 29 (10)']],
    ['passes with exactly ten percent', { kept: 27, deleted: 3 }, []],
    ['may update all of nine', { updated: 9 }, []],
    ['passes with thirty percent of updates', { kept: 7, updated: 3 }, []],
    ['is stopped above thirty', { kept: 6, updated: 4 }, ['update-percent blocks 4 of 10 (30)']],
    [
      'weighs against what is owned, not against what comes',
      { kept: 6, updated: 4, created: 90, adopted: 90 },
      ['update-percent blocks 4 of 10 (30)'],
    ],
    [
      'passes as far as its stack says',
      { kept: 6, deleted: 4, guards: { maxDeletes: 4, maxDeletePercent: 40 } },
      [],
    ],
    [
      'is stopped by one delete where its stack says so',
      { kept: 2, deleted: 1, guards: { maxDeletes: 0 } },
      ['deletes blocks 1 of 3 (0)'],
    ],
    [
      'is stopped by one update where its stack says so',
      { kept: 19, updated: 1, guards: { maxUpdatePercent: 4.9 } },
      ['update-percent blocks 1 of 20 (4.9)'],
    ],
  ])('%s', (_, of, expected) => {
    expect(fired(crowd(of))).toEqual(expected);
  });

  test('says it in one sentence with its numbers, and names what it is about', () => {
    const [guard] = guardsOf(crowd({ kept: 26, deleted: 3 }));
    expect(guard).toMatchObject({
      kind: 'House',
      target: 'acme',
      message: '3 of 29 House in "acme" would be deleted or released: 10.3 %, more than 10 %',
    });
    expect(guard?.concerns.map(({ address }) => formatAddress(address))).toEqual([
      'House/acme/deleted-0',
      'House/acme/deleted-1',
      'House/acme/deleted-2',
    ]);
  });

  test('is counted for each target by itself', () => {
    const [one, other] = [crowd({ kept: 3, deleted: 3 }), crowd({ kept: 3, deleted: 3, target: 'other' })];
    const both = {
      desired: [...(one.desired ?? []), ...(other.desired ?? [])],
      live: [...(one.live ?? []), ...(other.live ?? [])],
      records: { ...one.records, ...other.records },
    };
    expect(fired(both)).toEqual([]);
  });

  test('is counted for each kind by itself, revocations among it', () => {
    const houses = crowd({ kept: 4 });
    const gardens = ['kept-0', 'kept-1', 'kept-2', 'kept-3'].map((name) => at('Garden', name));
    const planted = record({ fields: { trees: ['oak'] } });
    const world: World = {
      ...houses,
      live: [
        ...(houses.live ?? []),
        ...gardens.map((address) => live(address, { spec: { trees: ['oak'] } })),
      ],
      records: {
        ...houses.records,
        ...Object.fromEntries(gardens.map((address) => [formatAddress(address), planted])),
      },
    };
    expect(guardsOf(world).map(({ id, kind }) => `${id} ${kind}`)).toEqual(['deletes Garden', 'zero Garden']);
  });

  test('does not count parts that go with their whole', () => {
    const houses = crowd({ kept: 1, deleted: 1 });
    const gardens = [at('Garden', 'kept-0'), at('Garden', 'deleted-0')];
    const world: World = {
      ...houses,
      live: [
        ...(houses.live ?? []),
        ...gardens.map((address) => live(address, { spec: { trees: ['oak'] } })),
      ],
      records: {
        ...houses.records,
        ...Object.fromEntries(
          gardens.map((address) => [formatAddress(address), record({ fields: { trees: ['oak'] } })]),
        ),
      },
    };
    // Of two gardens one goes with its house, so that the other is the last one.
    expect(guardsOf(world)).toMatchObject([{ id: 'zero', kind: 'Garden', counted: 1, of: 1 }]);
  });

  test('is stopped exactly when the share is above the limit', () => {
    const limit = fc.integer({ min: 0, max: 100 });
    const count = fc.nat({ max: 30 });
    fc.assert(
      fc.property(count, count, limit, (kept, deleted, maxDeletePercent) => {
        const ids = guardsOf(crowd({ kept, deleted, guards: { maxDeletePercent } })).map(({ id }) => id);
        const total = kept + deleted;
        const isAbove = total >= 10 && deleted / total > maxDeletePercent / 100 + 1e-9;
        expect(ids.includes('delete-percent')).toBe(isAbove);
        expect(ids.includes('deletes')).toBe(deleted > 3);
        expect(ids.includes('zero')).toBe(total > 0 && kept === 0);
      }),
    );
  });
});

describe('who is who', () => {
  const home = at('House', 'home');
  const front = at('Door', 'front');
  const known = { 'House/acme/home': record({ id: 'id-home' }) };

  test.each<[string, World, string[]]>([
    [
      'what this stack applied and somebody deleted is not created anew without a word',
      { desired: [desired(home)], records: known },
      ['recreate blocks 1'],
    ],
    ['what is new is', { desired: [desired(home)] }, []],
    [
      'a door that is gone is asked about as well',
      { desired: [desired(front)], records: { 'Door/acme/front': record() } },
      ['recreate blocks 1', 'new-role warns 1'],
    ],
    [
      'what the ledger lacks is not deleted without a word, however few',
      { ...withKept(), live: [...withKept().live, live(home, { claim: 'mine', bornOf: 'mine' })] },
      ['no-record blocks 1'],
    ],
    [
      'what the ledger lacks is not deleted without a word for a tombstone either',
      {
        ...withKept(),
        desired: [...withKept().desired, desired(home, {}, { remove: 'safe' })],
        live: [...withKept().live, live(home, { claim: 'mine' })],
      },
      ['no-record blocks 1'],
    ],
    [
      'what the ledger never knew is not deleted without a word from an exclusive target',
      { live: [live(front)], target: { owns: ['*'], exclusive: true } },
      ['zero blocks 1 of 1 (0)', 'no-record blocks 1'],
    ],
    [
      'a door that was never ours and differs is not taken over without a word',
      { desired: [desired(front, { colour: 'blue' })], live: [live(front, { spec: { colour: 'red' } })] },
      ['adopt blocks 1'],
    ],
    [
      'a door whose manifest adopts it is',
      {
        desired: [desired(front, { colour: 'blue' }, { adopt: true })],
        live: [live(front, { spec: { colour: 'red' } })],
      },
      [],
    ],
    [
      'a door that is exactly as declared is',
      { desired: [desired(front, { colour: 'red' })], live: [live(front, { spec: { colour: 'red' } })] },
      [],
    ],
  ])('%s', (_, world, expected) => {
    expect(fired(world)).toEqual(expected);
  });

  function withKept() {
    const { desired: declared = [], live: found = [], records = {} } = crowd({ kept: 2 });
    return { desired: declared, live: found, records };
  }
});

describe('a delete and a create that look alike', () => {
  const old = at('House', 'old');
  const ours = { 'House/acme/old': record({ id: 'id-old' }), 'House/acme/stays': record({ id: 'id-stays' }) };
  const stays = live(at('House', 'stays'), { claim: 'mine' });
  const goes = (spec: Spec) => [live(old, { claim: 'mine', spec }), stays];
  const comes = (spec: Spec, kind = 'House') => [
    desired(at('House', 'stays')),
    desired(at(kind, 'new'), spec),
  ];

  test('wait for an answer, with the line that makes it a rename', () => {
    const world = { desired: comes({ owner: 'ann' }), live: goes({ owner: 'ann' }), records: ours };
    expect(fired(world)).toEqual(['rename blocks 1']);
    const [guard] = guardsOf(world);
    expect(guard?.concerns).toEqual([
      {
        address: at('House', 'new'),
        says: [
          'looks like "old", which this plan deletes: to rename it in place, put "renamedFrom: old" into its metadata',
        ],
      },
    ]);
  });

  test('do so too when the old one was adopted, and would be released', () => {
    const records = { ...ours, 'House/acme/old': record({ id: 'id-old', origin: 'adopted' }) };
    const world = { desired: comes({ owner: 'ann' }), live: goes({ owner: 'ann' }), records };
    expect(fired(world)).toEqual(['rename blocks 1']);
  });

  test.each<[string, World]>([
    ['not when they differ', { desired: comes({ owner: 'bob' }), live: goes({ owner: 'ann' }) }],
    ['not when there is nothing to go by', { desired: comes({}), live: goes({}) }],
    [
      'not when it is a rename already',
      {
        desired: [
          desired(at('House', 'stays')),
          desired(at('House', 'new'), { owner: 'ann' }, { renamedFrom: 'old' }),
        ],
        live: goes({ owner: 'ann' }),
      },
    ],
  ])('%s', (_, world) => {
    expect(fired({ records: ours, ...world })).toEqual([]);
  });

  test('are paired with the most alike, each once', () => {
    const [red, blue] = [at('House', 'was-red'), at('House', 'was-blue')];
    const [guard] = guardsOf({
      desired: [
        desired(at('House', 'is-blue'), { owner: 'ann', colour: 'blue' }),
        desired(at('House', 'is-red'), { owner: 'ann', colour: 'red' }),
        desired(at('House', 'one-more'), { owner: 'ann', colour: 'green' }),
        desired(at('House', 'stays')),
      ],
      live: [
        live(red, { claim: 'mine', spec: { owner: 'ann', colour: 'red' } }),
        live(blue, { claim: 'mine', spec: { owner: 'ann', colour: 'blue' } }),
        stays,
      ],
      records: {
        ...ours,
        'House/acme/was-red': record({ id: 'id-was-red' }),
        'House/acme/was-blue': record({ id: 'id-was-blue' }),
      },
    });
    expect(
      guard?.concerns.map(({ address, says }) => [address.name, /"(.*?)"/.exec(says[0] ?? '')?.[1]]),
    ).toEqual([
      ['is-blue', 'was-blue'],
      ['is-red', 'was-red'],
    ]);
  });

  test('cannot be renamed in place where the kind bears no claim, and it is said', () => {
    const content = { colour: 'red', timer: 0, rooms: ['kitchen'] };
    const [guard] = guardsOf({
      desired: [desired(at('Door', 'new'), { rooms: ['kitchen'] }), desired(at('Door', 'stays'))],
      live: [live(at('Door', 'old'), { spec: content }), live(at('Door', 'stays'))],
      records: { 'Door/acme/old': record({ content }), 'Door/acme/stays': record() },
    });
    expect(guard).toMatchObject({ id: 'rename', counted: 1 });
    expect(guard?.concerns[0]?.says[0]).toContain('this kind has no rename');
  });
});

describe('wider access', () => {
  const front = at('Door', 'front');
  const recorded = { 'Door/acme/front': record() };
  const doors = (before: readonly string[], after: readonly string[]): World => ({
    desired: [desired(front, { rooms: after })],
    live: [live(front, { spec: { colour: 'red', timer: 0, rooms: before } })],
    records: recorded,
  });

  test.each<[string, World, string[]]>([
    ['warns', doors(['a'], ['a', 'b']), ['widening warns 1']],
    ['is none where it only narrows', doors(['a', 'b'], ['a']), []],
    ['is none where nothing of it changes', doors(['a'], ['a']), []],
    ['blocks with a wildcard', doors(['a'], ['*']), ['wildcard blocks 1']],
    [
      'blocks and warns where it does both',
      doors(['a'], ['b', '*']),
      ['wildcard blocks 1', 'widening warns 1'],
    ],
    ['warns of what is new', { desired: [desired(front, { rooms: ['a'] })] }, ['new-role warns 1']],
    [
      'blocks when everyone may look into something new',
      { desired: [desired(at('House', 'home'), { colour: 'glass' })] },
      ['global-sharing blocks 1'],
    ],
    [
      'is judged of an adoption against what is live',
      {
        desired: [desired(at('House', 'home'), { colour: 'glass' }, { adopt: true })],
        live: [live(at('House', 'home'), { spec: { colour: 'red' } })],
      },
      ['global-sharing blocks 1'],
    ],
  ])('%s', (_, world, expected) => {
    expect(fired(world)).toEqual(expected);
  });

  test('tells with each change who gains and who loses, and in the guard only who gains', () => {
    const planning = planOf({ kinds, ...doors(['a'], ['b']) });
    expect(changeAt(planning, front).risks).toEqual([
      opens('rooms', 'b may come in'),
      closes('rooms', 'a stays out'),
    ]);
    expect(planning.plan.guards[0]?.concerns).toEqual([{ address: front, says: ['b may come in'] }]);
  });

  test('is not said of what a deleted one loses, but with its change', () => {
    const content = { colour: 'red', timer: 0, rooms: ['a'] };
    const planning = planOf({
      kinds,
      desired: [desired(at('Door', 'back'), { rooms: ['x'] })],
      live: [live(front, { spec: content }), live(at('Door', 'back'), { spec: { rooms: ['x'] } })],
      records: { 'Door/acme/front': record({ content }), 'Door/acme/back': record() },
    });
    expect(changeAt(planning, front).risks).toEqual([closes('rooms', 'a stay out')]);
    expect(planning.plan.guards).toEqual([]);
  });

  test('of many is one guard for each kind and target', () => {
    const names = ['one', 'two', 'three'];
    const [guard, ...more] = guardsOf({
      desired: names.map((name) => desired(at('Door', name), { rooms: [name] })),
    });
    expect(more).toEqual([]);
    expect(guard).toMatchObject({ counted: 3, message: '3 Door in "acme" would be a new way in' });
    expect(guard?.concerns.map(({ address }) => address.name)).toEqual(['one', 'three', 'two']);
  });
});

describe('what a stack says of guards', () => {
  const widened = { desired: [desired(at('Door', 'front'), { rooms: ['a'] })] };
  const zero = crowd({ deleted: 1 });

  test.each<[string, World, Guards, string[]]>([
    ['raises a warning', widened, { raise: ['new-role'] }, ['new-role blocks 1']],
    ['raises only what it names', widened, { raise: ['widening'] }, ['new-role warns 1']],
    ['allows what would block', zero, { allow: ['zero'] }, ['zero warns 1 of 1 (0)']],
    ['allows only what it names', zero, { allow: ['deletes'] }, ['zero blocks 1 of 1 (0)']],
  ])('%s', (_, world, guards, expected) => {
    expect(fired({ ...world, stack: { guards } })).toEqual(expected);
  });

  test('changes neither the changes nor the digest', () => {
    const [one, other] = [{}, { maxDeletes: 0, allow: ['zero'] } satisfies Guards].map(
      (guards) => planOf({ kinds, ...zero, stack: { guards } }).plan,
    );
    expect(one?.changes).toEqual(other?.changes);
    expect(one?.digest).toBe(other?.digest);
    expect(one?.guards).not.toEqual(other?.guards);
  });
});

test('guards that block come first, each id is acknowledged once, and the plan stays complete', () => {
  const one = crowd({ deleted: 4 });
  const other = crowd({ deleted: 4, target: 'other' });
  const { plan } = planOf({
    kinds,
    desired: [desired(at('Door', 'front'), { rooms: ['a'] })],
    live: [...(one.live ?? []), ...(other.live ?? [])],
    records: { ...one.records, ...other.records },
  });
  expect(plan.guards.map(({ id, target }) => `${id} ${target}`)).toEqual([
    'deletes acme',
    'deletes other',
    'zero acme',
    'zero other',
    'new-role acme',
  ]);
  expect(blockingIds(plan.guards)).toEqual(['deletes', 'zero'] satisfies GuardId[]);
  expect(plan.changes).toHaveLength(9);
});
