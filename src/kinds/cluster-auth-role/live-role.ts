/** A role as a mount answers it, in the shape of a manifest's spec. Pure. */
import type { Address } from '../../model/resource/address.ts';
import type { Json, JsonObject } from '../../model/json/json.ts';
import type { Session } from '../../model/kind/kind.ts';
import type { LiveResource, Spec } from '../../model/resource/resource.ts';
import { canonicalSpec } from '../../compare/canonical-spec.ts';
import { type MemberType, oddMember } from '../../services/cluster-auth/member-types.ts';
import { answeredFields, wireFieldNames } from '../../services/cluster-auth/wire-fields.ts';
import { fields } from './fields.ts';
import type { RoleFields } from './schema.ts';

/** `content`: every field that was answered, in canonical form. */
export type LiveRole = LiveResource<RoleFields, { readonly content?: Spec }>;

/** Today's field by the deprecated member that answers for it where the service has only that (wire/cluster-auth 2.6, 2.7). */
const deprecated = {
  tokenTtl: 'ttl',
  tokenMaxTtl: 'max_ttl',
  tokenPeriod: 'period',
  tokenPolicies: 'policies',
  tokenNumUses: 'num_uses',
  tokenBoundCidrs: 'bound_cidrs',
} satisfies { readonly [Field in keyof RoleFields]?: string };

/** Fields that an answer leaves out when they are unset: their absence tells their value (wire/cluster-auth 2.7). */
const silentWhenUnset: RoleFields = { audience: '', aliasNameSource: '' };

/** Every member that a role of this method may be answered with and that is looked at here. */
const memberTypes: Readonly<Record<string, MemberType>> = {
  bound_service_account_names: 'list',
  bound_service_account_namespaces: 'list',
  bound_service_account_namespace_selector: 'text',
  audience: 'text',
  alias_name_source: 'text',
  token_ttl: 'duration',
  token_max_ttl: 'duration',
  token_explicit_max_ttl: 'duration',
  token_period: 'duration',
  token_policies: 'list',
  token_bound_cidrs: 'list',
  token_no_default_policy: 'switch',
  token_num_uses: 'number',
  token_type: 'text',
  ttl: 'duration',
  max_ttl: 'duration',
  period: 'duration',
  policies: 'list',
  num_uses: 'number',
  bound_cidrs: 'list',
};

export const liveFieldNames: readonly string[] = wireFieldNames(fields);

/**
 * `data` is the answer's `data`. The spec holds every field that was answered; the fact `content` repeats it in
 * canonical form, for writes rely on all of it: a full body carries what the manifest does not declare as well.
 */
export function liveRole(address: Address, data: JsonObject): LiveRole {
  const spec: Record<string, Json> = { ...silentWhenUnset, ...answeredFields(liveFieldNames, data) };
  for (const [name, member] of Object.entries(deprecated)) {
    const value = data[member];
    if (spec[name] === undefined && value !== undefined) spec[name] = value;
  }
  return { address, spec, witness: {}, facts: { content: canonicalSpec(fields, spec) } };
}

export type ReadRole =
  | { readonly is: 'role'; readonly live: LiveRole }
  /** `odd`: a write would repeat what nobody understands; `another`: it is of another method, which answers the same paths */
  | { readonly is: 'odd' | 'another'; readonly why: string };

/** No role of this method lacks its names (wire/cluster-auth 2.5, 2.7). */
export function readRole(session: Session, address: Address, data: JsonObject): ReadRole {
  const names = data['bound_service_account_names'] ?? null;
  const odd =
    names === null ? 'it has no bound_service_account_names' : oddMember(session, data, memberTypes);
  if (odd === undefined) return { is: 'role', live: liveRole(address, data) };
  return { is: names === null ? 'another' : 'odd', why: `role "${address.name}" was not understood: ${odd}` };
}
