/** Converts the deprecated `policies` of a role to `tokenPolicies`, as the service does (wire/cluster-auth 2.4-2.6). */
import type { Json } from '../../model/json/json.ts';
import type { RoleFields } from './schema.ts';

/** A spec with both names stays unchanged: `check` refuses it. Idempotent. */
export function upgradePolicies(spec: RoleFields): RoleFields {
  const { policies, ...rest } = spec;
  if (policies === undefined || rest.tokenPolicies !== undefined) return spec;
  return { ...rest, tokenPolicies: tidy(policies) };
}

/** Policies of the deprecated field are stored in lower case, and `root` replaces all others. */
function tidy(policies: Json): Json {
  const list = typeof policies === 'string' ? policies.split(',') : policies;
  if (!Array.isArray(list)) return policies;
  const names = list.map((name) => `${String(name)}`.trim().toLowerCase()).filter((name) => name !== '');
  return names.includes('root') ? ['root'] : names;
}
