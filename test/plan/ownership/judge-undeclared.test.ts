import { describe, expect, test } from 'vitest';
import { formatAddress } from '../../../src/model/resource/address.ts';
import type { LedgerRecord } from '../../../src/model/stack/ledger.ts';
import {
  at,
  changeAt,
  deeds,
  desired,
  fate,
  type LiveAbout,
  live,
  planOf,
  record,
  type World,
} from '../../support/toys/toy-plan.ts';

const home = at('House', 'home');
const text = formatAddress(home);

function recorded(about: Partial<LedgerRecord> = {}): Readonly<Record<string, LedgerRecord>> {
  return { [text]: record({ id: 'id-home', ...about }) };
}

function there(about: LiveAbout = {}) {
  return [live(home, about)];
}

describe('a house that was renamed by hand, while a copy of it took its name', () => {
  test('is kept: the manifest still means one of the two', () => {
    const original = at('House', 'renamed');
    const copy = live(home, { id: 'id-copy', claim: 'mine', bornOf: 'mine' });
    const world: World = {
      desired: [desired(home)],
      live: [copy, live(original, { id: 'id-home', claim: 'mine', bornOf: 'mine' })],
      records: recorded(),
    };
    expect(fate(world)).toBe(
      '"it is "House/acme/home" under a new name, and something else has taken that name: it is kept"',
    );
  });
});

describe('a house that nobody declares', () => {
  const kept = '"no longer declared, and protected: it is kept"';
  const noProof =
    '"not declared; it bears our claim, but nothing proves that this stack created it: it is kept"';
  const notOurs = '"no longer declared, and its claim is not ours any more: it is left alone"';

  test.each<[string, World, string]>([
    ["and that bears no claim is nobody's concern", { live: there() }, 'nothing'],
    ["and that bears another stack's claim is theirs", { live: there({ claim: 'yours' }) }, 'nothing'],
    [
      'and that we created is deleted',
      { live: there({ claim: 'mine', bornOf: 'mine' }), records: recorded() },
      'delete',
    ],
    [
      'and that we created under a name of its own is deleted, too: the ledger knows',
      { live: there({ claim: 'mine' }), records: recorded() },
      'delete',
    ],
    [
      'and that was adopted is released',
      { live: there({ claim: 'mine' }), records: recorded({ origin: 'adopted' }) },
      'release',
    ],
    ['and that bears our claim alone is kept: it may be a copy', { live: there({ claim: 'mine' }) }, noProof],
    [
      'and that only claim and birth mark prove is deleted, which a guard asks about',
      { live: there({ claim: 'mine', bornOf: 'mine' }) },
      'delete',
    ],
    [
      'is deleted without any ledger at all, too, behind the same guard',
      { live: there({ claim: 'mine', bornOf: 'mine' }), ledger: false },
      'delete',
    ],
    [
      'and that bears our claim alone is kept without any ledger, too',
      { live: there({ claim: 'mine' }), ledger: false },
      noProof,
    ],
    [
      'and that only claim and birth mark prove is kept while the service would refuse to delete it',
      { live: there({ claim: 'mine', bornOf: 'mine', facts: { inhabited: true } }) },
      '"to be deleted, but the service would refuse it: somebody lives in it"',
    ],
    [
      'and whose record is of another one of that name is kept',
      { live: there({ claim: 'mine' }), records: recorded({ id: 'id-of-another' }) },
      noProof,
    ],
    ['and that is protected is kept', { live: there({ claim: 'mine:protect' }), records: recorded() }, kept],
    [
      'and that is protected is kept, even when it is to be released',
      { live: there({ claim: 'mine:protect:release' }), records: recorded() },
      kept,
    ],
    [
      'and that is marked for release is released, also when we created it',
      { live: there({ claim: 'mine:release', bornOf: 'mine' }), records: recorded() },
      'release',
    ],
    [
      'and that is marked for release is released without a record',
      { live: there({ claim: 'mine:release' }) },
      'release',
    ],
    [
      'and whose claim somebody took away is forgotten',
      { live: there({ bornOf: 'mine' }), records: recorded() },
      `${notOurs}, forget ${text}`,
    ],
    [
      'and that another stack has claimed since is forgotten',
      { live: there({ claim: 'yours' }), records: recorded() },
      `${notOurs}, forget ${text}`,
    ],
    [
      'and that has our claim from its project only is forgotten',
      { live: there({ claim: 'mine', inherited: true }), records: recorded() },
      `${notOurs}, forget ${text}`,
    ],
    [
      'and that the service would refuse to delete is kept',
      { live: there({ claim: 'mine', facts: { inhabited: true } }), records: recorded() },
      '"to be deleted, but the service would refuse it: somebody lives in it"',
    ],
    [
      'and that still has the claim of our former name is ours',
      { live: there({ claim: 'old' }), records: recorded(), stack: { renamedFrom: 'old' } },
      'delete',
    ],
    ['and that is gone is forgotten', { records: recorded() }, `forget ${text}`],
    [
      'and that somebody renamed is deleted under the name that it has now',
      { live: [live(at('House', 'villa'), { id: 'id-home', claim: 'mine' })], records: recorded() },
      'delete',
    ],
    [
      'and that somebody renamed and took from us is forgotten under the name that we knew',
      { live: [live(at('House', 'villa'), { id: 'id-home' })], records: recorded() },
      `${notOurs}, forget ${text}`,
    ],
  ])('%s', (_, world, expected) => {
    expect(fate(world)).toBe(expected);
  });

  test('and that is released loses its claim and nothing else', () => {
    const world = { live: there({ claim: 'mine:release', spec: { colour: 'blue' } }), records: recorded() };
    expect(changeAt(planOf(world), home).fields).toEqual([
      { path: ['claim'], before: 'mine:release', shape: 'scalar' },
    ]);
  });
});

