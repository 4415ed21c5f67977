/**
 * Converts the response of a mount to a live role, and prepares it for comparison: undeclared live values that contradict the
 * declared ones are reset if they changed since the last apply, else they are an error. Pure.
 */
import {
  fieldValue,
  type MemberType,
  returnedFields,
  wireFieldNames,
  wrongTypedMember,
} from '../../api/cluster-auth-fields.ts';
import { canonicalSpec } from '../../compare/comparisons.ts';
import type { Address } from '../../model/address.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { type Json, type JsonObject, sameJson } from '../../model/json.ts';
import type { CompareContext, PreparedSpecs } from '../../model/kind-specs.ts';
import type { ResourceProblem, Session } from '../../model/kind.ts';
import { quoted } from '../../model/quoted.ts';
import type { LiveResource, Spec } from '../../model/resource.ts';
import { findConflicts } from './check.ts';
import { fields, SELECTOR } from './fields.ts';
import { isSameSelector } from './login-conditions.ts';
import type { RoleFields, RoleSpec } from './schema.ts';

/** `content`: all returned fields in canonical form. */
export type LiveRole = LiveResource<RoleFields, { readonly content?: Spec }>;

/** Current fields with the deprecated members that older services return instead (wire/cluster-auth 2.6, 2.7). */
const deprecated = {
  tokenTtl: 'ttl',
  tokenMaxTtl: 'max_ttl',
  tokenPeriod: 'period',
  tokenPolicies: 'policies',
  tokenNumUses: 'num_uses',
  tokenBoundCidrs: 'bound_cidrs',
} satisfies { readonly [Field in keyof RoleFields]?: string };

/** The values of fields that a response leaves out when they are not set (wire/cluster-auth 2.7). */
const valuesWhenAbsent: RoleFields = { audience: '' };

/** The members of a response that are used here. */
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

const liveFieldNames: readonly string[] = wireFieldNames(fields);

/**
 * The spec holds all returned fields. The fact `content` repeats them in canonical form: a write relies on all of them,
 * because its body also holds undeclared fields.
 * @param data the `data` of the response
 */
export function liveRole(address: Address, data: JsonObject): LiveRole {
  const spec: Record<string, Json> = { ...valuesWhenAbsent, ...returnedFields(liveFieldNames, data) };
  for (const [name, member] of Object.entries(deprecated)) {
    const value = data[member];
    if (spec[name] === undefined && value !== undefined) spec[name] = value;
  }
  return { address, spec, evidence: {}, facts: { content: canonicalSpec(fields, spec) } };
}

type ReadRole =
  | { readonly is: 'role'; readonly live: LiveRole }
  /** `malformed`: a member has an unexpected type, which a write must not send back; `another`: a role of another method */
  | { readonly is: 'malformed' | 'another'; readonly why: string };

/** A role without names belongs to another method (wire/cluster-auth 2.5, 2.7). */
export function readRole(session: Session, address: Address, data: JsonObject): ReadRole {
  const names = data['bound_service_account_names'] ?? null;
  const problem =
    names === null ? 'it has no bound_service_account_names' : wrongTypedMember(session, data, memberTypes);
  if (problem === undefined) return { is: 'role', live: liveRole(address, data) };
  return {
    is: names === null ? 'another' : 'malformed',
    why: `role ${quoted(address.name)} was not understood: ${problem}`,
  };
}

// Finds what the manifest of a role alone does not show: undeclared live values that contradict the declared ones, so that
// the service would refuse the write, and consequences for logins. An undeclared value that changed since the last apply is
// reset in the same write; any other one is an error. Two spellings of the same selector count as equal.

type Comparison = CompareContext<RoleSpec, LiveRole>;

const ALIAS = 'aliasNameSource';

