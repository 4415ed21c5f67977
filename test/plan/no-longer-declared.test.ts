import { describe, expect, it } from 'vitest';
import { formatAddress } from '../../src/model/address.ts';
import {
  actions,
  app,
  appAddress,
  at,
  changeAt,
  desired,
  fate,
  live,
  planOf,
  record,
  recorded,
  type World,
} from '../support/sample-kinds/sample-plan.ts';

describe('a parent that was renamed by hand, while a copy of it took its name', () => {
  it('is kept: the manifest still means one of the two', () => {
    const original = at('Parent', 'renamed');
    const copy = live(app, { id: 'id-copy', ownershipTag: 'mine', creatorStack: 'mine' });
    const world: World = {
      desired: [desired(app)],
      live: [copy, live(original, { id: 'id-app', ownershipTag: 'mine', creatorStack: 'mine' })],
      records: recorded(),
    };
    expect(fate(world)).toBe(
      '"it is "Parent/acme/app" under a new name, and another resource has that name now: it is kept"',
    );
  });
});

describe('a parent that nobody declares', () => {
  const kept = '"no longer declared, and protected: it is kept"';
  const noProof =
    '"not declared; it has the ownership tag of this stack, but nothing proves that this stack created it: it is kept"';
  const notOurs =
    '"no longer declared, and it no longer has the ownership tag of this stack: it is left alone"';

  it.each<[string, World, string]>([
    ["and that bears no claim is nobody's concern", { live: [live(app)] }, 'nothing'],
    [
      "and that bears another stack's claim is theirs",
      { live: [live(app, { ownershipTag: 'yours' })] },
      'nothing',
    ],
    [
      'and that we created is deleted',
      { live: [live(app, { ownershipTag: 'mine', creatorStack: 'mine' })], records: recorded() },
      'delete',
    ],
    [
      'and that we created under a name of its own is deleted, too: the ledger knows',
      { live: [live(app, { ownershipTag: 'mine' })], records: recorded() },
      'delete',
    ],
    [
      'and that was adopted is released',
      { live: [live(app, { ownershipTag: 'mine' })], records: recorded({ origin: 'adopted' }) },
      'release',
    ],
    [
      'and that bears our claim alone is kept: it may be a copy',
      { live: [live(app, { ownershipTag: 'mine' })] },
      noProof,
    ],
    [
      'and that only claim and creator mark prove is deleted, which a guard asks about',
      { live: [live(app, { ownershipTag: 'mine', creatorStack: 'mine' })] },
      'delete',
    ],
    [
      'is deleted without any ledger at all, too, behind the same guard',
      { live: [live(app, { ownershipTag: 'mine', creatorStack: 'mine' })], ledger: false },
      'delete',
    ],
    [
      'and that bears our claim alone is kept without any ledger, too',
      { live: [live(app, { ownershipTag: 'mine' })], ledger: false },
      noProof,
    ],
    [
      'and that only claim and creator mark prove is kept while the service would refuse to delete it',
      { live: [live(app, { ownershipTag: 'mine', creatorStack: 'mine', facts: { inUse: true } })] },
      '"to be deleted, but kept: it is in use"',
    ],
    [
      'and whose record is of another one of that name is kept',
      { live: [live(app, { ownershipTag: 'mine' })], records: recorded({ id: 'id-of-another' }) },
      noProof,
    ],
    [
      'and that is protected is kept',
      { live: [live(app, { ownershipTag: 'mine:protect' })], records: recorded() },
      kept,
    ],
    [
      'and that is protected is kept, even when it is to be released',
      { live: [live(app, { ownershipTag: 'mine:protect:release' })], records: recorded() },
      kept,
    ],
    [
      'and that is marked for release is released, also when we created it',
      { live: [live(app, { ownershipTag: 'mine:release', creatorStack: 'mine' })], records: recorded() },
      'release',
    ],
    [
      'and that is marked for release is released without a record',
      { live: [live(app, { ownershipTag: 'mine:release' })] },
      'release',
    ],
    [
      'and whose claim somebody took away is forgotten',
      { live: [live(app, { creatorStack: 'mine' })], records: recorded() },
      `${notOurs}, forget ${appAddress}`,
    ],
    [
      'and that another stack has claimed since is forgotten',
      { live: [live(app, { ownershipTag: 'yours' })], records: recorded() },
      `${notOurs}, forget ${appAddress}`,
    ],
    [
      'and that has our claim from its project only is forgotten',
      { live: [live(app, { ownershipTag: 'mine', inherited: true })], records: recorded() },
      `${notOurs}, forget ${appAddress}`,
    ],
    [
      'and that the service would refuse to delete is kept',
      { live: [live(app, { ownershipTag: 'mine', facts: { inUse: true } })], records: recorded() },
      '"to be deleted, but kept: it is in use"',
    ],
    [
      'and that still has the claim of our former name is ours',
      { live: [live(app, { ownershipTag: 'old' })], records: recorded(), stack: { renamedFrom: 'old' } },
      'delete',
    ],
    ['and that is gone is forgotten', { records: recorded() }, `forget ${appAddress}`],
    [
      'and that somebody renamed is deleted under the name that it has now',
      { live: [live(at('Parent', 'web'), { id: 'id-app', ownershipTag: 'mine' })], records: recorded() },
      'delete',
    ],
    [
      'and that somebody renamed and took from us is forgotten under the name that we knew',
      { live: [live(at('Parent', 'web'), { id: 'id-app' })], records: recorded() },
      `${notOurs}, forget ${appAddress}`,
    ],
  ])('%s', (_, world, expected) => {
    expect(fate(world)).toBe(expected);
  });

  it('and that is released loses its ownership tag and nothing else', () => {
    const world = {
      live: [live(app, { ownershipTag: 'mine:release', spec: { colour: 'blue' } })],
      records: recorded(),
    };
    expect(changeAt(planOf(world), app).fields).toEqual([
      { path: ['claim'], before: 'mine:release', shape: 'scalar' },
    ]);
  });
});

