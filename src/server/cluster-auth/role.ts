/**
 * One role: read, write, delete (wire/cluster-auth 5.3, 2.5, 2.7, 2.8).
 * Invariants: a name is stored and asked for in lower case; a write is read, merged, checked and stored in one
 * transaction.
 */
import type { Database } from '../data-file/database.ts';
import {
  answerData,
  answerDone,
  answerError,
  answerWrappedError,
  NOT_FOUND,
  type SecretsAnswer,
} from './answer.ts';
import { lifetimeWarnings, type MergeRules, mergeRole } from './merge-role.ts';
import type { MountCall, MountHandler } from './mount-call.ts';
import { leaseLimitsOf, mountOfId } from './mounts.ts';
import { FRESH_ROLE, presentRole, type Role, readRoleFields } from './role-fields.ts';
import { canonicalBlocks } from './values/address-blocks.ts';
import type { Coerced } from './values/field-coercion.ts';
import { fromStoredText, storedText } from './values/json-values.ts';

/** Whether the role that the call names exists: it decides between the capabilities `create` and `update`. */
export function roleExists({ services, mount, roleName }: MountCall): boolean {
  return storedFields(services.database, mount, roleName) !== undefined;
}

/** `GET role/:name`: 200 with the fields, 404 for a role that is not there. */
export const readRole: MountHandler = (call) => {
  const role = findRole(call);
  if (role === undefined) return NOT_FOUND;
  return role.ok
    ? answerData(presentRole(role.value, call.services.dialects.clusterAuth))
    : answerWrappedError(500, role.problem);
};

/**
 * `POST role/:name`: creates the role, or merges the sent fields into it. 204; 200 with warnings when there is one to
 * give; 400 with the first broken rule (wire/cluster-auth 2.5).
 */
export const writeRole: MountHandler = (call) =>
  call.services.database.transaction((): SecretsAnswer => {
    const { clusterAuth } = call.services.dialects;
    const sent = readRoleFields(call.body, clusterAuth);
    if (!sent.ok) return answerError(400, sent.problem);
    const stored = findRole(call);
    if (stored?.ok === false) return answerWrappedError(500, stored.problem);
    const rules: MergeRules = { maxLease: maxLeaseOf(call) };
    const merged = mergeRole(stored?.value, sent.value, rules);
    if (!merged.ok) return answerError(400, merged.problem);
    storeRole(call, merged.value);
    const warnings = [...lifetimeWarnings(merged.value, rules), ...audienceWarnings(merged.value, call)];
    return answerDone(warnings);
  });

/** `DELETE role/:name`: 204, whether or not the role was there. */
export const deleteRole: MountHandler = (call) => {
  call.services.database.run('DELETE FROM cluster_auth_roles WHERE mount = :mount AND name = :name', {
    mount: call.mount,
    name: call.roleName,
  });
  return answerDone();
};

/**
 * The role that the call names, undefined when there is none. The service keeps the prints of its blocks of addresses and
 * reads them anew each time: a path that it took for a socket's grows by a pair of quotes, and one without a slash cannot
 * be read any more (wire/cluster-auth 2.4).
 */
function findRole({ services, mount, roleName }: MountCall): Coerced<Role> | undefined {
  return storedRole(services.database, mount, roleName);
}

/** The role of this name, in whatever case, of the mount of this id; the problem is the text of a 500. */
export function storedRole(database: Database, mount: string, name: string): Coerced<Role> | undefined {
  const fields = storedFields(database, mount, name.toLowerCase());
  if (fields === undefined) return undefined;
  const role: Role = { ...FRESH_ROLE, ...(fromStoredText(fields) as Role) };
  const blocks = canonicalBlocks(role.token_bound_cidrs);
  if (!blocks.ok) return blocks;
  const deprecated = canonicalBlocks(role.bound_cidrs);
  if (!deprecated.ok) return deprecated;
  return { ok: true, value: { ...role, token_bound_cidrs: blocks.value, bound_cidrs: deprecated.value } };
}

function storedFields(database: Database, mount: string, name: string): string | undefined {
  const row = database.get<{ fields: string }>(
    'SELECT fields FROM cluster_auth_roles WHERE mount = :mount AND name = :name',
    { mount, name },
  );
  return row?.fields;
}

function storeRole(call: MountCall, role: Role): void {
  call.services.database.run(
    `INSERT INTO cluster_auth_roles (mount, name, fields, updated_at) VALUES (:mount, :name, :fields, :updated_at)
     ON CONFLICT (mount, name) DO UPDATE SET fields = excluded.fields, updated_at = excluded.updated_at`,
    {
      mount: call.mount,
      name: call.roleName,
      fields: storedText(role),
      updated_at: call.services.now().toISOString(),
    },
  );
}

function maxLeaseOf({ services, mount }: MountCall): number {
  return leaseLimitsOf(mountOfId(services.database, mount) ?? { settings: {} }).maxTtl;
}

function audienceWarnings({ audience }: Role, { services, roleName }: MountCall): string[] {
  const { audienceWarning } = services.dialects.clusterAuth;
  return audienceWarning === undefined || audience.trim() !== '' ? [] : [audienceWarning(roleName)];
}
