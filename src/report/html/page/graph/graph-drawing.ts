/** The graph as SVG: every node is clipped to its box, whatever its words are. */
import { nodeSize } from '../../node-size.ts';
import type { GraphEdgeView, GraphNodeView, GraphView } from '../../report-view.ts';
import { svg } from '../elements.ts';

interface GraphDrawing {
  readonly svg: SVGSVGElement;
  /** marks one node, and the arrows from and to it; none with `undefined` */
  select(node: number | undefined): void;
}

export function drawGraph(graph: GraphView): GraphDrawing {
  const edges = graph.edges.map((edge) =>
    svg('path', { class: 'edge', d: curve(graph, edge), 'marker-end': 'url(#arrow)' }),
  );
  const nodes = graph.nodes.map(drawNode);
  const arrow = svg(
    'marker',
    { id: 'arrow', viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, orient: 'auto' },
    svg('path', { d: 'M0 0 8 4 0 8z', class: 'arrow-head' }),
  );
  const drawing = svg(
    'svg',
    { class: 'graph', 'aria-hidden': 'true', focusable: 'false' },
    svg('defs', {}, arrow),
    svg('g', {}, edges),
    svg('g', {}, nodes),
  );
  let selected: number | undefined;
  const mark = (node: number, isOn: boolean) => {
    nodes[node]?.classList.toggle('selected', isOn);
    graph.edges.forEach(({ from, to }, index) => {
      if (from === node || to === node) edges[index]?.classList.toggle('selected', isOn);
    });
  };
  return {
    svg: drawing,
    select: (node) => {
      if (selected !== undefined) mark(selected, false);
      selected = node;
      if (node !== undefined) mark(node, true);
    },
  };
}

function drawNode(node: GraphNodeView, index: number): SVGElement {
  const { width, height } = nodeSize;
  const { x, y, action, label, detail } = node;
  return svg(
    'svg',
    { class: `node ${action}`, x: x - width / 2, y: y - height / 2, width, height, 'data-node': index },
    svg('rect', { x: 1, y: 1, width: width - 2, height: height - 2, rx: 6 }),
    svg('rect', { class: 'stripe', x: 1, y: 1, width: 5, height: height - 2, rx: 2 }),
    svg('text', { class: 'node-label', x: 16, y: 20 }, label),
    svg('text', { class: 'node-detail', x: 16, y: 38 }, `${action} ${detail}`),
  );
}

/** From the right of one box to the left of another, level at every point, so that no corner is left. */
function curve({ nodes }: GraphView, { from, to, through }: GraphEdgeView): string {
  const [start, end] = [nodes[from], nodes[to]];
  if (start === undefined || end === undefined) return '';
  const points = [start.x + nodeSize.width / 2, start.y, ...through, end.x - nodeSize.width / 2 - 1, end.y];
  let path = `M${points[0]} ${points[1]}`;
  for (let at = 2; at + 1 < points.length; at += 2) {
    const [x = 0, y = 0, nextX = 0, nextY = 0] = points.slice(at - 2, at + 2);
    const middle = (x + nextX) / 2;
    path += `C${middle} ${y} ${middle} ${nextY} ${nextX} ${nextY}`;
  }
  return path;
}
