/** A workspace document of the API, reduced to what is read of it. Only documents with an id and a name count. */
import { isJsonObject, type Json, type JsonObject } from '../../model/json/json.ts';

export interface WorkspaceItem {
  readonly id: string;
  readonly name: string;
  readonly attributes: JsonObject;
  readonly relationships: JsonObject;
}

/** Undefined for what is no workspace document. Source: wire/workspaces 5.3. */
export function asWorkspaceItem(document: Json | undefined): WorkspaceItem | undefined {
  if (!isJsonObject(document)) return undefined;
  const { id, attributes, relationships } = document;
  if (typeof id !== 'string' || !isJsonObject(attributes)) return undefined;
  const name = attributes['name'];
  if (typeof name !== 'string') return undefined;
  return { id, name, attributes, relationships: isJsonObject(relationships) ? relationships : {} };
}

/** The id that a relationship points at; null when it is unset, which some services say by leaving it out. */
export function relatedId(item: WorkspaceItem, relationship: string): string | null {
  const link = item.relationships[relationship];
  const data = isJsonObject(link) ? link['data'] : undefined;
  const id = isJsonObject(data) ? data['id'] : undefined;
  return typeof id === 'string' ? id : null;
}
