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

describe('changes stand', () => {
  it('by their names, when nothing else orders them', () => {
    expect(ordered(call('b'), call('c'), call('a'))).toEqual(['a', 'b', 'c']);
  });

  it('behind what they need', () => {
    expect(ordered(call('a', { needs: ['b'] }), call('b', { needs: ['c'] }), call('c'))).toEqual([
      'c',
      'b',
      'a',
    ]);
  });

  it('by order number before anything else', () => {
    expect(ordered(call('a', { order: 30 }), call('b', { order: 10 }), call('c', { order: 20 }))).toEqual([
      'b',
      'c',
      'a',
    ]);
  });

  it('target by target', () => {
    const [one, other] = [call('b', { target: 'acme', order: 9 }), call('a', { target: 'zone' })];
    expect(ordered(other, one)).toEqual(['b', 'a']);
  });

  it('just behind the call that they share, and before what comes later', () => {
    const shared = { ...changeOf(call('tags')), calls: [], sharedCall: 'app' };
    const { changes } = orderChanges([changeOf(call('later', { order: 5 })), shared, changeOf(call('app'))]);
    expect(changes.map(({ address }) => address.name)).toEqual(['app', 'tags', 'later']);
  });

  it('at the end when they have no call at all', () => {
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

  it('in a path makes its call need the one that gives the id', () => {
    expect(needsOf(call('a', { path: ['wholes', new IdReference(readAddress('Parent/acme/new'))] }))).toEqual(
      ['new'],
    );
  });

  it('anywhere in a body does so too', () => {
    const body = { data: [{ type: 'wholes', id: new IdReference(readAddress('Parent/acme/new')) }] };
    expect(needsOf(call('a', { body }))).toEqual(['new']);
  });

  it('needs nothing when the resource exists already', () => {
    expect(needsOf(call('a', { body: { id: new IdReference(readAddress('Parent/acme/old')) } }))).toEqual([]);
  });

  it('counts once beside a need that says the same', () => {
    const path = ['wholes', new IdReference(readAddress('Parent/acme/new'))];
    expect(needsOf(call('a', { path, needs: ['new'] }))).toEqual(['new']);
  });
});

describe('a circle is shown with its whole path', () => {
  it('of two', () => {
    expect(cycleOf(call('a', { needs: ['b'] }), call('b', { needs: ['a'] }))).toEqual(['a', 'b', 'a']);
  });

  it('and without what only leads to it', () => {
    const circle = cycleOf(
      call('start', { needs: ['b'] }),
      call('b', { needs: ['c'] }),
      call('c', { needs: ['d'] }),
      call('d', { needs: ['b'] }),
    );
    expect(circle).toEqual(['b', 'c', 'd', 'b']);
  });

  it('of a call and a later one that it needs: they would wait for each other for ever', () => {
    expect(cycleOf(call('early', { needs: ['late'] }), call('late', { order: 10 }))).toEqual([
      'early',
      'late',
      'early',
    ]);
  });

  it('that runs through two targets, each waiting at a barrier of the other', () => {
    const circle = cycleOf(
      call('a1', { target: 'acme', needs: ['z2'] }),
      call('a2', { target: 'acme', order: 10 }),
      call('z1', { target: 'zone', needs: ['a2'] }),
      call('z2', { target: 'zone', order: 10 }),
    );
    expect(new Set(circle)).toEqual(new Set(['a1', 'z2', 'z1', 'a2']));
    expect(circle?.at(-1)).toBe(circle?.[0]);
  });

  it('unless two references only look like one: mutual consumers are created one after the other', () => {
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

it('two calls of one name are a bug, and said to be', () => {
  expect(() =>
    orderChanges([changeOf(call('a')), changeOf(call('a'), { address: at('Parent', 'b') })]),
  ).toThrow('two calls are named a');
});

/** Calls of two targets at random order numbers, each needing some that stand before it. */
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

describe('any graph without a circle', () => {
  it('is ordered with every call behind what it needs, target by target', () => {
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

  it('is ordered the same, whatever the order it came in', () => {
    const shuffled = dag.chain((calls) =>
      fc.tuple(fc.constant(calls), fc.shuffledSubarray(calls, { minLength: calls.length })),
    );
    fc.assert(
      fc.property(shuffled, ([calls, other]) => {
        expect(ordered(...other)).toEqual(ordered(...calls));
      }),
    );
  });

  it('gets a circle from one edge back, and the circle is real', () => {
    fc.assert(
      fc.property(dag, fc.nat(), fc.nat(), (calls, from, to) => {
        const [low, high] = [from % calls.length, to % calls.length].sort((a, b) => a - b);
        const [first, last] = [calls[low ?? 0], calls[high ?? 0]];
        fc.pre(first !== undefined && last !== undefined && first !== last);
        const closed = calls.map((one) =>
          one === first ? { ...one, needs: [last.id] } : one === last ? { ...one, needs: [first.id] } : one,
        );
        const circle = cycleOf(...closed) ?? [];
        expect(circle.length).toBeGreaterThan(1);
        expect(circle[0]).toBe(circle.at(-1));
        for (const [index, id] of circle.slice(0, -1).entries())
          expect(waitsFor(closed, id, circle[index + 1] ?? '')).toBe(true);
      }),
    );
  });

  it('may be a chain of twenty thousand', () => {
    const chain = Array.from({ length: 20_000 }, (_, index) =>
      call(`c${index}`, { needs: index === 0 ? [] : [`c${index - 1}`] }),
    );
    expect(ordered(...chain.toReversed()).at(-1)).toBe('c19999');
  });
});

/** Whether a call has to wait for another: it needs it, or stands behind a barrier that does. */
function waitsFor(calls: readonly Call[], id: string, other: string): boolean {
  const [one, two] = [id, other].map((name) => calls.find((found) => found.id === name));
  if (one === undefined || two === undefined) return false;
  return one.needs.includes(other) || (one.target === two.target && two.order < one.order);
}
