/**
 * Which resource of which mount a path means (wire/cluster-auth 5.1, 2.1, 2.5).
 * Invariant: mounts are rows, read at every request; the longest mount that fits the path wins, so `team/cluster` and
 * `team` can stand side by side. The login of a mount is not served yet: its path is unsupported like any other.
 */
import type { Database } from '../data-file/database.ts';
import { readConfig, writeConfig } from './config.ts';
import type { MountHandler, MountCall } from './mount-call.ts';
import { deleteRole, readRole, roleExists, writeRole } from './role.ts';
import { listRoles } from './role-list.ts';

/** What a request wants, whatever verb it came in: POST and PUT are both a write. */
export type Operation = 'read' | 'list' | 'write' | 'delete' | 'patch';

export interface MountEndpoint {
  /** The role in the path, in lower case; empty where the path has none. */
  readonly roleName: string;
  readonly handlers: Readonly<Partial<Record<Operation, MountHandler>>>;
  /** Tells a write that creates from one that updates; without it every write is an update. */
  readonly exists?: (call: MountCall) => boolean;
}

const CONFIG: MountEndpoint = { roleName: '', handlers: { read: readConfig, write: writeConfig } };
const ROLES: MountEndpoint = { roleName: '', handlers: { list: listRoles } };
const ROLE_HANDLERS = { read: readRole, write: writeRole, delete: deleteRole };

/** Letters, digits, `_`, and inside also `.` and `-`. */
const ROLE_PATH = /^role\/(\w(?:[\w.-]*\w)?)$/;

/** The endpoint at a path below a mount, undefined for an unsupported one (`role/x/y`, `role/-x`, `config/`). */
export function endpointAt(pathInMount: string): MountEndpoint | undefined {
  if (pathInMount === 'config') return CONFIG;
  if (pathInMount === 'role' || pathInMount === 'role/') return ROLES;
  const name = ROLE_PATH.exec(pathInMount)?.[1];
  if (name === undefined) return undefined;
  return { roleName: name.toLowerCase(), handlers: ROLE_HANDLERS, exists: roleExists };
}

/** Splits `auth/team/cluster/role/web` into the mount `team/cluster` and the rest `role/web`; undefined: no such mount. */
export function findMount(database: Database, path: string): { mount: string; rest: string } | undefined {
  const [mount] = database
    .all<{ path: string }>("SELECT path FROM mounts WHERE type = 'cluster-auth' ORDER BY length(path) DESC")
    .filter((row) => `${path}/`.startsWith(`auth/${row.path}/`));
  return mount && { mount: mount.path, rest: path.slice(`auth/${mount.path}/`.length) };
}
