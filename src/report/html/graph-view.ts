/** The graph of a plan as the page draws it: each change while they can be seen, else groups of them. */
import type { Change } from '../../model/plan/change.ts';
import { printable } from '../format/printable.ts';
import { groupedGraph, type PlanGraph, planGraph } from '../graph/plan-graph.ts';
import { layOut } from './graph-layout.ts';
import type { GraphView } from './report-view.ts';

const maxNodes = 500;
/** Nobody follows more lines, and a layout of more takes minutes. */
const maxEdges = 1_500;

export function graphView(changes: readonly Change[]): GraphView {
  const single = planGraph({ changes });
  if (canBeSeen(single)) {
    const named = single.nodes.map((node, at) => ({ ...node, label: changes[at]?.address.name ?? '' }));
    return {
      ...layOut({ nodes: named, edges: single.edges }, (at) => ({ change: at })),
      grouped: false,
    };
  }
  const perTarget = groupedGraph({ changes });
  const groups = canBeSeen(perTarget) ? perTarget : groupedGraph({ changes }, { acrossTargets: true });
  const groupOf = ({ kind, target }: Pick<PlanGraph['nodes'][number], 'kind' | 'target'>) => ({
    kind: printable(kind),
    ...(target === '' ? {} : { target: printable(target) }),
  });
  return {
    ...layOut(groups, (at) => {
      const node = groups.nodes[at];
      return node === undefined ? {} : { group: groupOf(node) };
    }),
    grouped: true,
  };
}

function canBeSeen({ nodes, edges }: PlanGraph): boolean {
  return nodes.length <= maxNodes && edges.length <= maxEdges;
}

/** By position: a change, one that waits for it, and so on. */
export function waitsOf(changes: readonly Change[]): number[] {
  return planGraph({ changes }).edges.flatMap(({ earlier, later }) => [earlier, later]);
}
