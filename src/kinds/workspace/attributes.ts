/** The fields of a workspace that are plain attributes of the API, read and sent by the rule of names alone. */

import { type Json, textsOf } from '../../model/json/json.ts';
import type { WorkspaceSpec } from './schema.ts';

type FieldNames = readonly (keyof WorkspaceSpec)[];

export const plainAttributes = [
  'description',
  'allowDestroyPlan',
  'assessmentsEnabled',
  'autoApply',
  'autoApplyRunTrigger',
  'autoDestroyAt',
  'autoDestroyActivityDuration',
  'engineVersion',
  'fileTriggersEnabled',
  'globalRemoteState',
  'queueAllRuns',
  'speculativeEnabled',
  'structuredRunOutputEnabled',
  'workingDirectory',
] as const satisfies FieldNames;

/** Free texts: an update clears them with "", as every real client does, because some services ignore null. */
export const clearedTexts: ReadonlySet<string> = new Set(['description', 'workingDirectory']);

/** Attributes of which only one may be sent (rule 13). */
export const triggerLists = ['triggerPrefixes', 'triggerPatterns'] as const satisfies FieldNames;

/** Attributes that only a create accepts. */
export const sourceAttributes = ['sourceName', 'sourceUrl'] as const satisfies FieldNames;

/** Names as they were answered, but in the given spelling where only upper and lower case differ. */
export function spelledAs(spelling: readonly string[], names: Json): Json {
  const given = new Map(spelling.map((name) => [name.toLowerCase(), name]));
  return textsOf(names).map((name) => (name === name.toLowerCase() ? (given.get(name) ?? name) : name));
}
