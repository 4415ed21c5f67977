import { describe, expect, it } from 'vitest';
import { formatAddress } from '../../../src/model/address.ts';
import type { LedgerRecord } from '../../../src/model/ledger.ts';
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

const app = at('Whole', 'app');
const text = formatAddress(app);

function recorded(about: Partial<LedgerRecord> = {}): Readonly<Record<string, LedgerRecord>> {
  return { [text]: record({ id: 'id-app', ...about }) };
}

function there(about: LiveAbout = {}) {
  return [live(app, about)];
}

describe('a whole that was renamed by hand, while a copy of it took its name', () => {
  it('is kept: the manifest still means one of the two', () => {
    const original = at('Whole', 'renamed');
    const copy = live(app, { id: 'id-copy', claim: 'mine', bornOf: 'mine' });
    const world: World = {
      desired: [desired(app)],
      live: [copy, live(original, { id: 'id-app', claim: 'mine', bornOf: 'mine' })],
      records: recorded(),
    };
    expect(fate(world)).toBe(
      '"it is "Whole/acme/app" under a new name, and something else has taken that name: it is kept"',
    );
  });
});

describe('a whole that nobody declares', () => {
  const kept = '"no longer declared, and protected: it is kept"';
  const noProof =
    '"not declared; it bears our claim, but nothing proves that this stack created it: it is kept"';
  const notOurs = '"no longer declared, and its claim is not ours any more: it is left alone"';

  it.each<[string, World, string]>([
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
      { live: there({ claim: 'mine', bornOf: 'mine', facts: { inUse: true } }) },
      '"to be deleted, but kept: it is in use"',
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
      { live: there({ claim: 'mine', facts: { inUse: true } }), records: recorded() },
      '"to be deleted, but kept: it is in use"',
    ],
    [
      'and that still has the claim of our former name is ours',
      { live: there({ claim: 'old' }), records: recorded(), stack: { renamedFrom: 'old' } },
      'delete',
    ],
    ['and that is gone is forgotten', { records: recorded() }, `forget ${text}`],
    [
      'and that somebody renamed is deleted under the name that it has now',
      { live: [live(at('Whole', 'web'), { id: 'id-app', claim: 'mine' })], records: recorded() },
      'delete',
    ],
    [
      'and that somebody renamed and took from us is forgotten under the name that we knew',
      { live: [live(at('Whole', 'web'), { id: 'id-app' })], records: recorded() },
      `${notOurs}, forget ${text}`,
    ],
  ])('%s', (_, world, expected) => {
    expect(fate(world)).toBe(expected);
  });

  it('and that is released loses its claim and nothing else', () => {
    const world = { live: there({ claim: 'mine:release', spec: { colour: 'blue' } }), records: recorded() };
    expect(changeAt(planOf(world), app).fields).toEqual([
      { path: ['claim'], before: 'mine:release', shape: 'scalar' },
    ]);
  });
});

describe('after an incomplete look nothing is removed', () => {
  it.each<[string, World]>([
    ['when a page is missing', { incomplete: ['page 2 is missing'] }],
    ['when a manifest could not be read', { manifestsComplete: false }],
  ])('%s', (_, partial) => {
    const created = { live: there({ claim: 'mine' }), records: recorded(), ...partial };
    expect(fate(created)).toMatch(/^"kept: .*after an incomplete look nothing is removed"$/);
    const adopted = { ...created, records: recorded({ origin: 'adopted' }) };
    expect(deeds(planOf(adopted))).toEqual([]);
    const tombstone = { ...created, desired: [desired(app, {}, { remove: 'force' as const })] };
    expect(deeds(planOf(tombstone))).toEqual([]);
  });

  it('and the record of what was not seen is evidence that is kept', () => {
    expect(fate({ records: recorded(), incomplete: ['page 2 is missing'] })).toBe('nothing');
  });

  it('and a tombstone is not said to have done its work', () => {
    const { plan, forget } = planOf({
      desired: [desired(app, {}, { remove: 'safe' })],
      records: recorded(),
      incomplete: ['page 2 is missing'],
    });
    expect(plan.mentions.map(({ message }) => message).join()).toContain('page 2 is missing');
    expect(forget).toEqual([]);
  });
});

it('what was applied in a target that the stack has left stays recorded, and is mentioned once', () => {
  const planning = planOf({
    records: {
      'Whole/old/a': record({ id: '1' }),
      'Whole/old/b': record({ id: '2' }),
      'Role/old/c': record(),
    },
  });
  expect(planning.forget).toEqual([]);
  expect(planning.plan.mentions.map(({ message }) => message)).toEqual([
    'what this stack applied in target "old" is not looked at any more: it and 2 more are left alone',
  ]);
});

