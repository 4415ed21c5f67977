import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Call, IdReference } from '../../src/model/call.ts';
import type { Change } from '../../src/model/change.ts';
import { orderChanges } from '../../src/plan/plan-calls.ts';
import { at } from '../support/sample-kinds/sample-plan.ts';
import { readAddress } from '../../src/model/address.ts';

function call(id: string, about: Partial<Call> = {}): Call {
  return {
    id,
    target: 'acme',
    method: 'PATCH',
    path: ['things', id],
    order: 0,
    needs: [],
    success: [200],
    repeatable: true,
    ...about,
  };
}

/** One change for each call, named as the call. */
function changeOf(one: Call, about: Partial<Change> = {}): Change {
  return {
    address: at('Parent', one.id, one.target),
    action: 'update',
    reason: '',
    fields: [],
    notes: [],
    calls: [one],
    preconditions: {},
    ...about,
  };
}

function ordered(...calls: readonly Call[]): string[] {
  const { changes, cycle } = orderChanges(calls.map((one) => changeOf(one)));
  expect(cycle).toBeUndefined();
  return changes.map(({ address }) => address.name);
}

function cycleOf(...calls: readonly Call[]): readonly string[] | undefined {
  return orderChanges(calls.map((one) => changeOf(one))).cycle;
}

describe('changes are ordered', () => {
  it('by their names if nothing else orders them', () => {
    expect(ordered(call('b'), call('c'), call('a'))).toEqual(['a', 'b', 'c']);
  });

  it('after the changes that they need', () => {
    expect(ordered(call('a', { needs: ['b'] }), call('b', { needs: ['c'] }), call('c'))).toEqual([
      'c',
      'b',
      'a',
    ]);
  });

  it('by order number first', () => {
    expect(ordered(call('a', { order: 30 }), call('b', { order: 10 }), call('c', { order: 20 }))).toEqual([
      'b',
      'c',
      'a',
    ]);
  });

  it('by target', () => {
    const [one, other] = [call('b', { target: 'acme', order: 9 }), call('a', { target: 'zone' })];
    expect(ordered(other, one)).toEqual(['b', 'a']);
  });

  it('directly after the change whose call they share, and before later ones', () => {
    const shared = { ...changeOf(call('tags')), calls: [], sharedCall: 'app' };
    const { changes } = orderChanges([changeOf(call('later', { order: 5 })), shared, changeOf(call('app'))]);
    expect(changes.map(({ address }) => address.name)).toEqual(['app', 'tags', 'later']);
  });

  it('last if they have no call', () => {
    const silent = { ...changeOf(call('a')), calls: [] };
    const { changes } = orderChanges([silent, changeOf(call('b', { order: 99 }))]);
    expect(changes.map(({ address }) => address.name)).toEqual(['b', 'a']);
  });
});

describe('a reference to an id', () => {
  const giver = call('new', { createsId: { address: readAddress('Parent/acme/new'), pointer: '/id' } });
  const needsOf = (one: Call) => {
    const { changes } = orderChanges([changeOf(one), changeOf(giver)]);
    return changes.find(({ address }) => address.name === one.id)?.calls[0]?.needs;
  };

  it('in a path makes its call need the call that creates the id', () => {
    expect(needsOf(call('a', { path: ['wholes', new IdReference(readAddress('Parent/acme/new'))] }))).toEqual(
      ['new'],
    );
  });

  it('anywhere in a body does the same', () => {
    const body = { data: [{ type: 'wholes', id: new IdReference(readAddress('Parent/acme/new')) }] };
    expect(needsOf(call('a', { body }))).toEqual(['new']);
  });

  it('needs nothing when the resource exists already', () => {
    expect(needsOf(call('a', { body: { id: new IdReference(readAddress('Parent/acme/old')) } }))).toEqual([]);
  });

  it('is listed once if its call names the same need', () => {
    const path = ['wholes', new IdReference(readAddress('Parent/acme/new'))];
    expect(needsOf(call('a', { path, needs: ['new'] }))).toEqual(['new']);
  });
});

