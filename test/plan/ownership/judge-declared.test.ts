import { describe, expect, test } from 'vitest';
import { formatAddress, readAddress } from '../../../src/model/resource/address.ts';
import type { Metadata } from '../../../src/model/resource/resource.ts';
import {
  at,
  changeAt,
  deeds,
  desired,
  type LiveAbout,
  live,
  planOf,
  record,
  type World,
} from '../../support/toys/toy-plan.ts';

const home = at('House', 'home');
const text = formatAddress(home);
const ours = record({ id: 'id-home', origin: 'created' });
const adopted = record({ id: 'id-home', origin: 'adopted' });
const another = record({ id: 'id-of-another', origin: 'created' });

/** What the plan makes of one declared house whose colour differs: its deed, or the code of its problem. */
function outcome(world: World): string {
  const { plan, records } = planOf({ desired: [house()], ...world });
  const [problem] = plan.problems;
  if (problem !== undefined) return `${problem.class}: ${problem.code}`;
  const change = plan.changes.find(({ address }) => formatAddress(address) === text);
  if (change === undefined) return 'nothing';
  const claim = change.fields.find(({ path }) => path[0] === 'claim');
  const written = claim === undefined ? '' : `, claim ${claim.before ?? 'none'} → ${claim.after ?? 'none'}`;
  return `${change.action} as ${records.get(text)?.record.origin}${written}`;
}

function house(metadata: Partial<Metadata> = {}) {
  return desired(home, { colour: 'blue' }, metadata);
}

function found(about: LiveAbout = {}) {
  return live(home, { spec: { colour: 'red' }, ...about });
}

