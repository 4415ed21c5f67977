/** A plan of a selection leaves all other resources as they are, no matter who owns them. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatAddress } from '../../src/model/address.ts';
import type { DesiredResource } from '../../src/model/resource.ts';
import { checkApprovedChanges } from '../../src/plan/approval-coverage.ts';
import { plannedDeletions } from '../../src/plan/draft-removal.ts';
import {
  actions,
  app,
  at,
  desired,
  inputOf,
  live,
  planOf,
  record,
  type World,
} from '../support/sample-kinds/sample-plan.ts';
import { manyParents, firedGuards } from '../support/sample-kinds/watched-resources.ts';

const site = at('Parent', 'site');
const ours = { ownershipTag: 'mine', creatorStack: 'mine' };

/** Everything in a plan except the changes of the one declared parent. */
function rest(world: World) {
  const { plan, forget } = planOf(world);
  const others = plan.changes.filter(({ address }) => formatAddress(address) !== formatAddress(app));
  return {
    changes: others.map(({ address, action }) => `${action} ${formatAddress(address)}`),
    notices: plan.notices.map(({ address }) => formatAddress(address)),
    guards: plan.guards.map(({ id }) => id),
    forget,
    isComplete: plan.coverage.complete,
  };
}

describe('A resource outside of a selection', () => {
  /** One undeclared resource for each possible outcome, besides a declared parent. */
  const world: World = {
    desired: [desired(app, { colour: 'blue' })],
    live: [
      live(app, ours),
      live(site, ours),
      live(at('Parent', 'lent'), ours),
      live(at('Parent', 'copy'), { ownershipTag: 'mine' }),
      live(at('Parent', 'safe'), { ownershipTag: 'mine:protect', creatorStack: 'mine' }),
      live(at('Role', 'job'), { spec: { readers: ['hall'] } }),
      live(at('Role', 'unknown'), { spec: { readers: ['attic'] } }),
      live(at('Settings', 'config'), { spec: { colour: 'green' } }),
      live(at('Child', 'app'), { spec: { tags: ['prod'] } }),
    ],
    records: {
      'Parent/acme/app': record({ id: 'id-app' }),
      'Parent/acme/site': record({ id: 'id-site' }),
      'Parent/acme/lent': record({ id: 'id-lent', origin: 'adopted' }),
      'Parent/acme/gone': record({ id: 'id-gone' }),
      'Parent/left/other': record({ id: 'id-other' }),
      'Role/acme/job': record({ content: { colour: 'red', timeout: 0, readers: ['hall'] } }),
      'Settings/acme/config': record({ fields: { colour: 'green' } }),
      'Child/acme/app': record({ fields: { tags: ['prod'] } }),
    },
    target: { owns: ['*'], exclusive: true },
  };

  it('is removed, released, withdrawn, reported or forgotten if the whole stack is planned', () => {
    const { changes, notices, guards, forget } = rest(world);
    expect(changes.toSorted()).toEqual([
      'delete Child/acme/app',
      'delete Parent/acme/site',
      'delete Role/acme/job',
      'delete Role/acme/unknown',
      'release Parent/acme/lent',
      'release Settings/acme/config',
    ]);
    expect(notices).toEqual(['Parent/acme/copy', 'Parent/acme/safe', 'Parent/left/other']);
    expect(guards).toContain('no-record');
    expect(forget).toEqual(['Parent/acme/gone']);
  });

  it('is left as it is without a report, and the read is complete', () => {
    expect(rest({ ...world, isSelection: true })).toEqual({
      changes: [],
      notices: [],
      guards: [],
      forget: [],
      isComplete: true,
    });
    expect(actions(planOf({ ...world, isSelection: true }))).toEqual(['Parent/acme/app: update']);
  });

  it('does not influence the changes of the selected resources', () => {
    const parent = manyParents({ kept: 3, deleted: 2, released: 2, updated: 4, adopted: 2, created: 3 });
    const all = parent.desired ?? [];
    const { changes } = planOf(parent).plan;
    fc.assert(
      fc.property(fc.subarray([...all], { minLength: 1 }), (some: readonly DesiredResource[]) => {
        const addresses = new Set(some.map(({ address }) => formatAddress(address)));
        const { plan, forget } = planOf({ ...parent, desired: some, isSelection: true });
        const ofThese = changes.filter(({ address }) => addresses.has(formatAddress(address)));
        expect(plan.changes.toSorted(byName)).toEqual(ofThese.toSorted(byName));
        expect(plan.selection).toEqual([...addresses].sort());
        expect(plan.unchanged).toBe(some.length - ofThese.length);
        expect([...plan.notices, ...forget]).toEqual([]);
      }),
    );
  });

  it('is not suggested as the former name of a created resource', () => {
    const twins: World = {
      desired: [desired(at('Parent', 'new'), { owner: 'ann' })],
      live: [live(at('Parent', 'old'), { ...ours, spec: { owner: 'ann' } })],
      records: { 'Parent/acme/old': record({ id: 'id-old' }) },
    };
    expect(firedGuards(twins)).toContain('rename blocks 1');
    expect(firedGuards({ ...twins, isSelection: true })).toEqual([]);
    const removal = desired(at('Parent', 'old'), {}, { remove: 'safe' });
    expect(
      firedGuards({ ...twins, desired: [...(twins.desired ?? []), removal], isSelection: true }),
    ).toContain('rename blocks 1');
  });

  it('is not called undeclared when a reference to it fails', () => {
    const refers: World = { desired: [desired(app, { consumers: ['site'] })] };
    expect(planOf(refers).plan.problems).toMatchObject([
      { code: 'unknown-reference', message: expect.stringMatching(/which is neither declared nor live$/) },
    ]);
    expect(planOf({ ...refers, isSelection: true }).plan.problems).toMatchObject([
      {
        code: 'unknown-reference',
        class: 'invalid',
        message: expect.stringMatching(/which is neither in this selection nor live$/),
        fix: 'add it, or correct the name',
      },
    ]);
    const known: World = { ...refers, live: [live(site, ours)], isSelection: true };
    expect(planOf(known).plan.problems).toEqual([]);
  });
});

