/**
 * How each field of a workspace compares, and what `null` means: the specified "Default on create" (wire/workspaces 5.4).
 * Fields without a specified default have none here.
 */
import type { Field, FieldsOf, FieldTable } from '../../model/kind/field.ts';
import { list, minute, optionalText, scalar, set, text, asText } from '../../compare/comparisons.ts';
import type { WorkspaceSpec } from './schema.ts';
import type { Dialect } from '../../model/stack/target.ts';
import type { RepositoryFields } from './workspace-types.ts';

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
} satisfies FieldsOf<RepositoryFields>;

export const fields: FieldTable = {
  description: { compare: text, default: null },
  executionMode: { compare: scalar, default: null },
  agentPoolId: { compare: optionalText, default: null },
  // Converted to executionMode when manifests are resolved; never sent under this name.
  operations: { compare: scalar, default: true, local: true },
  settingOverwrites: { compare: asText, members: { executionMode: verbatim, agentPool: verbatim } },
  allowDestroyPlan: on,
  assessmentsEnabled: off,
  autoApply: off,
  autoApplyRunTrigger: off,
  // Null is a value here: none (rule 6).
  autoDestroyAt: { compare: minute, default: null },
  autoDestroyActivityDuration: { compare: optionalText, default: null },
  engineVersion: verbatim,
  queueAllRuns: off,
  speculativeEnabled: on,
  structuredRunOutputEnabled: on,
  workingDirectory: { compare: optionalText, default: null },
  vcsRepo: { compare: asText, default: null, members: vcsRepo },
  fileTriggersEnabled: on,
  triggerPatterns: { compare: list, default: [] },
  triggerPrefixes: { compare: list, default: [] },
  globalRemoteState: off,
  projectId: verbatim,
  sshKeyId: { compare: optionalText, default: null },
  tagNames: { compare: set, default: [] },
  // Only whether it is locked is compared: `prepare` removes the reason (rule 18).
  lock: { compare: asText, default: null },
  dataRetentionPolicy: { compare: asText, default: null },
  sourceName: { compare: scalar, createOnly: true, bearsBirthMark: true },
  sourceUrl: { compare: scalar, createOnly: true },
  // `tags` and `remoteStateConsumers` are short for manifests of their own: no fields.
} satisfies FieldsOf<WorkspaceSpec, 'remoteStateConsumers' | 'tags'>;

const structuredOutput = 'structuredRunOutputEnabled';

/** The fields that a workspace of this dialect does not have, although its service may answer them. */
export function fieldsOutside({ capabilities }: Dialect): readonly (typeof structuredOutput)[] {
  return capabilities.has('structured-run-output') ? [] : [structuredOutput];
}
