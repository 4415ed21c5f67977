/** Finds who keeps access to the state of a released workspace: consumers that we added and that still exist. Pure. */
import type { LedgerRecord } from '../../model/stack/ledger.ts';
import { quoted } from '../../model/quoted.ts';
import { edgesOf, recordedEdges } from './edges.ts';
import type { LiveConsumers } from './read-edges.ts';

export function remainingAccess(
  record: Pick<LedgerRecord, 'marks'>,
  live?: LiveConsumers,
): readonly string[] {
  const { edges } = live?.facts ?? {};
  const now = edges === undefined ? undefined : new Set(edgesOf(edges).values());
  const readers = [...recordedEdges(record)]
    .filter(([, id]) => now?.has(id) ?? true)
    .map(([name]) => quoted(name));
  if (readers.length === 0) return [];
  const keep = readers.length === 1 ? 'keeps' : 'keep';
  return [`${readers.toSorted().join(', ')} ${keep} reading its state`];
}