describe('a declared house', () => {
  const conflict = 'conflict: claimed-by-another-stack';
  const unclaimed = 'conflict: exists-unclaimed';

  test.each<[string, World, string]>([
    ['that is not there is created', {}, 'create as created, claim none → mine'],
    [
      'that is gone is created again',
      { records: { [text]: adopted } },
      'create as created, claim none → mine',
    ],
    ['with our claim is updated', { live: [found({ claim: 'mine' })] }, 'update as adopted'],
    [
      'with our claim and birth mark was created by us',
      { live: [found({ claim: 'mine', bornOf: 'mine' })] },
      'update as created',
    ],
    [
      'keeps the origin that the ledger has, whatever the birth mark says',
      { live: [found({ claim: 'mine', bornOf: 'mine' })], records: { [text]: adopted } },
      'update as adopted',
    ],
    [
      'with the claim of another stack is a conflict',
      { live: [found({ claim: 'yours', bornOf: 'mine' })] },
      conflict,
    ],
    [
      'with the claim of another stack is a conflict even when the ledger knows it',
      { live: [found({ claim: 'yours' })], records: { [text]: ours } },
      conflict,
    ],
    [
      'with the claim of another stack cannot be adopted',
      { live: [found({ claim: 'yours' })], desired: [house({ adopt: true })] },
      conflict,
    ],
    [
      'with a claim that its project hands down is an error',
      { live: [found({ claim: 'yours', inherited: true })] },
      'conflict: claim-inherited',
    ],
    [
      'with our own claim from its project is an error, too',
      { live: [found({ claim: 'mine', inherited: true })], records: { [text]: ours } },
      'conflict: claim-inherited',
    ],
    ['without any claim is an error', { live: [found()] }, unclaimed],
    [
      'whose claim was removed gets it back when it bears our birth mark',
      { live: [found({ bornOf: 'mine' })] },
      'update as created, claim none → mine',
    ],
    [
      'whose claim was removed gets it back when the ledger has its id',
      { live: [found()], records: { [text]: adopted } },
      'update as adopted, claim none → mine',
    ],
    [
      'that took the name of one of ours is not ours',
      { live: [found()], records: { [text]: another } },
      unclaimed,
    ],
    [
      'whose record has no id is not proved to be ours by it',
      { live: [found()], records: { [text]: record() } },
      unclaimed,
    ],
    ['that another stack created is not ours', { live: [found({ bornOf: 'yours' })] }, unclaimed],
    [
      'without a claim is adopted when the manifest says so',
      { live: [found()], desired: [house({ adopt: true })] },
      'adopt as adopted, claim none → mine',
    ],
    [
      'that is ours already is not adopted again',
      { live: [found({ claim: 'mine' })], desired: [house({ adopt: true })], records: { [text]: ours } },
      'update as created',
    ],
    [
      'changes hands when its stack was renamed',
      { live: [found({ claim: 'old' })], stack: { renamedFrom: 'old' } },
      'adopt as adopted, claim old → mine',
    ],
    [
      'gets its claim back under the new name of its stack',
      { live: [found({ bornOf: 'old' })], stack: { renamedFrom: 'old' } },
      'adopt as created, claim none → mine',
    ],
    [
      'gets the flags of its manifest into its claim',
      { live: [found({ claim: 'mine' })], desired: [house({ protect: true, onRemove: 'release' })] },
      'update as adopted, claim mine → mine:protect:release',
    ],
    [
      'loses the flags that its manifest no longer has',
      { live: [found({ claim: 'mine:protect' })] },
      'update as adopted, claim mine:protect → mine',
    ],
  ])('%s', (_, world, expected) => {
    expect(outcome(world)).toBe(expected);
  });

  test('that is exactly as declared and ours needs nothing, and is recorded', () => {
    const { plan, records } = planOf({
      desired: [house()],
      live: [found({ claim: 'mine', spec: { colour: 'blue' } })],
    });
    expect(plan.changes).toEqual([]);
    expect(plan.unchanged).toBe(1);
    expect(records.get(text)).toMatchObject({
      settled: true,
      record: { id: 'id-home', fields: { colour: 'blue' } },
    });
  });

  test('is told with the line to add when it may be adopted', () => {
    const { plan } = planOf({ desired: [house()], live: [found()] });
    expect(plan.problems[0]).toMatchObject({
      message: '"House/acme/home" exists and bears no claim of any stack',
      place: { file: 'toys.yaml' },
      fix: expect.stringContaining('adopt: true'),
    });
  });

  test('that is adopted shows its whole difference', () => {
    const planning = planOf({ desired: [house({ adopt: true })], live: [found()] });
    expect(changeAt(planning, home).fields).toEqual([
      { path: ['claim'], after: 'mine', shape: 'scalar' },
      { path: ['colour'], before: 'red', after: 'blue', shape: 'scalar' },
    ]);
  });
});

