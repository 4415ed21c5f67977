import { describe, expect, it } from 'vitest';
import { formatAddress, readAddress } from '../../src/model/address.ts';
import type { Metadata } from '../../src/model/resource.ts';
import {
  actions,
  app,
  appAddress,
  at,
  changeAt,
  desired,
  live,
  type LiveAbout,
  planOf,
  record,
  type World,
} from '../support/sample-kinds/sample-plan.ts';

const ours = record({ id: 'id-app', origin: 'created' });
const adopted = record({ id: 'id-app', origin: 'adopted' });
const another = record({ id: 'id-of-another', origin: 'created' });

/** What the plan makes of one declared parent whose colour differs: its action, or the code of its problem. */
function outcome(world: World): string {
  const { plan, records } = planOf({ desired: [parent()], ...world });
  const [problem] = plan.problems;
  if (problem !== undefined) return `${problem.class}: ${problem.code}`;
  const change = plan.changes.find(({ address }) => formatAddress(address) === appAddress);
  if (change === undefined) return 'nothing';
  const ownershipTag = change.fields.find(({ path }) => path[0] === 'claim');
  const written =
    ownershipTag === undefined
      ? ''
      : `, claim ${ownershipTag.before ?? 'none'} → ${ownershipTag.after ?? 'none'}`;
  return `${change.action} as ${records.get(appAddress)?.record.origin}${written}`;
}

function parent(metadata: Partial<Metadata> = {}) {
  return desired(app, { colour: 'blue' }, metadata);
}

function found(about: LiveAbout = {}) {
  return live(app, { spec: { colour: 'red' }, ...about });
}

