/** The deprecated `policies` of a role, folded into `tokenPolicies` as the service folds them (wire/cluster-auth 2.4-2.6). */
import type { Json } from '../../model/json/json.ts';
import type { RoleFields } from './schema.ts';

/** Leaves a spec alone that has both names, for `check` to refuse. Idempotent. */
export function upgradePolicies(spec: RoleFields): RoleFields {
  const { policies, ...rest } = spec;
  if (policies === undefined || rest.tokenPolicies !== undefined) return spec;
  return { ...rest, tokenPolicies: tidy(policies) };
}

/** Unlike today's name, the deprecated one is kept in lower case, and `root` swallows the others. */
function tidy(policies: Json): Json {
  const list = typeof policies === 'string' ? policies.split(',') : policies;
  if (!Array.isArray(list)) return policies;
  const names = list.map((name) => `${String(name)}`.trim().toLowerCase()).filter((name) => name !== '');
  return names.includes('root') ? ['root'] : names;
}
