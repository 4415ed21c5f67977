import { describe, expect, it } from 'vitest';
import type { Kind } from '../../src/model/kind.ts';
import { buildPlan } from '../../src/plan/build-plan.ts';
import { parentKind, registryOf } from '../support/sample-kinds/sample-kind.ts';
import {
  actions,
  app,
  at,
  changeAt,
  desired,
  inputOf,
  live,
  planOf,
  record,
} from '../support/sample-kinds/sample-plan.ts';
import { readAddress } from '../../src/model/address.ts';

describe('a plan', () => {
  it('of an empty stack is empty and complete', () => {
    const { plan } = planOf({});
    expect(plan).toMatchObject({ changes: [], problems: [], notices: [], unchanged: 0 });
    expect(plan.coverage).toMatchObject({ complete: true, ledger: 'found' });
  });

  it('says that there was no ledger', () => {
    expect(planOf({ ledger: false }).plan.coverage.ledger).toBe('none');
  });

  it.each([
    ['a page is missing', { incomplete: ['page 2 is missing'] }],
    ['a manifest could not be read', { manifestsComplete: false }],
  ])('is not complete when %s', (_, world) => {
    expect(planOf(world).plan.coverage.complete).toBe(false);
  });

  it('counts declared resources that need no change', () => {
    const { plan } = planOf({
      desired: [desired(app, { colour: 'red' }), desired(at('Parent', 'lib'))],
      live: [live(app, { spec: { colour: 'red' }, ownershipTag: 'mine' })],
    });
    expect([plan.changes.length, plan.unchanged]).toEqual([1, 1]);
  });

  it('throws for an unknown kind, which validation should have refused', () => {
    expect(() => planOf({ desired: [desired(at('Castle', 'x'))] })).toThrow('no kind Castle in this plan');
  });
});

describe('a note or a notice', () => {
  const note = 'madeBy can only be set at creation: live "bob", declared "ann"';

  it('belongs to the change if the resource changes', () => {
    const planning = planOf({
      desired: [desired(app, { madeBy: 'ann', colour: 'blue' })],
      live: [live(app, { spec: { madeBy: 'bob', colour: 'red' }, ownershipTag: 'mine' })],
    });
    expect(changeAt(planning, app).notes).toEqual([note]);
    expect(planning.plan.notices).toEqual([]);
  });

  it('belongs to the plan if the resource needs no change', () => {
    const { plan } = planOf({
      desired: [desired(app, { madeBy: 'ann' })],
      live: [live(app, { spec: { madeBy: 'bob' }, ownershipTag: 'mine' })],
    });
    expect(plan.changes).toEqual([]);
    expect(plan.notices).toEqual([{ address: app, message: note }]);
  });

  it('has the same place for any order of files', () => {
    const names = ['c', 'a', 'b'];
    const notices = (order: readonly string[]) =>
      planOf({
        desired: order.map((name) => desired(at('Parent', name), { madeBy: 'ann' })),
        live: order.map((name) =>
          live(at('Parent', name), { spec: { madeBy: 'bob' }, ownershipTag: 'mine' }),
        ),
      }).plan.notices.map(({ address }) => address.name);
    expect(notices(names)).toEqual(['a', 'b', 'c']);
    expect(notices(names.toReversed())).toEqual(['a', 'b', 'c']);
  });

  it('says after an incomplete read that a resource to be created may exist', () => {
    const planning = planOf({ desired: [desired(app)], incomplete: ['page 2 is missing'] });
    expect(changeAt(planning, app).notes).toEqual([
      'it may already exist, because not everything was read: page 2 is missing',
    ]);
  });

  it('says what the service will refuse about a change', () => {
    const locked: Kind = {
      ...parentKind,
      blockers: (_, action) => (action === 'adopt' ? ['it is full'] : []),
    };
    const planning = planOf({
      kinds: registryOf(locked),
      desired: [desired(app, {}, { adopt: true })],
      live: [live(app)],
    });
    expect(changeAt(planning, app).notes).toEqual(['the service will refuse this: it is full']);
  });
});

