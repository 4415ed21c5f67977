/** A config as a mount answers it, in the shape of a manifest's spec; what is not as this method answers is none. Pure. */
import type { Address } from '../../model/resource/address.ts';
import type { JsonObject } from '../../model/json/json.ts';
import type { Session } from '../../model/kind/kind.ts';
import type { LiveResource } from '../../model/resource/resource.ts';
import { type MemberType, oddMember } from '../../services/cluster-auth/member-types.ts';
import { mountWords } from '../../services/cluster-auth/mount.ts';
import { answeredFields } from '../../services/cluster-auth/wire-fields.ts';
import { fields } from './fields.ts';
import type { ConfigFields } from './schema.ts';

/** A setting that no manifest knows and that every write would reset: what it is, writes repeat (wire/cluster-auth 2.2). */
const REPEATED_MEMBER = 'use_annotations_as_alias_metadata';

/** `reviewerJwtSet` is null where the service does not tell; `repeated` is what a write has to say again. */
type ConfigFacts = { readonly reviewerJwtSet?: boolean | null; readonly repeated?: JsonObject };

export type LiveConfig = LiveResource<ConfigFields, ConfigFacts>;

/** Every member that a config may be answered with and that is looked at here. */
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

/** Why an answer is not taken for a config: a write would repeat what nobody understands. */
export function whyOdd(session: Session, data: JsonObject): string | undefined {
  const host = data['cluster_host'] ?? null;
  const odd = host === null ? 'it has no host of a cluster' : oddMember(session, data, memberTypes);
  return odd === undefined ? undefined : `the config of ${mountWords(session)} was not understood: ${odd}`;
}

/**
 * The spec holds what was answered; of the reviewer JWT it holds only that there is none, when the service says so.
 */
export function liveConfig(address: Address, data: JsonObject): LiveConfig {
  const { tokenReviewerJwt: _, ...answered } = answeredFields(Object.keys(fields), data);
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
