/** The kind RemoteStateConsumers: which workspaces may read the state of a workspace. */
import { defineKind, jsonSchema } from '../../model/define-kind.ts';
import { namedAfterWorkspace, workspaceOf } from '../../api/workspaces/workspace.ts';
import { calls } from './calls.ts';
import { check } from './check.ts';
import { consumersOf, type LiveConsumers, read, readOne } from './read.ts';
import { fields, prepare } from './fields.ts';
import { ledgerMarks, losses, remainingAccess, risk, withdrawAccess } from './risk.ts';
import { type RemoteStateConsumersSpec, remoteStateConsumersSpec } from './schema.ts';

export const remoteStateConsumers = defineKind<RemoteStateConsumersSpec, LiveConsumers>({
  name: 'RemoteStateConsumers',
  service: 'workspaces',
  summary: 'The workspaces that may read the state of a workspace, as a separate document',
  names: namedAfterWorkspace,
  specSchema: jsonSchema(remoteStateConsumersSpec),
  fields,
  ownership: { by: 'child', of: workspaceOf },
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
  withdrawAccess,
  remainingAccess,
  losses,
  access: ({ spec, facts }) => {
    const readers = consumersOf(spec);
    if (facts.project === true) return { state: { readers: [], sharedWith: 'project' } };
    // If the state is shared with the whole organization, `access` of the kind Workspace says so.
    return readers.length === 0 ? undefined : { state: { readers } };
  },
  calls,
  risk,
  ledgerMarks,
});
