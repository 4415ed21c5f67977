/**
 * The graph of changes that depend on each other, as SVG, with pan and zoom by mouse, touch and keys. A node links to its
 * change in the table, and a long text is clipped to its box.
 */
import { counted } from '../../../model/quoted.ts';
import {
  type GraphEdgeView,
  type GraphNodeView,
  type GraphView,
  nodeSize,
  type PlanView,
} from '../report-view.ts';
import type { Changes } from './changes-section.ts';
import { button, code, element, grouped, onPrint, replace, section, svg } from './elements.ts';
import { addressOf } from './filters.ts';
import {
  type Camera,
  centre,
  clamp,
  fullView,
  handleTouch,
  pan,
  wantedHeight,
  zoom,
} from './graph-camera.ts';

const hint =
  'Drag to move; Ctrl and the wheel, or two fingers, zoom. Keys: the arrows move, + and − zoom, 0 shows all, N and P select the next and the previous change, Enter opens it in the table.';

const step = 60;
const factor = 1.25;

type PlanWithGraph = PlanView & Required<Pick<PlanView, 'graph'>>;

export function graphSection(plan: PlanView, changes: Changes): HTMLElement | undefined {
  const { graph } = plan;
  return graph === undefined || graph.edges.length === 0
    ? undefined
    : new GraphPanel({ ...plan, graph }, changes).section;
}

class GraphPanel {
  readonly section: HTMLElement;
  readonly #plan: PlanWithGraph;
  readonly #changes: Changes;
  readonly #drawing: ReturnType<typeof drawGraph>;
  readonly #frame: HTMLElement;
  readonly #selection = element('p', { class: 'selection', role: 'status' });
  #camera: Camera = { x: 0, y: 0, scale: 1 };
  /** whether the user has moved the view: if so, it stays there when the window is resized */
  #isMoved = false;
  #isPrinted = false;
  #selected: number | undefined;

  constructor(plan: PlanWithGraph, changes: Changes) {
    this.#plan = plan;
    this.#changes = changes;
    this.#drawing = drawGraph(plan.graph);
    this.#frame = element(
      'div',
      {
        class: 'graph-frame',
        tabindex: 0,
        role: 'application',
        'aria-label': nameOf(plan),
        'aria-describedby': 'graph-hint',
      },
      this.#drawing.svg,
    );
    this.section = section(
      'Graph',
      element('p', {}, introduction(plan)),
      element('div', { class: 'graph-tools' }, this.#buttons(), this.#selection),
      this.#frame,
      element('p', { class: 'muted hint', id: 'graph-hint' }, hint),
    );
    this.#listen();
  }

  #buttons(): HTMLElement[] {
    return [
      button('+', () => this.#zoom(factor), { class: 'small', 'aria-label': 'Zoom in' }),
      button('−', () => this.#zoom(1 / factor), { class: 'small', 'aria-label': 'Zoom out' }),
      button('Show all', () => this.#showAll(), { class: 'small' }),
    ];
  }

  #listen(): void {
    const { graph } = this.#plan;
    this.#frame.addEventListener('keydown', (event) => this.#press(event));
    handleTouch(this.#frame, {
      onPan: (by) => this.#moveTo(pan(this.#camera, by)),
      onZoom: (by, at) => this.#moveTo(zoom(this.#camera, by, at)),
      onTap: (target) => {
        const node = target.closest('[data-node]')?.getAttribute('data-node');
        this.#select(node === null || node === undefined ? undefined : Number(node));
      },
    });
    new ResizeObserver(() => this.#resize()).observe(this.#frame);
    // Prints the whole graph.
    onPrint(
      () => {
        this.#isPrinted = true;
        this.#drawing.svg.setAttribute('viewBox', `0 0 ${graph.width} ${graph.height}`);
        this.#drawing.svg.style.setProperty('max-width', `${graph.width}px`);
      },
      () => {
        this.#isPrinted = false;
        this.#drawing.svg.style.removeProperty('max-width');
        this.#show(this.#camera);
      },
    );
  }

  #resize(): void {
    if (this.#isPrinted) return;
    const { graph } = this.#plan;
    const height = wantedHeight(graph, this.#frame.clientWidth);
    this.#frame.style.setProperty('--graph-height', `${height}px`);
    this.#show(this.#isMoved ? this.#camera : fullView(graph, this.#screen()));
  }

  #press(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = this.#keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  }

  readonly #keys: Readonly<Record<string, () => void>> = {
    ArrowLeft: () => this.#move(step, 0),
    ArrowRight: () => this.#move(-step, 0),
    ArrowUp: () => this.#move(0, step),
    ArrowDown: () => this.#move(0, -step),
    '+': () => this.#zoom(factor),
    '=': () => this.#zoom(factor),
    '-': () => this.#zoom(1 / factor),
    '0': () => this.#showAll(),
    n: () => this.#walk(1),
    p: () => this.#walk(-1),
    Escape: () => this.#select(undefined),
    Enter: () => this.#go(this.#nodeAt(this.#selected)),
  };

  #screen() {
    return { width: this.#frame.clientWidth || 800, height: this.#frame.clientHeight || 400 };
  }

  #moveTo(to: Camera): void {
    this.#isMoved = true;
    this.#show(to);
  }