describe('a declared door, which can bear no mark,', () => {
  const door = at('Door', 'front');
  const name = formatAddress(door);
  const declared = (metadata: Partial<Metadata> = {}) => desired(door, { colour: 'blue' }, metadata);
  const there = (colour: string) => live(door, { spec: { colour, timer: 0, rooms: [] } });

  function outcomeOfDoor(world: World): string {
    const { plan, records } = planOf({ desired: [declared()], ...world });
    const [problem] = plan.problems;
    if (problem !== undefined) return `${problem.class}: ${problem.code}`;
    return `${plan.changes[0]?.action ?? 'nothing'} as ${records.get(name)?.record.origin}`;
  }

  test.each<[string, World, string]>([
    ['that is not there is created', {}, 'create as created'],
    [
      'that is there as declared is adopted, and nothing is sent',
      { live: [there('blue')] },
      'adopt as adopted',
    ],
    [
      'that is there as declared, and that an apply which was cut short had begun to create, is ours',
      { live: [there('blue')], begunCreations: [door] },
      'nothing as created',
    ],
    [
      'that such an apply had begun is ours, and written once more, when all that differs is what nobody can tell',
      { live: [live(door, { spec: { timer: 0, rooms: [] } })], begunCreations: [door] },
      'update as created',
    ],
    [
      'that such an apply had begun, and that differs, is an adoption',
      { live: [there('red')], begunCreations: [door] },
      'adopt as adopted',
    ],
    [
      'that is there, differs and was never written by us is an adoption, which a guard asks about',
      { live: [there('red')] },
      'adopt as adopted',
    ],
    [
      'that differs is adopted when the manifest says so',
      { live: [there('red')], desired: [declared({ adopt: true })] },
      'adopt as adopted',
    ],
    [
      'that the ledger knows is updated',
      { live: [there('red')], records: { [name]: record({ origin: 'created' }) } },
      'update as created',
    ],
    [
      'that the ledger knows as adopted stays adopted',
      { live: [there('red')], records: { [name]: record({ origin: 'adopted' }) } },
      'update as adopted',
    ],
  ])('%s', (_, world, expected) => {
    expect(outcomeOfDoor(world)).toBe(expected);
  });

  test('is recorded with its whole content, as the write leaves it', () => {
    const { records } = planOf({
      desired: [desired(door, { timer: '1h' })],
      live: [live(door, { spec: { colour: 'green', timer: 5, rooms: ['b', 'a'] } })],
      records: { [name]: record({ fields: { colour: 'green' } }) },
    });
    expect(records.get(name)?.record.content).toEqual({ colour: 'red', timer: 3600, rooms: ['a', 'b'] });
  });
});

describe('a declared garden, which is a part of a house,', () => {
  const garden = at('Garden', 'home');
  const grown = desired(garden, { trees: ['oak'] });
  const trees = (about: Partial<LiveAbout> = {}) => live(garden, { spec: { trees: [] }, ...about });

  function outcomeOfGarden(world: World): string {
    const planning = planOf({ desired: [grown], ...world });
    const problems = planning.plan.problems.map(({ code, class: kind }) => `${kind}: ${code}`);
    return [...problems, ...deeds(planning)].join(', ') || 'nothing';
  }

  test.each<[string, World, string]>([
    [
      'is created along with its house',
      { desired: [house(), grown] },
      'House/acme/home: create, Garden/acme/home: create',
    ],
    [
      'is updated in a house of ours',
      { desired: [house(), grown], live: [found({ claim: 'mine', spec: { colour: 'blue' } }), trees()] },
      'Garden/acme/home: update',
    ],
    [
      'is updated in a house of ours that another file declares',
      { live: [found({ claim: 'mine:protect' }), trees()] },
      'Garden/acme/home: update',
    ],
    [
      'of a house that another stack claims is a conflict',
      { live: [found({ claim: 'yours' }), trees()] },
      'conflict: claimed-by-another-stack',
    ],
    [
      'of a house with the former name of our stack is ours',
      { live: [found({ claim: 'old' }), trees()], stack: { renamedFrom: 'old' } },
      'Garden/acme/home: update',
    ],
    [
      'of a house whose project hands a claim down is an error',
      { live: [found({ claim: 'mine', inherited: true }), trees()] },
      'conflict: claim-inherited',
    ],
    ['of a house without a claim is an error', { live: [found(), trees()] }, 'conflict: exists-unclaimed'],
    [
      'of a house without a claim can be adopted by itself',
      { live: [found(), trees()], desired: [desired(garden, { trees: ['oak'] }, { adopt: true })] },
      'Garden/acme/home: adopt',
    ],
    [
      'of a house without a claim that it was adopted in before is ours',
      { live: [found(), trees()], records: { 'Garden/acme/home': record({ origin: 'adopted' }) } },
      'Garden/acme/home: update',
    ],
    ['of a house that nobody has is an error', {}, 'invalid: unknown-reference'],
    [
      'of a house that could not be looked for is told as such',
      { incomplete: ['page 2 is missing'] },
      'incomplete: unknown-reference',
    ],
    [
      'says nothing of its own where its house has the problem',
      { desired: [house(), grown], live: [found(), trees()] },
      'conflict: exists-unclaimed',
    ],
  ])('%s', (_, world, expected) => {
    expect(outcomeOfGarden(world)).toBe(expected);
  });

  test('keeps the origin that the ledger has', () => {
    const { records } = planOf({
      desired: [house(), grown],
      live: [found({ claim: 'mine' }), trees()],
      records: { 'Garden/acme/home': record({ origin: 'created' }) },
    });
    expect(records.get(readAddress('Garden/acme/home'))?.record.origin).toBe('created');
  });
});

