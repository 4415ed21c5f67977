/** A part of a stack is planned: what is not in it is left as it is, whoever owns it (rule 41). */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatAddress } from '../../src/model/address.ts';
import type { DesiredResource } from '../../src/model/resource.ts';
import { checkApprovedChanges } from '../../src/plan/approval-coverage.ts';
import { plannedDeletions } from '../../src/plan/draft-removal.ts';
import { at, deeds, desired, inputOf, live, planOf, record, type World } from '../support/toys/toy-plan.ts';
import { crowd, fired } from '../support/toys/watched-toys.ts';

const app = at('Whole', 'app');
const site = at('Whole', 'site');
const ours = { claim: 'mine', bornOf: 'mine' };

/** All that a plan says and does, but for what becomes of the one whole that is declared. */
function rest(world: World) {
  const { plan, forget } = planOf(world);
  const others = plan.changes.filter(({ address }) => formatAddress(address) !== formatAddress(app));
  return {
    changes: others.map(({ address, action }) => `${action} ${formatAddress(address)}`),
    mentions: plan.mentions.map(({ address }) => formatAddress(address)),
    guards: plan.guards.map(({ id }) => id),
    forget,
    isComplete: plan.coverage.complete,
  };
}

describe('What a selection does not hold', () => {
  /** One thing of every fate that an undeclared one may have, besides a whole that is declared. */
  const world: World = {
    desired: [desired(app, { colour: 'blue' })],
    live: [
      live(app, ours),
      live(site, ours),
      live(at('Whole', 'lent'), ours),
      live(at('Whole', 'copy'), { claim: 'mine' }),
      live(at('Whole', 'safe'), { claim: 'mine:protect', bornOf: 'mine' }),
      live(at('Role', 'job'), { spec: { readers: ['hall'] } }),
      live(at('Role', 'unknown'), { spec: { readers: ['attic'] } }),
      live(at('Settings', 'config'), { spec: { colour: 'green' } }),
      live(at('Part', 'app'), { spec: { tags: ['prod'] } }),
    ],
    records: {
      'Whole/acme/app': record({ id: 'id-app' }),
      'Whole/acme/site': record({ id: 'id-site' }),
      'Whole/acme/lent': record({ id: 'id-lent', origin: 'adopted' }),
      'Whole/acme/gone': record({ id: 'id-gone' }),
      'Whole/left/other': record({ id: 'id-other' }),
      'Role/acme/job': record({ content: { colour: 'red', timeout: 0, readers: ['hall'] } }),
      'Settings/acme/config': record({ fields: { colour: 'green' } }),
      'Part/acme/app': record({ fields: { tags: ['prod'] } }),
    },
    target: { owns: ['*'], exclusive: true },
  };

  it('is removed, released, taken back, mentioned and forgotten where the same is the whole stack', () => {
    const { changes, mentions, guards, forget } = rest(world);
    expect(changes.toSorted()).toEqual([
      'delete Part/acme/app',
      'delete Role/acme/job',
      'delete Role/acme/unknown',
      'delete Whole/acme/site',
      'release Settings/acme/config',
      'release Whole/acme/lent',
    ]);
    expect(mentions).toEqual(['Whole/acme/copy', 'Whole/acme/safe', 'Whole/left/other']);
    expect(guards).toContain('no-record');
    expect(forget).toEqual(['Whole/acme/gone']);
  });

  it('is left as it is, without a word, and the look is complete', () => {
    expect(rest({ ...world, isSelection: true })).toEqual({
      changes: [],
      mentions: [],
      guards: [],
      forget: [],
      isComplete: true,
    });
    expect(deeds(planOf({ ...world, isSelection: true }))).toEqual(['Whole/acme/app: update']);
  });

  it('changes nothing of what becomes of what it holds', () => {
    const whole = crowd({ kept: 3, deleted: 2, released: 2, updated: 4, adopted: 2, created: 3 });
    const all = whole.desired ?? [];
    const { changes } = planOf(whole).plan;
    fc.assert(
      fc.property(fc.subarray([...all], { minLength: 1 }), (some: readonly DesiredResource[]) => {
        const addresses = new Set(some.map(({ address }) => formatAddress(address)));
        const { plan, forget } = planOf({ ...whole, desired: some, isSelection: true });
        const ofThese = changes.filter(({ address }) => addresses.has(formatAddress(address)));
        expect(plan.changes.toSorted(byName)).toEqual(ofThese.toSorted(byName));
        expect(plan.selection).toEqual([...addresses].sort());
        expect(plan.unchanged).toBe(some.length - ofThese.length);
        expect([...plan.mentions, ...forget]).toEqual([]);
      }),
    );
  });

  it('is no likely former name of what it creates', () => {
    const twins: World = {
      desired: [desired(at('Whole', 'new'), { owner: 'ann' })],
      live: [live(at('Whole', 'old'), { ...ours, spec: { owner: 'ann' } })],
      records: { 'Whole/acme/old': record({ id: 'id-old' }) },
    };
    expect(fired(twins)).toContain('rename blocks 1');
    expect(fired({ ...twins, isSelection: true })).toEqual([]);
    const buried = desired(at('Whole', 'old'), {}, { remove: 'safe' });
    expect(fired({ ...twins, desired: [...(twins.desired ?? []), buried], isSelection: true })).toContain(
      'rename blocks 1',
    );
  });

  it('is not told to be undeclared where something refers to it in vain', () => {
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

describe('What a selection holds', () => {
  const dead: World = {
    desired: [desired(site, {}, { remove: 'safe' })],
    live: [live(app, ours), live(site, ours)],
    records: {
      'Whole/acme/app': record({ id: 'id-app' }),
      'Whole/acme/site': record({ id: 'id-site' }),
      'Whole/acme/gone': record({ id: 'id-gone' }),
    },
    isSelection: true,
  };

  it('is removed where a tombstone asks for it, and nothing else is going to leave', () => {
    const planning = planOf(dead);
    expect(deeds(planning)).toEqual(['Whole/acme/site: delete']);
    expect(planning.plan.selection).toEqual(['Whole/acme/site']);
    expect([...plannedDeletions(inputOf(dead))]).toEqual(['Whole/acme/site']);
  });

  it('is forgotten once a tombstone has done its work', () => {
    const { plan, forget } = planOf({ ...dead, live: [live(app, ours)] });
    expect(plan.changes).toEqual([]);
    expect(plan.mentions).toMatchObject([{ address: site, message: expect.stringContaining('it is gone') }]);
    expect(forget).toEqual(['Whole/acme/site']);
  });

  it('is renamed in place, and afterwards only the record of its former name is forgotten', () => {
    const renaming: World = {
      desired: [desired(at('Whole', 'new'), {}, { renamedFrom: 'site' })],
      live: [live(app, ours), live(site, ours)],
      records: dead.records ?? {},
      isSelection: true,
    };
    const { plan, forget } = planOf(renaming);
    expect(plan.changes).toMatchObject([
      { action: 'update', fields: [{ path: ['name'], before: 'site', after: 'new' }] },
    ]);
    expect(forget).toEqual([]);
    const renamed = planOf({
      ...renaming,
      live: [live(app, ours), live(at('Whole', 'new'), { ...ours, id: 'id-site' })],
      records: { ...dead.records, 'Whole/acme/new': record({ id: 'id-site' }) },
    });
    expect(renamed.plan.changes).toEqual([]);
    expect(renamed.forget).toEqual(['Whole/acme/site']);
  });

  it('trips the guards that it trips in the whole stack, counted against all that the stack owns', () => {
    const { desired: all = [], ...many } = crowd({ kept: 3, deleted: 12 });
    const buried = Array.from({ length: 4 }, (_, index) =>
      desired(at('Whole', `deleted-${index}`), {}, { remove: 'safe' }),
    );
    const whole = fired({ ...many, desired: [...all, ...buried], isSelection: true });
    expect(fired({ ...many, desired: buried, isSelection: true })).toEqual(whole);
    expect(whole).toContain('deletes blocks 4 of 15 (3)');
  });

  it('is what its digest names: the same changes of another selection are another plan', () => {
    const { live: found = [], records = {} } = dead;
    const plans = [
      { desired: [desired(app)] },
      { desired: [desired(app)], isSelection: true },
      { desired: [desired(site)], isSelection: true },
      { desired: [desired(site), desired(app)], isSelection: true },
    ].map((about) => planOf({ live: [...found], records, ...about }));
    const [, ofApp, ofSite, ofBoth] = plans.map(({ plan }) => plan);
    expect([ofApp, ofSite, ofBoth].flatMap((plan) => plan?.changes ?? [])).toEqual([]);
    expect(new Set(plans.map(({ plan }) => plan.digest)).size).toBe(4);
    expect(ofBoth?.selection).toEqual(['Whole/acme/app', 'Whole/acme/site']);
  });

  it('is not approved by an approval of another selection, nor of the whole', () => {
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
