/** Request bodies for workspaces, in the neutral names of wire/workspaces 5. */
import { ownershipTagKey } from '../../model/resource/claim.ts';
import type { Json, JsonObject } from '../../model/json/json.ts';
import type { Dialect } from '../../model/stack/target.ts';
import type { Tags } from './bound-tags.ts';

/** The body of a create or an update. Empty parts are left out. */
export function workspaceBody(attributes: JsonObject, relationships: JsonObject = {}): JsonObject {
  return {
    data: {
      type: 'workspaces',
      ...(Object.keys(attributes).length === 0 ? {} : { attributes }),
      ...(Object.keys(relationships).length === 0 ? {} : { relationships }),
    },
  };
}

/** The value of `relationships.tag-bindings`, and the body of a call that adds bindings; sorted by key, the claim last. */
export function tagBindingList(tags: Tags, claim?: string): JsonObject {
  const bindings = Object.keys(tags)
    .sort()
    .map((key) => tagBinding(key, tags[key] ?? ''));
  return { data: claim === undefined ? bindings : [...bindings, tagBinding(ownershipTagKey, claim)] };
}

/** The value of `relationships.tags` in a create, and the body of a call that adds or removes flat tags. */
export function flatTagList(names: readonly string[]): JsonObject {
  return { data: names.map((name) => ({ type: 'tags', attributes: { name } })) };
}

function tagBinding(key: string, value: string): JsonObject {
  return { type: 'tag-bindings', attributes: { key, value } };
}

/**
 * The attribute that every update must repeat, because a service may reset it to false when it is left out (rule 13).
 * Empty where the service does not answer it.
 */
export function repeatedAssessments(live: Json | undefined): JsonObject {
  return typeof live === 'boolean' ? { 'assessments-enabled': live } : {};
}

/** Whether the service refuses assessments of a workspace with this mode: some dialects take them on agents (wire/workspaces 5.4). */
export function refusesAssessments(mode: string, { capabilities }: Dialect): boolean {
  return mode === 'local' || (mode === 'agent' && !capabilities.has('assessments-on-agents'));
}

/**
 * The live value that an update repeats where nothing is declared.
 * @param mode the execution mode that the workspace gets
 */
export function keptAssessments(
  live: Json | undefined,
  { mode, dialect }: { readonly mode: Json | undefined; readonly dialect: Dialect },
): Json | undefined {
  return live === true && typeof mode === 'string' && refusesAssessments(mode, dialect) ? undefined : live;
}

/** Puts a workspace into a project; empty without one, because the service then uses its default project. */
export function projectRelationship(project: Json | undefined): JsonObject {
  return typeof project === 'string' ? { project: { data: { type: 'projects', id: project } } } : {};
}
