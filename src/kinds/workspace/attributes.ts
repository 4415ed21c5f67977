/** The fields of a workspace that are plain attributes of the API, read and sent by the rule of names alone. */

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
  'workingDirectory',
] as const satisfies FieldNames;

/** Free texts: an update clears them with "", as every real client does, because some services ignore null. */
export const clearedTexts: ReadonlySet<string> = new Set(['description', 'workingDirectory']);

/** Attributes of which only one may be sent (rule 13). */
export const triggerLists = ['triggerPrefixes', 'triggerPatterns'] as const satisfies FieldNames;

/** Attributes that only a create accepts. */
export const sourceAttributes = ['sourceName', 'sourceUrl'] as const satisfies FieldNames;
