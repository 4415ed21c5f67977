/**
 * The graph of a plan as Mermaid. GitHub refuses a diagram of more than 50,000 characters or 500 edges, so a larger plan is
 * grouped. Names cannot act as syntax: every special character is written as its character code.
 */
import type { Action } from '../../model/change.ts';
import type { Plan } from '../../model/plan.ts';
import { counted } from '../../model/quoted.ts';
import { clip, printable } from '../view/printable.ts';
import { actionSymbols } from '../text/change.ts';
import { partCounts } from '../view/plan-summary.ts';
import { groupedGraph, type PlanGraph, planGraph } from '../view/plan-graph.ts';

const maxLength = 45_000;
const maxEdges = 450;
const maxNodes = 200;
const maxLabel = 80;

/** The text of the diagram, without a final line end. */
export function renderMermaid(plan: DrawnPlan): string {
  const single = planGraph(plan);
  if (single.nodes.length <= maxNodes && single.edges.length <= maxEdges) {
    const text = diagram(single, plan);
    if (text.length <= maxLength) return text;
  }
  return cut(groupedGraph(plan), plan);
}

type DrawnPlan = Pick<Plan, 'changes' | 'stack' | 'selection' | 'part'>;

/** Cuts a grouped graph to the limits: there are few kinds, but a plan may have any number of targets. */
function cut(graph: PlanGraph, plan: DrawnPlan): string {
  const nodes = graph.nodes.slice(0, maxNodes);
  const isShown = (index: number) => index < nodes.length;
  const edges = graph.edges
    .filter(({ earlier, later }) => isShown(earlier) && isShown(later))
    .slice(0, maxEdges);
  const left = [
    ...leftOut(graph.nodes.length - nodes.length, 'box'),
    ...leftOut(graph.edges.length - edges.length, 'arrow'),
  ].join(' and ');
  return diagram({ nodes, edges }, plan, left);
}

function leftOut(count: number, what: 'box' | 'arrow'): string[] {
  if (count === 0) return [];
  return [what === 'box' ? counted(count, 'more box', 'more boxes') : counted(count, 'more arrow')];
}

const colours: Readonly<Record<Action, string>> = {
  create: '#1a7f37',
  adopt: '#1a7f37',
  update: '#9a6700',
  release: '#cf222e',
  delete: '#cf222e',
  none: '#656d76',
};

/** @param left what was left out; empty when nothing was */
function diagram({ nodes, edges }: PlanGraph, plan: DrawnPlan, left = ''): string {
  const { changes, stack, part } = plan;
  const of = part === undefined ? '' : `, of a part of it: ${partCounts(plan)}`;
  const needed = new Set<string>(part?.along.map(({ address }) => address));
  const targets = [...new Set(nodes.map(({ target }) => target))];
  const shown = changes.length === nodes.length ? '' : `, grouped`;
  const title = `${changes.length} changes of ${printable(stack)}${shown}${of}`;
  const used = [...new Set(nodes.map(({ action }) => action))].sort();
  return [
    'flowchart LR',
    `  accTitle: ${title.replace(/[^\w .,-]/g, '?')}`,
    ...targets.flatMap((target, index) => [
      `  subgraph t${index}["${labelText(target)}"]`,
      ...nodes.flatMap((node, at) => (node.target === target ? [`    ${nodeText(node, at, needed)}`] : [])),
      '  end',
    ]),
    ...(left === '' ? [] : [`  more["and ${left}"]`]),
    ...edges.map(({ earlier, later }) => `  n${earlier} --> n${later}`),
    ...used.map((action) => `  classDef ${action}Change stroke:${colours[action]},stroke-width:2px`),
  ].join('\n');
}

/** The text of a node. It also names the action, for readers who cannot see its colour. */
function nodeText(
  { action, label }: PlanGraph['nodes'][number],
  index: number,
  needed: ReadonlySet<string>,
): string {
  const along = needed.has(label) ? '<br>not selected' : '';
  return `n${index}["${labelText(actionSymbols[action])} ${action}<br>${labelText(label)}${along}"]:::${action}Change`;
}

function labelText(text: string): string {
  return clip(text, maxLabel).replace(/[^\w ./-]/gu, (character) => `#${character.codePointAt(0)};`);
}
