import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type NodeResult, type Node, schedule } from '../../src/apply/schedule.ts';

function node(id: string, about: Partial<Node> = {}): Node {
  return { id, lane: 'acme', order: 0, needs: [], ...about };
}

interface Ran {
  /** `start a`, `end a`, `skip b because of a`, in their order */
  readonly log: readonly string[];
  readonly started: readonly string[];
  readonly skipped: ReadonlyMap<string, string>;
  /** the highest number of concurrent nodes, by lane */
  readonly most: ReadonlyMap<string, number>;
}

/** Runs all nodes; each takes one turn of the event loop, so that others can start. */
async function run(
  nodes: readonly Node[],
  { concurrency = 8, fails = [] }: { concurrency?: number; fails?: readonly string[] } = {},
): Promise<Ran> {
  const log: string[] = [];
  const skipped = new Map<string, string>();
  const running = new Map<string, number>();
  const most = new Map<string, number>();
  await schedule(nodes, {
    concurrency,
    perform: async ({ id, lane }): Promise<NodeResult> => {
      log.push(`start ${id}`);
      running.set(lane, (running.get(lane) ?? 0) + 1);
      most.set(lane, Math.max(most.get(lane) ?? 0, running.get(lane) ?? 0));
      await turn();
      running.set(lane, (running.get(lane) ?? 0) - 1);
      log.push(`end ${id}`);
      return fails.includes(id) ? 'failed' : 'ok';
    },
    skipped: ({ id }, because) => {
      expect(skipped.has(id)).toBe(false);
      skipped.set(id, because);
      log.push(`skip ${id}`);
    },
  });
  const started = log.filter((line) => line.startsWith('start ')).map((line) => line.slice(6));
  return { log, started, skipped, most };
}

function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

function isBefore(log: readonly string[], one: string, other: string): boolean {
  return log.indexOf(one) !== -1 && log.indexOf(one) < log.indexOf(other);
}

it('an empty graph ends at once', async () => {
  expect((await run([])).log).toEqual([]);
});

describe('a node starts', () => {
  it('when everything that it needs has succeeded, and not before', async () => {
    const { log } = await run([node('c', { needs: ['a', 'b'] }), node('a'), node('b', { needs: ['a'] })]);
    expect(log).toEqual(['start a', 'end a', 'start b', 'end b', 'start c', 'end c']);
  });

  it('when it needs a node outside of the run, because that is done', async () => {
    expect((await run([node('a', { needs: ['long ago'] })])).started).toEqual(['a']);
  });

  it('in the order in which it was given', async () => {
    const { started } = await run([node('c'), node('a'), node('b')], { concurrency: 1 });
    expect(started).toEqual(['c', 'a', 'b']);
  });

  it('only after all nodes with a lower order number', async () => {
    const { log } = await run([node('late', { order: 10 }), node('a'), node('b')]);
    expect(isBefore(log, 'end a', 'start late')).toBe(true);
    expect(isBefore(log, 'end b', 'start late')).toBe(true);
  });

  it('after a failed node with a lower order number: order only waits', async () => {
    const { started } = await run([node('a'), node('late', { order: 10 })], { fails: ['a'] });
    expect(started).toEqual(['a', 'late']);
  });

  it('regardless of what another lane waits for', async () => {
    const { log } = await run([
      node('a'),
      node('b', { needs: ['a'] }),
      node('z', { lane: 'zoo', order: 99 }),
    ]);
    expect(isBefore(log, 'start z', 'end a')).toBe(true);
  });

  it('when something that it needs in another lane has ended', async () => {
    const { log } = await run([node('a', { needs: ['z'] }), node('z', { lane: 'zoo', order: 10 })]);
    expect(isBefore(log, 'end z', 'start a')).toBe(true);
  });
});

describe('a lane runs at most its number of concurrent nodes', () => {
  it.each([1, 3])('%i', async (concurrency) => {
    const nodes = Array.from({ length: 20 }, (_, index) =>
      node(`n${index}`, { lane: index % 2 === 0 ? 'acme' : 'zoo' }),
    );
    const { most, started } = await run(nodes, { concurrency });
    expect([...most.values()]).toEqual([concurrency, concurrency]);
    expect(started).toHaveLength(20);
  });
});

describe('a failure', () => {
  it('skips what depends on it, one after the other, and names the dependency of each', async () => {
    const { started, skipped } = await run(
      [node('a'), node('b', { needs: ['a'] }), node('c', { needs: ['b'], order: 5 }), node('d')],
      { fails: ['a'] },
    );
    expect(started).toEqual(['a', 'd']);
    expect(Object.fromEntries(skipped)).toEqual({ b: 'a', c: 'b' });
  });

  it('skips a node that also needs a successful one', async () => {
    const { started, skipped } = await run(
      [node('bad'), node('good'), node('c', { needs: ['good', 'bad'] })],
      {
        fails: ['bad'],
      },
    );
    expect(started).toEqual(['bad', 'good']);
    expect(skipped.get('c')).toBe('bad');
  });

  it('skips across lanes', async () => {
    const { skipped } = await run([node('z', { lane: 'zoo' }), node('a', { needs: ['z'], order: 5 })], {
      fails: ['z'],
    });
    expect(skipped.get('a')).toBe('z');
  });

  it('of a chain of twenty thousand ends quickly', async () => {
    const chain = Array.from({ length: 20_000 }, (_, index) =>
      node(`n${index}`, { needs: index === 0 ? [] : [`n${index - 1}`] }),
    );
    const { skipped } = await run(chain, { fails: ['n0'] });
    expect(skipped.size).toBe(19_999);
  });
});

