/**
 * The token review: the cluster says whether a JWT is one of its own, and whose (wire/cluster-auth 3).
 * Invariant: only a whole, well-typed yes for the very account that the JWT names is a yes; whatever else comes back is
 * a no, without a reason.
 */
import { isObject } from '../values/is-object.ts';
import { callCluster, type ClusterApi } from './call-cluster.ts';
import type { ServiceAccount } from './jwt/service-account.ts';

interface Review {
  readonly jwt: string;
  /** What the JWT says about itself. */
  readonly account: ServiceAccount;
  /** The role's audience; empty where it wants none, and then the JWT's own are asked for. */
  readonly audience: string;
  /** Who asks. */
  readonly bearer: string;
  readonly path: string;
}

/** Whether the cluster vouches for the JWT and for the account in it. */
export async function isConfirmedByTokenReview(api: ClusterApi, review: Review): Promise<boolean> {
  const { jwt, account, audience, bearer, path } = review;
  const audiences = audience === '' ? account.audiences : [audience];
  const spec = { token: jwt, ...(audiences.length === 0 ? {} : { audiences }) };
  const body = JSON.stringify({ metadata: {}, spec, status: { user: {} } });
  const answer = await callCluster(api, { method: 'POST', path, bearer, body });
  if (answer === undefined || answer.status < 200 || answer.status > 206) return false;
  const reviewed = reviewedAccount(answer.text, audiences);
  return (
    reviewed !== undefined &&
    account.uid !== '' &&
    reviewed.name === account.name &&
    reviewed.uid === account.uid &&
    reviewed.namespace === account.namespace
  );
}

/** The account in the cluster's answer; undefined unless it is an authenticated one for one of the audiences. */
function reviewedAccount(
  text: string,
  audiences: readonly string[],
): { name: string; namespace: string; uid: string } | undefined {
  const status = statusIn(text);
  if (status === undefined || status['authenticated'] !== true || (status['error'] ?? '') !== '')
    return undefined;
  const granted = status['audiences'] ?? [];
  if (!Array.isArray(granted)) return undefined;
  if (audiences.length > 0 && !audiences.some((audience) => granted.includes(audience))) return undefined;
  const user = status['user'];
  if (!isObject(user) || typeof user['username'] !== 'string' || typeof user['uid'] !== 'string')
    return undefined;
  const [system, kind, namespace, name, ...more] = user['username'].split(':');
  if (system !== 'system' || kind !== 'serviceaccount' || more.length > 0) return undefined;
  return namespace === undefined || name === undefined ? undefined : { name, namespace, uid: user['uid'] };
}

function statusIn(text: string): Record<string, unknown> | undefined {
  try {
    const body: unknown = JSON.parse(text);
    return isObject(body) && isObject(body['status']) ? body['status'] : undefined;
  } catch {
    return undefined;
  }
}
