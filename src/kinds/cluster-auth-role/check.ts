/**
 * Finds offline what the service would refuse about a role, in the service's own words (wire/cluster-auth 2.5), and settings
 * that it accepts but that are hardly intended. Rules ignore values that the schema refuses.
 */
import type { CheckContext, ResourceProblem } from '../../model/kind/kind.ts';
import type { DesiredResource } from '../../model/resource/resource.ts';
import type { Dialect } from '../../model/stack/target.ts';
import {
  requireAudience,
  labelsArePossible,
  namesAreThere,
  namesArePossible,
  namespacesAreThere,
  notOpenToEveryone,
  validateSelector,
  wildcardStandsAlone,
} from './check/check-access.ts';
import {
  batchTokensArePlain,
  blocksAreAddresses,
  validateDuration,
  lifetimeIsLimited,
  lifetimeIsShort,
  policiesAreGiven,
  policiesAreThere,
  policiesHaveOneName,
  strictBindingIsKnown,
  strictBindingStandsAlone,
  textsAreFewEnough,
  ttlFitsMaximum,
} from './check/check-tokens.ts';
import type { RoleRule } from './check/finding.ts';
import { NAMES, NAMESPACES } from './fields.ts';
import type { RoleFields, RoleSpec } from './schema.ts';

const DURATIONS = ['tokenTtl', 'tokenMaxTtl', 'tokenExplicitMaxTtl', 'tokenPeriod'] as const;

export function check(
  { spec, metadata }: DesiredResource<RoleSpec>,
  { dialect }: CheckContext,
): readonly ResourceProblem[] {
  return metadata.remove === undefined ? rules.flatMap((rule) => rule(spec, dialect)) : [];
}

/** The rules about several fields: the live value of an undeclared field may break them, too. */
const rulesAcrossFields: readonly RoleRule[] = [
  namespacesAreThere,
  ttlFitsMaximum,
  batchTokensArePlain,
  strictBindingStandsAlone,
  textsAreFewEnough,
];

const rules: readonly RoleRule[] = [
  namesAreThere,
  (spec) => wildcardStandsAlone(spec, NAMES),
  (spec) => wildcardStandsAlone(spec, NAMESPACES),
  namesArePossible,
  notOpenToEveryone,
  validateSelector,
  labelsArePossible,
  requireAudience,
  (spec) => DURATIONS.flatMap((name) => validateDuration(spec, name)),
  (spec) => DURATIONS.flatMap((name) => lifetimeIsShort(spec, name)),
  lifetimeIsLimited,
  blocksAreAddresses,
  policiesAreThere,
  policiesAreGiven,
  policiesHaveOneName,
  strictBindingIsKnown,
  ...rulesAcrossFields,
];

/** What the service would refuse about a complete role because of contradicting fields. */
export function findConflicts(spec: RoleFields, dialect: Dialect): readonly ResourceProblem[] {
  return rulesAcrossFields.flatMap((rule) => rule(spec, dialect));
}
