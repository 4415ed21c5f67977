/** Bodies of requests about workspaces, in the neutral names of wire/workspaces 5. */
import { claimKey } from '../../model/resource/claim.ts';
import type { Json, JsonObject } from '../../model/json/json.ts';
import type { Tags } from './bound-tags.ts';

/** A create or an update. Empty parts are left out. */
export function workspaceBody(attributes: JsonObject, relationships: JsonObject = {}): JsonObject {
  return {
    data: {
      type: 'workspaces',
      ...(Object.keys(attributes).length === 0 ? {} : { attributes }),
      ...(Object.keys(relationships).length === 0 ? {} : { relationships }),
    },
  };
}

/** The value of `relationships.tag-bindings`, and the body of an additive change of them; by key, the claim last. */
export function tagBindingList(tags: Tags, claim?: string): JsonObject {
  const bindings = Object.keys(tags)
    .sort()
    .map((key) => tagBinding(key, tags[key] ?? ''));
  return { data: claim === undefined ? bindings : [...bindings, tagBinding(claimKey, claim)] };
}

/** The value of `relationships.tags` of a create, and the body of an addition or a removal of flat tags. */
export function flatTagList(names: readonly string[]): JsonObject {
  return { data: names.map((name) => ({ type: 'tags', attributes: { name } })) };
}

function tagBinding(key: string, value: string): JsonObject {
  return { type: 'tag-bindings', attributes: { key, value } };
}

/**
 * The attribute that every update has to repeat, for the spec resets it to false when it is left out (rule 13);
 * nothing where the service does not answer it.
 */
export function repeatedAssessments(live: Json | undefined): JsonObject {
  return typeof live === 'boolean' ? { 'assessments-enabled': live } : {};
}

/** Puts a workspace into a project. Nothing without one: the service has its default. */
export function projectRelationship(project: Json | undefined): JsonObject {
  return typeof project === 'string' ? { project: { data: { type: 'projects', id: project } } } : {};
}
