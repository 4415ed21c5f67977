/**
 * Which resource of a mount a path means (wire/cluster-auth 5.1, 2.1, 2.5).
 * Invariant: all of them need a token; the login, which needs none, is open-requests.ts's.
 */
import type { ClusterAuthDialect } from '../dialects.ts';
import { configFields, readConfig, writeConfig } from './config.ts';
import type { MountHandler, MountCall } from './mount-call.ts';
import { deleteRole, readRole, roleExists, writeRole } from './role.ts';
import { roleFields } from './role-fields.ts';
import { listFields, listRoles } from './role-list.ts';
import type { FieldReader } from './values/field-coercion.ts';

/** What a request wants, whatever verb it came in: POST and PUT are both a write. */
export type Operation = 'read' | 'list' | 'write' | 'delete' | 'patch' | 'scan' | 'head';

export interface MountEndpoint {
  /** The role in the path, in lower case; empty where the path has none. */
  readonly roleName: string;
  /** The fields of its path, which its parameters may name, whatever the operation. */
  readonly fields: (dialect: ClusterAuthDialect) => Readonly<Record<string, FieldReader<unknown>>>;
  readonly handlers: Readonly<Partial<Record<Operation, MountHandler>>>;
  /** Tells a write that creates from one that updates; without it every write is an update. */
  readonly exists?: (call: MountCall) => boolean;
}

const CONFIG: MountEndpoint = {
  roleName: '',
  fields: configFields,
  handlers: { read: readConfig, write: writeConfig },
};
const ROLES: MountEndpoint = { roleName: '', fields: listFields, handlers: { list: listRoles } };
const ROLE_HANDLERS = { read: readRole, write: writeRole, delete: deleteRole };

/** Letters, digits, `_`, and inside also `.` and `-`. */
const ROLE_PATH = /^role\/(\w(?:[\w.-]*\w)?)$/;

/** The endpoint at a path below a mount, undefined for an unsupported one (`role/x/y`, `role/-x`, `config/`). */
export function endpointAt(pathInMount: string): MountEndpoint | undefined {
  if (pathInMount === 'config') return CONFIG;
  if (pathInMount === 'role' || pathInMount === 'role/') return ROLES;
  const name = ROLE_PATH.exec(pathInMount)?.[1];
  if (name === undefined) return undefined;
  return { roleName: name.toLowerCase(), fields: roleFields, handlers: ROLE_HANDLERS, exists: roleExists };
}
