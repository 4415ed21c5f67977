import { describe, expect, it } from 'vitest';
import { formatAddress } from '../../src/model/address.ts';
import {
  actions,
  app,
  appAddress,
  at,
  changeAt,
  desired,
  summaryOf,
  live,
  planOf,
  record,
  recorded,
  type World,
} from '../support/sample-kinds/sample-plan.ts';

describe('a parent that was renamed in the service, while a copy of it took its name', () => {
  it('is kept, because the manifest still declares one of the two', () => {
    const original = at('Parent', 'renamed');
    const copy = live(app, { id: 'id-copy', ownershipTag: 'mine', creatorStack: 'mine' });
    const world: World = {
      desired: [desired(app)],
      live: [copy, live(original, { id: 'id-app', ownershipTag: 'mine', creatorStack: 'mine' })],
      records: recorded(),
    };
    expect(summaryOf(world)).toBe(
      '"it is "Parent/acme/app" under a new name, and another resource has that name now: it is kept"',
    );
  });
});

describe('a parent that is not declared', () => {
  const kept = '"no longer declared, and protected: it is kept"';
  const noProof =
    '"not declared; it has the ownership tag of this stack, but nothing proves that this stack created it: it is kept"';
  const notOurs =
    '"no longer declared, and it no longer has the ownership tag of this stack: it is left alone"';

  it.each<[string, World, string]>([
    ['without an ownership tag is ignored', { live: [live(app)] }, 'nothing'],
    [
      'with the ownership tag of another stack is ignored',
      { live: [live(app, { ownershipTag: 'yours' })] },
      'nothing',
    ],
    [
      'that we created is deleted',
      { live: [live(app, { ownershipTag: 'mine', creatorStack: 'mine' })], records: recorded() },
      'delete',
    ],
    [
      'that we created is deleted even without our creator mark',
      { live: [live(app, { ownershipTag: 'mine' })], records: recorded() },
      'delete',
    ],
    [
      'that was adopted is released',
      { live: [live(app, { ownershipTag: 'mine' })], records: recorded({ origin: 'adopted' }) },
      'release',
    ],
    [
      'with only our ownership tag is kept, because it may be a copy',
      { live: [live(app, { ownershipTag: 'mine' })] },
      noProof,
    ],
    [
      'that ownership tag and creator mark prove is deleted, with a guard that asks',
      { live: [live(app, { ownershipTag: 'mine', creatorStack: 'mine' })] },
      'delete',
    ],
    [
      'that ownership tag and creator mark prove is deleted without a ledger, too',
      { live: [live(app, { ownershipTag: 'mine', creatorStack: 'mine' })], ledger: false },
      'delete',
    ],
    [
      'with only our ownership tag is kept without a ledger, too',
      { live: [live(app, { ownershipTag: 'mine' })], ledger: false },
      noProof,
    ],
    [
      'that ownership tag and creator mark prove is kept while the service would refuse to delete it',
      { live: [live(app, { ownershipTag: 'mine', creatorStack: 'mine', facts: { inUse: true } })] },
      '"to be deleted, but kept: it is in use"',
    ],
    [
      'whose record is about another resource of that name is kept',
      { live: [live(app, { ownershipTag: 'mine' })], records: recorded({ id: 'id-of-another' }) },
      noProof,
    ],
    [
      'that is protected is kept',
      { live: [live(app, { ownershipTag: 'mine:protect' })], records: recorded() },
      kept,
    ],
    [
      'that is protected is kept even if it is marked for release',
      { live: [live(app, { ownershipTag: 'mine:protect:release' })], records: recorded() },
      kept,
    ],
    [
      'that is marked for release is released even if we created it',
      { live: [live(app, { ownershipTag: 'mine:release', creatorStack: 'mine' })], records: recorded() },
      'release',
    ],
    [
      'that is marked for release is released without a record',
      { live: [live(app, { ownershipTag: 'mine:release' })] },
      'release',
    ],
    [
      'whose ownership tag was removed is forgotten',
      { live: [live(app, { creatorStack: 'mine' })], records: recorded() },
      `${notOurs}, forget ${appAddress}`,
    ],
    [
      'that another stack has tagged since is forgotten',
      { live: [live(app, { ownershipTag: 'yours' })], records: recorded() },
      `${notOurs}, forget ${appAddress}`,
    ],
    [
      'that only inherits our ownership tag from its project is forgotten',
      { live: [live(app, { ownershipTag: 'mine', inherited: true })], records: recorded() },
      `${notOurs}, forget ${appAddress}`,
    ],
    [
      'that the service would refuse to delete is kept',
      { live: [live(app, { ownershipTag: 'mine', facts: { inUse: true } })], records: recorded() },
      '"to be deleted, but kept: it is in use"',
    ],
    [
      'that still has the ownership tag of our former name is ours',
      { live: [live(app, { ownershipTag: 'old' })], records: recorded(), stack: { renamedFrom: 'old' } },
      'delete',
    ],
    ['that is gone is forgotten', { records: recorded() }, `forget ${appAddress}`],
    [
      'that was renamed in the service is deleted under its new name',
      { live: [live(at('Parent', 'web'), { id: 'id-app', ownershipTag: 'mine' })], records: recorded() },
      'delete',
    ],
    [
      'that was renamed in the service and lost our ownership tag is forgotten under its recorded name',
      { live: [live(at('Parent', 'web'), { id: 'id-app' })], records: recorded() },
      `${notOurs}, forget ${appAddress}`,
    ],
  ])('%s', (_, world, expected) => {
    expect(summaryOf(world)).toBe(expected);
  });

  it('that is released loses its ownership tag and nothing else', () => {
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
    expect(summaryOf(created)).toMatch(/^"kept: .*the plan is incomplete, so nothing is removed"$/);
    const adopted = { ...created, records: recorded({ origin: 'adopted' }) };
    expect(actions(planOf(adopted))).toEqual([]);
    const removalRequest = { ...created, desired: [desired(app, {}, { remove: 'force' as const })] };
    expect(actions(planOf(removalRequest))).toEqual([]);
  });

  it('and the records of unread resources are kept', () => {
    expect(summaryOf({ records: recorded(), incomplete: ['page 2 is missing'] })).toBe('nothing');
  });

  it('and a removal request is not reported as done', () => {
    const { plan, forget } = planOf({
      desired: [desired(app, {}, { remove: 'safe' })],
      records: recorded(),
      incomplete: ['page 2 is missing'],
    });
    expect(plan.notices.map(({ message }) => message).join()).toContain('page 2 is missing');
    expect(forget).toEqual([]);
  });
});

