import { describe, expect, it } from 'vitest';
import { blockingIds, type GuardId } from '../../src/model/guard.ts';
import type { Kind } from '../../src/model/kind.ts';
import type { Spec } from '../../src/model/resource.ts';
import type { Guards } from '../../src/model/stack.ts';
import { registryOf } from '../support/sample-kinds/sample-kind.ts';
import {
  at,
  changeAt,
  desired,
  live,
  planOf,
  record,
  type World,
} from '../support/sample-kinds/sample-plan.ts';
import {
  closes,
  manyParents,
  firedGuards,
  guardsOf,
  opens,
  watchedRole,
  watchedResources,
} from '../support/sample-kinds/watched-resources.ts';

describe('guards about ownership', () => {
  const app = at('Parent', 'app');
  const job = at('Role', 'job');
  const known = { 'Parent/acme/app': record({ id: 'id-app' }) };

  it.each<[string, World, string[]]>([
    [
      'ask before a deleted resource is created again',
      { desired: [desired(app)], records: known },
      ['recreate blocks 1'],
    ],
    ['do not ask about a new resource', { desired: [desired(app)] }, []],
    [
      'ask about a deleted role as well',
      { desired: [desired(job)], records: { 'Role/acme/job': record() } },
      ['recreate blocks 1', 'new-role warns 1'],
    ],
    [
      'ask before a resource without a record is deleted, even if it is only one',
      {
        ...withKept(),
        live: [...withKept().live, live(app, { ownershipTag: 'mine', creatorStack: 'mine' })],
      },
      ['no-record blocks 1'],
    ],
    [
      'ask before a removal request deletes a resource without a record',
      {
        ...withKept(),
        desired: [...withKept().desired, desired(app, {}, { remove: 'safe' })],
        live: [...withKept().live, live(app, { ownershipTag: 'mine' })],
      },
      ['no-record blocks 1'],
    ],
    [
      'ask before an exclusive target loses a role without a record',
      { live: [live(job)], target: { owns: ['*'], exclusive: true } },
      ['zero blocks 1 of 1 (0)', 'no-record blocks 1'],
    ],
    [
      'ask before a role that differs and was never ours is adopted',
      { desired: [desired(job, { colour: 'blue' })], live: [live(job, { spec: { colour: 'red' } })] },
      ['adopt blocks 1'],
    ],
    [
      'do not ask about a role whose manifest adopts it',
      {
        desired: [desired(job, { colour: 'blue' }, { adopt: true })],
        live: [live(job, { spec: { colour: 'red' } })],
      },
      [],
    ],
    [
      'do not ask about a role that equals its manifest',
      { desired: [desired(job, { colour: 'red' })], live: [live(job, { spec: { colour: 'red' } })] },
      [],
    ],
  ])('%s', (_, world, expected) => {
    expect(firedGuards(world)).toEqual(expected);
  });

  function withKept() {
    const { desired: declared = [], live: found = [], records = {} } = manyParents({ kept: 2 });
    return { desired: declared, live: found, records };
  }
});