describe('a declared parent', () => {
  const conflict = 'conflict: claimed-by-another-stack';
  const untagged = 'conflict: exists-unclaimed';

  it.each<[string, World, string]>([
    ['is created if it does not exist', {}, 'create as created, claim none → mine'],
    [
      'is created again if it was deleted',
      { records: { [appAddress]: adopted } },
      'create as created, claim none → mine',
    ],
    ['with our ownership tag is updated', { live: [found({ ownershipTag: 'mine' })] }, 'update as adopted'],
    [
      'with our ownership tag and creator mark is recorded as created',
      { live: [found({ ownershipTag: 'mine', creatorStack: 'mine' })] },
      'update as created',
    ],
    [
      'keeps the origin of its record, even if the creator mark differs',
      { live: [found({ ownershipTag: 'mine', creatorStack: 'mine' })], records: { [appAddress]: adopted } },
      'update as adopted',
    ],
    [
      'with the ownership tag of another stack is a conflict',
      { live: [found({ ownershipTag: 'yours', creatorStack: 'mine' })] },
      conflict,
    ],
    [
      'with the ownership tag of another stack is a conflict even if it has a record',
      { live: [found({ ownershipTag: 'yours' })], records: { [appAddress]: ours } },
      conflict,
    ],
    [
      'with the ownership tag of another stack cannot be adopted',
      { live: [found({ ownershipTag: 'yours' })], desired: [parent({ adopt: true })] },
      conflict,
    ],
    [
      'with an ownership tag inherited from its project is an error',
      { live: [found({ ownershipTag: 'yours', inherited: true })] },
      'conflict: claim-inherited',
    ],
    [
      'with our own ownership tag inherited from its project is an error, too',
      { live: [found({ ownershipTag: 'mine', inherited: true })], records: { [appAddress]: ours } },
      'conflict: claim-inherited',
    ],
    ['without any ownership tag is an error', { live: [found()] }, untagged],
    [
      'without its ownership tag is not proved to be ours by its creator mark',
      { live: [found({ creatorStack: 'mine' })] },
      untagged,
    ],
    [
      'gets its removed ownership tag back if the ledger has its id',
      { live: [found()], records: { [appAddress]: adopted } },
      'update as adopted, claim none → mine',
    ],
    [
      'that took the name of one of our resources is not ours',
      { live: [found()], records: { [appAddress]: another } },
      untagged,
    ],
    [
      'is not proved to be ours by a record without an id',
      { live: [found()], records: { [appAddress]: record() } },
      untagged,
    ],
    ['that another stack created is not ours', { live: [found({ creatorStack: 'yours' })] }, untagged],
    [
      'without an ownership tag is adopted when the manifest says so',
      { live: [found()], desired: [parent({ adopt: true })] },
      'adopt as adopted, claim none → mine',
    ],
    [
      'that is ours already is not adopted again',
      {
        live: [found({ ownershipTag: 'mine' })],
        desired: [parent({ adopt: true })],
        records: { [appAddress]: ours },
      },
      'update as created',
    ],
    [
      'is taken over when its stack was renamed',
      { live: [found({ ownershipTag: 'old' })], stack: { renamedFrom: 'old' } },
      'adopt as adopted, claim old → mine',
    ],
    [
      'is not taken over by a renamed stack because of its creator mark alone',
      { live: [found({ creatorStack: 'old' })], stack: { renamedFrom: 'old' } },
      untagged,
    ],
    [
      'gets the flags of its manifest into its ownership tag',
      { live: [found({ ownershipTag: 'mine' })], desired: [parent({ protect: true, onRemove: 'release' })] },
      'update as adopted, claim mine → mine:protect:release',
    ],
    [
      'loses the flags that its manifest no longer has',
      { live: [found({ ownershipTag: 'mine:protect' })] },
      'update as adopted, claim mine:protect → mine',
    ],
  ])('%s', (_, world, expected) => {
    expect(outcome(world)).toBe(expected);
  });

  it('that is ours and equals its manifest needs no change, and is recorded', () => {
    const { plan, records } = planOf({
      desired: [parent()],
      live: [found({ ownershipTag: 'mine', spec: { colour: 'blue' } })],
    });
    expect(plan.changes).toEqual([]);
    expect(plan.unchanged).toBe(1);
    expect(records.get(appAddress)).toMatchObject({
      isUpToDate: true,
      record: { id: 'id-app', fields: { colour: 'blue' } },
    });
  });

  it('is reported with the line to add when it may be adopted', () => {
    const { plan } = planOf({ desired: [parent()], live: [found()] });
    expect(plan.problems[0]).toMatchObject({
      message: '"Parent/acme/app" exists without an ownership tag of any stack',
      place: { file: 'manifest.yaml' },
      fix: expect.stringContaining('adopt: true'),
    });
  });

  it('that is adopted shows every difference', () => {
    const planning = planOf({ desired: [parent({ adopt: true })], live: [found()] });
    expect(changeAt(planning, app).fields).toEqual([
      { path: ['claim'], after: 'mine', shape: 'scalar' },
      { path: ['colour'], before: 'red', after: 'blue', shape: 'scalar' },
    ]);
  });
});

