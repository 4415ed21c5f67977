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
  crowd,
  fired,
  guardsOf,
  opens,
  watchedRole,
  watchedResources,
} from '../support/sample-kinds/watched-resources.ts';

describe('who is who', () => {
  const app = at('Parent', 'app');
  const job = at('Role', 'job');
  const known = { 'Parent/acme/app': record({ id: 'id-app' }) };

  it.each<[string, World, string[]]>([
    [
      'what this stack applied and somebody deleted is not created anew without a word',
      { desired: [desired(app)], records: known },
      ['recreate blocks 1'],
    ],
    ['what is new is', { desired: [desired(app)] }, []],
    [
      'a role that is gone is asked about as well',
      { desired: [desired(job)], records: { 'Role/acme/job': record() } },
      ['recreate blocks 1', 'new-role warns 1'],
    ],
    [
      'what the ledger lacks is not deleted without a word, however few',
      {
        ...withKept(),
        live: [...withKept().live, live(app, { ownershipTag: 'mine', creatorStack: 'mine' })],
      },
      ['no-record blocks 1'],
    ],
    [
      'what the ledger lacks is not deleted without a word for a removal request either',
      {
        ...withKept(),
        desired: [...withKept().desired, desired(app, {}, { remove: 'safe' })],
        live: [...withKept().live, live(app, { ownershipTag: 'mine' })],
      },
      ['no-record blocks 1'],
    ],
    [
      'what the ledger never knew is not deleted without a word from an exclusive target',
      { live: [live(job)], target: { owns: ['*'], exclusive: true } },
      ['zero blocks 1 of 1 (0)', 'no-record blocks 1'],
    ],
    [
      'a role that was never ours and differs is not taken over without a word',
      { desired: [desired(job, { colour: 'blue' })], live: [live(job, { spec: { colour: 'red' } })] },
      ['adopt blocks 1'],
    ],
    [
      'a role whose manifest adopts it is',
      {
        desired: [desired(job, { colour: 'blue' }, { adopt: true })],
        live: [live(job, { spec: { colour: 'red' } })],
      },
      [],
    ],
    [
      'a role that is exactly as declared is',
      { desired: [desired(job, { colour: 'red' })], live: [live(job, { spec: { colour: 'red' } })] },
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
  const old = at('Parent', 'old');
  const ours = {
    'Parent/acme/old': record({ id: 'id-old' }),
    'Parent/acme/stays': record({ id: 'id-stays' }),
  };
  const stays = live(at('Parent', 'stays'), { ownershipTag: 'mine' });
  const goes = (spec: Spec) => [live(old, { ownershipTag: 'mine', spec }), stays];
  const comes = (spec: Spec, kind = 'Parent') => [
    desired(at('Parent', 'stays')),
    desired(at(kind, 'new'), spec),
  ];

  it('wait for an answer, with the line that makes it a rename', () => {
    const world = { desired: comes({ owner: 'ann' }), live: goes({ owner: 'ann' }), records: ours };
    expect(fired(world)).toEqual(['rename blocks 1']);
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

  it('do so too when the old one was adopted, and would be released', () => {
    const records = { ...ours, 'Parent/acme/old': record({ id: 'id-old', origin: 'adopted' }) };
    const world = { desired: comes({ owner: 'ann' }), live: goes({ owner: 'ann' }), records };
    expect(fired(world)).toEqual(['rename blocks 1']);
  });

  it.each<[string, World]>([
    ['not when they differ', { desired: comes({ owner: 'bob' }), live: goes({ owner: 'ann' }) }],
    ['not when there is nothing to go by', { desired: comes({}), live: goes({}) }],
    [
      'not when it is a rename already',
      {
        desired: [
          desired(at('Parent', 'stays')),
          desired(at('Parent', 'new'), { owner: 'ann' }, { renamedFrom: 'old' }),
        ],
        live: goes({ owner: 'ann' }),
      },
    ],
  ])('%s', (_, world) => {
    expect(fired({ records: ours, ...world })).toEqual([]);
  });

  it('are paired with the most alike, each once', () => {
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
      'refused by the service',
      { live: [live(old, { ownershipTag: 'mine', spec: { owner: 'ann' }, facts: { inUse: true } }), stays] },
    ],
    [
      'no more than claimed by this stack',
      {
        live: [live(old, { ownershipTag: 'mine', spec: { owner: 'ann' } }), stays],
        records: { 'Parent/acme/stays': record({ id: 'id-stays' }) },
      },
    ],
    ['robbed of its claim', { live: [live(old, { spec: { owner: 'ann' } }), stays] }],
  ])('wait also when the old one is %s, and is kept', (_, world) => {
    const [guard] = guardsOf({ desired: comes({ owner: 'ann' }), records: ours, ...world });
    expect(guard).toMatchObject({ id: 'rename', counted: 1 });
    expect(guard?.concerns[0]?.messages[0]).toContain('looks like "old", which this plan keeps');
  });

  describe('by all that is declared, where no better sign is', () => {
    const known = { 'Parent/acme/old': record({ id: 'id-old', fields: { colour: 'red' } }) };
    const twin = (spec: Spec, fromDefaults: readonly string[] = []): World => ({
      desired: [{ ...desired(at('Parent', 'new'), spec), fromDefaults }, desired(at('Parent', 'stays'))],
      live: [
        live(old, { ownershipTag: 'mine', creatorStack: 'mine', spec: { colour: 'red', about: 'sea' } }),
        stays,
      ],
      records: { ...ours, ...known },
    });
    const part = (name: string, ...tags: string[]) => desired(at('Child', name), { tags });

    it.each<[string, World]>([
      ['the same settings', twin({ colour: 'red' })],
      ['what is live, where the ledger does not know it', { ...twin({ colour: 'red' }), records: {} }],
      [
        'the same parts',
        {
          ...twin({}),
          desired: [desired(at('Parent', 'new')), part('new', 'prod'), desired(at('Parent', 'stays'))],
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
      ['other settings are another one', twin({ colour: 'blue' })],
      ['one setting more is another one', twin({ colour: 'red', about: 'sea' })],
      ['nothing declared is like nothing', { ...twin({}), records: { ...ours } }],
      ['what all have by default is no likeness', twin({ colour: 'red' }, ['colour'])],
      [
        'other parts are another one',
        {
          ...twin({ colour: 'red' }),
          desired: [
            desired(at('Parent', 'new'), { colour: 'red' }),
            part('new', 'prod'),
            desired(at('Parent', 'stays')),
          ],
        },
      ],
    ])('%s', (_, world) => {
      expect(guardsOf(world).map(({ id }) => id)).not.toContain('rename');
    });
  });

  it('cannot be renamed in place where the kind has no ownership tag, and it is said', () => {
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
    ['is none where it only narrows', roles(['a', 'b'], ['a']), []],
    ['is none where nothing of it changes', roles(['a'], ['a']), []],
    ['blocks with a wildcard', roles(['a'], ['*']), ['wildcard blocks 1']],
    [
      'blocks and warns where it does both',
      roles(['a'], ['b', '*']),
      ['wildcard blocks 1', 'widening warns 1'],
    ],
    ['warns of what is new', { desired: [desired(job, { readers: ['a'] })] }, ['new-role warns 1']],
    [
      'blocks when everyone may look into something new',
      { desired: [desired(at('Parent', 'app'), { colour: 'glass' })] },
      ['global-sharing blocks 1'],
    ],
    [
      'is judged of an adoption against what is live',
      {
        desired: [desired(at('Parent', 'app'), { colour: 'glass' }, { adopt: true })],
        live: [live(at('Parent', 'app'), { spec: { colour: 'red' } })],
      },
      ['global-sharing blocks 1'],
    ],
  ])('%s', (_, world, expected) => {
    expect(fired(world)).toEqual(expected);
  });

  it('reports with each change who gains and who loses, and in the guard only who gains', () => {
    const planning = planOf({ kinds: watchedResources, ...roles(['a'], ['b']) });
    expect(changeAt(planning, job).risks).toEqual([
      opens('readers', 'b may read'),
      closes('readers', 'a reads no more'),
    ]);
    expect(planning.plan.guards[0]?.concerns).toEqual([{ address: job, messages: ['b may read'] }]);
  });

  it('is not said of what a deleted one loses, but with its change', () => {
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

  it('is checked by the names that the plan shows, also where the service still answers others', () => {
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

  it('of a value that nobody can report is left to the kind', () => {
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

  it('of many is one guard for each kind and target', () => {
    const names = ['one', 'two', 'three'];
    const [guard, ...more] = guardsOf({
      desired: names.map((name) => desired(at('Role', name), { readers: [name] })),
    });
    expect(more).toEqual([]);
    expect(guard).toMatchObject({ counted: 3, message: '3 Role in "acme" would be a new way to log in' });
    expect(guard?.concerns.map(({ address }) => address.name)).toEqual(['one', 'three', 'two']);
  });
});

describe('what a stack says of guards', () => {
  const widened = { desired: [desired(at('Role', 'job'), { readers: ['a'] })] };
  const zero = crowd({ deleted: 1 });

  it.each<[string, World, Guards, string[]]>([
    ['raises a warning', widened, { raise: ['new-role'] }, ['new-role blocks 1']],
    ['raises only what it names', widened, { raise: ['widening'] }, ['new-role warns 1']],
    ['allows what would block', zero, { allow: ['zero'] }, ['zero warns 1 of 1 (0)']],
    ['allows only what it names', zero, { allow: ['deletes'] }, ['zero blocks 1 of 1 (0)']],
  ])('%s', (_, world, guards, expected) => {
    expect(fired({ ...world, stack: { guards } })).toEqual(expected);
  });

  it('changes neither the changes nor the digest', () => {
    const [one, other] = [{}, { maxDeletes: 0, allow: ['zero'] } satisfies Guards].map(
      (guards) => planOf({ kinds: watchedResources, ...zero, stack: { guards } }).plan,
    );
    expect(one?.changes).toEqual(other?.changes);
    expect(one?.digest).toBe(other?.digest);
    expect(one?.guards).not.toEqual(other?.guards);
  });
});

it('guards that block come first, each id is acknowledged once, and the plan stays complete', () => {
  const one = crowd({ deleted: 4 });
  const other = crowd({ deleted: 4, target: 'other' });
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
