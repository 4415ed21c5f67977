/**
 * How each field of a role compares, and its default (wire/cluster-auth 5.3, 2.5, 2.7); the rule for names, which the service
 * stores in lower case; and the deprecated `policies`, which become `tokenPolicies`.
 */
import { wireFieldNames } from '../../api/cluster-auth-fields.ts';
import { cidrSet, duration, scalar, set, wordOr } from '../../compare/comparisons.ts';
import type { Field, FieldsOf, FieldTable } from '../../model/field.ts';
import type { Json } from '../../model/json.ts';
import type { NameRule } from '../../model/kind.ts';
import type { Dialect } from '../../model/stack.ts';
import { type RoleFields, type RoleSpec, ttlZeroMeaning } from './schema.ts';

/** The fields that decide who is admitted: names, in the listed namespaces and those that the selector matches. */
export const NAMES = 'boundServiceAccountNames';
export const NAMESPACES = 'boundServiceAccountNamespaces';
export const SELECTOR = 'boundServiceAccountNamespaceSelector';

const lifetime = (defaultMeans: string): Field => ({ compare: duration, default: 0, defaultMeans });

export const fields: FieldTable = {
  [NAMES]: { compare: set },
  [NAMESPACES]: { compare: set },
  [SELECTOR]: { compare: wordOr(''), default: '' },
  audience: { compare: wordOr(''), default: '' },
  aliasNameSource: { compare: wordOr('serviceaccount_uid'), default: 'serviceaccount_uid' },
  tokenTtl: lifetime(ttlZeroMeaning.tokenTtl),
  tokenMaxTtl: lifetime(ttlZeroMeaning.tokenMaxTtl),
  tokenExplicitMaxTtl: lifetime(ttlZeroMeaning.tokenExplicitMaxTtl),
  tokenPeriod: lifetime(ttlZeroMeaning.tokenPeriod),
  tokenPolicies: { compare: set, default: [] },
  // Converted to tokenPolicies when manifests are resolved; never sent under this name.
  policies: { compare: set, default: [], local: true },
  tokenBoundCidrs: { compare: cidrSet, default: [] },
  tokenStrictlyBindIp: { compare: scalar, default: false },
  tokenNoDefaultPolicy: { compare: scalar, default: false },
  tokenNumUses: { compare: scalar, default: 0 },
  tokenType: { compare: wordOr('default'), default: 'default' },
} satisfies FieldsOf<RoleSpec>;

/** The fields that the service of this dialect has, deprecated names excluded. */
export function fieldNamesOf({ capabilities }: Dialect): readonly string[] {
  return wireFieldNames(fields).filter(
    (name) => name !== 'tokenStrictlyBindIp' || capabilities.has('strict-ip-binding'),
  );
}

// The rule for names of roles. The service stores them in lower case, so names and patterns are compared in lower case
// (wire/cluster-auth 2.5).

export const names = {
  pattern: /^\w(?:[\w.-]*\w)?$/,
  description:
    'letters, digits, "_", "." and "-", the first and the last neither "." nor "-"; kept in lower case',
  fold: (name: string) => name.toLowerCase(),
} satisfies NameRule;

// Converts the deprecated `policies` of a role to `tokenPolicies`, as the service does (wire/cluster-auth 2.4-2.6).

/** A spec with both names stays unchanged: `check` refuses it. Idempotent. */
export function upgradePolicies(spec: RoleFields): RoleFields {
  const { policies, ...rest } = spec;
  if (policies === undefined || rest.tokenPolicies !== undefined) return spec;
  return { ...rest, tokenPolicies: normalizedPolicies(policies) };
}

/** Policies of the deprecated field are stored in lower case, and `root` replaces all others. */
function normalizedPolicies(policies: Json): Json {
  const list = typeof policies === 'string' ? policies.split(',') : policies;
  if (!Array.isArray(list)) return policies;
  const names = list.map((name) => `${String(name)}`.trim().toLowerCase()).filter((name) => name !== '');
  return names.includes('root') ? ['root'] : names;
}
