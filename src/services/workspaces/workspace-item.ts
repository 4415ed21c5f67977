/** A workspace document of the API, reduced to the members that are used. Documents without id or name are ignored. */
import { isJsonObject, type Json, type JsonObject } from '../../model/json/json.ts';

export interface WorkspaceItem {
  readonly id: string;
  readonly name: string;
  readonly attributes: JsonObject;
  readonly relationships: JsonObject;
}

/** Undefined for a value that is no workspace document. Source: wire/workspaces 5.3. */
export function asWorkspaceItem(document: Json | undefined): WorkspaceItem | undefined {
  if (!isJsonObject(document)) return undefined;
  const { id, attributes, relationships } = document;
  if (typeof id !== 'string' || !isJsonObject(attributes)) return undefined;
  const name = attributes['name'];
  if (typeof name !== 'string') return undefined;
  return { id, name, attributes, relationships: isJsonObject(relationships) ? relationships : {} };
}

/** The id in a relationship; null when it is not set. Some services leave it out then. */
export function relatedId(item: WorkspaceItem, relationship: string): string | null {
  const link = item.relationships[relationship];
  const data = isJsonObject(link) ? link['data'] : undefined;
  const id = isJsonObject(data) ? data['id'] : undefined;
  return typeof id === 'string' ? id : null;
}

/** The agent pool: a relationship, or with some services an attribute (wire/workspaces 4). */
export function poolOf(item: WorkspaceItem): string | null {
  const { 'agent-pool-id': attribute } = item.attributes;
  return (
    relatedId(item, 'agent-pool') ?? (typeof attribute === 'string' && attribute !== '' ? attribute : null)
  );
}