describe('a house that was renamed', () => {
  const villa = at('House', 'villa');
  const declared = desired(villa, { colour: 'blue' }, { renamedFrom: 'home' });

  test('by its manifest keeps its id, its record and its claim', () => {
    const planning = planOf({
      desired: [declared],
      live: [found({ claim: 'mine', spec: { colour: 'blue', timer: 5 } })],
      records: { [text]: record({ id: 'id-home', origin: 'created', fields: { timer: 5 } }) },
    });
    expect(planning.plan.problems).toEqual([]);
    expect(changeAt(planning, villa)).toMatchObject({
      action: 'update',
      id: 'id-home',
      fields: [
        { path: ['name'], before: 'home', after: 'villa' },
        { path: ['timer'], before: 5, after: 0, origin: 'no longer declared' },
      ],
    });
    expect(planning.records.get(readAddress('House/acme/villa'))?.record.origin).toBe('created');
    expect(planning.forget).toEqual([]);
  });

  test('by somebody in the service is found by its id and gets its name back', () => {
    const planning = planOf({
      desired: [house()],
      live: [live(villa, { id: 'id-home', claim: 'mine', spec: { colour: 'blue' } })],
      records: { [text]: ours },
    });
    expect(deeds(planning)).toEqual(['House/acme/home: update']);
    expect(changeAt(planning, home).fields).toEqual([
      { path: ['name'], before: 'villa', after: 'home', shape: 'scalar' },
    ]);
  });

  test('leaves its old record behind until the new one is written', () => {
    const renamed = live(villa, { id: 'id-home', claim: 'mine', spec: { colour: 'blue' } });
    const records = { [text]: ours, 'House/acme/villa': ours };
    expect(planOf({ desired: [declared], live: [renamed], records: { [text]: ours } }).forget).toEqual([]);
    expect(planOf({ desired: [declared], live: [renamed], records }).forget).toEqual([text]);
  });

  test('and whose old name was taken by another since is the one it is: the old name means nothing', () => {
    const planning = planOf({
      desired: [declared],
      live: [
        live(villa, { id: 'id-1', claim: 'mine', spec: { colour: 'blue' } }),
        found({ id: 'id-2', claim: 'yours' }),
      ],
    });
    expect(planning.plan.problems).toEqual([]);
    expect(deeds(planning)).toEqual([]);
  });

  test('is given to one declaration only, to the one that the ledger knows, in any order of files', () => {
    const both = [house(), desired(villa, {}, { renamedFrom: 'shed' })];
    const shed = live(at('House', 'shed'), { id: 'id-home', claim: 'mine', spec: { colour: 'red' } });
    for (const order of [both, both.toReversed()]) {
      const planning = planOf({ desired: order, live: [shed], records: { [text]: ours } });
      expect(deeds(planning).toSorted()).toEqual(['House/acme/home: update', 'House/acme/villa: create']);
    }
  });

  test('and that two manifests want is given to the first of them by name', () => {
    const both = [
      desired(villa, {}, { renamedFrom: 'shed' }),
      desired(at('House', 'barn'), {}, { renamedFrom: 'shed' }),
    ];
    for (const order of [both, both.toReversed()]) {
      const planning = planOf({ desired: order, live: [live(at('House', 'shed'), { claim: 'mine' })] });
      expect(deeds(planning).toSorted()).toEqual(['House/acme/barn: update', 'House/acme/villa: create']);
    }
  });
});
