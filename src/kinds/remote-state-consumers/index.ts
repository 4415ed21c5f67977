/** The kind RemoteStateConsumers: which workspaces may read the state of a workspace. */
import { jsonSchema } from '../../model/kind/json-schema.ts';
import { defineKind } from '../../model/kind/define-kind.ts';
import { workspaceOf } from '../../services/workspaces/workspace-address.ts';
import { namesOfWorkspaces } from '../../services/workspaces/workspace-name.ts';
import { calls } from './calls.ts';
import { check } from './check.ts';
import { consumersOf } from './edges.ts';
import { fields } from './fields.ts';
import { losses } from './losses.ts';
import { prepare } from './prepare.ts';
import { read, readOne } from './read.ts';
import type { LiveConsumers } from './read-edges.ts';
import { risk } from './risk.ts';
import { remainingAccess } from './remains.ts';
import { type RemoteStateConsumersSpec, remoteStateConsumersSpec } from './schema.ts';
import { ledgerMarks, withdrawAccess } from './revoke.ts';

export const remoteStateConsumers = defineKind<RemoteStateConsumersSpec, LiveConsumers>({
  name: 'RemoteStateConsumers',
  service: 'workspaces',
  summary: 'The workspaces that may read the state of a workspace, as a document of its own',
  names: namesOfWorkspaces,
  specSchema: jsonSchema(remoteStateConsumersSpec),
  fields,
  ownership: { by: 'part', of: workspaceOf },
  absent: 'unmanaged',
  check,
  references: ({ address, spec }) => [
    { to: workspaceOf(address), path: [] },
    ...consumersOf(spec).map((name, position) => ({
      to: { ...workspaceOf(address), name },
      path: ['consumers', String(position)],
    })),
  ],
  read,
  readOne,
  prepare,
  withdrawAccess: withdrawAccess,
  remainingAccess: remainingAccess,
  losses,
  calls,
  risk,
  ledgerMarks: ledgerMarks,
});