describe('a declared role, which cannot have an ownership tag,', () => {
  const role = at('Role', 'job');
  const name = formatAddress(role);
  const declared = (metadata: Partial<Metadata> = {}) => desired(role, { colour: 'blue' }, metadata);
  const there = (colour: string) => live(role, { spec: { colour, timeout: 0, readers: [] } });

  function outcomeOfRecorded(world: World): string {
    const { plan, records } = planOf({ desired: [declared()], ...world });
    const [problem] = plan.problems;
    if (problem !== undefined) return `${problem.class}: ${problem.code}`;
    return `${plan.changes[0]?.action ?? 'nothing'} as ${records.get(name)?.record.origin}`;
  }

  it.each<[string, World, string]>([
    ['is created if it does not exist', {}, 'create as created'],
    ['is adopted without a request if it equals its manifest', { live: [there('blue')] }, 'adopt as adopted'],
    [
      'is ours if an interrupted apply began to create it and it equals its manifest',
      { live: [there('blue')], begunCreations: [role] },
      'nothing as created',
    ],
    [
      'is ours and written again if only unreadable fields may differ after an interrupted apply',
      { live: [live(role, { spec: { timeout: 0, readers: [] } })], begunCreations: [role] },
      'update as created',
    ],
    [
      'is adopted if an interrupted apply began to create it and it differs',
      { live: [there('red')], begunCreations: [role] },
      'adopt as adopted',
    ],
    [
      'is adopted, with a guard that asks, if it differs and this stack never wrote it',
      { live: [there('red')] },
      'adopt as adopted',
    ],
    [
      'that differs is adopted when the manifest says so',
      { live: [there('red')], desired: [declared({ adopt: true })] },
      'adopt as adopted',
    ],
    [
      'with a record is updated',
      { live: [there('red')], records: { [name]: record({ origin: 'created' }) } },
      'update as created',
    ],
    [
      'with a record as adopted stays adopted',
      { live: [there('red')], records: { [name]: record({ origin: 'adopted' }) } },
      'update as adopted',
    ],
  ])('%s', (_, world, expected) => {
    expect(outcomeOfRecorded(world)).toBe(expected);
  });

  it('is recorded with its whole content after the write', () => {
    const { records } = planOf({
      desired: [desired(role, { timeout: '1h' })],
      live: [live(role, { spec: { colour: 'green', timeout: 5, readers: ['b', 'a'] } })],
      records: { [name]: record({ fields: { colour: 'green' } }) },
    });
    expect(records.get(name)?.record.content).toEqual({ colour: 'red', timeout: 3600, readers: ['a', 'b'] });
  });
});

describe('a declared child of a parent', () => {
  const child = at('Child', 'app');
  const tagged = desired(child, { tags: ['prod'] });
  const tags = (about: Partial<LiveAbout> = {}) => live(child, { spec: { tags: [] }, ...about });

  function outcomeOfChild(world: World): string {
    const planning = planOf({ desired: [tagged], ...world });
    const problems = planning.plan.problems.map(({ code, class: kind }) => `${kind}: ${code}`);
    return [...problems, ...actions(planning)].join(', ') || 'nothing';
  }

  it.each<[string, World, string]>([
    [
      'is created along with its parent',
      { desired: [parent(), tagged] },
      'Parent/acme/app: create, Child/acme/app: create',
    ],
    [
      'is updated in a parent of ours',
      {
        desired: [parent(), tagged],
        live: [found({ ownershipTag: 'mine', spec: { colour: 'blue' } }), tags()],
      },
      'Child/acme/app: update',
    ],
    [
      'is updated in a parent of ours that is declared elsewhere',
      { live: [found({ ownershipTag: 'mine:protect' }), tags()] },
      'Child/acme/app: update',
    ],
    [
      'of a parent with the ownership tag of another stack is a conflict',
      { live: [found({ ownershipTag: 'yours' }), tags()] },
      'conflict: claimed-by-another-stack',
    ],
    [
      'of a parent with the former name of our stack is ours',
      { live: [found({ ownershipTag: 'old' }), tags()], stack: { renamedFrom: 'old' } },
      'Child/acme/app: update',
    ],
    [
      'of a parent with an inherited ownership tag is an error',
      { live: [found({ ownershipTag: 'mine', inherited: true }), tags()] },
      'conflict: claim-inherited',
    ],
    [
      'of a parent without an ownership tag is an error',
      { live: [found(), tags()] },
      'conflict: exists-unclaimed',
    ],
    [
      'of a parent without an ownership tag can be adopted by itself',
      { live: [found(), tags()], desired: [desired(child, { tags: ['prod'] }, { adopt: true })] },
      'Child/acme/app: adopt',
    ],
    [
      'of a parent without an ownership tag is ours if it was adopted before',
      { live: [found(), tags()], records: { 'Child/acme/app': record({ origin: 'adopted' }) } },
      'Child/acme/app: update',
    ],
    ['of a parent that does not exist is an error', {}, 'invalid: unknown-reference'],
    [
      'of a parent that could not be read is reported as incomplete',
      { incomplete: ['page 2 is missing'] },
      'incomplete: unknown-reference',
    ],
    [
      'is not reported by itself if its parent has the problem',
      { desired: [parent(), tagged], live: [found(), tags()] },
      'conflict: exists-unclaimed',
    ],
  ])('%s', (_, world, expected) => {
    expect(outcomeOfChild(world)).toBe(expected);
  });

  it('keeps the origin that the ledger has', () => {
    const { records } = planOf({
      desired: [parent(), tagged],
      live: [found({ ownershipTag: 'mine' }), tags()],
      records: { 'Child/acme/app': record({ origin: 'created' }) },
    });
    expect(records.get(readAddress('Child/acme/app'))?.record.origin).toBe('created');
  });
});

