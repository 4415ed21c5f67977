/**
 * One role: read, write, delete (wire/cluster-auth 5.3, 2.5, 2.7, 2.8).
 * Invariants: a name is stored and asked for in lower case; a write is read, merged, checked and stored in one
 * transaction together with its audit event.
 */
import { type SecretsAnswer, answerData, answerDone, answerError, NOT_FOUND } from './answer.ts';
import { mergeRole, roleWarnings } from './merge-role.ts';
import type { MountHandler, MountCall } from './mount-call.ts';
import { recordChange } from './record-change.ts';
import { presentRole, type Role, readRoleFields, unknownRoleFields } from './role-fields.ts';

/** Whether the role that the call names exists: it decides between the capabilities `create` and `update`. */
export function roleExists(call: MountCall): boolean {
  return findRole(call) !== undefined;
}

/** `GET role/:name`: 200 with the fields, 404 for a role that is not there. */
export const readRole: MountHandler = (call) => {
  const role = findRole(call);
  return role === undefined ? NOT_FOUND : answerData(presentRole(role));
};

/**
 * `POST role/:name`: creates the role, or merges the sent fields into it. 204; 200 with warnings when there is one to
 * give; 400 with the first broken rule. Unknown fields are mentioned only beside another warning (wire/cluster-auth 2.5).
 */
export const writeRole: MountHandler = (call) =>
  call.services.database.transaction((): SecretsAnswer => {
    const sent = readRoleFields(call.body);
    if (!sent.ok) return answerError(400, sent.problem);
    const stored = findRole(call);
    const merged = mergeRole(stored, sent.value);
    if (!merged.ok) return answerError(400, merged.problem);
    storeRole(call, merged.value);
    recordChange(call, stored === undefined ? 'create' : 'update');
    const warnings = roleWarnings(merged.value);
    return answerDone(warnings.length === 0 ? [] : [...warnings, ...bodyWarnings(call)]);
  });

/** `DELETE role/:name`: 204, whether or not the role was there. Only a real delete leaves an event. */
export const deleteRole: MountHandler = (call) =>
  call.services.database.transaction(() => {
    const deleted = call.services.database.run(
      'DELETE FROM cluster_auth_roles WHERE mount = :mount AND name = :name',
      { mount: call.mount, name: call.roleName },
    );
    if (deleted > 0) recordChange(call, 'destroy');
    return answerDone();
  });

function findRole(call: MountCall): Role | undefined {
  const row = call.services.database.get<{ fields: string }>(
    'SELECT fields FROM cluster_auth_roles WHERE mount = :mount AND name = :name',
    { mount: call.mount, name: call.roleName },
  );
  return row === undefined ? undefined : (JSON.parse(row.fields) as Role);
}

function storeRole(call: MountCall, role: Role): void {
  call.services.database.run(
    `INSERT INTO cluster_auth_roles (mount, name, fields, updated_at) VALUES (:mount, :name, :fields, :updated_at)
     ON CONFLICT (mount, name) DO UPDATE SET fields = excluded.fields, updated_at = excluded.updated_at`,
    {
      mount: call.mount,
      name: call.roleName,
      fields: JSON.stringify(role),
      updated_at: call.services.now().toISOString(),
    },
  );
}

function bodyWarnings(call: MountCall): string[] {
  const unknown = unknownRoleFields(call.body);
  return [
    ...(unknown.length > 0 ? [`Endpoint ignored these unrecognized parameters: [${unknown.join(' ')}]`] : []),
    ...(Object.hasOwn(call.body, 'name')
      ? [
          "Endpoint replaced the value of these parameters with the values captured from the endpoint's path: [name]",
        ]
      : []),
  ];
}
