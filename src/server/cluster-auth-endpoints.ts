/**
 * Everything that is served below `/v1/`: the tables of paths for mounts, `sys/` and tokens, and the requests that need no
 * token. These tables route all requests, so `servedPaths` lists every path.
 */
import { answerError, answerOnTop, type SecretsAnswer } from './cluster-auth/answer.ts';
import {
  disableMount,
  enableMount,
  listMounts,
  readMount,
  readTuning,
  visibleMount,
  visibleMounts,
  writeTuning,
} from './cluster-auth/auth-mounts.ts';
import {
  at,
  type MountCall,
  type MountHandler,
  type Operation,
  type ServiceEndpoint,
} from './cluster-auth/call.ts';
import { configFields, readConfig, writeConfig } from './cluster-auth/config.ts';
import type { FieldReader } from './cluster-auth/field-coercion.ts';
import { OPEN_HEAD, OPEN_READS } from './cluster-auth/health.ts';
import { answerMountHelp, answerPathHelp, type HelpTopic } from './cluster-auth/help.ts';
import { logIn, LOGIN_FIELDS } from './cluster-auth/login.ts';
import { CLUSTER_AUTH_METHOD, engineDocuments, findMount } from './cluster-auth/mounts.ts';
import { deleteNamespace, listNamespaces, readNamespace, writeNamespace } from './cluster-auth/namespaces.ts';
import {
  accessorCapabilities,
  deletePolicy,
  listPolicies,
  ownCapabilities,
  readPolicy,
  resultantAcl,
  tokenCapabilities,
  writePolicy,
} from './cluster-auth/policies.ts';
import { roleFields } from './cluster-auth/role-fields.ts';
import { deleteRole, listFields, listRoles, readRole, roleExists, writeRole } from './cluster-auth/roles.ts';
import { TOKEN_ENDPOINTS } from './cluster-auth/tokens.ts';
import type { ClusterAuthDialect } from './kernel/dialects.ts';
import type { Services } from './kernel/services.ts';

/** The endpoints outside of mounts that need a token. The first row that matches a path serves it. */
export function serviceEndpoints(dialect: ClusterAuthDialect): readonly ServiceEndpoint[] {
  return [...sysEndpoints(dialect), ...TOKEN_ENDPOINTS];
}

/** A verb and a path below `/v1/`; `:mount` is the path of a mount. POST includes PUT. */
interface ServedPath {
  readonly method: string;
  readonly path: string;
}

const VERBS: Readonly<Record<Operation, string>> = {
  read: 'GET',
  list: 'LIST',
  write: 'POST',
  delete: 'DELETE',
  patch: 'PATCH',
  scan: 'SCAN',
  head: 'HEAD',
};

/** All paths that a dialect serves, in the order of the tables. */
export function servedPaths(dialect: ClusterAuthDialect): ServedPath[] {
  return [
    ...MOUNT_ENDPOINTS.flatMap(({ path, handlers }) => verbsOf(`auth/:mount/${path}`, handlers)),
    { method: 'POST', path: `auth/:mount/${LOGIN_PATH}` },
    ...serviceEndpoints(dialect).flatMap(({ path, handlers }) => verbsOf(path, handlers)),
    ...Object.keys(OPEN_READS).map((path) => ({ method: 'GET', path })),
  ];
}

function verbsOf(path: string, handlers: Readonly<Partial<Record<Operation, unknown>>>): ServedPath[] {
  return Object.keys(handlers).map((operation) => ({ method: VERBS[operation as Operation], path }));
}

// The endpoints of a mount (wire/cluster-auth 5.1, 2.1, 2.5).
// Invariant: all of them need a token. The login, which needs no token, is further down.

