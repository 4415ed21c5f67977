/** The kind TagBindings: the key-value tags that are bound to a workspace itself. */
import { jsonSchema } from '../../model/kind/json-schema.ts';
import { defineKind } from '../../model/kind/define-kind.ts';
import { workspaceOf } from '../../services/workspaces/workspace-address.ts';
import { namesOfWorkspaces } from '../../services/workspaces/workspace-name.ts';
import { fieldsFromResponse } from './answered.ts';
import { calls } from './calls.ts';
import { check } from './check.ts';
import { toManifest } from './describe.ts';
import { fields } from './fields.ts';
import type { LiveTags } from './live-tags.ts';
import { prepare } from './prepare.ts';
import { read, readOne } from './read.ts';
import { remainingAccess } from './remains.ts';
import { risk } from './risk.ts';
import { type TagBindingsSpec, tagBindingsSpec } from './schema.ts';
import { withdrawAccess } from './revoke.ts';

export const tagBindings = defineKind<TagBindingsSpec, LiveTags>({
  name: 'TagBindings',
  service: 'workspaces',
  summary: 'The key-value tags of a workspace, as a document of their own that another team can keep',
  names: namesOfWorkspaces,
  specSchema: jsonSchema(tagBindingsSpec),
  fields,
  ownership: { by: 'part', of: workspaceOf },
  absent: 'unmanaged',
  check,
  references: ({ address }) => [{ to: workspaceOf(address), path: [] }],
  read,
  readOne,
  fieldsFromResponse: fieldsFromResponse,
  prepare,
  withdrawAccess: withdrawAccess,
  remainingAccess: remainingAccess,
  calls,
  risk,
  toManifest: toManifest,
});