describe('after an incomplete look nothing is removed', () => {
  test.each<[string, World]>([
    ['when a page is missing', { incomplete: ['page 2 is missing'] }],
    ['when a manifest could not be read', { manifestsComplete: false }],
  ])('%s', (_, partial) => {
    const created = { live: there({ claim: 'mine' }), records: recorded(), ...partial };
    expect(fate(created)).toMatch(/^"kept: .*after an incomplete look nothing is removed"$/);
    const adopted = { ...created, records: recorded({ origin: 'adopted' }) };
    expect(deeds(planOf(adopted))).toEqual([]);
    const tombstone = { ...created, desired: [desired(home, {}, { remove: 'force' as const })] };
    expect(deeds(planOf(tombstone))).toEqual([]);
  });

  test('and the record of what was not seen is evidence that is kept', () => {
    expect(fate({ records: recorded(), incomplete: ['page 2 is missing'] })).toBe('nothing');
  });

  test('and a tombstone is not said to have done its work', () => {
    const { plan, forget } = planOf({
      desired: [desired(home, {}, { remove: 'safe' })],
      records: recorded(),
      incomplete: ['page 2 is missing'],
    });
    expect(plan.mentions.map(({ message }) => message).join()).toContain('page 2 is missing');
    expect(forget).toEqual([]);
  });
});

test('what was applied in a target that the stack has left stays recorded, and is mentioned once', () => {
  const planning = planOf({
    records: {
      'House/old/a': record({ id: '1' }),
      'House/old/b': record({ id: '2' }),
      'Door/old/c': record(),
    },
  });
  expect(planning.forget).toEqual([]);
  expect(planning.plan.mentions.map(({ message }) => message)).toEqual([
    'what this stack applied in target "old" is not looked at any more: it and 2 more are left alone',
  ]);
});

describe('a door that nobody declares', () => {
  const door = at('Door', 'front');
  const name = formatAddress(door);
  const spec = { colour: 'blue', timer: 60, rooms: ['b', 'a'] };
  const content = { colour: 'blue', timer: 60, rooms: ['a', 'b'] };
  const written = { [name]: record({ content }) };
  const doors = [live(door, { spec })];
  const insist = '"no longer declared, but changed since our last write: it is kept"';
  const never = '"not declared, and never written by this stack: it is kept"';

  test.each<[string, World, string]>([
    ['is deleted when it is as we last wrote it', { live: doors, records: written }, 'delete'],
    [
      'is deleted when only the spelling differs',
      { live: [live(door, { spec: { ...spec, timer: '1m', rooms: 'b,a' } })], records: written },
      'delete',
    ],
    [
      'is kept when somebody changed it since',
      { live: [live(door, { spec: { ...spec, colour: 'green' } })], records: written },
      insist,
    ],
    [
      'is kept when the ledger does not have its content',
      { live: doors, records: { [name]: record() } },
      insist,
    ],
    [
      'is deleted when a field that the record is too old for has its default',
      { live: [live(door, { spec: { colour: 'blue', timer: 0, rooms: ['a'] } })], records: old() },
      'delete',
    ],
    [
      'is kept when a field that the record is too old for has another value',
      { live: [live(door, { spec: { colour: 'blue', timer: 5, rooms: ['a'] } })], records: old() },
      insist,
    ],
    ["and that the ledger does not know is nobody's concern", { live: doors }, 'nothing'],
    [
      'and that the ledger does not know is mentioned inside what the target owns',
      { live: doors, target: { owns: ['fr*'] } },
      never,
    ],
    [
      'and that the ledger does not know goes when the target is exclusive',
      { live: doors, target: { owns: ['fr*'], exclusive: true } },
      'delete',
    ],
    [
      'outside what an exclusive target owns stays',
      { live: doors, target: { owns: ['back*'], exclusive: true } },
      'nothing',
    ],
    [
      'goes from an exclusive target also when there is no ledger: the guard "no-record" asks first',
      { live: doors, target: { owns: ['fr*'], exclusive: true }, ledger: false },
      'delete',
    ],
    [
      'is forgotten when the target does not own its name any more',
      { live: doors, records: written, target: { owns: ['back*'] } },
      `"no longer declared, and not among the names that its target owns: it is left alone", forget ${name}`,
    ],
    [
      'is found by a pattern in whatever case it is written',
      { live: doors, records: written, target: { owns: ['FR*'] } },
      'delete',
    ],
    ['and that is gone is forgotten', { records: written }, `forget ${name}`],
    [
      'and that was protected is kept',
      { live: doors, records: { [name]: record({ content, protect: true }) } },
      '"no longer declared, and protected: it is kept"',
    ],
    [
      'and that was to be released stays, and leaves the ledger',
      { live: doors, records: { [name]: record({ content, onRemove: 'release' }) } },
      'release',
    ],
    [
      'and that was to be released is remembered where the target is exclusive, or the next plan would delete it',
      {
        live: doors,
        records: { [name]: record({ content, onRemove: 'release' }) },
        target: { owns: ['fr*'], exclusive: true },
      },
      '"no longer declared, and marked for release: it is kept, and remembered for as long as its target is exclusive to the stack"',
    ],
  ])('%s', (_, world, expected) => {
    expect(fate(world)).toBe(expected);
  });

  function old() {
    return { [name]: record({ content: { colour: 'blue', rooms: ['a'] } }) };
  }
});

