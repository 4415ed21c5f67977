/** Who goes on reading a state once its workspace is let go: the consumers that we let in, and that still are. Pure. */
import type { LedgerRecord } from '../../model/stack/ledger.ts';
import type { LiveResource } from '../../model/resource/resource.ts';
import { edgesOf } from './edges.ts';

export function remains({ marks = {} }: LedgerRecord, live?: LiveResource): readonly string[] {
  const now = live?.facts['edges'] === undefined ? undefined : new Set(edgesOf(live.facts['edges']).values());
  const readers = [...edgesOf(marks['edges'])]
    .filter(([, id]) => now?.has(id) ?? true)
    .map(([name]) => `"${name}"`);
  if (readers.length === 0) return [];
  const keep = readers.length === 1 ? 'keeps' : 'keep';
  return [`${readers.toSorted().join(', ')} ${keep} reading its state`];
}