describe('A resource in a selection', () => {
  const removing: World = {
    desired: [desired(site, {}, { remove: 'safe' })],
    live: [live(app, ours), live(site, ours)],
    records: {
      'Parent/acme/app': record({ id: 'id-app' }),
      'Parent/acme/site': record({ id: 'id-site' }),
      'Parent/acme/gone': record({ id: 'id-gone' }),
    },
    isSelection: true,
  };

  it('is removed if a removal request asks for it, and nothing else is removed', () => {
    const planning = planOf(removing);
    expect(actions(planning)).toEqual(['Parent/acme/site: delete']);
    expect(planning.plan.selection).toEqual(['Parent/acme/site']);
    expect([...plannedDeletions(inputOf(removing))]).toEqual(['Parent/acme/site']);
  });

  it('is forgotten once its removal request is done', () => {
    const { plan, forget } = planOf({ ...removing, live: [live(app, ours)] });
    expect(plan.changes).toEqual([]);
    expect(plan.notices).toMatchObject([{ address: site, message: expect.stringContaining('it is gone') }]);
    expect(forget).toEqual(['Parent/acme/site']);
  });

  it('is renamed in place, and then only the record of its former name is forgotten', () => {
    const renaming: World = {
      desired: [desired(at('Parent', 'new'), {}, { renamedFrom: 'site' })],
      live: [live(app, ours), live(site, ours)],
      records: removing.records ?? {},
      isSelection: true,
    };
    const { plan, forget } = planOf(renaming);
    expect(plan.changes).toMatchObject([
      { action: 'update', fields: [{ path: ['name'], before: 'site', after: 'new' }] },
    ]);
    expect(forget).toEqual([]);
    const renamed = planOf({
      ...renaming,
      live: [live(app, ours), live(at('Parent', 'new'), { ...ours, id: 'id-site' })],
      records: { ...removing.records, 'Parent/acme/new': record({ id: 'id-site' }) },
    });
    expect(renamed.plan.changes).toEqual([]);
    expect(renamed.forget).toEqual(['Parent/acme/site']);
  });

  it('triggers the same guards as in the whole stack, counted against all that the stack owns', () => {
    const { desired: all = [], ...many } = manyParents({ kept: 3, deleted: 12 });
    const removal = Array.from({ length: 4 }, (_, index) =>
      desired(at('Parent', `deleted-${index}`), {}, { remove: 'safe' }),
    );
    const parent = firedGuards({ ...many, desired: [...all, ...removal], isSelection: true });
    expect(firedGuards({ ...many, desired: removal, isSelection: true })).toEqual(parent);
    expect(parent).toContain('deletes blocks 4 of 15 (3)');
  });

  it('is part of the digest: the same changes of another selection are another plan', () => {
    const { live: found = [], records = {} } = removing;
    const plans = [
      { desired: [desired(app)] },
      { desired: [desired(app)], isSelection: true },
      { desired: [desired(site)], isSelection: true },
      { desired: [desired(site), desired(app)], isSelection: true },
    ].map((about) => planOf({ live: [...found], records, ...about }));
    const [, ofApp, ofSite, ofBoth] = plans.map(({ plan }) => plan);
    expect([ofApp, ofSite, ofBoth].flatMap((plan) => plan?.changes ?? [])).toEqual([]);
    expect(new Set(plans.map(({ plan }) => plan.digest)).size).toBe(4);
    expect(ofBoth?.selection).toEqual(['Parent/acme/app', 'Parent/acme/site']);
  });

  it('is not approved by an approval of another selection, nor of the complete stack', () => {
    const plans = [
      planOf({ desired: [desired(app)] }),
      planOf({ desired: [desired(app)], isSelection: true }),
      planOf({ desired: [desired(app), desired(site, {}, { remove: 'safe' })], isSelection: true }),
    ];
    for (const approved of plans)
      for (const fresh of plans)
        expect(checkApprovedChanges(fresh, approved.plan).is).toBe(
          approved === fresh ? 'equal' : 'elsewhere',
        );
  });
});

function byName(one: { address: typeof app }, other: { address: typeof app }): number {
  return formatAddress(one.address) < formatAddress(other.address) ? -1 : 1;
}