describe('a delete and a create of similar resources', () => {
  const old = at('Parent', 'old');
  const ours = {
    'Parent/acme/old': record({ id: 'id-old' }),
    'Parent/acme/stays': record({ id: 'id-stays' }),
  };
  const stays = live(at('Parent', 'stays'), { ownershipTag: 'mine' });
  const liveOld = (spec: Spec) => [live(old, { ownershipTag: 'mine', spec }), stays];
  const declaredNew = (spec: Spec, kind = 'Parent') => [
    desired(at('Parent', 'stays')),
    desired(at(kind, 'new'), spec),
  ];

  it('are blocked, with the line that makes them a rename', () => {
    const world = { desired: declaredNew({ owner: 'ann' }), live: liveOld({ owner: 'ann' }), records: ours };
    expect(firedGuards(world)).toEqual(['rename blocks 1']);
    const [guard] = guardsOf(world);
    expect(guard?.concerns).toEqual([
      {
        address: at('Parent', 'new'),
        messages: [
          'looks like "old", which this plan deletes: to rename it in place, put "renamedFrom: old" into its metadata',
        ],
      },
    ]);
  });

  it('are blocked, too, if the old one was adopted and would be released', () => {
    const records = { ...ours, 'Parent/acme/old': record({ id: 'id-old', origin: 'adopted' }) };
    const world = { desired: declaredNew({ owner: 'ann' }), live: liveOld({ owner: 'ann' }), records };
    expect(firedGuards(world)).toEqual(['rename blocks 1']);
  });

  it.each<[string, World]>([
    [
      'are not blocked if they differ',
      { desired: declaredNew({ owner: 'bob' }), live: liveOld({ owner: 'ann' }) },
    ],
    ['are not blocked if there is nothing to compare', { desired: declaredNew({}), live: liveOld({}) }],
    [
      'are not blocked if they are a rename already',
      {
        desired: [
          desired(at('Parent', 'stays')),
          desired(at('Parent', 'new'), { owner: 'ann' }, { renamedFrom: 'old' }),
        ],
        live: liveOld({ owner: 'ann' }),
      },
    ],
  ])('%s', (_, world) => {
    expect(firedGuards({ records: ours, ...world })).toEqual([]);
  });

  it('are paired with the most similar one, each once while possible', () => {
    const [red, blue] = [at('Parent', 'was-red'), at('Parent', 'was-blue')];
    const [guard] = guardsOf({
      desired: [
        desired(at('Parent', 'is-blue'), { owner: 'ann', colour: 'blue' }),
        desired(at('Parent', 'is-red'), { owner: 'ann', colour: 'red' }),
        desired(at('Parent', 'one-more'), { owner: 'ann', colour: 'green' }),
        desired(at('Parent', 'stays')),
      ],
      live: [
        live(red, { ownershipTag: 'mine', spec: { owner: 'ann', colour: 'red' } }),
        live(blue, { ownershipTag: 'mine', spec: { owner: 'ann', colour: 'blue' } }),
        stays,
      ],
      records: {
        ...ours,
        'Parent/acme/was-red': record({ id: 'id-was-red' }),
        'Parent/acme/was-blue': record({ id: 'id-was-blue' }),
      },
    });
    expect(
      guard?.concerns.map(({ address, messages }) => [address.name, /"(.*?)"/.exec(messages[0] ?? '')?.[1]]),
    ).toEqual([
      ['is-blue', 'was-blue'],
      ['is-red', 'was-red'],
      ['one-more', 'was-blue'],
    ]);
  });

  it.each<[string, World]>([
    ['protected', { live: [live(old, { ownershipTag: 'mine (protect)', spec: { owner: 'ann' } }), stays] }],
    [
      'in use',
      { live: [live(old, { ownershipTag: 'mine', spec: { owner: 'ann' }, facts: { inUse: true } }), stays] },
    ],
    [
      'tagged but not recorded',
      {
        live: [live(old, { ownershipTag: 'mine', spec: { owner: 'ann' } }), stays],
        records: { 'Parent/acme/stays': record({ id: 'id-stays' }) },
      },
    ],
    ['without its ownership tag', { live: [live(old, { spec: { owner: 'ann' } }), stays] }],
  ])('are blocked, too, if the old one is %s and therefore kept', (_, world) => {
    const [guard] = guardsOf({ desired: declaredNew({ owner: 'ann' }), records: ours, ...world });
    expect(guard).toMatchObject({ id: 'rename', counted: 1 });
    expect(guard?.concerns[0]?.messages[0]).toContain('looks like "old", which this plan keeps');
  });

  describe('that are compared by all declared values', () => {
    const known = { 'Parent/acme/old': record({ id: 'id-old', fields: { colour: 'red' } }) };
    const twin = (spec: Spec, fromDefaults: readonly string[] = []): World => ({
      desired: [{ ...desired(at('Parent', 'new'), spec), fromDefaults }, desired(at('Parent', 'stays'))],
      live: [
        live(old, { ownershipTag: 'mine', creatorStack: 'mine', spec: { colour: 'red', about: 'sea' } }),
        stays,
      ],
      records: { ...ours, ...known },
    });
    const child = (name: string, ...tags: string[]) => desired(at('Child', name), { tags });

    it.each<[string, World]>([
      ['are blocked with equal settings', twin({ colour: 'red' })],
      [
        'are blocked with equal live settings if the ledger has no record',
        { ...twin({ colour: 'red' }), records: {} },
      ],
      [
        'are blocked with equal children',
        {
          ...twin({}),
          desired: [desired(at('Parent', 'new')), child('new', 'prod'), desired(at('Parent', 'stays'))],
          records: {
            ...ours,
            'Parent/acme/old': record({ id: 'id-old' }),
            'Child/acme/old': record({ id: 'id-old', fields: { tags: ['prod'] } }),
          },
        },
      ],
    ])('%s', (_, world) => {
      expect(guardsOf(world).map(({ id }) => id)).toContain('rename');
    });

    it.each<[string, World]>([
      ['are not blocked with other settings', twin({ colour: 'blue' })],
      ['are not blocked with one more setting', twin({ colour: 'red', about: 'sea' })],
      ['are not blocked if nothing is declared', { ...twin({}), records: { ...ours } }],
      ['are not blocked if only defaults are equal', twin({ colour: 'red' }, ['colour'])],
      [
        'are not blocked with other children',
        {
          ...twin({ colour: 'red' }),
          desired: [
            desired(at('Parent', 'new'), { colour: 'red' }),
            child('new', 'prod'),
            desired(at('Parent', 'stays')),
          ],
        },
      ],
    ])('%s', (_, world) => {
      expect(guardsOf(world).map(({ id }) => id)).not.toContain('rename');
    });
  });

  it('get a message that a kind without an ownership tag cannot be renamed in place', () => {
    const content = { colour: 'red', timeout: 0, readers: ['kitchen'] };
    const [guard] = guardsOf({
      desired: [desired(at('Role', 'new'), { readers: ['kitchen'] }), desired(at('Role', 'stays'))],
      live: [live(at('Role', 'old'), { spec: content }), live(at('Role', 'stays'))],
      records: { 'Role/acme/old': record({ content }), 'Role/acme/stays': record() },
    });
    expect(guard).toMatchObject({ id: 'rename', counted: 1 });
    expect(guard?.concerns[0]?.messages[0]).toContain('this kind has no rename');
  });
});