  #show(to: Camera): void {
    const { width, height } = this.#screen();
    this.#camera = clamp(to, this.#plan.graph, { width, height });
    const { x, y, scale } = this.#camera;
    const box = [x, y, width / scale, height / scale].map((value) => value.toFixed(1));
    this.#drawing.svg.setAttribute('viewBox', box.join(' '));
  }

  #showAll(): void {
    this.#moveTo(fullView(this.#plan.graph, this.#screen()));
  }

  #move(x: number, y: number): void {
    this.#moveTo(pan(this.#camera, { x, y }));
  }

  #zoom(by: number): void {
    const { width, height } = this.#screen();
    this.#moveTo(zoom(this.#camera, by, { x: width / 2, y: height / 2 }));
  }

  #nodeAt(index: number | undefined): GraphNodeView | undefined {
    return index === undefined ? undefined : this.#plan.graph.nodes[index];
  }

  #select(index: number | undefined): void {
    this.#selected = index;
    this.#drawing.select(index);
    const node = this.#nodeAt(index);
    const lead = () => button('Show in the table', () => this.#go(node), { class: 'small' });
    replace(this.#selection, ...(node === undefined ? [] : [selectionText(this.#plan, node), ' ', lead()]));
  }

  #go(node: GraphNodeView | undefined): void {
    const { change, group, action = 'none' } = node ?? {};
    if (change !== undefined) this.#changes.show(change);
    if (group === undefined) return;
    const { kind, target = '' } = group;
    this.#changes.filter({ actions: new Set([action]), kind, target });
  }

  #walk(by: number): void {
    const count = this.#plan.graph.nodes.length;
    const from = this.#selected ?? (by > 0 ? -1 : count);
    this.#select((from + by + count) % count);
    const node = this.#nodeAt(this.#selected);
    if (node !== undefined) this.#moveTo(centre(this.#camera, node, this.#screen()));
  }
}

function introduction({ graph, changes }: PlanWithGraph): string {
  const arrows = 'An arrow points from a change to one that depends on it.';
  if (!graph.grouped) return arrows;
  const by = graph.nodes.some(({ group }) => group?.target !== undefined)
    ? 'action, kind and target'
    : 'action and kind';
  return `${grouped(changes.length)} changes are too many to draw: those of one ${by} are one box. ${arrows}`;
}

function nameOf({ graph }: PlanWithGraph): string {
  const boxes = graph.grouped ? counted(graph.nodes.length, 'group') : counted(graph.nodes.length, 'change');
  return `Graph of ${boxes} and ${counted(graph.edges.length, 'arrow')}`;
}

function selectionText({ changes }: PlanView, { action, label, detail, change }: GraphNodeView): HTMLElement {
  const found = change === undefined ? undefined : changes[change];
  const name = found === undefined ? [label, detail].filter(Boolean).join(' · ') : addressOf(found);
  return element('span', {}, `${action} `, code(name));
}

// The graph as SVG.

interface GraphDrawing {
  readonly svg: SVGSVGElement;
  /** marks one node, and the arrows from and to it; none with `undefined` */
  select(node: number | undefined): void;
}

function drawGraph(graph: GraphView): GraphDrawing {
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

/** A smooth curve from the right of one box to the left of another. */
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
