/** Converts the answer of a mount to a live config, in the shape of a manifest's spec. Pure. */
import type { Address } from '../../model/resource/address.ts';
import type { JsonObject } from '../../model/json/json.ts';
import type { Session } from '../../model/kind/kind.ts';
import type { LiveResource } from '../../model/resource/resource.ts';
import { type MemberType, wrongTypedMember } from '../../services/cluster-auth/member-types.ts';
import { mountText } from '../../services/cluster-auth/mount.ts';
import { returnedFields } from '../../services/cluster-auth/wire-fields.ts';
import { fields } from './fields.ts';
import type { ConfigFields } from './schema.ts';

/** A setting that manifests do not have. Writes repeat its live value, or they would reset it (wire/cluster-auth 2.2). */
const REPEATED_MEMBER = 'use_annotations_as_alias_metadata';

/** `reviewerJwtSet` is null where the service does not answer it; `repeated` holds the members that every write must repeat. */
type ConfigFacts = { readonly reviewerJwtSet?: boolean | null; readonly repeated?: JsonObject };

export type LiveConfig = LiveResource<ConfigFields, ConfigFacts>;

/** Whether annotations of an account become metadata of its identity, where the service has that setting. */
export function usesAnnotations({ repeated }: ConfigFacts): boolean {
  return repeated?.[REPEATED_MEMBER] === true;
}

/** The members of an answer that are used here. */
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

/** Why an answer is not accepted as a config: a write would send unexpected values back. */
export function whyUnexpected(session: Session, data: JsonObject): string | undefined {
  const host = data['cluster_host'] ?? null;
  const unexpected =
    host === null ? 'it has no host of a cluster' : wrongTypedMember(session, data, memberTypes);
  return unexpected === undefined
    ? undefined
    : `the config of ${mountText(session)} was not understood: ${unexpected}`;
}

/**
 * The spec holds the answered fields; `tokenReviewerJwt` is null if the service answers that none is stored, else absent.
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
    witness: {},
    facts: { reviewerJwtSet, repeated: typeof repeated === 'boolean' ? { [REPEATED_MEMBER]: repeated } : {} },
  };
}
