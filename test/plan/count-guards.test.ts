import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatAddress } from '../../src/model/address.ts';
import { at, desired, live, record, type World } from '../support/sample-kinds/sample-plan.ts';
import {
  type ParentCounts,
  manyParents,
  firedGuards,
  guardsOf,
} from '../support/sample-kinds/watched-resources.ts';

const content = { colour: 'red', timeout: 0, readers: [] };

const recordsOf = (...names: string[]) =>
  Object.fromEntries(names.map((name) => [`Role/acme/${name}`, record({ content })]));

describe('a plan that changes much', () => {
  it.each<[string, ParentCounts, string[]]>([
    ['passes with three deletes', { kept: 5, deleted: 3 }, []],
    ['is stopped at four deletes', { kept: 5, deleted: 4 }, ['deletes blocks 4 of 9 (3)']],
    ['counts releases as deletes', { kept: 5, deleted: 2, released: 2 }, ['deletes blocks 4 of 9 (3)']],
    ['counts adoptions and creations as neither', { kept: 1, adopted: 50, created: 50 }, []],
    ['is stopped when the only resource is deleted', { deleted: 1 }, ['zero blocks 1 of 1 (0)']],
    [
      'is stopped when all resources go, even if they are few',
      { deleted: 1, released: 1 },
      ['zero blocks 2 of 2 (0)'],
    ],
    [
      'is stopped when both of two resources go, even if new ones are created',
      { deleted: 2, created: 9 },
      ['zero blocks 2 of 2 (0)'],
    ],
    ['passes when the only resource is deleted and a new one is created', { deleted: 1, created: 1 }, []],
    [
      'is stopped when the only resource is deleted and another one is adopted',
      { deleted: 1, adopted: 1 },
      ['zero blocks 1 of 1 (0)'],
    ],
    [
      'is stopped for both reasons when many resources all go',
      { deleted: 4 },
      ['deletes blocks 4 of 4 (3)', 'zero blocks 4 of 4 (0)'],
    ],
    ['does not check percentages of nine resources', { kept: 7, deleted: 2 }, []],
    ['passes with ten percent of ten', { kept: 9, deleted: 1 }, []],
    ['is stopped above ten percent of ten', { kept: 8, deleted: 2 }, ['delete-percent blocks 2 of 10 (10)']],
    ['is stopped just above ten percent', { kept: 26, deleted: 3 }, ['delete-percent blocks 3 of 29 (10)']],
    ['passes with exactly ten percent', { kept: 27, deleted: 3 }, []],
    ['may update all of nine resources', { updated: 9 }, []],
    ['passes with thirty percent of updates', { kept: 7, updated: 3 }, []],
    [
      'is stopped above thirty percent of updates',
      { kept: 6, updated: 4 },
      ['update-percent blocks 4 of 10 (30)'],
    ],
    [
      'counts percentages of the owned resources, not of new ones',
      { kept: 6, updated: 4, created: 90, adopted: 90 },
      ['update-percent blocks 4 of 10 (30)'],
    ],
    [
      'passes within the limits of its stack',
      { kept: 6, deleted: 4, guards: { maxDeletes: 4, maxDeletePercent: 40 } },
      [],
    ],
    [
      'is stopped by one delete if its stack has that limit',
      { kept: 2, deleted: 1, guards: { maxDeletes: 0 } },
      ['deletes blocks 1 of 3 (0)'],
    ],
    [
      'is stopped by one update if its stack has that limit',
      { kept: 19, updated: 1, guards: { maxUpdatePercent: 4.9 } },
      ['update-percent blocks 1 of 20 (4.9)'],
    ],
  ])('%s', (_, of, expected) => {
    expect(firedGuards(manyParents(of))).toEqual(expected);
  });

  it('gets a message with the numbers, and the addresses of what is counted', () => {
    const [guard] = guardsOf(manyParents({ kept: 26, deleted: 3 }));
    expect(guard).toMatchObject({
      kind: 'Parent',
      target: 'acme',
      message: '3 of 29 Parent in "acme" would be deleted or released: 10.3 %, more than 10 %',
    });
    expect(guard?.concerns.map(({ address }) => formatAddress(address))).toEqual([
      'Parent/acme/deleted-0',
      'Parent/acme/deleted-1',
      'Parent/acme/deleted-2',
    ]);
  });

  it.each<[string, World, string]>([
    [
      'only resources with records',
      { records: recordsOf('a', 'b') },
      'all 2 Role that this stack owns in "acme" would be deleted or released',
    ],
    [
      'some resources without records',
      { records: recordsOf('a') },
      'all 2 Role that this stack owns or removes in "acme" would be deleted or released, without a record of 1',
    ],
    [
      'only resources without records',
      {},
      'all 2 Role that this stack owns or removes in "acme" would be deleted or released, without a record of any',
    ],
  ])('reports how many resources go to zero if an exclusive target loses %s', (_, world, message) => {
    const roles = ['a', 'b'].map((name) => live(at('Role', name), { spec: content }));
    const guards = guardsOf({ live: roles, target: { owns: ['*'], exclusive: true }, ...world });
    expect(guards.find(({ id }) => id === 'zero')?.message).toBe(message);
  });

  /** Parents of several targets, kept and deleted in each. */
  function spread(kept: number, deleted: number, targets: readonly string[]): World {
    const each = targets.map((target) => manyParents({ kept, deleted, target }));
    return {
      desired: each.flatMap((one) => one.desired ?? []),
      live: each.flatMap((one) => one.live ?? []),
      records: Object.assign({}, ...each.map(({ records }) => records)),
    };
  }

  it('is stopped by few deletes in each of many targets', () => {
    const [guard, ...more] = guardsOf(spread(1, 3, ['acme', 'other', 'third', 'fourth']));
    expect(more).toEqual([]);
    expect(guard).toMatchObject({
      id: 'deletes',
      message: '12 of 16 resources in all targets would be deleted or released, more than 3',
    });
    expect(guard).not.toHaveProperty('target');
    expect(guard?.concerns).toHaveLength(12);
  });

  it('passes with few deletes in the whole plan, and checks percentages for each target', () => {
    expect(firedGuards(spread(8, 1, ['acme', 'other', 'third']))).toEqual([]);
  });

  it('is not stopped for all targets together if each of them is stopped', () => {
    expect(guardsOf(spread(5, 4, ['acme', 'other'])).map(({ id, target }) => `${id} ${target}`)).toEqual([
      'deletes acme',
      'deletes other',
    ]);
  });

  it('is stopped for all targets together if only one of them is stopped', () => {
    const [one, other] = [spread(5, 4, ['acme']), spread(5, 1, ['other'])];
    const world = {
      desired: [...(one.desired ?? []), ...(other.desired ?? [])],
      live: [...(one.live ?? []), ...(other.live ?? [])],
      records: { ...one.records, ...other.records },
    };
    expect(guardsOf(world).map(({ message }) => message)).toEqual([
      '4 of 9 Parent in "acme" would be deleted or released, more than 3',
      '5 of 15 resources in all targets would be deleted or released, more than 3',
    ]);
  });

  it('is stopped by few deletes of each of several kinds in a target', () => {
    const parents = manyParents({ kept: 5, deleted: 2 });
    const roles = ['a', 'b'].map((name) => at('Role', name));
    const world: World = {
      ...parents,
      live: [
        ...(parents.live ?? []),
        ...roles.map((role) => live(role, { spec: content })),
        live(at('Role', 'c')),
      ],
      desired: [...(parents.desired ?? []), desired(at('Role', 'c'))],
      records: {
        ...parents.records,
        ...Object.fromEntries(roles.map((role) => [formatAddress(role), record({ content })])),
        'Role/acme/c': record(),
      },
    };
    expect(guardsOf(world).map(({ message }) => message)).toEqual([
      '4 of 10 resources in "acme" would be deleted or released, more than 3',
    ]);
  });

  it('is counted for each kind, and withdrawn children count as deletes', () => {
    const parents = manyParents({ kept: 4 });
    const children = ['kept-0', 'kept-1', 'kept-2', 'kept-3'].map((name) => at('Child', name));
    const tagged = record({ fields: { tags: ['prod'] } });
    const world: World = {
      ...parents,
      live: [
        ...(parents.live ?? []),
        ...children.map((address) => live(address, { spec: { tags: ['prod'] } })),
      ],
      records: {
        ...parents.records,
        ...Object.fromEntries(children.map((address) => [formatAddress(address), tagged])),
      },
    };
    expect(guardsOf(world).map(({ id, kind }) => `${id} ${kind}`)).toEqual(['deletes Child', 'zero Child']);
  });

  it('does not count children that go with their parent', () => {
    const parents = manyParents({ kept: 1, deleted: 1 });
    const children = [at('Child', 'kept-0'), at('Child', 'deleted-0')];
    const world: World = {
      ...parents,
      live: [
        ...(parents.live ?? []),
        ...children.map((address) => live(address, { spec: { tags: ['prod'] } })),
      ],
      records: {
        ...parents.records,
        ...Object.fromEntries(
          children.map((address) => [formatAddress(address), record({ fields: { tags: ['prod'] } })]),
        ),
      },
    };
    // One of the two children goes with its parent, so the other one is the last.
    expect(guardsOf(world)).toMatchObject([{ id: 'zero', kind: 'Child', counted: 1, of: 1 }]);
  });

  it('is stopped exactly when the share is above the limit', () => {
    const limit = fc.integer({ min: 0, max: 100 });
    const count = fc.nat({ max: 30 });
    fc.assert(
      fc.property(count, count, limit, (kept, deleted, maxDeletePercent) => {
        const ids = guardsOf(manyParents({ kept, deleted, guards: { maxDeletePercent } })).map(
          ({ id }) => id,
        );
        const total = kept + deleted;
        const isAbove = total >= 10 && deleted / total > maxDeletePercent / 100 + 1e-9;
        expect(ids.includes('delete-percent')).toBe(isAbove);
        expect(ids.includes('deletes')).toBe(deleted > 3);
        expect(ids.includes('zero')).toBe(total > 0 && kept === 0);
      }),
    );
  });
});