describe('a role that nobody declares', () => {
  const role = at('Role', 'job');
  const name = formatAddress(role);
  const spec = { colour: 'blue', timeout: 60, readers: ['b', 'a'] };
  const content = { colour: 'blue', timeout: 60, readers: ['a', 'b'] };
  const written = { [name]: record({ content }) };
  const roles = [live(role, { spec })];
  const insist = '"no longer declared, but changed since our last write: it is kept"';
  const never = '"not declared, and never written by this stack: it is kept"';

  it.each<[string, World, string]>([
    ['is deleted when it is as we last wrote it', { live: roles, records: written }, 'delete'],
    [
      'is deleted when only the spelling differs',
      { live: [live(role, { spec: { ...spec, timeout: '1m', readers: 'b,a' } })], records: written },
      'delete',
    ],
    [
      'is kept when somebody changed it since',
      { live: [live(role, { spec: { ...spec, colour: 'green' } })], records: written },
      insist,
    ],
    [
      'is kept when the ledger does not have its content',
      { live: roles, records: { [name]: record() } },
      insist,
    ],
    [
      'is deleted when a field that the record is too old for has its default',
      { live: [live(role, { spec: { colour: 'blue', timeout: 0, readers: ['a'] } })], records: old() },
      'delete',
    ],
    [
      'is kept when a field that the record is too old for has another value',
      { live: [live(role, { spec: { colour: 'blue', timeout: 5, readers: ['a'] } })], records: old() },
      insist,
    ],
    ["and that the ledger does not know is nobody's concern", { live: roles }, 'nothing'],
    [
      'and that the ledger does not know is mentioned inside what the target owns',
      { live: roles, target: { owns: ['jo*'] } },
      never,
    ],
    [
      'and that the ledger does not know goes when the target is exclusive',
      { live: roles, target: { owns: ['jo*'], exclusive: true } },
      'delete',
    ],
    [
      'outside what an exclusive target owns stays',
      { live: roles, target: { owns: ['back*'], exclusive: true } },
      'nothing',
    ],
    [
      'goes from an exclusive target also when there is no ledger: the guard "no-record" asks first',
      { live: roles, target: { owns: ['jo*'], exclusive: true }, ledger: false },
      'delete',
    ],
    [
      'is forgotten when the target does not own its name any more',
      { live: roles, records: written, target: { owns: ['back*'] } },
      `"no longer declared, and not among the names that its target owns: it is left alone", forget ${name}`,
    ],
    [
      'is found by a pattern in whatever case it is written',
      { live: roles, records: written, target: { owns: ['JO*'] } },
      'delete',
    ],
    ['and that is gone is forgotten', { records: written }, `forget ${name}`],
    [
      'and that was protected is kept',
      { live: roles, records: { [name]: record({ content, protect: true }) } },
      '"no longer declared, and protected: it is kept"',
    ],
    [
      'and that was to be released stays, and leaves the ledger',
      { live: roles, records: { [name]: record({ content, onRemove: 'release' }) } },
      'release',
    ],
    [
      'and that was to be released is remembered where the target is exclusive, or the next plan would delete it',
      {
        live: roles,
        records: { [name]: record({ content, onRemove: 'release' }) },
        target: { owns: ['jo*'], exclusive: true },
      },
      '"no longer declared, and marked for release: it is kept, and remembered for as long as its target is exclusive to the stack"',
    ],
  ])('%s', (_, world, expected) => {
    expect(fate(world)).toBe(expected);
  });

  function old() {
    return { [name]: record({ content: { colour: 'blue', readers: ['a'] } }) };
  }
});

describe('settings, which cannot be deleted,', () => {
  const settings = at('Settings', 'config');

  it('is released when nobody declares it any more', () => {
    const world = { live: [live(settings)], records: { 'Settings/acme/config': record() } };
    expect(fate(world)).toBe('release');
    expect(changeAt(planOf(world), settings).calls).toEqual([]);
  });

  it('is left alone when it never was ours', () => {
    expect(fate({ live: [live(settings)] })).toBe('nothing');
  });
});

describe('a part that nobody declares', () => {
  const part = at('Part', 'app');
  const tagged = { 'Part/acme/app': record({ fields: { tags: ['prod'] } }) };
  const tags = live(part, { spec: { tags: ['prod', 'live'] } });
  const declared = desired(app, {});

  it('loses what this stack tagged, and nothing else', () => {
    const planning = planOf({
      desired: [declared],
      live: [live(app, { claim: 'mine' }), tags],
      records: tagged,
    });
    expect(deeds(planning)).toEqual(['Part/acme/app: delete']);
    expect(changeAt(planning, part).fields).toEqual([
      { path: ['tags'], before: ['live', 'prod'], after: ['live'], shape: 'set' },
    ]);
  });

  it('is not reset in what else was once declared: what shall be left is all that there is to say', () => {
    const planning = planOf({
      desired: [declared],
      live: [live(app, { claim: 'mine' }), tags],
      records: { 'Part/acme/app': record({ fields: { tags: ['prod'], owner: 'high' } }) },
    });
    expect(changeAt(planning, part).notes).toEqual([]);
  });

  it.each<[string, World, string]>([
    [
      'is forgotten when nothing of it is left to take back',
      {
        desired: [declared],
        live: [live(app, { claim: 'mine' }), live(part, { spec: { tags: ['live'] } })],
        records: tagged,
      },
      'forget Part/acme/app',
    ],
    [
      "is nobody's concern without a record",
      { desired: [declared], live: [live(app, { claim: 'mine' }), tags] },
      'nothing',
    ],
    [
      'shares the fate of its whole',
      { live: [live(app, { claim: 'mine' }), tags], records: { ...tagged, ...recorded() } },
      'delete',
    ],
    [
      'of a whole that another stack has now is forgotten',
      { live: [live(app, { claim: 'yours' }), tags], records: tagged },
      `"no longer declared, and "${text}" is claimed by stack "yours": it is left alone", forget Part/acme/app`,
    ],
    ['of a whole without a claim is taken back', { live: [live(app), tags], records: tagged }, 'delete'],
    [
      'of a whole whose claim somebody took away is left alone along with it',
      { live: [live(app), tags], records: { ...tagged, ...recorded() } },
      `"no longer declared, and its claim is not ours any more: it is left alone", forget ${text}, forget Part/acme/app`,
    ],
  ])('%s', (_, world, expected) => {
    expect(fate(world)).toBe(expected);
  });

  it('counts neither as a change nor as unchanged when there is nothing to take back', () => {
    const { plan } = planOf({
      desired: [declared],
      live: [live(app, { claim: 'mine' }), live(part, { spec: { tags: [] } })],
      records: tagged,
    });
    expect([plan.changes.length, plan.unchanged]).toEqual([0, 1]);
  });
});