describe('a fence, which cannot be deleted,', () => {
  const fence = at('Fence', 'long');

  test('is released when nobody declares it any more', () => {
    const world = { live: [live(fence)], records: { 'Fence/acme/long': record() } };
    expect(fate(world)).toBe('release');
    expect(changeAt(planOf(world), fence).calls).toEqual([]);
  });

  test('is left alone when it never was ours', () => {
    expect(fate({ live: [live(fence)] })).toBe('nothing');
  });
});

describe('a garden that nobody declares', () => {
  const garden = at('Garden', 'home');
  const planted = { 'Garden/acme/home': record({ fields: { trees: ['oak'] } }) };
  const trees = live(garden, { spec: { trees: ['oak', 'fir'] } });
  const declared = desired(home, {});

  test('loses what this stack planted, and nothing else', () => {
    const planning = planOf({
      desired: [declared],
      live: [live(home, { claim: 'mine' }), trees],
      records: planted,
    });
    expect(deeds(planning)).toEqual(['Garden/acme/home: delete']);
    expect(changeAt(planning, garden).fields).toEqual([
      { path: ['trees'], before: ['fir', 'oak'], after: ['fir'], shape: 'set' },
    ]);
  });

  test('is not reset in what else was once declared: what shall be left is all that there is to say', () => {
    const planning = planOf({
      desired: [declared],
      live: [live(home, { claim: 'mine' }), trees],
      records: { 'Garden/acme/home': record({ fields: { trees: ['oak'], grass: 'high' } }) },
    });
    expect(changeAt(planning, garden).notes).toEqual([]);
  });

  test.each<[string, World, string]>([
    [
      'is forgotten when nothing of it is left to take back',
      {
        desired: [declared],
        live: [live(home, { claim: 'mine' }), live(garden, { spec: { trees: ['fir'] } })],
        records: planted,
      },
      'forget Garden/acme/home',
    ],
    [
      "is nobody's concern without a record",
      { desired: [declared], live: [live(home, { claim: 'mine' }), trees] },
      'nothing',
    ],
    [
      'shares the fate of its house',
      { live: [live(home, { claim: 'mine' }), trees], records: { ...planted, ...recorded() } },
      'delete',
    ],
    [
      'of a house that another stack has now is forgotten',
      { live: [live(home, { claim: 'yours' }), trees], records: planted },
      `"no longer declared, and "${text}" is claimed by stack "yours": it is left alone", forget Garden/acme/home`,
    ],
    ['of a house without a claim is taken back', { live: [live(home), trees], records: planted }, 'delete'],
    [
      'of a house whose claim somebody took away is left alone along with it',
      { live: [live(home), trees], records: { ...planted, ...recorded() } },
      `"no longer declared, and its claim is not ours any more: it is left alone", forget ${text}, forget Garden/acme/home`,
    ],
  ])('%s', (_, world, expected) => {
    expect(fate(world)).toBe(expected);
  });

  test('counts neither as a change nor as unchanged when there is nothing to take back', () => {
    const { plan } = planOf({
      desired: [declared],
      live: [live(home, { claim: 'mine' }), live(garden, { spec: { trees: [] } })],
      records: planted,
    });
    expect([plan.changes.length, plan.unchanged]).toEqual([0, 1]);
  });
});