describe('a cycle is shown with its whole path', () => {
  it('of two calls', () => {
    expect(cycleOf(call('a', { needs: ['b'] }), call('b', { needs: ['a'] }))).toEqual(['a', 'b', 'a']);
  });

  it('without the calls that only lead to it', () => {
    const cycle = cycleOf(
      call('start', { needs: ['b'] }),
      call('b', { needs: ['c'] }),
      call('c', { needs: ['d'] }),
      call('d', { needs: ['b'] }),
    );
    expect(cycle).toEqual(['b', 'c', 'd', 'b']);
  });

  it('if a call needs another one with a higher order number', () => {
    expect(cycleOf(call('early', { needs: ['late'] }), call('late', { order: 10 }))).toEqual([
      'early',
      'late',
      'early',
    ]);
  });

  it('through two targets whose order numbers wait for each other', () => {
    const cycle = cycleOf(
      call('a1', { target: 'acme', needs: ['z2'] }),
      call('a2', { target: 'acme', order: 10 }),
      call('z1', { target: 'zone', needs: ['a2'] }),
      call('z2', { target: 'zone', order: 10 }),
    );
    expect(new Set(cycle)).toEqual(new Set(['a1', 'z2', 'z1', 'a2']));
    expect(cycle?.at(-1)).toBe(cycle?.[0]);
  });

  it('and does not exist for two resources that refer to each other', () => {
    const create = (name: string, friend: string) => [
      call(`${name}-create`, { createsId: { address: readAddress(`Parent/acme/${name}`), pointer: '/id' } }),
      call(`${name}-consumers`, {
        order: 5,
        path: ['wholes', { $id: readAddress(`Parent/acme/${friend}`) }],
      }),
    ];
    expect(cycleOf(...create('a', 'b'), ...create('b', 'a'))).toBeUndefined();
  });
});

it('two calls with the same name are an error', () => {
  expect(() =>
    orderChanges([changeOf(call('a')), changeOf(call('a'), { address: at('Parent', 'b') })]),
  ).toThrow('two calls are named a');
});

/** Calls of two targets with random order numbers, each needing some earlier ones. */
const dag = fc
  .array(
    fc.record({
      target: fc.constantFrom('acme', 'zone'),
      order: fc.constantFrom(0, 5, 10),
      needs: fc.array(fc.nat({ max: 100 }), { maxLength: 3 }),
    }),
    { minLength: 1, maxLength: 40 },
  )
  .map((nodes) => {
    const byOrder = nodes.toSorted((a, b) => a.order - b.order);
    return byOrder.map(({ target, order, needs }, index) =>
      call(`c${index}`, {
        target,
        order,
        needs: index === 0 ? [] : [...new Set(needs.map((need) => `c${need % index}`))],
      }),
    );
  });

describe('any graph without a cycle', () => {
  it('is ordered with every call after what it needs, target by target', () => {
    fc.assert(
      fc.property(dag, (calls) => {
        const names = ordered(...calls);
        expect(names.toSorted()).toEqual(calls.map(({ id }) => id).toSorted());
        for (const one of calls) {
          for (const need of one.needs) {
            const isHere = calls.some(({ id, target }) => id === need && target === one.target);
            if (isHere) expect(names.indexOf(need)).toBeLessThan(names.indexOf(one.id));
          }
        }
      }),
    );
  });

  it('is ordered the same for any order of its input', () => {
    const shuffled = dag.chain((calls) =>
      fc.tuple(fc.constant(calls), fc.shuffledSubarray(calls, { minLength: calls.length })),
    );
    fc.assert(
      fc.property(shuffled, ([calls, other]) => {
        expect(ordered(...other)).toEqual(ordered(...calls));
      }),
    );
  });

  it('gets a cycle from one reversed edge, and the reported cycle exists', () => {
    fc.assert(
      fc.property(dag, fc.nat(), fc.nat(), (calls, from, to) => {
        const [low, high] = [from % calls.length, to % calls.length].sort((a, b) => a - b);
        const [first, last] = [calls[low ?? 0], calls[high ?? 0]];
        fc.pre(first !== undefined && last !== undefined && first !== last);
        const closed = calls.map((one) =>
          one === first ? { ...one, needs: [last.id] } : one === last ? { ...one, needs: [first.id] } : one,
        );
        const cycle = cycleOf(...closed) ?? [];
        expect(cycle.length).toBeGreaterThan(1);
        expect(cycle[0]).toBe(cycle.at(-1));
        for (const [index, id] of cycle.slice(0, -1).entries())
          expect(waitsFor(closed, id, cycle[index + 1] ?? '')).toBe(true);
      }),
    );
  });

  it('may be a chain of twenty thousand calls', () => {
    const chain = Array.from({ length: 20_000 }, (_, index) =>
      call(`c${index}`, { needs: index === 0 ? [] : [`c${index - 1}`] }),
    );
    expect(ordered(...chain.toReversed()).at(-1)).toBe('c19999');
  });
});

/** Whether a call has to wait for another: it needs it, or has a higher order number in the same target. */
function waitsFor(calls: readonly Call[], id: string, other: string): boolean {
  const [one, two] = [id, other].map((name) => calls.find((found) => found.id === name));
  if (one === undefined || two === undefined) return false;
  return one.needs.includes(other) || (one.target === two.target && two.order < one.order);
}
