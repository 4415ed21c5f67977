/**
 * What is answered before any question whether a token came along: logins, and what anyone may know of the service
 * (wire/cluster-auth 2.9, 3).
 * Invariant: only mounts that are there have a login; at others its path is like any other, and needs a token.
 */
import { OPEN_HEAD, OPEN_READS } from '../sys/health.ts';
import type { Services } from '../services.ts';
import { type SecretsAnswer, answerError } from './answer.ts';
import type { Operation } from './mount-call.ts';
import { logIn } from './login/log-in.ts';
import { CLUSTER_AUTH_METHOD, findMount } from './mounts.ts';

/** Below a mount. */
export const LOGIN_PATH = 'login';

interface OpenRequest {
  readonly services: Services;
  readonly namespace: string;
  readonly operation: Operation;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly address: string | undefined;
}

/** The answer to a request that needs no token; undefined for those that do. */
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

/** Mounts of other methods are there to be found, not to be used: nobody can log in with them. */
function otherLogin(type: string, body: Readonly<Record<string, unknown>>): SecretsAnswer | undefined {
  if (type !== 'approle') return answerError(403, 'permission denied');
  return typeof body['role_id'] === 'string' && body['role_id'] !== ''
    ? answerError(400, 'invalid role or secret ID')
    : answerError(500, 'missing role_id');
}
