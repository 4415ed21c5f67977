/** The changes of a plan and their dependencies: a call needs another call, or the id that another call returns. */
import { type CallId, IdReference, referencesIn } from '../../model/call.ts';
import type { Action, Change } from '../../model/change.ts';
import type { Plan } from '../../model/plan.ts';
import { formatAddress } from '../../model/address.ts';

interface GraphNode {
  /** shown, not unique */
  readonly label: string;
  readonly kind: string;
  /** empty for a group across targets */
  readonly target: string;
  readonly action: Action;
}

/** The later node depends on the earlier one; both by position. */
interface GraphEdge {
  readonly earlier: number;
  readonly later: number;
}

export interface PlanGraph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

/** One node for each change, in the order of the plan. */
export function planGraph({ changes }: Pick<Plan, 'changes'>): PlanGraph {
  const nodes = changes.map(({ address, action }) => ({
    label: formatAddress(address),
    kind: address.kind,
    target: address.target,
    action,
  }));
  return { nodes, edges: edgesOf(changes, [...changes.keys()]) };
}

/**
 * One node for all changes of the same kind, target and action: for plans with too many changes to draw.
 * @param acrossTargets ignores the target
 */
export function groupedGraph(
  { changes }: Pick<Plan, 'changes'>,
  { acrossTargets = false }: { readonly acrossTargets?: boolean } = {},
): PlanGraph {
  const targetOf = ({ address }: Change) => (acrossTargets ? '' : address.target);
  const groupOf = (change: Change) => JSON.stringify([targetOf(change), change.address.kind, change.action]);
  const groups = [...Map.groupBy(changes, groupOf)];
  const position = new Map(groups.map(([key], index) => [key, index]));
  const nodes = groups.flatMap(([, some]) => {
    const [first] = some;
    if (first === undefined) return [];
    const { address, action } = first;
    const { kind } = address;
    return [{ label: `${some.length} ${kind}`, kind, target: targetOf(first), action }];
  });
  return {
    nodes,
    edges: edgesOf(
      changes,
      changes.map((change) => position.get(groupOf(change)) ?? 0),
    ),
  };
}

/** @param nodeOf the node of each change */
function edgesOf(changes: readonly Change[], nodeOf: readonly number[]): GraphEdge[] {
  const byCall = new Map<CallId, number>();
  const byCreation = new Map<string, number>();
  changes.forEach(({ calls }, index) => {
    for (const { id, createsId } of calls) {
      byCall.set(id, index);
      if (createsId !== undefined) byCreation.set(createsId.address, index);
    }
  });
  const edges = new Map<string, GraphEdge>();
  changes.forEach((change, index) => {
    for (const cause of causesOf(change, byCall, byCreation)) {
      const [earlier, later] = [nodeOf[cause], nodeOf[index]];
      if (earlier === undefined || later === undefined || earlier === later) continue;
      edges.set(`${earlier} ${later}`, { earlier, later });
    }
  });
  return [...edges.values()];
}

function causesOf(
  { calls, sharedCall }: Change,
  byCall: ReadonlyMap<CallId, number>,
  byCreation: ReadonlyMap<string, number>,
): number[] {
  const needed = [...(sharedCall === undefined ? [] : [sharedCall]), ...calls.flatMap(({ needs }) => needs)];
  const ids = calls.flatMap(({ path, body }) => [
    ...path.filter((segment) => segment instanceof IdReference),
    ...referencesIn(body).filter((reference) => reference instanceof IdReference),
  ]);
  return [...needed.map((id) => byCall.get(id)), ...ids.map(({ $id }) => byCreation.get($id))].filter(
    (index) => index !== undefined,
  );
}
