/** A part of a stack is planned: what is not in it is left as it is, whoever owns it (rule 41). */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatAddress } from '../../src/model/resource/address.ts';
import type { DesiredResource } from '../../src/model/resource/resource.ts';
import { judgeApproval } from '../../src/plan/approval/judge-approval.ts';
import { plannedDeletions } from '../../src/plan/ownership/planned-deletions.ts';
import { at, deeds, desired, inputOf, live, planOf, record, type World } from '../support/toys/toy-plan.ts';
import { crowd, fired } from '../support/toys/watched-toys.ts';

const home = at('House', 'home');
const shed = at('House', 'shed');
const ours = { claim: 'mine', bornOf: 'mine' };

/** All that a plan says and does, but for what becomes of the one house that is declared. */
function rest(world: World) {
  const { plan, forget } = planOf(world);
  const others = plan.changes.filter(({ address }) => formatAddress(address) !== formatAddress(home));
  return {
    changes: others.map(({ address, action }) => `${action} ${formatAddress(address)}`),
    mentions: plan.mentions.map(({ address }) => formatAddress(address)),
    guards: plan.guards.map(({ id }) => id),
    forget,
    isComplete: plan.coverage.complete,
  };
}

describe('What a selection does not hold', () => {
  /** One thing of every fate that an undeclared one may have, besides a house that is declared. */
  const world: World = {
    desired: [desired(home, { colour: 'blue' })],
    live: [
      live(home, ours),
      live(shed, ours),
      live(at('House', 'lent'), ours),
      live(at('House', 'copy'), { claim: 'mine' }),
      live(at('House', 'safe'), { claim: 'mine:protect', bornOf: 'mine' }),
      live(at('Door', 'front'), { spec: { rooms: ['hall'] } }),
      live(at('Door', 'unknown'), { spec: { rooms: ['attic'] } }),
      live(at('Fence', 'fence'), { spec: { colour: 'green' } }),
      live(at('Garden', 'home'), { spec: { trees: ['oak'] } }),
    ],
    records: {
      'House/acme/home': record({ id: 'id-home' }),
      'House/acme/shed': record({ id: 'id-shed' }),
      'House/acme/lent': record({ id: 'id-lent', origin: 'adopted' }),
      'House/acme/gone': record({ id: 'id-gone' }),
      'House/left/other': record({ id: 'id-other' }),
      'Door/acme/front': record({ content: { colour: 'red', timer: 0, rooms: ['hall'] } }),
      'Fence/acme/fence': record({ fields: { colour: 'green' } }),
      'Garden/acme/home': record({ fields: { trees: ['oak'] } }),
    },
    target: { owns: ['*'], exclusive: true },
  };

  test('is removed, released, taken back, mentioned and forgotten where the same is the whole stack', () => {
    const { changes, mentions, guards, forget } = rest(world);
    expect(changes.toSorted()).toEqual([
      'delete Door/acme/front',
      'delete Door/acme/unknown',
      'delete Garden/acme/home',
      'delete House/acme/shed',
      'release Fence/acme/fence',
      'release House/acme/lent',
    ]);
    expect(mentions).toEqual(['House/acme/copy', 'House/acme/safe', 'House/left/other']);
    expect(guards).toContain('no-record');
    expect(forget).toEqual(['House/acme/gone']);
  });

  test('is left as it is, without a word, and the look is complete', () => {
    expect(rest({ ...world, isSelection: true })).toEqual({
      changes: [],
      mentions: [],
      guards: [],
      forget: [],
      isComplete: true,
    });
    expect(deeds(planOf({ ...world, isSelection: true }))).toEqual(['House/acme/home: update']);
  });

  test('changes nothing of what becomes of what it holds', () => {
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

  test('is no likely former name of what it creates', () => {
    const twins: World = {
      desired: [desired(at('House', 'new'), { owner: 'ann' })],
      live: [live(at('House', 'old'), { ...ours, spec: { owner: 'ann' } })],
      records: { 'House/acme/old': record({ id: 'id-old' }) },
    };
    expect(fired(twins)).toContain('rename blocks 1');
    expect(fired({ ...twins, isSelection: true })).toEqual([]);
    const buried = desired(at('House', 'old'), {}, { remove: 'safe' });
    expect(fired({ ...twins, desired: [...(twins.desired ?? []), buried], isSelection: true })).toContain(
      'rename blocks 1',
    );
  });

  test('is not told to be undeclared where something refers to it in vain', () => {
    const refers: World = { desired: [desired(home, { friends: ['shed'] })] };
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
    const known: World = { ...refers, live: [live(shed, ours)], isSelection: true };
    expect(planOf(known).plan.problems).toEqual([]);
  });
});

describe('What a selection holds', () => {
  const dead: World = {
    desired: [desired(shed, {}, { remove: 'safe' })],
    live: [live(home, ours), live(shed, ours)],
    records: {
      'House/acme/home': record({ id: 'id-home' }),
      'House/acme/shed': record({ id: 'id-shed' }),
      'House/acme/gone': record({ id: 'id-gone' }),
    },
    isSelection: true,
  };

  test('is removed where a tombstone asks for it, and nothing else is going to leave', () => {
    const planning = planOf(dead);
    expect(deeds(planning)).toEqual(['House/acme/shed: delete']);
    expect(planning.plan.selection).toEqual(['House/acme/shed']);
    expect([...plannedDeletions(inputOf(dead))]).toEqual(['House/acme/shed']);
  });

  test('is forgotten once a tombstone has done its work', () => {
    const { plan, forget } = planOf({ ...dead, live: [live(home, ours)] });
    expect(plan.changes).toEqual([]);
    expect(plan.mentions).toMatchObject([{ address: shed, message: expect.stringContaining('it is gone') }]);
    expect(forget).toEqual(['House/acme/shed']);
  });

  test('is renamed in place, and afterwards only the record of its former name is forgotten', () => {
    const renaming: World = {
      desired: [desired(at('House', 'new'), {}, { renamedFrom: 'shed' })],
      live: [live(home, ours), live(shed, ours)],
      records: dead.records ?? {},
      isSelection: true,
    };
    const { plan, forget } = planOf(renaming);
    expect(plan.changes).toMatchObject([
      { action: 'update', fields: [{ path: ['name'], before: 'shed', after: 'new' }] },
    ]);
    expect(forget).toEqual([]);
    const renamed = planOf({
      ...renaming,
      live: [live(home, ours), live(at('House', 'new'), { ...ours, id: 'id-shed' })],
      records: { ...dead.records, 'House/acme/new': record({ id: 'id-shed' }) },
    });
    expect(renamed.plan.changes).toEqual([]);
    expect(renamed.forget).toEqual(['House/acme/shed']);
  });

  test('trips the guards that it trips in the whole stack, counted against all that the stack owns', () => {
    const { desired: all = [], ...many } = crowd({ kept: 3, deleted: 12 });
    const buried = Array.from({ length: 4 }, (_, index) =>
      desired(at('House', `deleted-${index}`), {}, { remove: 'safe' }),
    );
    const whole = fired({ ...many, desired: [...all, ...buried], isSelection: true });
    expect(fired({ ...many, desired: buried, isSelection: true })).toEqual(whole);
    expect(whole).toContain('deletes blocks 4 of 15 (3)');
  });

  test('is what its digest names: the same changes of another selection are another plan', () => {
    const { live: found = [], records = {} } = dead;
    const plans = [
      { desired: [desired(home)] },
      { desired: [desired(home)], isSelection: true },
      { desired: [desired(shed)], isSelection: true },
      { desired: [desired(shed), desired(home)], isSelection: true },
    ].map((about) => planOf({ live: [...found], records, ...about }));
    const [, ofHome, ofShed, ofBoth] = plans.map(({ plan }) => plan);
    expect([ofHome, ofShed, ofBoth].flatMap((plan) => plan?.changes ?? [])).toEqual([]);
    expect(new Set(plans.map(({ plan }) => plan.digest)).size).toBe(4);
    expect(ofBoth?.selection).toEqual(['House/acme/home', 'House/acme/shed']);
  });

  test('is not approved by an approval of another selection, nor of the whole', () => {
    const plans = [
      planOf({ desired: [desired(home)] }),
      planOf({ desired: [desired(home)], isSelection: true }),
      planOf({ desired: [desired(home), desired(shed, {}, { remove: 'safe' })], isSelection: true }),
    ];
    for (const approved of plans)
      for (const fresh of plans)
        expect(judgeApproval(fresh, approved.plan).is).toBe(approved === fresh ? 'equal' : 'elsewhere');
  });
});

function byName(one: { address: typeof home }, other: { address: typeof home }): number {
  return formatAddress(one.address) < formatAddress(other.address) ? -1 : 1;
}
