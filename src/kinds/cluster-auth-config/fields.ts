/**
 * How each field of the config compares, and its default (wire/cluster-auth 2.2); the live config in the shape of a manifest's
 * spec; and how it is prepared for comparison. A write that would erase a stored reviewer JWT is refused.
 */
import { mountText } from '../../api/cluster-auth-mount.ts';
import { type MemberType, returnedFields, wrongTypedMember } from '../../api/cluster-auth-fields.ts';
import { canonicalDefault, pem, pemSet, scalar, secretVersion, wordOr } from '../../compare/comparisons.ts';
import { diff } from '../../compare/diff.ts';
import type { Address } from '../../model/address.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { FieldsOf, FieldTable } from '../../model/field.ts';
import { isJsonObject, type Json, type JsonObject, sameJson } from '../../model/json.ts';
import type { CompareContext, PreparedSpecs } from '../../model/kind-specs.ts';
import type { Session } from '../../model/kind.ts';
import type { LedgerRecord } from '../../model/ledger.ts';
import { quoted } from '../../model/quoted.ts';
import type { LiveResource, Spec } from '../../model/resource.ts';
import type { ConfigFields, ConfigSpec } from './schema.ts';

export const fields: FieldTable = {
  clusterHost: { compare: scalar },
  clusterCaCert: { compare: pem, default: '' },
  tokenReviewerJwt: { compare: secretVersion, default: null, writeOnly: true },
  pemKeys: { compare: pemSet, default: [] },
  disableLocalCaJwt: { compare: scalar, default: false },
  disableIssValidation: { compare: scalar, default: true },
  issuer: { compare: wordOr(''), default: '' },
} satisfies FieldsOf<ConfigSpec>;

// Converts the response of a mount to a live config, in the shape of a manifest's spec. Pure.

/** A setting that manifests do not have. Writes repeat its live value, or they would reset it (wire/cluster-auth 2.2). */
const REPEATED_MEMBER = 'use_annotations_as_alias_metadata';

/** `reviewerJwtSet` is null if the service does not return it; `repeated` holds the members that every write must repeat. */
type ConfigFacts = { readonly reviewerJwtSet?: boolean | null; readonly repeated?: JsonObject };

export type LiveConfig = LiveResource<ConfigFields, ConfigFacts>;

/** Whether annotations of an account become metadata of its identity; false if the service does not have that setting. */
export function usesAnnotations({ repeated }: ConfigFacts): boolean {
  return repeated?.[REPEATED_MEMBER] === true;
}

/** The members of a response that are used here. */
const memberTypes: Readonly<Record<string, MemberType>> = {
  cluster_host: 'text',
  cluster_ca_cert: 'text',
  pem_keys: 'list',
  disable_local_ca_jwt: 'switch',
  disable_iss_validation: 'switch',
  issuer: 'text',
  token_reviewer_jwt_set: 'switch',
  [REPEATED_MEMBER]: 'switch',
};

/** Why a response is not accepted as a config: a write would send unexpected values back. */
export function whyUnexpected(session: Session, data: JsonObject): string | undefined {
  const host = data['cluster_host'] ?? null;
  const unexpected =
    host === null ? 'it has no "cluster_host"' : wrongTypedMember(session, data, memberTypes);
  return unexpected === undefined
    ? undefined
    : `the config of ${mountText(session)} was not understood: ${unexpected}`;
}

/**
 * The spec holds the returned fields; `tokenReviewerJwt` is null if the service reports that none is stored, else absent.
 */
export function liveConfig(address: Address, data: JsonObject): LiveConfig {
  const { tokenReviewerJwt: _, ...answered } = returnedFields(Object.keys(fields), data);
  const flag = data['token_reviewer_jwt_set'];
  const reviewerJwtSet = typeof flag === 'boolean' ? flag : null;
  const spec: ConfigFields = {
    ...answered,
    ...(reviewerJwtSet === false ? { tokenReviewerJwt: null } : {}),
  };
  const repeated = data[REPEATED_MEMBER];
  return {
    address,
    spec,
    evidence: {},
    facts: { reviewerJwtSet, repeated: typeof repeated === 'boolean' ? { [REPEATED_MEMBER]: repeated } : {} },
  };
}