describe('wider access', () => {
  const job = at('Role', 'job');
  const recorded = { 'Role/acme/job': record() };
  const roles = (before: readonly string[], after: readonly string[]): World => ({
    desired: [desired(job, { readers: after })],
    live: [live(job, { spec: { colour: 'red', timeout: 0, readers: before } })],
    records: recorded,
  });

  it.each<[string, World, string[]]>([
    ['warns', roles(['a'], ['a', 'b']), ['widening warns 1']],
    ['is not reported if access only narrows', roles(['a', 'b'], ['a']), []],
    ['is not reported if nothing of it changes', roles(['a'], ['a']), []],
    ['blocks with a wildcard', roles(['a'], ['*']), ['wildcard blocks 1']],
    ['blocks and warns if it does both', roles(['a'], ['b', '*']), ['wildcard blocks 1', 'widening warns 1']],
    ['warns of a new role', { desired: [desired(job, { readers: ['a'] })] }, ['new-role warns 1']],
    [
      'blocks when a new resource is shared with everyone',
      { desired: [desired(at('Parent', 'app'), { colour: 'glass' })] },
      ['global-sharing blocks 1'],
    ],
    [
      'of an adoption is compared with the live values',
      {
        desired: [desired(at('Parent', 'app'), { colour: 'glass' }, { adopt: true })],
        live: [live(at('Parent', 'app'), { spec: { colour: 'red' } })],
      },
      ['global-sharing blocks 1'],
    ],
  ])('%s', (_, world, expected) => {
    expect(firedGuards(world)).toEqual(expected);
  });

  it('is reported with each change, gains and losses, and in the guard only gains', () => {
    const planning = planOf({ kinds: watchedResources, ...roles(['a'], ['b']) });
    expect(changeAt(planning, job).risks).toEqual([
      opens('readers', 'b may read'),
      closes('readers', 'a reads no more'),
    ]);
    expect(planning.plan.guards[0]?.concerns).toEqual([{ address: job, messages: ['b may read'] }]);
  });

  it('has no guard for what a deleted role loses, which its change shows', () => {
    const content = { colour: 'red', timeout: 0, readers: ['a'] };
    const planning = planOf({
      kinds: watchedResources,
      desired: [desired(at('Role', 'back'), { readers: ['x'] })],
      live: [live(job, { spec: content }), live(at('Role', 'back'), { spec: { readers: ['x'] } })],
      records: { 'Role/acme/job': record({ content }), 'Role/acme/back': record() },
    });
    expect(changeAt(planning, job).risks).toEqual([closes('readers', 'a read no more')]);
    expect(planning.plan.guards).toEqual([]);
  });

  it('is compared by the names in the plan, even if the service still returns other ones', () => {
    const renaming: Kind = {
      ...watchedRole,
      prepare: (meeting) => ({
        desired: meeting.desired,
        live: { ...meeting.live?.spec, readers: ['today'] },
      }),
    };
    const { plan } = planOf({ ...roles(['yesterday'], ['today', 'b']), kinds: registryOf(renaming) });
    expect(plan.changes[0]?.risks).toEqual([opens('readers', 'b may read')]);
  });

  it('of an unknown value is left to the kind', () => {
    const seen: (Spec | undefined)[] = [];
    const hidden: Kind = {
      ...watchedRole,
      risk: (before) => {
        seen.push(before);
        return [];
      },
      prepare: ({ desired: wanted }) => ({
        desired: wanted,
        unknown: { readers: 'they are behind a curtain' },
      }),
    };
    planOf({ ...roles(['a'], ['b']), kinds: registryOf(hidden) });
    expect(seen).toEqual([{ colour: 'red', timeout: 0 }]);
  });

  it('of many resources is one guard for each kind and target', () => {
    const names = ['one', 'two', 'three'];
    const [guard, ...more] = guardsOf({
      desired: names.map((name) => desired(at('Role', name), { readers: [name] })),
    });
    expect(more).toEqual([]);
    expect(guard).toMatchObject({ counted: 3, message: '3 Role in "acme" would be a new way to log in' });
    expect(guard?.concerns.map(({ address }) => address.name)).toEqual(['one', 'three', 'two']);
  });
});

