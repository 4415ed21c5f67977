/** Converts the answer of a mount to a live role, in the shape of a manifest's spec. Pure. */
import type { Address } from '../../model/resource/address.ts';
import type { Json, JsonObject } from '../../model/json/json.ts';
import type { Session } from '../../model/kind/kind.ts';
import type { LiveResource, Spec } from '../../model/resource/resource.ts';
import { quoted } from '../../model/quoted.ts';
import { canonicalSpec } from '../../compare/canonical-spec.ts';
import { type MemberType, wrongTypedMember } from '../../services/cluster-auth/member-types.ts';
import { returnedFields, wireFieldNames } from '../../services/cluster-auth/wire-fields.ts';
import { fields } from './fields.ts';
import type { RoleFields } from './schema.ts';

/** `content`: all answered fields in canonical form. */
export type LiveRole = LiveResource<RoleFields, { readonly content?: Spec }>;

/** Current fields with the deprecated members that older services answer instead (wire/cluster-auth 2.6, 2.7). */
const deprecated = {
  tokenTtl: 'ttl',
  tokenMaxTtl: 'max_ttl',
  tokenPeriod: 'period',
  tokenPolicies: 'policies',
  tokenNumUses: 'num_uses',
  tokenBoundCidrs: 'bound_cidrs',
} satisfies { readonly [Field in keyof RoleFields]?: string };

/** The values of fields that an answer leaves out when they are not set (wire/cluster-auth 2.7). */
const valuesWhenAbsent: RoleFields = { audience: '', aliasNameSource: '' };

/** The members of an answer that are used here. */
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
  token_strictly_bind_ip: 'switch',
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
 * The spec holds all answered fields. The fact `content` repeats them in canonical form: a write relies on all of them,
 * because its body also holds undeclared fields.
 * @param data the answer's `data`
 */
export function liveRole(address: Address, data: JsonObject): LiveRole {
  const spec: Record<string, Json> = { ...valuesWhenAbsent, ...returnedFields(liveFieldNames, data) };
  for (const [name, member] of Object.entries(deprecated)) {
    const value = data[member];
    if (spec[name] === undefined && value !== undefined) spec[name] = value;
  }
  return { address, spec, witness: {}, facts: { content: canonicalSpec(fields, spec) } };
}

type ReadRole =
  | { readonly is: 'role'; readonly live: LiveRole }
  /** `odd`: a member has an unexpected type, which a write must not send back; `another`: a role of another method */
  | { readonly is: 'odd' | 'another'; readonly why: string };

/** A role without names belongs to another method (wire/cluster-auth 2.5, 2.7). */
export function readRole(session: Session, address: Address, data: JsonObject): ReadRole {
  const names = data['bound_service_account_names'] ?? null;
  const odd =
    names === null ? 'it has no bound_service_account_names' : wrongTypedMember(session, data, memberTypes);
  if (odd === undefined) return { is: 'role', live: liveRole(address, data) };
  return {
    is: names === null ? 'another' : 'odd',
    why: `role ${quoted(address.name)} was not understood: ${odd}`,
  };
}