describe('after an incomplete read nothing is removed', () => {
  it.each<[string, World]>([
    ['when a page is missing', { incomplete: ['page 2 is missing'] }],
    ['when a manifest could not be read', { manifestsComplete: false }],
  ])('%s', (_, partial) => {
    const created = { live: [live(app, { ownershipTag: 'mine' })], records: recorded(), ...partial };
    expect(fate(created)).toMatch(/^"kept: .*the plan is incomplete, so nothing is removed"$/);
    const adopted = { ...created, records: recorded({ origin: 'adopted' }) };
    expect(actions(planOf(adopted))).toEqual([]);
    const removalRequest = { ...created, desired: [desired(app, {}, { remove: 'force' as const })] };
    expect(actions(planOf(removalRequest))).toEqual([]);
  });

  it('and the record of what was not seen is evidence that is kept', () => {
    expect(fate({ records: recorded(), incomplete: ['page 2 is missing'] })).toBe('nothing');
  });

  it('and a removal request is not said to have done its work', () => {
    const { plan, forget } = planOf({
      desired: [desired(app, {}, { remove: 'safe' })],
      records: recorded(),
      incomplete: ['page 2 is missing'],
    });
    expect(plan.notices.map(({ message }) => message).join()).toContain('page 2 is missing');
    expect(forget).toEqual([]);
  });
});

it('what was applied in a target that the stack has left stays recorded, and is mentioned once', () => {
  const planning = planOf({
    records: {
      'Parent/old/a': record({ id: '1' }),
      'Parent/old/b': record({ id: '2' }),
      'Role/old/c': record(),
    },
  });
  expect(planning.forget).toEqual([]);
  expect(planning.plan.notices.map(({ message }) => message)).toEqual([
    'no target of this stack is called "old" now: it and 2 more are left alone',
  ]);
});

describe('a role that nobody declares', () => {
  const role = at('Role', 'job');
  const name = formatAddress(role);
  const spec = { colour: 'blue', timeout: 60, readers: ['b', 'a'] };
  const content = { colour: 'blue', timeout: 60, readers: ['a', 'b'] };
  const written = { [name]: record({ content }) };
  const roles = [live(role, { spec })];
  const insist = '"no longer declared, but changed since this stack last wrote it: it is kept"';
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
      `"no longer declared, and its name is not in "owns" of the target: it is left alone", forget ${name}`,
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
      '"no longer declared, and marked for release: it is kept, and so is its record while the target is exclusive to the stack"',
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
  const part = at('Child', 'app');
  const tagged = { 'Child/acme/app': record({ fields: { tags: ['prod'] } }) };
  const tags = live(part, { spec: { tags: ['prod', 'live'] } });
  const declared = desired(app, {});

  it('loses what this stack tagged, and nothing else', () => {
    const planning = planOf({
      desired: [declared],
      live: [live(app, { ownershipTag: 'mine' }), tags],
      records: tagged,
    });
    expect(actions(planning)).toEqual(['Child/acme/app: delete']);
    expect(changeAt(planning, part).fields).toEqual([
      { path: ['tags'], before: ['live', 'prod'], after: ['live'], shape: 'set' },
    ]);
  });

  it('is not reset in what else was once declared: what shall be left is all that there is to say', () => {
    const planning = planOf({
      desired: [declared],
      live: [live(app, { ownershipTag: 'mine' }), tags],
      records: { 'Child/acme/app': record({ fields: { tags: ['prod'], owner: 'high' } }) },
    });
    expect(changeAt(planning, part).notes).toEqual([]);
  });

  it.each<[string, World, string]>([
    [
      'is forgotten when nothing of it is left to take back',
      {
        desired: [declared],
        live: [live(app, { ownershipTag: 'mine' }), live(part, { spec: { tags: ['live'] } })],
        records: tagged,
      },
      'forget Child/acme/app',
    ],
    [
      "is nobody's concern without a record",
      { desired: [declared], live: [live(app, { ownershipTag: 'mine' }), tags] },
      'nothing',
    ],
    [
      'shares the fate of its whole',
      { live: [live(app, { ownershipTag: 'mine' }), tags], records: { ...tagged, ...recorded() } },
      'delete',
    ],
    [
      'of a whole that another stack has now is forgotten',
      { live: [live(app, { ownershipTag: 'yours' }), tags], records: tagged },
      `"no longer declared, and "${appAddress}" belongs to stack "yours": it is left alone", forget Child/acme/app`,
    ],
    ['of a whole without a claim is taken back', { live: [live(app), tags], records: tagged }, 'delete'],
    [
      'of a whole whose claim somebody took away is left alone along with it',
      { live: [live(app), tags], records: { ...tagged, ...recorded() } },
      `"no longer declared, and it no longer has the ownership tag of this stack: it is left alone", forget ${appAddress}, forget Child/acme/app`,
    ],
  ])('%s', (_, world, expected) => {
    expect(fate(world)).toBe(expected);
  });

  it('counts neither as a change nor as unchanged when there is nothing to take back', () => {
    const { plan } = planOf({
      desired: [declared],
      live: [live(app, { ownershipTag: 'mine' }), live(part, { spec: { tags: [] } })],
      records: tagged,
    });
    expect([plan.changes.length, plan.unchanged]).toEqual([0, 1]);
  });
});
