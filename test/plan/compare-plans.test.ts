import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Change } from '../../src/model/change.ts';
import { comparePlans, isSamePlan } from '../../src/plan/compare-plans.ts';
import {
  digestOf as digest,
  digestItemsOf,
  type PlanMeaning,
  readDigestItems,
} from '../../src/plan/digest.ts';
import { anyPlan } from '../support/report/arbitrary-plan.ts';
import { change, plan } from '../support/report/small-plan.ts';

/** Like real plans: one change for an address, one field change for a path, one target for a name. */
const anyMeaning = anyPlan.map(({ stack, targets, selection, changes, changedNames }): PlanMeaning => {
  const first = <T>(all: readonly T[], key: (one: T) => string) => [
    ...new Map([...all].reverse().map((one) => [key(one), one])).values(),
  ];
  return {
    stack,
    targets: first(targets, ({ name }) => name),
    ...(selection === undefined ? {} : { selection }),
    changedNames,
    changes: first(changes, ({ address }) => JSON.stringify(address)).map((one) => ({
      ...one,
      fields: first(one.fields, ({ path }) => JSON.stringify(path)),
    })),
  };
});

const [one, other] = ['ball', 'bat'].map((name) => ({ kind: 'Toy', target: 'acme', name }));
const red = { path: ['colour'], before: 'red', after: 'blue', shape: 'scalar' } as const;

function differenceOf(a: readonly Change[], b: readonly Change[]) {
  return comparePlans(plan({ changes: a }), plan({ changes: b }));
}

describe('Two plans', () => {
  it('have no difference exactly when they have the same digest', () => {
    fc.assert(
      fc.property(anyMeaning, anyMeaning, fc.boolean(), (a, b, same) => {
        const compared = same ? { ...a, changes: [...a.changes].reverse() } : b;
        expect(isSamePlan(comparePlans(a, compared))).toBe(digest(a) === digest(compared));
      }),
    );
  });

  it('differ at the same addresses when they are compared the other way round', () => {
    fc.assert(
      fc.property(anyMeaning, anyMeaning, (a, b) => {
        const [there, back] = [comparePlans(a, b), comparePlans(b, a)];
        const names = ({ changes }: typeof there) =>
          changes.map(({ address }) => JSON.stringify(address)).sort();
        expect(names(back)).toEqual(names(there));
      }),
    );
  });

  it('are compared when each has a change that the other one lacks', () => {
    const [first, second] = [one, other].map((address) =>
      change({ ...(address && { address }), fields: [red] }),
    );
    if (first === undefined || second === undefined) throw new Error('two changes');
    expect(differenceOf([first], [second]).changes).toEqual([
      { address: one, one: 'update', fields: [{ path: ['colour'], one: red }] },
      { address: other, other: 'update', fields: [{ path: ['colour'], other: red }] },
    ]);
  });

  it('are compared field by field when both change the same resource', () => {
    const white = { ...red, after: 'white' };
    const size = { path: ['size'], after: 3, shape: 'scalar' } as const;
    expect(
      differenceOf([change({ fields: [red, size] })], [change({ fields: [size, white] })]).changes,
    ).toEqual([
      {
        address: one,
        one: 'update',
        other: 'update',
        fields: [{ path: ['colour'], one: red, other: white }],
      },
    ]);
  });

  it('are equal if only reasons, notes, calls and places differ', () => {
    const annotated = change({
      reason: 'another',
      notes: ['a note'],
      fields: [{ ...red, origin: 'default' }],
    });
    expect(isSamePlan(differenceOf([change({ fields: [red] })], [annotated]))).toBe(true);
  });

  it('differ in their targets if a target has another address, or is missing', () => {
    const [target] = plan().targets;
    if (target === undefined) throw new Error('a target');
    const moved = { ...target, url: 'https://other.test' };
    expect(comparePlans(plan(), plan({ stack: 'zoo', targets: [moved] }))).toEqual({
      stack: { one: 'nursery', other: 'zoo' },
      targets: [{ name: 'acme', one: target, other: moved }],
      changes: [],
    });
    expect(comparePlans(plan(), plan({ targets: [] })).targets).toEqual([{ name: 'acme', one: target }]);
  });
});

describe('The digest items of a plan', () => {
  it('are read back with the same meaning', () => {
    fc.assert(
      fc.property(anyMeaning, (made) => {
        const named = { ...made, changes: made.changes.filter(({ address }) => address.name !== '') };
        const read = readDigestItems(digestItemsOf(named));
        expect(digest({ ...made, ...read })).toBe(digest(named));
      }),
    );
  });

  it('are an error if they have fields of a resource but not its action', () => {
    expect(() => readDigestItems(['["Toy/acme/ball",["a"],{},{}]'])).toThrow(
      'no digest item has the action of',
    );
  });
});
