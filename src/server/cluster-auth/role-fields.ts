/**
 * The fields of a role: how requests are read, the defaults of a new role, and the document of a role. The database uses the field
 * names of the wire.
 * Invariant: a role's values are normalized: durations in whole seconds, lists as arrays, and blocks of addresses as
 * `address-blocks.ts` prints them.
 */
import type { ClusterAuthDialect } from '../kernel/dialects.ts';
import {
  asBoolean,
  asDuration,
  asInteger,
  asList,
  asPairs,
  asText,
  type ValueOrProblem,
  readFields,
  type SentFields,
} from './field-coercion.ts';

/**
 * The fields, each with its reader. The last six have deprecated names. They are 0 or empty unless a client used them; then they
 * equal the field that replaced them (wire/cluster-auth 2.6).
 */
const ROLE_FIELDS = {
  bound_service_account_names: asList,
  bound_service_account_namespaces: asList,
  bound_service_account_namespace_selector: asText,
  audience: asText,
  alias_name_source: asText,
  token_bound_cidrs: asList,
  token_explicit_max_ttl: asDuration,
  token_max_ttl: asDuration,
  token_no_default_policy: asBoolean,
  token_num_uses: asInteger,
  token_period: asDuration,
  token_policies: asList,
  /** Only in some dialects; false in the others. */
  token_strictly_bind_ip: asBoolean,
  token_ttl: asDuration,
  token_type: asText,
  /** Only in some dialects; empty in the others. */
  alias_metadata: asPairs,
  policies: asList,
  bound_cidrs: asList,
  num_uses: asInteger,
  ttl: asDuration,
  max_ttl: asDuration,
  period: asDuration,
} as const;

export type SentRole = SentFields<typeof ROLE_FIELDS>;

/** A role as it is stored. */
export type Role = Readonly<Required<Omit<SentRole, 'bound_service_account_namespaces'>>> & {
  /** null until namespaces are set for the first time. */
  readonly bound_service_account_namespaces: readonly string[] | null;
};

/** The deprecated names, each with the field that replaced it. */
export const DEPRECATED_NAMES = [
  ['policies', 'token_policies'],
  ['bound_cidrs', 'token_bound_cidrs'],
  ['num_uses', 'token_num_uses'],
  ['ttl', 'token_ttl'],
  ['max_ttl', 'token_max_ttl'],
  ['period', 'token_period'],
] as const;

/** An alias is named after the account's generated UID, or after its namespace and name. */
export const ALIAS_NAME_SOURCES = ['serviceaccount_uid', 'serviceaccount_name'] as const;

/** The defaults of a new role, which is not valid yet. */
export const FRESH_ROLE: Role = {
  bound_service_account_names: [],
  bound_service_account_namespaces: null,
  bound_service_account_namespace_selector: '',
  audience: '',
  alias_name_source: '',
  token_bound_cidrs: [],
  token_explicit_max_ttl: 0,
  token_max_ttl: 0,
  token_no_default_policy: false,
  token_num_uses: 0,
  token_period: 0,
  token_policies: [],
  token_strictly_bind_ip: false,
  token_ttl: 0,
  token_type: 'default',
  alias_metadata: {},
  policies: [],
  bound_cidrs: [],
  num_uses: 0,
  ttl: 0,
  max_ttl: 0,
  period: 0,
};

/** The fields that only some dialects have. */
const DIALECT_FIELDS = ['token_strictly_bind_ip', 'alias_metadata'] as const;

function isServed(field: string, { ownRoleFields }: ClusterAuthDialect): boolean {
  return ownRoleFields.includes(field) || !DIALECT_FIELDS.some((own) => own === field);
}

/** The fields of a role that the dialect has. */
export function roleFields(dialect: ClusterAuthDialect): Partial<typeof ROLE_FIELDS> {
  return Object.fromEntries(Object.entries(ROLE_FIELDS).filter(([name]) => isServed(name, dialect)));
}

/** Reads the role fields of a request body (wire/cluster-auth 2.4); other keys are ignored. */
export function readRoleFields(
  body: Readonly<Record<string, unknown>>,
  dialect: ClusterAuthDialect,
): ValueOrProblem<SentRole> {
  return readFields(roleFields(dialect), body);
}

/**
 * The role in the answer to a read: always the fields with current names; `audience` and the deprecated names only when they are
 * not empty; never a `name` (wire/cluster-auth 2.7).
 */
export function presentRole(role: Role, dialect: ClusterAuthDialect): Record<string, unknown> {
  const { audience, policies, bound_cidrs, num_uses, ttl, max_ttl, period, ...always } = role;
  const conditional = {
    audience,
    // These two show the values of the fields with the current names.
    policies: policies.length > 0 ? role.token_policies : [],
    bound_cidrs: bound_cidrs.length > 0 ? role.token_bound_cidrs : [],
    num_uses,
    ttl,
    max_ttl,
    period,
  };
  const notEmpty = Object.entries(conditional).filter(([, value]) =>
    typeof value === 'number' || typeof value === 'bigint' ? value > 0 : value.length > 0,
  );
  const served = Object.entries(always).filter(([name]) => isServed(name, dialect));
  return Object.fromEntries([...served, ...notEmpty]);
}
