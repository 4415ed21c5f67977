/** The graph of a plan as the page draws it: each change while they can be seen, else groups of them. */
import type { Change } from '../../model/plan/change.ts';
import { printable } from '../format/printable.ts';
import { groupedGraph, type PlanGraph, planGraph } from '../graph/plan-graph.ts';
import { layOut } from './graph-layout.ts';
import type { GraphBox, GraphView } from './report-view.ts';

const maxNodes = 500;
/** Nobody follows more lines, and a layout of more takes minutes. */
const maxEdges = 1_500;

export function graphView(changes: readonly Change[]): GraphView {
  const single = planGraph({ changes });
  if (canBeSeen(single)) return { ...layOut(single, (at) => changeBox(single, changes, at)), grouped: false };
  const perTarget = groupedGraph({ changes });
  const groups = canBeSeen(perTarget) ? perTarget : groupedGraph({ changes }, { acrossTargets: true });
  return { ...layOut(groups, (at) => groupBox(groups, at)), grouped: true };
}

function changeBox(graph: PlanGraph, changes: readonly Change[], at: number): GraphBox {
  const { action = 'none', kind = '', target = '' } = graph.nodes[at] ?? {};
  return {
    action,
    label: clipped(changes[at]?.address.name ?? ''),
    detail: clipped([kind, ...named(graph, target)].join(' · ')),
    change: at,
  };
}

function groupBox(graph: PlanGraph, at: number): GraphBox {
  const { action = 'none', kind = '', target = '', label = '' } = graph.nodes[at] ?? {};
  return {
    action,
    label: clipped(label),
    detail: clipped(named(graph, target).join('')),
    group: { kind: printable(kind), ...(target === '' ? {} : { target: printable(target) }) },
  };
}

/** Where all have the same target, it goes without saying. */
function named({ nodes }: PlanGraph, target: string): string[] {
  return nodes.every((node) => node.target === target) ? [] : [target];
}

const maxLabel = 38;

/** A box has room for so much; the table has all of it. */
function clipped(text: string): string {
  const shown = printable(text.slice(0, maxLabel + 1));
  return shown.length <= maxLabel ? shown : `${shown.slice(0, maxLabel)}…`.replace(/[\ud800-\udbff]…$/, '…');
}

function canBeSeen({ nodes, edges }: PlanGraph): boolean {
  return nodes.length <= maxNodes && edges.length <= maxEdges;
}

/** By position: a change, one that waits for it, and so on. */
export function waitsOf(changes: readonly Change[]): number[] {
  return planGraph({ changes }).edges.flatMap(({ earlier, later }) => [earlier, later]);
}
