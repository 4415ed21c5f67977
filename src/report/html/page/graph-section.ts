/** The graph of what waits for what: moved and zoomed with the mouse, fingers and keys; a node leads to its change in the table. */
import { counted } from '../../../model/counted.ts';
import type { GraphNodeView, PlanView } from '../report-view.ts';
import { begin, type Camera, centre, clamp, fit, pan, wantedHeight, zoom } from './camera.ts';
import type { Changes } from './changes-section.ts';
import { button, code, element, grouped, replace } from './elements.ts';
import { drawGraph } from './graph-drawing.ts';
import { listenToFingers } from './graph-pointers.ts';
import { addressOf } from './filters.ts';
import { onPrint } from './on-print.ts';
import { section } from './section.ts';

const hint =
  'Drag to move; Ctrl and the wheel, or two fingers, zoom. Keys: the arrows move, + and − zoom, 0 shows all, N and P go from one to the next, Enter opens it in the table.';

const step = 60;
const factor = 1.25;

export function graphSection(plan: PlanView, changes: Changes): HTMLElement | undefined {
  const { graph } = plan;
  if (graph.nodes.length === 0) return undefined;
  const drawing = drawGraph(graph);
  const frame = element(
    'div',
    {
      class: 'graph-frame',
      tabindex: 0,
      role: 'application',
      'aria-label': nameOf(plan),
      'aria-describedby': 'graph-hint',
    },
    drawing.svg,
  );
  const selection = element('p', { class: 'selection', role: 'status' });
  let camera: Camera = { x: 0, y: 0, scale: 1 };
  let isTouched = false;
  let selected: number | undefined;

  const screen = () => ({ width: frame.clientWidth || 800, height: frame.clientHeight || 400 });
  const middle = () => ({ x: screen().width / 2, y: screen().height / 2 });
  const see = (to: Camera, isByHand = true) => {
    camera = clamp(to, graph, screen());
    isTouched ||= isByHand;
    const { width, height } = screen();
    drawing.svg.setAttribute(
      'viewBox',
      [camera.x, camera.y, width / camera.scale, height / camera.scale]
        .map((value) => value.toFixed(1))
        .join(' '),
    );
  };
  const seeAll = () => see(fit(graph, screen()));
  const zoomBy = (by: number) => see(zoom(camera, by, middle()));

  function select(index: number | undefined): void {
    selected = index;
    drawing.select(index);
    const node = index === undefined ? undefined : graph.nodes[index];
    replace(
      selection,
      ...(node === undefined
        ? []
        : [selectionText(plan, node), ' ', button('Show in the table', () => go(node), { class: 'small' })]),
    );
  }

  function go({ change, group, action }: GraphNodeView): void {
    if (change !== undefined) changes.show(change);
    else if (group !== undefined)
      changes.filter({ actions: new Set([action]), kind: group.kind, target: group.target ?? '' });
  }

  function walk(by: number): void {
    const count = graph.nodes.length;
    const next = selected === undefined ? (by > 0 ? 0 : count - 1) : (selected + by + count) % count;
    select(next);
    const node = graph.nodes[next];
    if (node !== undefined) see(centre(camera, node, screen()));
  }

  const keys: Readonly<Record<string, () => void>> = {
    ArrowLeft: () => see(pan(camera, { x: step, y: 0 })),
    ArrowRight: () => see(pan(camera, { x: -step, y: 0 })),
    ArrowUp: () => see(pan(camera, { x: 0, y: step })),
    ArrowDown: () => see(pan(camera, { x: 0, y: -step })),
    '+': () => zoomBy(factor),
    '=': () => zoomBy(factor),
    '-': () => zoomBy(1 / factor),
    '0': seeAll,
    n: () => walk(1),
    p: () => walk(-1),
    Escape: () => select(undefined),
    Enter: () => {
      const node = selected === undefined ? undefined : graph.nodes[selected];
      if (node !== undefined) go(node);
    },
  };
  frame.addEventListener('keydown', (event) => {
    const act = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (act === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });
  listenToFingers(frame, {
    onPan: (by) => see(pan(camera, by)),
    onZoom: (by, at) => see(zoom(camera, by, at)),
    onTap: (target) => {
      const node = target.closest('[data-node]')?.getAttribute('data-node');
      select(node === null || node === undefined ? undefined : Number(node));
    },
  });
  let isPrinted = false;
  new ResizeObserver(() => {
    if (isPrinted) return;
    frame.style.setProperty('--graph-height', `${wantedHeight(graph, frame.clientWidth)}px`);
    see(isTouched ? camera : begin(graph, screen()), false);
  }).observe(frame);
  // On paper all of it is seen.
  onPrint(
    () => {
      isPrinted = true;
      drawing.svg.setAttribute('viewBox', `0 0 ${graph.width} ${graph.height}`);
    },
    () => {
      isPrinted = false;
      see(camera, false);
    },
  );
  return section(
    'Graph',
    element('p', {}, introduction(plan)),
    element(
      'div',
      { class: 'graph-tools' },
      button('+', () => zoomBy(factor), { class: 'small', 'aria-label': 'Zoom in' }),
      button('−', () => zoomBy(1 / factor), { class: 'small', 'aria-label': 'Zoom out' }),
      button('Show all', seeAll, { class: 'small' }),
      selection,
    ),
    frame,
    element('p', { class: 'muted hint', id: 'graph-hint' }, hint),
  );
}

function introduction({ graph, changes, waits }: PlanView): string {
  const arrows =
    waits.length === 0
      ? 'No change waits for another one.'
      : 'An arrow leads from a change to one that waits for it.';
  if (!graph.grouped) return arrows;
  const by = graph.nodes.some(({ group }) => group?.target !== undefined)
    ? 'action, kind and target'
    : 'action and kind';
  return `${grouped(changes.length)} changes are too many to draw: those of one ${by} are one box. ${arrows}`;
}

function nameOf({ graph }: PlanView): string {
  const boxes = graph.grouped ? counted(graph.nodes.length, 'group') : counted(graph.nodes.length, 'change');
  return `Graph of ${boxes} and ${counted(graph.edges.length, 'arrow')}`;
}

function selectionText({ changes }: PlanView, { action, label, detail, change }: GraphNodeView): HTMLElement {
  const found = change === undefined ? undefined : changes[change];
  const name = found === undefined ? [label, detail].filter(Boolean).join(' · ') : addressOf(found);
  return element('span', {}, `${action} `, code(name));
}
