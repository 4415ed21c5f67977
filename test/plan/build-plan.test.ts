import { describe, expect, test } from 'vitest';
import type { Kind } from '../../src/model/kind/kind.ts';
import { buildPlan } from '../../src/plan/build-plan.ts';
import { house, registryOf } from '../support/toys/toy-kind.ts';
import { at, changeAt, deeds, desired, inputOf, live, planOf, record } from '../support/toys/toy-plan.ts';
import { readAddress } from '../../src/model/resource/address.ts';

const home = at('House', 'home');

describe('a plan', () => {
  test('without anything in it is empty and complete', () => {
    const { plan } = planOf({});
    expect(plan).toMatchObject({ changes: [], problems: [], mentions: [], unchanged: 0 });
    expect(plan.coverage).toMatchObject({ complete: true, ledger: 'found' });
  });

  test('says that there was no ledger', () => {
    expect(planOf({ ledger: false }).plan.coverage.ledger).toBe('none');
  });

  test.each([
    ['a page is missing', { incomplete: ['page 2 is missing'] }],
    ['a manifest could not be read', { manifestsComplete: false }],
  ])('is not complete when %s', (_, world) => {
    expect(planOf(world).plan.coverage.complete).toBe(false);
  });

  test('counts what was declared and needs nothing', () => {
    const { plan } = planOf({
      desired: [desired(home, { colour: 'red' }), desired(at('House', 'inn'))],
      live: [live(home, { spec: { colour: 'red' }, claim: 'mine' })],
    });
    expect([plan.changes.length, plan.unchanged]).toEqual([1, 1]);
  });

  test('refuses a kind that nobody knows: validation should have', () => {
    expect(() => planOf({ desired: [desired(at('Castle', 'x'))] })).toThrow('no kind Castle in this plan');
  });
});

describe('what a reader should know', () => {
  const note = 'maker is set when the resource is created and never again: live "bob", declared "ann"';

  test('of a resource that changes stands with its change', () => {
    const planning = planOf({
      desired: [desired(home, { maker: 'ann', colour: 'blue' })],
      live: [live(home, { spec: { maker: 'bob', colour: 'red' }, claim: 'mine' })],
    });
    expect(changeAt(planning, home).notes).toEqual([note]);
    expect(planning.plan.mentions).toEqual([]);
  });

  test('of a resource with nothing to do is a mention: it is no change of the plan', () => {
    const { plan } = planOf({
      desired: [desired(home, { maker: 'ann' })],
      live: [live(home, { spec: { maker: 'bob' }, claim: 'mine' })],
    });
    expect(plan.changes).toEqual([]);
    expect(plan.mentions).toEqual([{ address: home, message: note }]);
  });

  test('stands in one order, whatever the order of files', () => {
    const names = ['c', 'a', 'b'];
    const mentions = (order: readonly string[]) =>
      planOf({
        desired: order.map((name) => desired(at('House', name), { maker: 'ann' })),
        live: order.map((name) => live(at('House', name), { spec: { maker: 'bob' }, claim: 'mine' })),
      }).plan.mentions.map(({ address }) => address.name);
    expect(mentions(names)).toEqual(['a', 'b', 'c']);
    expect(mentions(names.toReversed())).toEqual(['a', 'b', 'c']);
  });

  test('is that a create may find something there, after an incomplete look', () => {
    const planning = planOf({ desired: [desired(home)], incomplete: ['page 2 is missing'] });
    expect(changeAt(planning, home).notes).toEqual([
      'it may exist already, for not everything was seen: page 2 is missing',
    ]);
  });

  test('is what the service will refuse about a change', () => {
    const locked: Kind = { ...house, blockers: (_, action) => (action === 'adopt' ? ['it is full'] : []) };
    const planning = planOf({
      kinds: registryOf(locked),
      desired: [desired(home, {}, { adopt: true })],
      live: [live(home)],
    });
    expect(changeAt(planning, home).notes).toEqual(['the service will refuse this: it is full']);
  });
});