export interface MountEndpoint {
  /** Below the mount. */
  readonly path: string;
  /** The fields of its path: the known parameters of all operations. */
  readonly fields: (dialect: ClusterAuthDialect) => Readonly<Record<string, FieldReader<unknown>>>;
  readonly handlers: Readonly<Partial<Record<Operation, MountHandler>>>;
  /** Whether the resource exists: a write then updates it. Without this function every write is an update. */
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

/** The path of the login, below a mount. */
const LOGIN_PATH = 'login';

/** The login needs no token, and is served separately. */
const LOGIN = { path: LOGIN_PATH, fields: () => LOGIN_FIELDS, handlers: { write: logIn } };

/** The endpoints of a mount that need a token. */
const MOUNT_ENDPOINTS: readonly MountEndpoint[] = [CONFIG, ROLES, ROLE];

/** A role name: letters, digits and `_`, and between them also `.` and `-`. */
const ROLE_PATH = /^role\/(\w(?:[\w.-]*\w)?)$/;

/** An endpoint, and the role name in its path: in lower case, and empty if the path has none. */
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

/** Help about a path below a mount, or about the mount; undefined for an unsupported path. */
export function helpAt(pathInMount: string, dialect: ClusterAuthDialect): SecretsAnswer | undefined {
  const topics = [CONFIG, LOGIN, ROLES, ROLE].map(
    ({ path, fields, handlers }): HelpTopic => ({
      path,
      fields: fields(dialect),
      operations: Object.keys(handlers) as Operation[],
    }),
  );
  if (pathInMount === '') return answerMountHelp(topics, dialect);
  const path = pathInMount === LOGIN_PATH ? LOGIN_PATH : endpointAt(pathInMount)?.endpoint.path;
  const topic = topics.find((each) => each.path === path);
  return topic && answerPathHelp(topic, pathInMount, dialect);
}

// All paths below `sys/` that need a token (wire/cluster-auth 2.9).
// Invariant: the first row that matches a path serves it, so longer paths come first.

const TUNING = { read: readTuning, write: writeTuning };
const POLICY = { read: readPolicy, write: writePolicy, delete: deletePolicy };

const POLICIES = { list: listPolicies, read: listPolicies };

const COMMON_ENDPOINTS: readonly ServiceEndpoint[] = [
  at('sys/auth', { read: listMounts }),
  at('sys/auth/:path/tune', TUNING, { needsSudo: true }),
  at('sys/auth/:path', { read: readMount, write: enableMount, delete: disableMount }, { needsSudo: true }),
  at('sys/mounts/auth/:path/tune', TUNING),
  at('sys/mounts', {
    read: ({ services }) => answerOnTop(engineDocuments(services.dialects.clusterAuth)),
  }),
  at('sys/capabilities-self', { write: ownCapabilities }),
  at('sys/capabilities', { write: tokenCapabilities }),
  at('sys/capabilities-accessor', { write: accessorCapabilities }),
  at('sys/internal/ui/mounts', { read: visibleMounts }, { authorizesItself: true }),
  at('sys/internal/ui/resultant-acl', { read: resultantAcl }),
  at('sys/internal/ui/mounts/:path', { read: visibleMount }, { authorizesItself: true }),
  // The older path of policies serves the same as the current one.
  ...['sys/policies/acl', 'sys/policy'].flatMap((path) => [at(path, POLICIES), at(`${path}/:name`, POLICY)]),
];

const NAMESPACE_ENDPOINTS: readonly ServiceEndpoint[] = [
  at('sys/namespaces', { list: listNamespaces }),
  at('sys/namespaces/:name', { read: readNamespace, write: writeNamespace, delete: deleteNamespace }),
];

/** The endpoints below `sys/` of a dialect: not every dialect has namespaces. */
function sysEndpoints({ hasNamespaces }: ClusterAuthDialect): readonly ServiceEndpoint[] {
  return hasNamespaces ? [...NAMESPACE_ENDPOINTS, ...COMMON_ENDPOINTS] : COMMON_ENDPOINTS;
}

// Requests that need no token: logins, and public information about the service (wire/cluster-auth 2.9, 3).
// Invariant: only existing mounts have a login. For other mounts, the path of a login needs a token like any other path.

interface OpenRequest {
  readonly services: Services;
  readonly namespace: string;
  readonly operation: Operation;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly address: string | undefined;
}

/** The answer to a request that needs no token; undefined for other requests. */
export async function answerOpenRequest(request: OpenRequest): Promise<SecretsAnswer | undefined> {
  const { services, namespace, operation, path, body, address } = request;
  if (Object.hasOwn(OPEN_READS, path)) {
    const isRead = operation === 'read' || (operation === 'head' && path === OPEN_HEAD);
    return isRead ? OPEN_READS[path]?.(services, body) : answerError(405);
  }
  const found = findMount(services.database, namespace, path);
  if (found?.rest !== LOGIN_PATH) return undefined;
  if (found.mount.type !== CLUSTER_AUTH_METHOD) return otherLogin(found.mount.type, body);
  if (operation !== 'write') return answerError(405, 'unsupported operation');
  return logIn({ services, mount: found.mount, address, body });
}

/** The answer to a login at a mount of another method: such mounts can be listed, but every login fails. */
function otherLogin(type: string, body: Readonly<Record<string, unknown>>): SecretsAnswer | undefined {
  if (type !== 'approle') return answerError(403, 'permission denied');
  return typeof body['role_id'] === 'string' && body['role_id'] !== ''
    ? answerError(400, 'invalid role or secret ID')
    : answerError(500, 'missing role_id');
}
