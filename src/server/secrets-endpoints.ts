/**
 * Everything that the secrets service serves below `/v1/`: the tables of all subjects, joined.
 * Invariant: a request is looked up in these very tables, so nothing is served that `servedPaths` does not tell.
 */
import { MOUNT_ENDPOINTS } from './cluster-auth/endpoints.ts';
import type { Operation } from './cluster-auth/mount-call.ts';
import { LOGIN_PATH } from './cluster-auth/open-requests.ts';
import type { ClusterAuthDialect } from './dialects.ts';
import { TOKEN_ENDPOINTS } from './service-tokens/token-endpoints.ts';
import { sysEndpoints } from './sys/endpoints.ts';
import { OPEN_READS } from './sys/health.ts';
import type { ServiceEndpoint } from './sys/service-call.ts';

/** What surrounds the mounts, and needs a token. The first row that fits a path serves it. */
export function serviceEndpoints(dialect: ClusterAuthDialect): readonly ServiceEndpoint[] {
  return [...sysEndpoints(dialect), ...TOKEN_ENDPOINTS];
}

/** A verb and a path below `/v1/`; `:mount` is where a method is mounted. POST stands for PUT, too. */
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

/** All that a dialect's service answers, in the order of its tables. */
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
