import { describe, expect, test } from 'vitest';
import { blockingIds, type GuardId } from '../../../src/model/plan/guard.ts';
import type { Kind } from '../../../src/model/kind/kind.ts';
import type { Spec } from '../../../src/model/resource/resource.ts';
import type { Guards } from '../../../src/model/stack/target.ts';
import { registryOf } from '../../support/toys/toy-kind.ts';
import { at, changeAt, desired, live, planOf, record, type World } from '../../support/toys/toy-plan.ts';
import {
  closes,
  crowd,
  fired,
  guardsOf,
  opens,
  watchedDoor,
  watchedToys,
} from '../../support/toys/watched-toys.ts';

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
      ['one-more', 'was-blue'],
    ]);
  });

  test.each<[string, World]>([
    ['protected', { live: [live(old, { claim: 'mine (protect)', spec: { owner: 'ann' } }), stays] }],
    [
      'refused by the service',
      { live: [live(old, { claim: 'mine', spec: { owner: 'ann' }, facts: { inhabited: true } }), stays] },
    ],
    [
      'no more than claimed by this stack',
      {
        live: [live(old, { claim: 'mine', spec: { owner: 'ann' } }), stays],
        records: { 'House/acme/stays': record({ id: 'id-stays' }) },
      },
    ],
    ['robbed of its claim', { live: [live(old, { spec: { owner: 'ann' } }), stays] }],
  ])('wait also when the old one is %s, and is kept', (_, world) => {
    const [guard] = guardsOf({ desired: comes({ owner: 'ann' }), records: ours, ...world });
    expect(guard).toMatchObject({ id: 'rename', counted: 1 });
    expect(guard?.concerns[0]?.says[0]).toContain('looks like "old", which this plan keeps');
  });

  describe('by all that is declared, where no better sign is', () => {
    const known = { 'House/acme/old': record({ id: 'id-old', fields: { colour: 'red' } }) };
    const twin = (spec: Spec, fromDefaults: readonly string[] = []): World => ({
      desired: [{ ...desired(at('House', 'new'), spec), fromDefaults }, desired(at('House', 'stays'))],
      live: [live(old, { claim: 'mine', bornOf: 'mine', spec: { colour: 'red', about: 'sea' } }), stays],
      records: { ...ours, ...known },
    });
    const garden = (name: string, ...trees: string[]) => desired(at('Garden', name), { trees });

    test.each<[string, World]>([
      ['the same settings', twin({ colour: 'red' })],
      ['what is live, where the ledger does not know it', { ...twin({ colour: 'red' }), records: {} }],
      [
        'the same parts',
        {
          ...twin({}),
          desired: [desired(at('House', 'new')), garden('new', 'oak'), desired(at('House', 'stays'))],
          records: {
            ...ours,
            'House/acme/old': record({ id: 'id-old' }),
            'Garden/acme/old': record({ id: 'id-old', fields: { trees: ['oak'] } }),
          },
        },
      ],
    ])('%s', (_, world) => {
      expect(guardsOf(world).map(({ id }) => id)).toContain('rename');
    });

    test.each<[string, World]>([
      ['other settings are another one', twin({ colour: 'blue' })],
      ['one setting more is another one', twin({ colour: 'red', about: 'sea' })],
      ['nothing declared is like nothing', { ...twin({}), records: { ...ours } }],
      ['what all have by default is no likeness', twin({ colour: 'red' }, ['colour'])],
      [
        'other parts are another one',
        {
          ...twin({ colour: 'red' }),
          desired: [
            desired(at('House', 'new'), { colour: 'red' }),
            garden('new', 'oak'),
            desired(at('House', 'stays')),
          ],
        },
      ],
    ])('%s', (_, world) => {
      expect(guardsOf(world).map(({ id }) => id)).not.toContain('rename');
    });
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
    const planning = planOf({ kinds: watchedToys, ...doors(['a'], ['b']) });
    expect(changeAt(planning, front).risks).toEqual([
      opens('rooms', 'b may come in'),
      closes('rooms', 'a stays out'),
    ]);
    expect(planning.plan.guards[0]?.concerns).toEqual([{ address: front, says: ['b may come in'] }]);
  });

  test('is not said of what a deleted one loses, but with its change', () => {
    const content = { colour: 'red', timer: 0, rooms: ['a'] };
    const planning = planOf({
      kinds: watchedToys,
      desired: [desired(at('Door', 'back'), { rooms: ['x'] })],
      live: [live(front, { spec: content }), live(at('Door', 'back'), { spec: { rooms: ['x'] } })],
      records: { 'Door/acme/front': record({ content }), 'Door/acme/back': record() },
    });
    expect(changeAt(planning, front).risks).toEqual([closes('rooms', 'a stay out')]);
    expect(planning.plan.guards).toEqual([]);
  });

  test('is judged by the names that the plan shows, also where the service still answers others', () => {
    const renaming: Kind = {
      ...watchedDoor,
      prepare: (meeting) => ({ desired: meeting.desired, live: { ...meeting.live?.spec, rooms: ['today'] } }),
    };
    const { plan } = planOf({ ...doors(['yesterday'], ['today', 'b']), kinds: registryOf(renaming) });
    expect(plan.changes[0]?.risks).toEqual([opens('rooms', 'b may come in')]);
  });

  test('of a value that nobody can tell is left to the kind', () => {
    const seen: (Spec | undefined)[] = [];
    const hidden: Kind = {
      ...watchedDoor,
      risk: (before) => {
        seen.push(before);
        return [];
      },
      prepare: ({ desired: wanted }) => ({
        desired: wanted,
        unknown: { rooms: 'they are behind a curtain' },
      }),
    };
    planOf({ ...doors(['a'], ['b']), kinds: registryOf(hidden) });
    expect(seen).toEqual([{ colour: 'red', timer: 0 }]);
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
      (guards) => planOf({ kinds: watchedToys, ...zero, stack: { guards } }).plan,
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
    kinds: watchedToys,
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