describe('a reference', () => {
  const consuming = desired(app, { consumers: ['lib'] });
  const lib = at('Parent', 'lib');

  it('to a resource that the plan creates is sent as a placeholder, after that create', () => {
    const planning = planOf({ desired: [consuming, desired(lib)] });
    expect(actions(planning)).toEqual(['Parent/acme/lib: create', 'Parent/acme/app: create']);
    expect(changeAt(planning, app).calls[0]).toMatchObject({
      body: { consumers: [{ $id: 'Parent/acme/lib' }] },
      needs: ['Parent/acme/lib#create'],
    });
  });

  it('to a live resource is sent as its id', () => {
    const planning = planOf({ desired: [consuming], live: [live(lib, { ownershipTag: 'yours' })] });
    expect(changeAt(planning, app).calls[0]?.body).toMatchObject({ consumers: ['id-lib'] });
  });

  it('to a resource that does not exist is an error at its place', () => {
    expect(planOf({ desired: [consuming] }).plan.problems).toMatchObject([
      {
        code: 'unknown-reference',
        class: 'invalid',
        message: '"Parent/acme/app" refers to "Parent/acme/lib", which is neither declared nor live',
        place: { file: 'manifest.yaml' },
      },
    ]);
  });

  it('to a resource that could not be read is not reported as a mistake in the manifest', () => {
    const { plan } = planOf({ desired: [consuming], incomplete: ['page 2 is missing'] });
    expect(plan.problems).toMatchObject([{ code: 'unknown-reference', class: 'incomplete' }]);
  });

  it('to a resource that the plan deletes is an error', () => {
    const { plan } = planOf({
      desired: [consuming],
      live: [live(lib, { ownershipTag: 'mine' })],
      records: { 'Parent/acme/lib': record({ id: 'id-lib' }) },
    });
    expect(plan.problems[0]?.message).toBe(
      '"Parent/acme/app" refers to "Parent/acme/lib", which this plan deletes',
    );
  });

  it('in both directions is reported as a cycle', () => {
    const { plan } = planOf({ desired: [consuming, desired(lib, { consumers: ['app'] })] });
    expect(plan.problems).toMatchObject([{ code: 'cycle' }]);
    expect(plan.problems[0]?.message).toBe(
      'these changes depend on each other in a cycle: Parent/acme/app#create → Parent/acme/lib#create → Parent/acme/app#create',
    );
  });
});

describe('calls', () => {
  it('are made from the prepared spec, and the record from the declared spec', () => {
    const polite: Kind = {
      ...parentKind,
      prepare: ({ desired: wanted }) => ({ desired: { ...wanted, consumers: ['Lib', 'lib'] } }),
      references: () => [],
    };
    const planning = planOf({
      kinds: registryOf(polite),
      desired: [desired(app, { consumers: ['lib'] })],
      live: [live(at('Parent', 'lib')), live(at('Parent', 'Lib'))],
    });
    expect(changeAt(planning, app).calls[0]?.body).toMatchObject({ consumers: ['id-Lib', 'id-lib'] });
    expect(planning.records.get(readAddress('Parent/acme/app'))?.record.fields).toEqual({
      consumers: ['lib'],
    });
  });

  it("use the field names of the target's dialect", () => {
    const input = inputOf({ desired: [desired(app)] });
    const targets = input.targets.map((found) => ({
      ...found,
      dialect: { ...found.dialect, rename: { consumers: 'mates' } },
    }));
    const { plan } = buildPlan({ ...input, targets });
    expect(plan.changes[0]?.calls[0]?.body).toEqual({ name: 'app', ownershipTag: 'mine', mates: [] });
  });

  it('of a child are left out if the call of its parent includes it', () => {
    const planning = planOf({ desired: [desired(app), desired(at('Child', 'app'), { tags: ['prod'] })] });
    expect(changeAt(planning, at('Child', 'app'))).toMatchObject({
      action: 'create',
      calls: [],
      sharedCall: 'Parent/acme/app#create',
    });
  });
});

it('ten thousand resources are planned quickly', () => {
  const many = Array.from({ length: 10_000 }, (_, index) => `whole-${index}`);
  const { plan } = planOf({
    desired: many.map((name, index) =>
      desired(at('Parent', name), index === 0 ? {} : { consumers: [`whole-${index - 1}`] }),
    ),
  });
  expect(plan.problems).toEqual([]);
  expect(plan.changes.at(-1)?.address.name).toBe('whole-9999');
});
