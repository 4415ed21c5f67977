/**
 * Which resource of a mount a path means (wire/cluster-auth 5.1, 2.1, 2.5).
 * Invariant: all of them need a token; the login, which needs none, is open-requests.ts's.
 */
import type { ClusterAuthDialect } from '../dialects.ts';
import { configFields, readConfig, writeConfig } from './config.ts';
import type { MountCall, MountHandler, Operation } from './mount-call.ts';
import { deleteRole, readRole, roleExists, writeRole } from './role.ts';
import { roleFields } from './role-fields.ts';
import { listFields, listRoles } from './role-list.ts';
import type { FieldReader } from './values/field-coercion.ts';

export interface MountEndpoint {
  /** Below its mount. */
  readonly path: string;
  /** The fields of its path, which its parameters may name, whatever the operation. */
  readonly fields: (dialect: ClusterAuthDialect) => Readonly<Record<string, FieldReader<unknown>>>;
  readonly handlers: Readonly<Partial<Record<Operation, MountHandler>>>;
  /** Tells a write that creates from one that updates; without it every write is an update. */
  readonly exists?: (call: MountCall) => boolean;
}

const CONFIG: MountEndpoint = {
  path: 'config',
  fields: configFields,
  handlers: { read: readConfig, write: writeConfig },
};
const ROLES: MountEndpoint = { path: 'role', fields: listFields, handlers: { list: listRoles } };
const ROLE: MountEndpoint = {
  path: 'role/:name',
  fields: roleFields,
  handlers: { read: readRole, write: writeRole, delete: deleteRole },
  exists: roleExists,
};

/** All that a mount serves to who has a token. */
export const MOUNT_ENDPOINTS: readonly MountEndpoint[] = [CONFIG, ROLES, ROLE];

/** Letters, digits, `_`, and inside also `.` and `-`. */
const ROLE_PATH = /^role\/(\w(?:[\w.-]*\w)?)$/;

/** An endpoint, and the role in the path that led to it: in lower case, and empty where the path has none. */
interface FoundEndpoint {
  readonly endpoint: MountEndpoint;
  readonly roleName: string;
}

/** The endpoint at a path below a mount, undefined for an unsupported one (`role/x/y`, `role/-x`, `config/`). */
export function endpointAt(pathInMount: string): FoundEndpoint | undefined {
  if (pathInMount === 'config') return { endpoint: CONFIG, roleName: '' };
  if (pathInMount === 'role' || pathInMount === 'role/') return { endpoint: ROLES, roleName: '' };
  const name = ROLE_PATH.exec(pathInMount)?.[1];
  return name === undefined ? undefined : { endpoint: ROLE, roleName: name.toLowerCase() };
}
