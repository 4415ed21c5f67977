/**
 * How each field of a role compares, and the service's default of it. Defaults are what a role created without the
 * field reads back (wire/cluster-auth 5.3, 2.5, 2.7).
 */
import type { Field, FieldsOf, FieldTable } from '../../model/kind/field.ts';
import { cidrSet, duration, scalar, set, wordOr } from '../../compare/comparisons.ts';
import type { RoleSpec } from './schema.ts';
import { zeroMeans } from './zero-lifetimes.ts';

/** Who is admitted: these names, from the namespaces of the list and those that the selector matches. */
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
  // Folded into tokenPolicies when manifests are resolved; never on the wire by this name.
  policies: { compare: set, default: [], local: true },
  tokenBoundCidrs: { compare: cidrSet, default: [] },
  tokenNoDefaultPolicy: { compare: scalar, default: false },
  tokenNumUses: { compare: scalar, default: 0 },
  tokenType: { compare: wordOr('default'), default: 'default' },
} satisfies FieldsOf<RoleSpec>;
