/** Updates that read pages of the list again instead of single resources, in simulated time: their cost, and the age of reads. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyPaged, type PagedRun, type PagedWorld } from '../support/sample-kinds/paged-service.ts';

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);
const every = (step: number, count: number) => upTo(count).map((index) => index * step);
const kindsOf = ({ outcomes }: PagedRun) => [...new Set(outcomes.map(({ kind }) => kind))];

describe('A thousand updates', () => {
  it.each([
    [200, 10, 10],
    [30, 20, 10],
    [10, 50, 19],
  ])('at %s requests a second read %s pages and %s resources', async (perSecond, pages, reads) => {
    const run = await applyPaged({ count: 1000, updates: upTo(1000), perSecond });
    expect(kindsOf(run)).toEqual(['applied']);
    expect(run).toMatchObject({ pages, reads });
  });

  it.each([5, 3, 1, 0.3])(
    'take at most three requests more than with a read of each resource, even at %s requests a second',
    async (perSecond) => {
      const world: PagedWorld = { count: 200, updates: upTo(200), perSecond };
      const run = await applyPaged(world);
      expect(run.writes).toHaveLength(200);
      const alone = await applyPaged({ ...world, readBeforeWrite: 'resource' });
      expect(run.pages + run.reads).toBeLessThanOrEqual(alone.reads + 3);
    },
  );
});

describe('Scattered updates', () => {
  it.each([
    ['one', every(100, 10), { pages: 0, reads: 10 }],
    ['two', every(50, 20), { pages: 0, reads: 20 }],
    ['three', every(100, 10).flatMap((at) => [at, at + 40, at + 80]), { pages: 8, reads: 14 }],
  ])(
    'of %s resources on each page are read page by page only if that takes fewer requests',
    async (_, updates, expected) => {
      expect(await applyPaged({ count: 1000, updates, perSecond: 30 })).toMatchObject(expected);
    },
  );
});

it('Resources without a record are read separately, because an old list may show the value that is written', async () => {
  const run = await applyPaged({ count: 100, updates: upTo(100), perSecond: 30, hasLedger: false });
  expect(kindsOf(run)).toEqual(['applied']);
  expect(run).toMatchObject({ pages: 0, reads: 100 });
});

describe('A resource that is changed in the service', () => {
  const drifting = (at: number): PagedWorld => ({
    count: 100,
    updates: upTo(100),
    perSecond: 30,
    greenAt: new Map([[60, at]]),
  });

  it('before its page is read is not written', async () => {
    const run = await applyPaged(drifting(10));
    expect(run.pages).toBeGreaterThan(0);
    expect(run.writes.map(({ index }) => index)).not.toContain(60);
    expect(run.outcomes[60]).toMatchObject({
      kind: 'stale',
      detail: 'colour changed since the plan was made',
    });
  });

  it('in the three seconds after that is overwritten, unless each resource is read separately', async () => {
    const overwritten = await applyPaged(drifting(1500));
    expect(overwritten.writes.find(({ index }) => index === 60)).toMatchObject({ by: 'page' });
    const alone = await applyPaged({ ...drifting(1500), readBeforeWrite: 'resource' });
    expect(alone).toMatchObject({ pages: 0, reads: 100 });
    expect(alone.outcomes[60]).toMatchObject({ kind: 'stale' });
  });
});

describe('A resource that its page shows differently from a single read', () => {
  it('is not written if it changed while its single read was answered late', async () => {
    const late = { count: 1, updates: [0], perSecond: 30, after: 4000, greenAt: new Map([[0, 1000]]) };
    const run = await applyPaged(late);
    expect(run.writes).toEqual([]);
    expect(kindsOf(run)).toEqual(['stale']);
  });

  it('is read separately before its update is given up', async () => {
    const falselyGreen = [60, 160];
    const run = await applyPaged({ count: 300, updates: upTo(300), perSecond: 100, falselyGreen });
    expect(kindsOf(run)).toEqual(['applied']);
    // One on each of the three pages, and those two.
    expect(run.reads).toBe(3 + 2);
    expect(run.writes.filter(({ index }) => falselyGreen.includes(index)).map(({ by }) => by)).toEqual([
      'resource',
      'resource',
    ]);
  });
});

describe('A list that is not reliable', () => {
  it.each([
    ['lags behind what is written', { lag: 5000 }],
    ['lacks a field', { hidden: 'colour' }],
    ['lacks the ownership tag', { hidden: 'tag' }],
    ['is refused', { pagesUntilRefused: 0 }],
  ] as const)('because it %s is read once, and then each resource separately', async (_, how) => {
    const run = await applyPaged({ count: 300, updates: upTo(300), perSecond: 30, ...how });
    expect(kindsOf(run)).toEqual(['applied']);
    expect(run.writes.every(({ by }) => by === 'resource')).toBe(true);
    expect(run).toMatchObject({ pages: 1, reads: 300 });
  });

  it('because a later page is refused is not read again', async () => {
    const run = await applyPaged({ count: 300, updates: upTo(300), perSecond: 100, pagesUntilRefused: 1 });
    expect(kindsOf(run)).toEqual(['applied']);
    expect(run.pages).toBe(2);
    expect(run.reads).toBe(1 + 200);
  });

  it('because its pages come late is given up after three pages', async () => {
    const run = await applyPaged({ count: 400, updates: upTo(400), perSecond: 30, pageAfter: 4000 });
    expect(run.writes.every(({ by }) => by === 'resource')).toBe(true);
    expect(run).toMatchObject({ pages: 3, reads: 400 });
  });
});

describe('A list whose delay is shorter than its response time', () => {
  it('is used for at most three seconds after the time that it shows', async () => {
    const lag = 850;
    const run = await applyPaged({
      ...{ count: 300, updates: upTo(300), perSecond: 12, after: 900, pageAfter: 5, lag },
    });
    const byPage = run.writes.filter(({ by }) => by === 'page');
    expect(byPage.length).toBeGreaterThan(100);
    expect(Math.max(...byPage.map(({ at, sentAt }) => sentAt - (at - lag)))).toBeLessThanOrEqual(3000);
  });
});

describe('A resource that is no longer on its page', () => {
  it('is read separately, and the pages of the others are found', async () => {
    const gone = [...every(30, 5), 101, 102];
    const run = await applyPaged({ count: 500, updates: upTo(500).slice(1), gone, perSecond: 100 });
    expect(run.writes).toHaveLength(499 - 6);
    expect(run.outcomes.filter(({ kind }) => kind === 'stale')).toHaveLength(6);
    expect(run.pages + run.reads).toBeLessThan(30);
  });
});

describe('For any behaviour of the service', () => {
  const worlds: fc.Arbitrary<PagedWorld> = fc
    .record({
      count: fc.integer({ min: 1, max: 350 }),
      density: fc.constantFrom(1, 0.5, 0.05),
      seed: fc.integer(),
      perSecond: fc.constantFrom(0.5, 2, 7, 30, 120),
      after: fc.constantFrom(5, 80, 900),
      pageAfter: fc.constantFrom(5, 300, 2500, 4000),
      lag: fc.constantFrom(0, 0, 400, 6000),
      pagesUntilRefused: fc.constantFrom(0, 2, 100, 100),
      inserted: fc.constantFrom(0, 0, 3, 150),
      changed: fc.array(fc.tuple(fc.nat(349), fc.nat(20_000)), { maxLength: 20 }),
      gone: fc.uniqueArray(fc.nat(349), { maxLength: 5 }),
    })
    .map(({ density, seed, changed, ...world }) => ({
      ...world,
      updates: upTo(world.count).filter((index) => Math.abs(Math.sin(seed + index * 7.13)) <= density),
      greenAt: new Map(changed),
    }));

  it('no write relies on an old page, or on a read that shows another writer', async () => {
    await fc.assert(
      fc.asyncProperty(worlds, async (world) => {
        const { updates, greenAt = new Map(), lag = 0, gone = [] } = world;
        const run = await applyPaged(world);
        for (const { index, at, by, sentAt } of run.writes) {
          const shownAt = by === 'page' ? at - lag : at;
          if (by === 'page') expect(sentAt - shownAt).toBeLessThanOrEqual(3000);
          expect(greenAt.get(index) ?? Number.POSITIVE_INFINITY, 'written by somebody').toBeGreaterThan(
            shownAt,
          );
        }
        const written = run.writes.map(({ index }) => index);
        expect(new Set(written).size, 'once each').toBe(written.length);
        const left = updates.filter((index) => !greenAt.has(index) && !gone.includes(index));
        expect(left.filter((index) => !written.includes(index))).toEqual([]);
        const alone = await applyPaged({ ...world, readBeforeWrite: 'resource' });
        // Three pages may be useless.
        expect(run.pages + run.reads).toBeLessThanOrEqual(alone.reads + 3);
      }),
      { numRuns: 40 },
    );
  });
});
