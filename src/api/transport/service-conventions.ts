/**
 * What each service requires of every request, for all its dialects: the root of its API, its media type, and the headers. Also
 * explains the answers of a secrets service that are about the whole target, not the request.
 */
import { type Answer, describeAnswer, isSealed } from '../../model/http.ts';
import { quoted } from '../../model/quoted.ts';
import { apiRoots, type Dialect, type Service, type Target } from '../../model/stack.ts';

interface ServiceConventions {
  /** the path between the target's URL and the path of a call */
  readonly root: string;
  readonly mediaType: string;
  /** the service refuses a write without a content type, even one without a body (wire/workspaces 1.2) */
  readonly typesEveryWrite: boolean;
  /** the service has no limit unless its operator sets one, so reads are not paced until it refuses a request (decision 0012) */
  readonly freeReads: boolean;
  /** the path to query the permissions of a token, by POST; absent if the service has none (wire/cluster-auth 2.9) */
  readonly rightsPath?: string;
}

export const services: Readonly<Record<Service, ServiceConventions>> = {
  workspaces: {
    root: apiRoots.workspaces,
    mediaType: 'application/vnd.api+json',
    typesEveryWrite: true,
    freeReads: false,
  },
  'cluster-auth': {
    root: apiRoots['cluster-auth'],
    mediaType: 'application/json',
    typesEveryWrite: false,
    freeReads: true,
    rightsPath: '/sys/capabilities-self',
  },
};

// Makes the headers of a request, with the header names of the dialect.

interface HeaderInput {
  readonly method: string;
  readonly hasBody: boolean;
  /** absent for requests without a token */
  readonly token: string | undefined;
}

export function requestHeaders(
  { dialect, target, userAgent }: { dialect: Dialect; target: Target; userAgent: string },
  { method, hasBody, token }: HeaderInput,
): Record<string, string> {
  const { mediaType, typesEveryWrite } = services[dialect.service];
  const writes = method !== 'GET' && method !== 'LIST';
  return {
    accept: mediaType,
    'user-agent': userAgent,
    ...dialect.headers,
    ...(hasBody || (writes && typesEveryWrite) ? { 'content-type': mediaType } : {}),
    ...namespaceHeader(dialect, target),
    ...(token === undefined ? {} : tokenHeader(dialect, token)),
  };
}

function namespaceHeader({ namespaceHeader: name }: Dialect, { namespace }: Target): Record<string, string> {
  return name === undefined || namespace === undefined ? {} : { [name]: namespace };
}

function tokenHeader({ tokenHeader: name }: Dialect, token: string): Record<string, string> {
  return { [name]: name === 'authorization' ? `Bearer ${token}` : token };
}

/** Why the target refuses all requests, as a clause; undefined for an answer about the request itself (wire/cluster-auth 2.1). */
export function explainRefusal({ namespace = '' }: Target, answer: Answer): string | undefined {
  const description = describeAnswer(answer);
  if (isSealed(answer)) return `the service is sealed and must be unsealed before it answers: ${description}`;
  if (answer.status === 503 && /\bnot active but active\b/i.test(answer.words))
    return `this node of the service is a standby without an active node, so try again later, or check the cluster: ${description}`;
  if (answer.status === 404 && answer.words === 'namespace not found')
    return `there is no namespace ${quoted(namespace)}, so correct the target's "namespace": ${description}`;
  return undefined;
}