describe('a parent that was renamed', () => {
  const web = at('Parent', 'web');
  const declared = desired(web, { colour: 'blue' }, { renamedFrom: 'app' });

  it('by its manifest keeps its id, its record and its ownership tag', () => {
    const planning = planOf({
      desired: [declared],
      live: [found({ ownershipTag: 'mine', spec: { colour: 'blue', timeout: 5 } })],
      records: { [appAddress]: record({ id: 'id-app', origin: 'created', fields: { timeout: 5 } }) },
    });
    expect(planning.plan.problems).toEqual([]);
    expect(changeAt(planning, web)).toMatchObject({
      action: 'update',
      id: 'id-app',
      fields: [
        { path: ['name'], before: 'app', after: 'web' },
        { path: ['timeout'], before: 5, after: 0, origin: 'no longer declared' },
      ],
    });
    expect(planning.records.get(readAddress('Parent/acme/web'))?.record.origin).toBe('created');
    expect(planning.forget).toEqual([]);
  });

  it('in the service is found by its id and gets its name back', () => {
    const planning = planOf({
      desired: [parent()],
      live: [live(web, { id: 'id-app', ownershipTag: 'mine', spec: { colour: 'blue' } })],
      records: { [appAddress]: ours },
    });
    expect(actions(planning)).toEqual(['Parent/acme/app: update']);
    expect(changeAt(planning, app).fields).toEqual([
      { path: ['name'], before: 'web', after: 'app', shape: 'scalar' },
    ]);
  });

  it('keeps its old record until the new one is written', () => {
    const renamed = live(web, { id: 'id-app', ownershipTag: 'mine', spec: { colour: 'blue' } });
    const records = { [appAddress]: ours, 'Parent/acme/web': ours };
    expect(planOf({ desired: [declared], live: [renamed], records: { [appAddress]: ours } }).forget).toEqual(
      [],
    );
    expect(planOf({ desired: [declared], live: [renamed], records }).forget).toEqual([appAddress]);
  });

  it('keeps its identity when another resource took its old name', () => {
    const planning = planOf({
      desired: [declared],
      live: [
        live(web, { id: 'id-1', ownershipTag: 'mine', spec: { colour: 'blue' } }),
        found({ id: 'id-2', ownershipTag: 'yours' }),
      ],
    });
    expect(planning.plan.problems).toEqual([]);
    expect(actions(planning)).toEqual([]);
  });

  it('matches only one declaration, the one that has the record, in any order of files', () => {
    const both = [parent(), desired(web, {}, { renamedFrom: 'site' })];
    const site = live(at('Parent', 'site'), { id: 'id-app', ownershipTag: 'mine', spec: { colour: 'red' } });
    for (const order of [both, both.toReversed()]) {
      const planning = planOf({ desired: order, live: [site], records: { [appAddress]: ours } });
      expect(actions(planning).toSorted()).toEqual(['Parent/acme/app: update', 'Parent/acme/web: create']);
    }
  });

  it('matches the first by name of two manifests that name its former name', () => {
    const both = [
      desired(web, {}, { renamedFrom: 'site' }),
      desired(at('Parent', 'api'), {}, { renamedFrom: 'site' }),
    ];
    for (const order of [both, both.toReversed()]) {
      const planning = planOf({
        desired: order,
        live: [live(at('Parent', 'site'), { ownershipTag: 'mine' })],
      });
      expect(actions(planning).toSorted()).toEqual(['Parent/acme/api: update', 'Parent/acme/web: create']);
    }
  });
});
