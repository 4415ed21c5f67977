/** The graph of a plan as the page draws it: one box for each change, or for each group of changes if there are too many. */
import { Graph, layout } from '@dagrejs/dagre';
import type { Change } from '../../model/change.ts';
import { groupedGraph, type PlanGraph, planGraph } from '../view/plan-graph.ts';
import { printable } from '../view/printable.ts';
import {
  type GraphBox,
  type GraphEdgeView,
  type GraphNodeView,
  type GraphView,
  nodeSize,
} from './report-view.ts';

const maxNodes = 500;
/** More lines are unreadable, and their layout takes minutes. */
const maxEdges = 1_500;

export function graphView(changes: readonly Change[]): GraphView {
  const single = planGraph({ changes });
  if (isReadable(single))
    return { ...layOut(single, (at) => changeBox(single, changes, at)), grouped: false };
  const perTarget = groupedGraph({ changes });
  const groups = isReadable(perTarget) ? perTarget : groupedGraph({ changes }, { acrossTargets: true });
  return { ...layOut(groups, (at) => groupBox(groups, at)), grouped: true };
}

function changeBox(graph: PlanGraph, changes: readonly Change[], at: number): GraphBox {
  const { action = 'none', kind = '', target = '' } = graph.nodes[at] ?? {};
  return {
    action,
    label: clipped(changes[at]?.address.name ?? ''),
    detail: clipped([kind, ...targetLabel(graph, target)].join(' · ')),
    change: at,
  };
}

function groupBox(graph: PlanGraph, at: number): GraphBox {
  const { action = 'none', kind = '', target = '', label = '' } = graph.nodes[at] ?? {};
  return {
    action,
    label: clipped(label),
    detail: clipped(targetLabel(graph, target).join('')),
    group: { kind: printable(kind), ...(target === '' ? {} : { target: printable(target) }) },
  };
}

/** The target, left out if all nodes have the same. */
function targetLabel({ nodes }: PlanGraph, target: string): string[] {
  return nodes.every((node) => node.target === target) ? [] : [target];
}

const maxLabel = 38;

/** The text cut to the size of a box; the table has all of it. */
function clipped(text: string): string {
  const shown = printable(text.slice(0, maxLabel + 1));
  return shown.length <= maxLabel ? shown : `${shown.slice(0, maxLabel)}…`.replace(/[\ud800-\udbff]…$/, '…');
}

function isReadable({ nodes, edges }: PlanGraph): boolean {
  return nodes.length <= maxNodes && edges.length <= maxEdges;
}

/** Pairs of positions: a change, then one that depends on it. */
export function waitsOf(changes: readonly Change[]): number[] {
  return planGraph({ changes }).edges.flatMap(({ earlier, later }) => [earlier, later]);
}

// Lays the graph out when the report is written, so that the page only draws it. Connected components are laid out separately and
// packed into rows: one layout of all would be as tall as the plan is long.

const gap = 28;
/** ratio of width to height of the drawing, like that of a screen */
const aspect = 1.7;

type Drawing = Pick<GraphView, 'nodes' | 'edges' | 'width' | 'height'>;

/** A connected component of the graph, laid out. */
interface Component {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly { readonly at: number; readonly x: number; readonly y: number }[];
  readonly edges: readonly GraphEdgeView[];
}

/** @param boxOf the content of a node, by its position */
export function layOut(graph: PlanGraph, boxOf: (at: number) => GraphBox): Drawing {
  const components = componentsOf(graph).map((members) => layOutComponent(graph, members));
  const places = packed(components);
  const nodes: GraphNodeView[] = [];
  const edges: GraphEdgeView[] = [];
  components.forEach((component, index) => {
    const { left = 0, top = 0 } = places[index] ?? {};
    for (const { at, x, y } of component.nodes) nodes[at] = { x: x + left, y: y + top, ...boxOf(at) };
    for (const edge of component.edges)
      edges.push({ ...edge, through: edge.through.map((value, i) => value + (i % 2 === 0 ? left : top)) });
  });
  const right = components.map(({ width }, index) => width + (places[index]?.left ?? 0));
  const bottom = components.map(({ height }, index) => height + (places[index]?.top ?? 0));
  return { nodes, edges, width: Math.max(0, ...right), height: Math.max(0, ...bottom) };
}

/** The positions of each connected component, in the order of the graph. */
function componentsOf({ nodes, edges }: PlanGraph): number[][] {
  const root = nodes.map((_, index) => index);
  const find = (start: number): number => {
    let at = start;
    while (root[at] !== at) at = root[at] = root[root[at] ?? at] ?? at;
    return at;
  };
  for (const { earlier, later } of edges) root[find(later)] = find(earlier);
  return [...Map.groupBy(nodes.keys(), find).values()];
}

function layOutComponent({ edges }: PlanGraph, members: readonly number[]): Component {
  const { width, height } = nodeSize;
  const [only] = members;
  if (members.length === 1 && only !== undefined)
    return { width, height, nodes: [{ at: only, x: width / 2, y: height / 2 }], edges: [] };
  const inside = new Set(members);
  const own = edges.filter(({ earlier }) => inside.has(earlier));
  const drawing = new Graph({ directed: true });
  drawing.setGraph({ rankdir: 'LR', nodesep: 18, ranksep: 64, marginx: 0, marginy: 0 });
  drawing.setDefaultEdgeLabel(() => ({}));
  for (const at of members) drawing.setNode(String(at), { width, height });
  for (const { earlier, later } of own) drawing.setEdge(String(earlier), String(later));
  layout(drawing);
  const placed = members.map((at) => {
    const { x, y } = drawing.node(String(at));
    return { at, x: Math.round(x), y: Math.round(y) };
  });
  const size = drawing.graph();
  return {
    width: Math.ceil(size.width ?? 0),
    height: Math.ceil(size.height ?? 0),
    nodes: placed,
    edges: own.map(({ earlier, later }) => {
      const points = drawing.edge(String(earlier), String(later)).points ?? [];
      // The page computes the ends of a line at the boxes; a single point between them adds nothing.
      const between = points.length > 3 ? points.slice(1, -1) : [];
      return {
        from: earlier,
        to: later,
        through: between.flatMap(({ x, y }) => [Math.round(x), Math.round(y)]),
      };
    }),
  };
}

/** The places of components in rows, tallest first: beside a tall component, smaller ones are stacked in columns. */
function packed(components: readonly Component[]): { readonly left: number; readonly top: number }[] {
  const area = components.reduce((sum, { width, height }) => sum + (width + gap) * (height + gap), 0);
  const limit = Math.max(Math.sqrt(area * aspect), ...components.map(({ width }) => width));
  const places: { left: number; top: number }[] = [];
  const row = { top: 0, height: 0 };
  const column = { left: 0, width: 0, bottom: 0 };
  const byHeight = [...components.entries()].sort(([, one], [, other]) => other.height - one.height);
  for (const [index, { width, height }] of byHeight) {
    const fitsBelow = column.bottom > 0 && column.bottom + height <= row.height && width <= column.width;
    if (!fitsBelow && column.width > 0)
      Object.assign(column, { left: column.left + column.width + gap, width: 0, bottom: 0 });
    if (!fitsBelow && column.left > 0 && column.left + width > limit) {
      Object.assign(row, { top: row.top + row.height + gap, height: 0 });
      column.left = 0;
    }
    places[index] = { left: column.left, top: row.top + column.bottom };
    column.width = Math.max(column.width, width);
    column.bottom += height + gap;
    row.height = Math.max(row.height, height);
  }
  return places;
}
