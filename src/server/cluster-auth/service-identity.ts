/**
 * The caller of the secrets service: the holder of a service token.
 * Invariant: a token has no identity if it is unknown or expired, comes from an address that it is not bound to, or is used in
 * a namespace outside its own. Its rights come from the current policies, not from those at its creation.
 */
import type { Database } from '../kernel/database.ts';
import { admitsAddress } from './address-blocks.ts';
import type { Services } from '../kernel/services.ts';
import { findToken, type ServiceToken } from './token-record.ts';
import {
  accessRules,
  builtInPolicy,
  type Permission,
  type PolicyCapability,
  type PolicyRule,
  ROOT_POLICY,
} from './policy-rules.ts';

export interface ServiceIdentity {
  readonly accessor: string;
  readonly displayName: string;
  readonly policies: readonly string[];
  readonly token: ServiceToken;
  /** What the token's policies grant, by path as written in the policies, relative to the token's namespace. */
  readonly permissions: ReadonlyMap<string, Permission>;
  /** Whether the token may do `capability` on `path`, for example `update` on `auth/cluster/role/web`, with these parameters. */
  can(capability: PolicyCapability, path: string, parameters?: Readonly<Record<string, unknown>>): boolean;
  /** The token's capabilities on the path, sorted: only `root` with the policy `root`, only `deny` if it has none. */
  capabilitiesOn(path: string): readonly string[];
  /** Whether a rule grants anything at or below this path. */
  hasRightsBelow(prefix: string): boolean;
}

/** The target namespace of a request, and the address of its client. */
interface RequestPlace {
  /** The namespace of the paths; `''` is the root. */
  readonly namespace: string;
  /** The client's IP address; undefined if unknown. */
  readonly address?: string | undefined;
}

/** The identity of the token in the header; undefined for a token that is invalid, or not valid for `place`. */
export function authenticateServiceToken(
  { database, now }: Pick<Services, 'database' | 'now'>,
  header: string | string[] | undefined,
  place: RequestPlace = { namespace: '' },
): ServiceIdentity | undefined {
  if (typeof header !== 'string' || header === '') return undefined;
  const token = findToken(database, header, now());
  const isAdmitted =
    token !== undefined && (token.boundCidrs.length === 0 || admitsAddress(token.boundCidrs, place.address));
  return isAdmitted ? identityOfToken(database, token, place.namespace) : undefined;
}

/** The identity of a token in a namespace, without a check of the address; undefined outside the token's namespace. */
export function identityOfToken(
  database: Database,
  token: ServiceToken,
  namespace: string,
): ServiceIdentity | undefined {
  const isWithin = token.namespace === '' || `${namespace}/`.startsWith(`${token.namespace}/`);
  if (!isWithin) return undefined;
  const inside = namespace.slice(token.namespace.length).replace(/^\//, '');
  return identityOf(token, policyRules(database, token), inside === '' ? '' : `${inside}/`);
}

/** `prefix` is the path from the token's namespace to the namespace of the paths. */
function identityOf(token: ServiceToken, rules: readonly PolicyRule[], prefix: string): ServiceIdentity {
  const isRoot = token.policies.includes(ROOT_POLICY);
  const access = accessRules(rules);
  return {
    accessor: token.accessor,
    displayName: token.displayName,
    policies: token.policies,
    token,
    permissions: access.byPath,
    can: (capability, path, parameters) => isRoot || access.allows(capability, prefix + path, parameters),
    capabilitiesOn: (path) => {
      if (isRoot) return [ROOT_POLICY];
      const granted = access.grantedOn(prefix + path);
      return granted.size === 0 ? ['deny'] : [...granted].toSorted();
    },
    hasRightsBelow: (path) => isRoot || access.grantsBelow(prefix + path),
  };
}

/** The rules of all named policies; a name without a policy grants nothing. */
function policyRules(database: Database, { namespace, policies }: ServiceToken): PolicyRule[] {
  const stored = database.all<{ name: string; rules: string }>(
    `SELECT name, rules FROM service_policies
     WHERE namespace = :namespace AND name IN (SELECT value FROM json_each(:names))`,
    { namespace, names: JSON.stringify(policies) },
  );
  const names = new Set(stored.map(({ name }) => name));
  return [
    ...stored.flatMap(({ rules }) => JSON.parse(rules) as PolicyRule[]),
    ...policies.filter((name) => !names.has(name)).flatMap((name) => builtInPolicy(name)?.rules ?? []),
  ];
}
