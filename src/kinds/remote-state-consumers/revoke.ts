/** What the ledger records of consumers, and which of them are removed when their document is gone (rules 15, 25). */

import type { Json } from '../../model/json/json.ts';
import type { MarkContext } from '../../model/kind/kind.ts';
import type { LedgerRecord } from '../../model/stack/ledger.ts';
import { consumersOf, edgesOf, recordedEdges } from './edges.ts';
import type { LiveConsumers } from './read-edges.ts';
import type { RemoteStateConsumersSpec } from './schema.ts';

/**
 * `{ edges: { name: id } }`: the edges that this stack has added. A removed edge stays recorded until a plan has found it
 * gone.
 */
export function ledgerMarks({
  change,
  desired,
  live,
  record,
  idOf,
}: MarkContext<RemoteStateConsumersSpec, LiveConsumers>): Readonly<Record<string, Json>> {
  const target = (change ?? live)?.address.target;
  if (target === undefined) return {};
  const given = consumersOf(desired).flatMap((name) => {
    const id = idOf({ kind: 'Workspace', target, name });
    return id === undefined ? [] : [[name, id] as const];
  });
  const known = change === undefined ? [] : recordedEdges(record);
  return { edges: Object.fromEntries([...known, ...given]) };
}

/** The consumers that remain: all but the recorded ones. Empty spec for a state that is shared with all. */
export function withdrawAccess(
  record: Pick<LedgerRecord, 'marks'>,
  live: LiveConsumers,
): RemoteStateConsumersSpec {
  if (live.facts.global === true || live.facts.project === true) return {};
  const recorded = new Set(recordedEdges(record).values());
  const edges = edgesOf(live.facts.edges);
  return { consumers: consumersOf(live.spec).filter((name) => !recorded.has(edges.get(name) ?? '')) };
}