it('resources of a target that left the stack stay recorded, with one notice', () => {
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

describe('a role that is not declared', () => {
  const role = at('Role', 'job');
  const name = formatAddress(role);
  const spec = { colour: 'blue', timeout: 60, readers: ['b', 'a'] };
  const content = { colour: 'blue', timeout: 60, readers: ['a', 'b'] };
  const written = { [name]: record({ content }) };
  const roles = [live(role, { spec })];
  const keptIfChanged = '"no longer declared, but changed since this stack last wrote it: it is kept"';
  const neverWritten = '"not declared, and never written by this stack: it is kept"';

  it.each<[string, World, string]>([
    ['is deleted when it equals our last write', { live: roles, records: written }, 'delete'],
    [
      'is deleted when only the spelling differs',
      { live: [live(role, { spec: { ...spec, timeout: '1m', readers: 'b,a' } })], records: written },
      'delete',
    ],
    [
      'is kept when it was changed since our last write',
      { live: [live(role, { spec: { ...spec, colour: 'green' } })], records: written },
      keptIfChanged,
    ],
    [
      'is kept when the ledger does not have its content',
      { live: roles, records: { [name]: record() } },
      keptIfChanged,
    ],
    [
      'is deleted when a field that its old record lacks has its default',
      { live: [live(role, { spec: { colour: 'blue', timeout: 0, readers: ['a'] } })], records: old() },
      'delete',
    ],
    [
      'is kept when a field that its old record lacks has another value',
      { live: [live(role, { spec: { colour: 'blue', timeout: 5, readers: ['a'] } })], records: old() },
      keptIfChanged,
    ],
    ['without a record is ignored', { live: roles }, 'nothing'],
    [
      'without a record is reported if the target owns its name',
      { live: roles, target: { owns: ['jo*'] } },
      neverWritten,
    ],
    [
      'without a record is deleted if the target is exclusive',
      { live: roles, target: { owns: ['jo*'], exclusive: true } },
      'delete',
    ],
    [
      'stays if an exclusive target does not own its name',
      { live: roles, target: { owns: ['back*'], exclusive: true } },
      'nothing',
    ],
    [
      'is deleted from an exclusive target without a ledger, too: the guard "no-record" asks first',
      { live: roles, target: { owns: ['jo*'], exclusive: true }, ledger: false },
      'delete',
    ],
    [
      'is forgotten when the target no longer owns its name',
      { live: roles, records: written, target: { owns: ['back*'] } },
      `"no longer declared, and its name is not in "owns" of the target: it is left alone", forget ${name}`,
    ],
    [
      'matches a pattern in upper or lower case',
      { live: roles, records: written, target: { owns: ['JO*'] } },
      'delete',
    ],
    ['that is gone is forgotten', { records: written }, `forget ${name}`],
    [
      'that was protected is kept',
      { live: roles, records: { [name]: record({ content, protect: true }) } },
      '"no longer declared, and protected: it is kept"',
    ],
    [
      'that was marked for release stays, and leaves the ledger',
      { live: roles, records: { [name]: record({ content, onRemove: 'release' }) } },
      'release',
    ],
    [
      'that was marked for release stays recorded if the target is exclusive, or the next plan would delete it',
      {
        live: roles,
        records: { [name]: record({ content, onRemove: 'release' }) },
        target: { owns: ['jo*'], exclusive: true },
      },
      '"no longer declared, and marked for release: it is kept, and so is its record while the target is exclusive to the stack"',
    ],
  ])('%s', (_, world, expected) => {
    expect(summaryOf(world)).toBe(expected);
  });

  function old() {
    return { [name]: record({ content: { colour: 'blue', readers: ['a'] } }) };
  }
});

describe('settings, which cannot be deleted,', () => {
  const settings = at('Settings', 'config');

  it('are released when they are no longer declared', () => {
    const world = { live: [live(settings)], records: { 'Settings/acme/config': record() } };
    expect(summaryOf(world)).toBe('release');
    expect(changeAt(planOf(world), settings).calls).toEqual([]);
  });

  it('are left alone when they were never ours', () => {
    expect(summaryOf({ live: [live(settings)] })).toBe('nothing');
  });
});

describe('a child that is not declared', () => {
  const child = at('Child', 'app');
  const tagged = { 'Child/acme/app': record({ fields: { tags: ['prod'] } }) };
  const tags = live(child, { spec: { tags: ['prod', 'live'] } });
  const declared = desired(app, {});

  it('loses only the tags that this stack set', () => {
    const planning = planOf({
      desired: [declared],
      live: [live(app, { ownershipTag: 'mine' }), tags],
      records: tagged,
    });
    expect(actions(planning)).toEqual(['Child/acme/app: delete']);
    expect(changeAt(planning, child).fields).toEqual([
      { path: ['tags'], before: ['live', 'prod'], after: ['live'], shape: 'set' },
    ]);
  });

  it('has no note about other fields that were once declared', () => {
    const planning = planOf({
      desired: [declared],
      live: [live(app, { ownershipTag: 'mine' }), tags],
      records: { 'Child/acme/app': record({ fields: { tags: ['prod'], owner: 'high' } }) },
    });
    expect(changeAt(planning, child).notes).toEqual([]);
  });

  it.each<[string, World, string]>([
    [
      'is forgotten when there is nothing left to withdraw',
      {
        desired: [declared],
        live: [live(app, { ownershipTag: 'mine' }), live(child, { spec: { tags: ['live'] } })],
        records: tagged,
      },
      'forget Child/acme/app',
    ],
    [
      'without a record is ignored',
      { desired: [declared], live: [live(app, { ownershipTag: 'mine' }), tags] },
      'nothing',
    ],
    [
      'is deleted with its parent',
      { live: [live(app, { ownershipTag: 'mine' }), tags], records: { ...tagged, ...recorded() } },
      'delete',
    ],
    [
      'of a parent that another stack has now is forgotten',
      { live: [live(app, { ownershipTag: 'yours' }), tags], records: tagged },
      `"no longer declared, and "${appAddress}" belongs to stack "yours": it is left alone", forget Child/acme/app`,
    ],
    [
      'of a parent without an ownership tag is withdrawn',
      { live: [live(app), tags], records: tagged },
      'delete',
    ],
    [
      'of a parent whose ownership tag was removed is left alone along with it',
      { live: [live(app), tags], records: { ...tagged, ...recorded() } },
      `"no longer declared, and it no longer has the ownership tag of this stack: it is left alone", forget ${appAddress}, forget Child/acme/app`,
    ],
  ])('%s', (_, world, expected) => {
    expect(summaryOf(world)).toBe(expected);
  });

  it('counts neither as a change nor as unchanged when there is nothing to withdraw', () => {
    const { plan } = planOf({
      desired: [declared],
      live: [live(app, { ownershipTag: 'mine' }), live(child, { spec: { tags: [] } })],
      records: tagged,
    });
    expect([plan.changes.length, plan.unchanged]).toEqual([0, 1]);
  });
});
