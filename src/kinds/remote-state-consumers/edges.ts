/** Edges as they stand in facts and marks: consumer name to workspace id. Identity is the id, for a name can move. */
import { isJsonObject, type Json } from '../../model/json/json.ts';
import type { Spec } from '../../model/resource/resource.ts';

export function edgesOf(value: Json | undefined): ReadonlyMap<string, string> {
  if (!isJsonObject(value)) return new Map();
  return new Map(Object.entries(value).map(([name, id]) => [name, String(id)]));
}

export function consumersOf({ consumers }: Spec): readonly string[] {
  return Array.isArray(consumers) ? consumers.map(String) : [];
}
