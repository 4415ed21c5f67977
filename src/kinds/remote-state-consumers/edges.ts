/** Edges as facts and marks hold them: consumer name to workspace id. The id is the identity, because names can change. */
import { isJsonObject, type Json } from '../../model/json/json.ts';
import type { LedgerRecord } from '../../model/stack/ledger.ts';
import type { RemoteStateConsumersSpec } from './schema.ts';

export function edgesOf(value: Json | undefined): ReadonlyMap<string, string> {
  if (!isJsonObject(value)) return new Map();
  return new Map(Object.entries(value).map(([name, id]) => [name, String(id)]));
}

/** The edges that this stack has added, according to the ledger. */
export function recordedEdges(record: Pick<LedgerRecord, 'marks'> | undefined): ReadonlyMap<string, string> {
  const { edges } = record?.marks ?? {};
  return edgesOf(edges);
}

export function consumersOf({ consumers }: RemoteStateConsumersSpec): readonly string[] {
  return Array.isArray(consumers) ? consumers.map(String) : [];
}