export function prepare(context: Comparison): PreparedSpecs<RoleSpec> {
  if (context.live === undefined) return { desired: context.desired };
  const live = withDeclaredSelector(context.live, context.desired);
  const { values, origins } = resetsOfDrift(context, live);
  // The values are canonical ones of the same fields, from the ledger.
  const desired: RoleSpec = { ...context.desired, ...(values as RoleSpec) };
  return {
    desired,
    live: live.spec,
    origins,
    notes: newIdentities(desired, live),
    problems: conflicts({ ...context, desired }, live),
  };
}

interface Resets {
  readonly values: Readonly<Record<string, Json>>;
  readonly origins: Readonly<Record<string, string>>;
}

/**
 * The undeclared fields that drifted since the last apply, and that the service would refuse together with the declared ones:
 * they are reset to their values at that apply. Without a record of that apply, nothing proves that a value is drift.
 */
function resetsOfDrift(context: Comparison, live: LiveRole): Resets {
  const { desired, record } = context;
  const [declared, recorded, found]: readonly [Spec, Spec, Spec] = [desired, record?.fields ?? {}, live.spec];
  const applied = record?.content ?? found;
  const drifted = new Set(
    liveFieldNames.filter(
      (name) =>
        declared[name] === undefined &&
        recorded[name] === undefined &&
        !sameJson(fieldValue(fields, found, name), fieldValue(fields, applied, name)),
    ),
  );
  const pairs = conflictsOf(context, live).flatMap(({ path: [one], related }) => {
    const other = related?.path[0];
    if (one === undefined || other === undefined) return [];
    return [[one, other] as const, [other, one] as const].filter(([name]) => drifted.has(name));
  });
  return {
    values: Object.fromEntries(pairs.map(([name]) => [name, fieldValue(fields, applied, name)])),
    origins: Object.fromEntries(
      pairs.map(([name, other]) => [name, `reset because it conflicts with ${other}`]),
    ),
  };
}

/** The same selector in another spelling is not a difference. A changed selector is sent exactly as it is declared. */
function withDeclaredSelector(live: LiveRole, desired: RoleSpec): LiveRole {
  const [declared, found] = [desired[SELECTOR], live.spec[SELECTOR]];
  if (typeof declared !== 'string' || typeof found !== 'string') return live;
  return isSameSelector(declared, found) ? { ...live, spec: { ...live.spec, [SELECTOR]: declared } } : live;
}

function newIdentities(desired: RoleSpec, live: LiveRole): string[] {
  if (desired[ALIAS] === undefined) return [];
  if (fieldValue(fields, desired, ALIAS) === fieldValue(fields, live.spec, ALIAS)) return [];
  return [
    `${ALIAS} changes: the next login of each service account creates a new identity, without the groups and metadata of the old one`,
  ];
}

/** What the service would refuse about the role as it would be written. */
function conflictsOf(context: Comparison, live: LiveRole): readonly ResourceProblem[] {
  const spec = merged(context, live);
  // Without a change there is no write that could be refused.
  return sameJson(spec, canonicalSpec(fields, live.spec)) ? [] : findConflicts(spec, context.dialect);
}

function conflicts(context: Comparison, live: LiveRole): Diagnostic[] {
  return conflictsOf(context, live).map(({ code, message, found }) => ({
    code,
    severity: 'error',
    class: 'invalid',
    message: `${message}, and one of them is a live value that is not declared`,
    ...(found === undefined ? {} : { found }),
    fix: 'declare both fields with values that fit together',
  }));
}

/** The role after the write: declared over live values; fields that are no longer declared have their defaults. */
function merged({ desired, record }: Comparison, live: LiveRole): RoleFields {
  const [declared, found, recorded]: readonly [Spec, Spec, Spec] = [desired, live.spec, record?.fields ?? {}];
  const spec: Record<string, Json> = {};
  for (const name of liveFieldNames) {
    const dropped =
      declared[name] === undefined && recorded[name] !== undefined && fields[name]?.default !== undefined;
    const side = declared[name] === undefined ? found : declared;
    if (dropped || side[name] !== undefined) spec[name] = fieldValue(fields, dropped ? {} : side, name);
  }
  return spec;
}
