/**
 * How each field of a role compares, and its default: the value that a role created without the field has
 * (wire/cluster-auth 5.3, 2.5, 2.7).
 */
import type { Field, FieldsOf, FieldTable } from '../../model/kind/field.ts';
import { cidrSet, duration, scalar, set, wordOr } from '../../compare/comparisons.ts';
import type { Dialect } from '../../model/stack/target.ts';
import { wireFieldNames } from '../../services/cluster-auth/wire-fields.ts';
import type { RoleSpec } from './schema.ts';
import { zeroMeans } from './zero-lifetimes.ts';

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
  tokenTtl: lifetime(zeroMeans.tokenTtl),
  tokenMaxTtl: lifetime(zeroMeans.tokenMaxTtl),
  tokenExplicitMaxTtl: lifetime(zeroMeans.tokenExplicitMaxTtl),
  tokenPeriod: lifetime(zeroMeans.tokenPeriod),
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
