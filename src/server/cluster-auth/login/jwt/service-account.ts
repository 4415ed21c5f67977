/**
 * Which service account a JWT says it is for (wire/cluster-auth 3).
 * Two forms are known: flat claims of JWTs from secrets, and one nested object in projected ones, which wins where it
 * says something.
 * Invariant: pure; a claim of another type is a problem, never turned into a text.
 */
import { isObject } from '../../values/is-object.ts';
import type { Coerced } from '../../values/field-coercion.ts';
import { claimOf, type Claims } from './named-claims.ts';

/** Texts are empty where the JWT says nothing. */
export interface ServiceAccount {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  /** The secret that holds the JWT; projected ones have none. */
  readonly secretName: string;
  /** The JWT's own audiences. */
  readonly audiences: readonly string[];
}

/** Reads the account. `root` is what the cluster's claims begin with. The problem is the text of the 500 that it is. */
export function readServiceAccount(claims: Claims, root: string): Coerced<ServiceAccount> {
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
 * Under which name the account is known to the service: its UID, or its namespace and name. The problem is the text of
 * the 500 that a JWT without them is.
 */
export function aliasName(account: ServiceAccount, source: string): Coerced<string> {
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

/** What the original calls the types of JSON values. */
function typeName(value: unknown): string {
  if (Array.isArray(value)) return '[]interface {}';
  return isObject(value) ? 'map[string]interface {}' : kindName(value);
}

function kindName(value: unknown): string {
  if (Array.isArray(value)) return 'slice';
  const names: Record<string, string> = { number: 'float64', boolean: 'bool', object: 'map' };
  return names[typeof value] ?? typeof value;
}
