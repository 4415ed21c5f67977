import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { layOut } from '../../../src/report/html/graph.ts';
import { nodeSize } from '../../../src/report/html/report-view.ts';

const { width, height } = nodeSize;

/** Lays out `count` nodes. The later node of each pair waits for the earlier one. */
function drawn(count: number, pairs: readonly (readonly [number, number])[]) {
  const node = { label: '', kind: 'Toy', target: 'acme', action: 'update' as const };
  const edges = pairs.map(([earlier, later]) => ({ earlier, later }));
  return layOut({ nodes: Array.from({ length: count }, () => node), edges }, (at) => ({
    action: 'update',
    label: String(at),
    detail: '',
    change: at,
  }));
}

/** Pairs without a cycle: a node waits only for earlier ones. */
const graphs = fc.integer({ min: 2, max: 40 }).chain((count) => {
  const pair = fc.tuple(fc.nat(count - 2), fc.nat(count)).map(([one, more]) => {
    return [one, one + 1 + (more % (count - 1 - one))] as const;
  });
  const pairs = fc.uniqueArray(pair, { maxLength: 40, selector: ([one, other]) => `${one} ${other}` });
  return fc.tuple(fc.constant(count), pairs);
});

describe('the graph of a report', () => {
  it('has every box in its order, inside the drawing and without overlaps', () => {
    fc.assert(
      fc.property(graphs, ([count, pairs]) => {
        const drawing = drawn(count, pairs);
        expect(drawing.nodes.map(({ label }) => label)).toEqual([...Array(count).keys()].map(String));
        for (const { x, y } of drawing.nodes) {
          expect(x - width / 2).toBeGreaterThanOrEqual(0);
          expect(y - height / 2).toBeGreaterThanOrEqual(0);
          expect(x + width / 2).toBeLessThanOrEqual(drawing.width);
          expect(y + height / 2).toBeLessThanOrEqual(drawing.height);
        }
        const overlaps = drawing.nodes.flatMap((one, index) =>
          drawing.nodes
            .slice(index + 1)
            .filter((other) => Math.abs(one.x - other.x) < width && Math.abs(one.y - other.y) < height),
        );
        expect(overlaps).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  it('draws every arrow from left to right', () => {
    fc.assert(
      fc.property(graphs, ([count, pairs]) => {
        const { nodes, edges } = drawn(count, pairs);
        expect(edges.map(({ from, to }) => `${from} ${to}`).sort()).toEqual(
          pairs.map(([from, to]) => `${from} ${to}`).sort(),
        );
        for (const { from, to } of edges) expect(nodes[from]?.x).toBeLessThan(nodes[to]?.x ?? 0);
      }),
      { numRuns: 60 },
    );
  });

  it('is neither too high nor too wide, even without dependencies', () => {
    const { width: across, height: down } = drawn(400, []);
    expect(across / down).toBeGreaterThan(1);
    expect(across / down).toBeLessThan(3);
  });
});
