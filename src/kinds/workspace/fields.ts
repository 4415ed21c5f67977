/**
 * How each field of a workspace compares, what `null` means (wire/workspaces 5.4), which fields are plain attributes of the
 * API, and the deprecated `operations`, which becomes `executionMode` (wire/workspaces 5.7).
 */
import { list, minute, optionalText, scalar, set, text, wholeValue } from '../../compare/comparisons.ts';
import type { Field, FieldsOf, FieldTable } from '../../model/field.ts';
import { type Json, textsOf } from '../../model/json.ts';
import type { Dialect } from '../../model/stack.ts';
import type { WorkspaceSpec } from './schema.ts';
import type { RepositoryFields, WorkspaceFields } from './workspace-types.ts';

const on: Field = { compare: scalar, default: true };
const off: Field = { compare: scalar, default: false };
const verbatim: Field = { compare: scalar };

/** Only declared members are compared: the service merges a partial object, too. */
const vcsRepo: FieldTable = {
  identifier: verbatim,
  branch: { compare: optionalText, default: null },
  ingressSubmodules: off,
  oauthTokenId: verbatim,
  vcsAppInstallationId: verbatim,
  tagsRegex: { compare: optionalText, default: null },
} satisfies FieldsOf<RepositoryFields, 'connection'>;

export const fields: FieldTable = {
  description: { compare: text, default: null },
  executionMode: { compare: scalar, default: null },
  agentPoolId: { compare: optionalText, default: null },
  // Converted to executionMode when manifests are resolved; never sent under this name.
  operations: { compare: scalar, default: true, local: true },
  settingOverwrites: { compare: wholeValue, members: { executionMode: verbatim, agentPool: verbatim } },
  allowDestroyPlan: on,
  assessmentsEnabled: off,
  autoApply: off,
  autoApplyRunTrigger: off,
  // Null is a value here: none.
  autoDestroyAt: { compare: minute, default: null },
  autoDestroyActivityDuration: { compare: optionalText, default: null },
  engineVersion: verbatim,
  queueAllRuns: off,
  speculativeEnabled: on,
  structuredRunOutputEnabled: on,
  workingDirectory: { compare: optionalText, default: null },
  vcsRepo: { compare: wholeValue, default: null, members: vcsRepo },
  fileTriggersEnabled: on,
  triggerPatterns: { compare: list, default: [] },
  triggerPrefixes: { compare: list, default: [] },
  globalRemoteState: off,
  projectId: verbatim,
  sshKeyId: { compare: optionalText, default: null },
  tagNames: { compare: set, default: [] },
  // Only whether it is locked is compared: `prepare` removes the reason.
  lock: { compare: wholeValue, default: null },
  dataRetentionPolicy: { compare: wholeValue, default: null },
  sourceName: { compare: scalar, createOnly: true, isCreatorMark: true },
  sourceUrl: { compare: scalar, createOnly: true },
  // `tags` and `remoteStateConsumers` are short for manifests of their own, and names are replaced by ids: they are not fields.
} satisfies FieldsOf<WorkspaceSpec, 'remoteStateConsumers' | 'tags' | 'project' | 'agentPool' | 'sshKey'>;

const structuredOutput = 'structuredRunOutputEnabled';

/** The fields that a workspace of this dialect does not have, although its service may return them. */
export function fieldsOutside({ capabilities }: Dialect): readonly (typeof structuredOutput)[] {
  return capabilities.has('structured-run-output') ? [] : [structuredOutput];
}

// The fields of a workspace that are plain attributes of the API: only their names are converted.

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

/** Attributes of which only one may be sent. */
export const triggerLists = ['triggerPrefixes', 'triggerPatterns'] as const satisfies FieldNames;

/** Attributes that only a create accepts. */
export const sourceAttributes = ['sourceName', 'sourceUrl'] as const satisfies FieldNames;

/** The returned names, in the given spelling if only upper and lower case differ. */
export function spelledAs(spelling: readonly string[], names: Json): Json {
  const given = new Map(spelling.map((name) => [name.toLowerCase(), name]));
  return textsOf(names).map((name) => (name === name.toLowerCase() ? (given.get(name) ?? name) : name));
}

// Converts the deprecated `operations` to `executionMode`: false is "local", true is "remote" (wire/workspaces 5.7).

/** A spec with both names stays unchanged: `check` refuses it. Idempotent. */
export function upgradeOperations(spec: WorkspaceFields): WorkspaceFields {
  const { operations, ...rest } = spec;
  if (operations === undefined || rest.executionMode !== undefined) return spec;
  return { ...rest, executionMode: operations === false ? 'local' : 'remote' };
}
