/** The kind Workspace: one workspace of an organization, with all settings of its API. */
import { defineKind, jsonSchema } from '../../model/define-kind.ts';
import { namedObjects } from '../../api/workspaces/named-objects.ts';
import { returnedResource, workspaceNames } from '../../api/workspaces/workspace.ts';
import { fieldsFromResponse } from './live-workspace.ts';
import { calls } from './calls.ts';
import { check } from './check.ts';
import { toManifest } from './to-manifest.ts';
import { fields, upgradeOperations } from './fields.ts';
import { lostOwnershipTagMarks, ownModeMarks } from './limited-services.ts';
import { lockMarks, recoverAnswer, released } from './lock.ts';
import { derivedTriggerMarks } from './triggers.ts';
import { blockers, deletesUnguarded, overridden } from './deletion.ts';
import { readInheritable } from './predict.ts';
import { prepare } from './prepare.ts';
import { whyNotGone, pages, read, readOne } from './read.ts';
import { similarity, risk } from './risk.ts';
import { type WorkspaceSpec, workspaceSpec } from './schema.ts';
import type { LiveWorkspace, PreparedWorkspace } from './workspace-types.ts';

export const workspace = defineKind<WorkspaceSpec, LiveWorkspace, PreparedWorkspace>({
  name: 'Workspace',
  service: 'workspaces',
  summary: 'A workspace: where its runs execute, what starts them, who may read its state',
  names: workspaceNames,
  specSchema: jsonSchema(workspaceSpec),
  fields,
  ownership: { by: 'claim' },
  absent: 'unmanaged',
  shortForms: {
    tags: { kind: 'TagBindings', spec: (value) => ({ tags: value ?? {} }) },
    remoteStateConsumers: { kind: 'RemoteStateConsumers', spec: (value) => ({ consumers: value ?? [] }) },
  },
  upgrade: upgradeOperations,
  check,
  named: namedObjects,
  read,
  readOne,
  pages,
  readInheritable,
  whyNotGone,
  fieldsFromResponse,
  returnedResource,
  recoverAnswer,
  prepare,
  calls,
  risk,
  access: ({ spec }) =>
    spec.globalRemoteState === true ? { state: { readers: [], sharedWith: 'organization' } } : undefined,
  similarity,
  blockers,
  overridden,
  deletesUnguarded,
  released,
  ledgerMarks: (context) => ({
    ...lockMarks(context),
    ...ownModeMarks(context),
    ...derivedTriggerMarks(context),
    ...lostOwnershipTagMarks(context),
  }),
  toManifest,
  contentBesides: ({ facts: { direct = {} } }) => (Object.keys(direct).length === 0 ? {} : { tags: direct }),
});