describe('a graph that the planner should have refused', () => {
  it('with a cycle is reported with the nodes of the cycle', async () => {
    const cycle = [node('a', { needs: ['b'] }), node('b', { needs: ['a'] }), node('c')];
    await expect(run(cycle)).rejects.toThrow('calls wait for each other: a, b');
  });

  it('with a cycle through an order number is reported, too', async () => {
    await expect(run([node('a', { needs: ['late'] }), node('late', { order: 5 })])).rejects.toThrow(
      'calls wait for each other',
    );
  });

  it('with two nodes of the same id throws an error', async () => {
    await expect(run([node('a'), node('a')])).rejects.toThrow('the same id');
  });
});

it('an exception in one node ends the run after all running nodes, and starts no new one', async () => {
  const log: string[] = [];
  const ran = schedule([node('bug'), node('slow'), node('next', { needs: ['slow'] })], {
    concurrency: 2,
    perform: async ({ id }) => {
      log.push(`start ${id}`);
      await turn();
      if (id === 'bug') throw new Error('a bug');
      await turn();
      log.push(`end ${id}`);
      return 'ok';
    },
    skipped: () => {},
  });
  await expect(ran).rejects.toThrow('a bug');
  expect(log).toEqual(['start bug', 'start slow', 'end slow']);
});

/** Nodes of two lanes that need only earlier nodes of the list, with rising order numbers. */
const dag = fc
  .array(
    fc.record({
      lane: fc.constantFrom('acme', 'zoo'),
      order: fc.constantFrom(0, 5, 10),
      needs: fc.array(fc.nat({ max: 100 }), { maxLength: 3 }),
    }),
    { maxLength: 25 },
  )
  .map((drawn) =>
    drawn
      .toSorted((a, b) => a.order - b.order)
      .map(({ lane, order, needs }, index) => {
        const before = index === 0 ? [] : needs.map((need) => `n${need % index}`);
        return node(`n${index}`, { lane, order, needs: [...new Set(before)] });
      }),
  );

/** The nodes that depend on one of these, directly or indirectly. */
function descendants(nodes: readonly Node[], roots: ReadonlySet<string>): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { id, needs } of nodes)
    if (needs.some((need) => roots.has(need) || found.has(need))) found.add(id);
  return found;
}

describe('any graph', () => {
  it('runs completely, each node after what it needs and after lower order numbers', async () => {
    await fc.assert(
      fc.asyncProperty(dag, fc.integer({ min: 1, max: 4 }), async (nodes, concurrency) => {
        const { log, started } = await run(nodes, { concurrency });
        expect(started.toSorted()).toEqual(nodes.map(({ id }) => id).toSorted());
        for (const one of nodes) {
          const barrier = nodes.filter(({ lane, order }) => lane === one.lane && order < one.order);
          for (const first of [...one.needs, ...barrier.map(({ id }) => id)])
            expect(isBefore(log, `end ${first}`, `start ${one.id}`)).toBe(true);
        }
      }),
    );
  });

  it('skips exactly the dependents of a failure, and runs everything else', async () => {
    const broken = dag.chain((nodes) => fc.tuple(fc.constant(nodes), fc.subarray(nodes.map(({ id }) => id))));
    await fc.assert(
      fc.asyncProperty(broken, async ([nodes, chosen]) => {
        const { started, skipped } = await run(nodes, { fails: chosen });
        const failed = new Set(chosen.filter((id) => started.includes(id)));
        expect(new Set(skipped.keys())).toEqual(descendants(nodes, failed));
        expect(started.length + skipped.size).toBe(nodes.length);
        for (const [id, because] of skipped) {
          expect(nodes.find((one) => one.id === id)?.needs).toContain(because);
          expect(failed.has(because) || skipped.has(because)).toBe(true);
        }
      }),
    );
  });
});

describe('ten thousand nodes run quickly', () => {
  it.each<[string, (index: number) => Partial<Node>]>([
    ['side by side', () => ({})],
    ['all depending on the first', (index) => ({ needs: index === 0 ? [] : ['n0'] })],
    ['each depending on the one before', (index) => ({ needs: index === 0 ? [] : [`n${index - 1}`] })],
    ['each with its own order number', (index) => ({ order: index })],
  ])('%s', async (_, shape) => {
    const nodes = Array.from({ length: 10_000 }, (__, index) => node(`n${index}`, shape(index)));
    let ran = 0;
    await schedule(nodes, {
      concurrency: 8,
      perform: async () => {
        ran += 1;
        return 'ok';
      },
      skipped: () => {},
    });
    expect(ran).toBe(10_000);
  });

  it('one of them depending on all others', async () => {
    const others = Array.from({ length: 10_000 }, (_, index) => node(`n${index}`));
    const { started } = await run([node('last', { needs: others.map(({ id }) => id) }), ...others]);
    expect(started.at(-1)).toBe('last');
  });
});
