/** The fields of a workspace that are plain attributes of the API: read and sent under the one rule of names. */

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

/** Free texts among them: an update clears them with "" as every real client does, for some services ignore null. */
export const clearedTexts: ReadonlySet<string> = new Set(['description', 'workingDirectory']);

/** Attributes as well, but only one of them may ever be sent (rule 13). */
export const triggerLists = ['triggerPrefixes', 'triggerPatterns'] as const satisfies FieldNames;

/** Attributes that only a create takes. */
export const sourceAttributes = ['sourceName', 'sourceUrl'] as const satisfies FieldNames;
