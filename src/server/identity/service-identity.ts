/**
 * Who calls the secrets service: the holder of an `X-Service-Token`.
 * Invariant: an unknown or expired token is nobody; rights come from the policies as they are now, not as they were
 * when the token was made.
 */
import type { Database } from '../data-file/database.ts';
import { allows, type PolicyCapability, type PolicyRule, ROOT_POLICY } from './service-policies.ts';
import { hashToken } from './tokens.ts';

export interface ServiceIdentity {
  readonly accessor: string;
  readonly displayName: string;
  readonly policies: readonly string[];
  /** Whether the token may do `capability` on `path`, for example `update` on `auth/cluster/role/web`. */
  can(capability: PolicyCapability, path: string): boolean;
}

interface ServiceTokenRow {
  accessor: string;
  display_name: string;
  policies: string;
}

/** The identity behind the header's value; undefined when there is none, it is unknown, or it has expired. */
export function authenticateServiceToken(
  database: Database,
  header: string | string[] | undefined,
  now: Date,
): ServiceIdentity | undefined {
  if (typeof header !== 'string' || header === '') return undefined;
  const row = database.get<ServiceTokenRow>(
    `SELECT accessor, display_name, policies FROM service_tokens
     WHERE token_hash = :hash AND (expires_at IS NULL OR expires_at > :now)`,
    { hash: hashToken(header), now: now.toISOString() },
  );
  if (row === undefined) return undefined;
  const policies = JSON.parse(row.policies) as string[];
  const rules = policyRules(database, row.policies);
  const isRoot = policies.includes(ROOT_POLICY);
  return {
    accessor: row.accessor,
    displayName: row.display_name,
    policies,
    can: (capability, path) => isRoot || allows(rules, capability, path),
  };
}

/** The rules of all named policies; a name without a policy grants nothing. */
function policyRules(database: Database, names: string): PolicyRule[] {
  return database
    .all<{ rules: string }>(
      'SELECT rules FROM service_policies WHERE name IN (SELECT value FROM json_each(:names))',
      { names },
    )
    .flatMap((row) => JSON.parse(row.rules) as PolicyRule[]);
}