// Prepares the live config for comparison, and protects a stored reviewer JWT: every write replaces the whole config, so a
// write with neither the JWT nor an explicit `null` would erase it, and is refused.

type Comparison = CompareContext<ConfigSpec, LiveConfig>;

const JWT = 'tokenReviewerJwt';

export function prepare(context: Comparison): PreparedSpecs<ConfigSpec> {
  const { desired, live, record } = context;
  if (live === undefined) return { desired };
  const prepared = { desired, ...comparableConfig(live, desired, record?.fields ?? {}) };
  const { fields: changes } = diff({ fields, absent: 'default', recorded: record?.fields, ...prepared });
  if (desired[JWT] !== undefined || live.facts.reviewerJwtSet === false)
    return changes.length === 0 ? prepared : { ...prepared, live: asRecorded(prepared.live, record) };
  if (changes.length > 0) return { ...prepared, problems: [erasedJwtProblem(context, live)] };
  return live.facts.reviewerJwtSet === true ? { ...prepared, notes: [undeclaredJwtNote] } : prepared;
}

/**
 * The live config with the JWT exactly as recorded, even without a source. Every write sends the JWT, so the plan must show a
 * source that is not recorded as a change: then an approval covers it.
 */
function asRecorded(live: ConfigFields, record: LedgerRecord<ConfigFields> | undefined): ConfigFields {
  const last = record?.fields[JWT];
  return isJsonObject(live[JWT]) && last !== undefined ? { ...live, [JWT]: last } : live;
}

interface ComparableConfig {
  readonly live: ConfigFields;
  readonly unknown?: Readonly<Record<string, string>>;
}

function comparableConfig(live: LiveConfig, desired: ConfigSpec, recorded: ConfigFields): ComparableConfig {
  const spec = { ...missingDefaults(live.spec, desired, recorded), ...live.spec };
  const isSet = live.facts.reviewerJwtSet;
  const last = withSource(recorded[JWT] ?? null, desired[JWT]);
  if (isSet === true && last === null) {
    const unknown = 'a JWT is stored that this stack did not write, and the service does not return it';
    return { live: spec, unknown: { [JWT]: unknown } };
  }
  // If the service does not report whether a JWT is stored, rely on what was written last.
  const isStillStored = isSet === true || (isSet === null && last !== null && sameJson(last, desired[JWT]));
  return { live: isStillStored ? { ...spec, [JWT]: last } : spec };
}

/** Records of older versions hold no source of the JWT: assume the declared one. */
function withSource(last: Json, declared: Json | undefined): Json {
  if (!isJsonObject(declared)) return last;
  const { env: _, file: __, ...sourceless } = declared;
  return sameJson(last, sourceless) ? declared : last;
}

/**
 * Defaults of fields that are neither returned nor declared nor recorded: without them, these fields would differ in every
 * plan.
 */
function missingDefaults(live: Spec, desired: Spec, recorded: Spec): Spec {
  const unanswered = Object.entries(fields).filter(
    ([name, field]) =>
      !field.writeOnly && [live, desired, recorded].every((spec) => spec[name] === undefined),
  );
  return Object.fromEntries(
    unanswered.map(([name, field]): [string, Json] => [name, canonicalDefault(field)]),
  );
}

const undeclaredJwtNote = `a reviewer JWT is stored that the manifest does not declare: it is kept, and the next change of this config will require its source or ${quoted(`${JWT}: null`)}`;

function erasedJwtProblem({ address }: Comparison, live: LiveConfig): Diagnostic {
  const stored =
    live.facts.reviewerJwtSet === true ? 'a reviewer JWT is stored' : 'a reviewer JWT may be stored';
  return {
    code: 'reviewer-jwt-would-be-wiped',
    severity: 'error',
    class: 'invalid',
    message: `${stored} in target ${quoted(address.target)}, and every write replaces the whole config: this one would wipe it`,
    fix: `give its source (${quoted(`${JWT}: { env: NAME }`)} or "{ file: PATH }"), or write ${quoted(`${JWT}: null`)} to remove it`,
  };
}