describe('a reference', () => {
  const friendly = desired(home, { friends: ['inn'] });
  const inn = at('House', 'inn');

  test('to a resource that the plan creates is sent as a reference, behind that create', () => {
    const planning = planOf({ desired: [friendly, desired(inn)] });
    expect(deeds(planning)).toEqual(['House/acme/inn: create', 'House/acme/home: create']);
    expect(changeAt(planning, home).calls[0]).toMatchObject({
      body: { friends: [{ $id: 'House/acme/inn' }] },
      needs: ['House/acme/inn#create'],
    });
  });

  test('to a live resource is sent as its id', () => {
    const planning = planOf({ desired: [friendly], live: [live(inn, { claim: 'yours' })] });
    expect(changeAt(planning, home).calls[0]?.body).toMatchObject({ friends: ['id-inn'] });
  });

  test('to nothing is an error at its place', () => {
    expect(planOf({ desired: [friendly] }).plan.problems).toMatchObject([
      {
        code: 'unknown-reference',
        class: 'invalid',
        message: '"House/acme/home" refers to "House/acme/inn", which is neither declared nor live',
        place: { file: 'toys.yaml' },
      },
    ]);
  });

  test('to what could not be looked for is told as such, and not as a mistake in the manifest', () => {
    const { plan } = planOf({ desired: [friendly], incomplete: ['page 2 is missing'] });
    expect(plan.problems).toMatchObject([{ code: 'unknown-reference', class: 'incomplete' }]);
  });

  test('to what the plan deletes is an error', () => {
    const { plan } = planOf({
      desired: [friendly],
      live: [live(inn, { claim: 'mine' })],
      records: { 'House/acme/inn': record({ id: 'id-inn' }) },
    });
    expect(plan.problems[0]?.message).toBe(
      '"House/acme/home" refers to "House/acme/inn", which this plan deletes',
    );
  });

  test('to and fro is a circle, and shown as one', () => {
    const { plan } = planOf({ desired: [friendly, desired(inn, { friends: ['home'] })] });
    expect(plan.problems).toMatchObject([{ code: 'cycle' }]);
    expect(plan.problems[0]?.message).toBe(
      'these changes wait for each other: House/acme/home#create → House/acme/inn#create → House/acme/home#create',
    );
  });
});

describe('calls', () => {
  test('are made from what the kind prepared, and the record from what was declared', () => {
    const polite: Kind = {
      ...house,
      prepare: ({ desired: wanted }) => ({ desired: { ...wanted, friends: ['Inn', 'inn'] } }),
      references: () => [],
    };
    const planning = planOf({
      kinds: registryOf(polite),
      desired: [desired(home, { friends: ['inn'] })],
      live: [live(at('House', 'inn')), live(at('House', 'Inn'))],
    });
    expect(changeAt(planning, home).calls[0]?.body).toMatchObject({ friends: ['id-Inn', 'id-inn'] });
    expect(planning.records.get(readAddress('House/acme/home'))?.record.fields).toEqual({ friends: ['inn'] });
  });

  test("are in the target's own names", () => {
    const input = inputOf({ desired: [desired(home)] });
    const targets = input.targets.map((found) => ({
      ...found,
      dialect: { ...found.dialect, rename: { friends: 'mates' } },
    }));
    const { plan } = buildPlan({ ...input, targets });
    expect(plan.changes[0]?.calls[0]?.body).toEqual({ name: 'home', claim: 'mine', mates: [] });
  });

  test('of a part that its whole carries are not its own', () => {
    const planning = planOf({ desired: [desired(home), desired(at('Garden', 'home'), { trees: ['oak'] })] });
    expect(changeAt(planning, at('Garden', 'home'))).toMatchObject({
      action: 'create',
      calls: [],
      sharedCall: 'House/acme/home#create',
    });
  });
});

test('ten thousand resources are planned within a moment', () => {
  const many = Array.from({ length: 10_000 }, (_, index) => `house-${index}`);
  const { plan } = planOf({
    desired: many.map((name, index) =>
      desired(at('House', name), index === 0 ? {} : { friends: [`house-${index - 1}`] }),
    ),
  });
  expect(plan.problems).toEqual([]);
  expect(plan.changes.at(-1)?.address.name).toBe('house-9999');
});
