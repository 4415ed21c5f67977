/**
 * Which service account a JWT names, and the cluster's answers about it: the token review and the account's annotations
 * (wire/cluster-auth 3). A JWT from a secret has flat claims. A projected one has a nested object, which takes precedence. A claim
 * of another type is an error, and never converted to a text.
 */
import { callCluster, type ClusterApi, type Refusal } from './cluster-api.ts';
import type { ValueOrProblem } from './field-coercion.ts';
import { isObject } from './json-values.ts';
import { claimOf, type Claims } from './jwt.ts';

/** Texts are empty if the JWT lacks the claim. */
export interface ServiceAccount {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  /** The secret that contains the JWT; empty for projected JWTs. */
  readonly secretName: string;
  /** The JWT's own audiences. */
  readonly audiences: readonly string[];
}

/** Reads the account. `root` is the prefix of the cluster's claims. The problem is the text of a 500. */
export function readServiceAccount(claims: Claims, root: string): ValueOrProblem<ServiceAccount> {
  const problems: string[] = [];
  const text = (from: Claims, key: string, at = key) => textOf(claimOf(from, key), at, problems);
  const flat = {
    name: text(claims, `${root}/serviceaccount/service-account.name`),
    uid: text(claims, `${root}/serviceaccount/service-account.uid`),
    secretName: text(claims, `${root}/serviceaccount/secret.name`),
    namespace: text(claims, `${root}/serviceaccount/namespace`),
  };
  const audiences = textsOf(claimOf(claims, 'aud'), 'aud', problems);
  const nested = objectOf(claimOf(claims, root), root, problems);
  const namespace = nested && text(nested, 'namespace', `${root}.namespace`);
  // The pod is read, too, because a claim of a wrong type in it is an error.
  const [, account] = ['pod', 'serviceaccount'].map((member) => {
    const at = `${root}.${member}`;
    const reference = nested && objectOf(claimOf(nested, member), at, problems);
    return (
      reference && { name: text(reference, 'name', `${at}.name`), uid: text(reference, 'uid', `${at}.uid`) }
    );
  });
  if (problems.length > 0) {
    return {
      ok: false,
      problem: `decoding failed due to the following error(s):\n\n${problems.join('\n')}`,
    };
  }
  return { ok: true, value: { ...flat, ...account, namespace: namespace ?? flat.namespace, audiences } };
}

/**
 * The alias name of the account: its UID, or its namespace and name. The problem, for a JWT without them, is the text of a 500.
 */
export function aliasName(account: ServiceAccount, source: string): ValueOrProblem<string> {
  if (source !== 'serviceaccount_name') {
    return account.uid === ''
      ? { ok: false, problem: 'could not parse UID from claims' }
      : { ok: true, value: account.uid };
  }
  return account.namespace === '' || account.name === ''
    ? { ok: false, problem: 'service account namespace and name must be set' }
    : { ok: true, value: `${account.namespace}/${account.name}` };
}

function textOf(value: unknown, at: string, problems: string[]): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  problems.push(`'${at}' expected type 'string', got unconvertible type '${typeName(value)}'`);
  return '';
}

function textsOf(value: unknown, at: string, problems: string[]): string[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value.map((each, index) => textOf(each, `${at}[${index}]`, problems));
  problems.push(`'${at}' source data must be an array or slice, got ${kindName(value)}`);
  return [];
}

function objectOf(value: unknown, at: string, problems: string[]): Claims | undefined {
  if (value === undefined || value === null) return undefined;
  if (isObject(value)) return value;
  problems.push(`'${at}' expected a map or struct, got "${kindName(value)}"`);
  return undefined;
}

/** The real service's names for the types of JSON values. */
function typeName(value: unknown): string {
  if (Array.isArray(value)) return '[]interface {}';
  return isObject(value) ? 'map[string]interface {}' : kindName(value);
}

function kindName(value: unknown): string {
  if (Array.isArray(value)) return 'slice';
  const names: Record<string, string> = { number: 'float64', boolean: 'bool', object: 'map' };
  return names[typeof value] ?? typeof value;
}

// The token review: the cluster decides whether a JWT is valid, and which account it belongs to (wire/cluster-auth 3).
// Invariant: a JWT is confirmed only by a complete, well-typed answer for exactly the account that the JWT names. Every other
// answer is a refusal without a reason.

interface Review {
  readonly jwt: string;
  /** The claims of the JWT. */
  readonly account: ServiceAccount;
  /** The role's audience; empty if the role has none: then the review uses the JWT's own audiences. */
  readonly audience: string;
  /** The token of the call. */
  readonly bearer: string;
  readonly path: string;
}

/** Whether the cluster confirms the JWT and the account in it. */
export async function isConfirmedByTokenReview(api: ClusterApi, review: Review): Promise<boolean> {
  const { jwt, account, audience, bearer, path } = review;
  const audiences = audience === '' ? account.audiences : [audience];
  const spec = { token: jwt, audiences: audiences.length === 0 ? undefined : audiences };
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

/** The account in the cluster's answer; undefined unless the JWT is authenticated for one of the audiences. */
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

// Metadata of the alias from a service account's annotations, if the config enables it and the dialect has it
// (wire/cluster-auth 1).
// Invariant: annotations add metadata, and never replace that of the login itself.

interface AnnotationRequest {
  readonly account: ServiceAccount;
  /** The token of the call. */
  readonly bearer: string;
  /** Annotations with this prefix are for the service. */
  readonly prefix: string;
}

/** The metadata that the login itself sets. */
const RESERVED = [
  'service_account_uid',
  'service_account_name',
  'service_account_namespace',
  'service_account_secret_name',
];

/** The metadata in the account's annotations, or the refusal. */
export async function annotatedMetadata(
  api: ClusterApi,
  { account, bearer, prefix }: AnnotationRequest,
): Promise<{ readonly metadata: Readonly<Record<string, string>> } | Refusal> {
  if (!account.namespace.isWellFormed() || !account.name.isWellFormed())
    return { status: 403, text: 'permission denied' };
  const [namespace, name] = [account.namespace, account.name].map(encodeURIComponent);
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}`;
  const answer = await callCluster(api, { method: 'GET', path, bearer });
  const annotations = answer?.status === 200 ? annotationsIn(answer.text) : undefined;
  if (annotations === undefined) return { status: 500, text: 'failed to get service account' };
  const metadata = Object.entries(annotations).flatMap(([key, value]) =>
    key.startsWith(prefix) && typeof value === 'string' ? [[key.slice(prefix.length), value] as const] : [],
  );
  const reserved = metadata.find(([key]) => RESERVED.includes(key));
  if (reserved !== undefined)
    return { status: 400, text: `annotation "${prefix}${reserved[0]}" is reserved by the service` };
  return { metadata: Object.fromEntries(metadata) };
}

function annotationsIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const body: unknown = JSON.parse(text);
    const metadata = isObject(body) ? body['metadata'] : undefined;
    if (!isObject(metadata)) return undefined;
    return isObject(metadata['annotations']) ? metadata['annotations'] : {};
  } catch {
    return undefined;
  }
}