describe('the guard settings of a stack', () => {
  const widened = { desired: [desired(at('Role', 'job'), { readers: ['a'] })] };
  const zero = manyParents({ deleted: 1 });

  it.each<[string, World, Guards, string[]]>([
    ['raise a warning', widened, { raise: ['new-role'] }, ['new-role blocks 1']],
    ['raise only what they name', widened, { raise: ['widening'] }, ['new-role warns 1']],
    ['allow what would block', zero, { allow: ['zero'] }, ['zero warns 1 of 1 (0)']],
    ['allow only what they name', zero, { allow: ['deletes'] }, ['zero blocks 1 of 1 (0)']],
  ])('%s', (_, world, guards, expected) => {
    expect(firedGuards({ ...world, stack: { guards } })).toEqual(expected);
  });

  it('change neither the changes nor the digest', () => {
    const [one, other] = [{}, { maxDeletes: 0, allow: ['zero'] } satisfies Guards].map(
      (guards) => planOf({ kinds: watchedResources, ...zero, stack: { guards } }).plan,
    );
    expect(one?.changes).toEqual(other?.changes);
    expect(one?.digest).toBe(other?.digest);
    expect(one?.guards).not.toEqual(other?.guards);
  });
});

it('guards that block come first, each id is acknowledged once, and the plan stays complete', () => {
  const one = manyParents({ deleted: 4 });
  const other = manyParents({ deleted: 4, target: 'other' });
  const { plan } = planOf({
    kinds: watchedResources,
    desired: [desired(at('Role', 'job'), { readers: ['a'] })],
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
