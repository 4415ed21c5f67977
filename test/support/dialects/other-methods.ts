/**
 * Mounts of other auth methods, which serve the same paths as cluster auth: only the members of responses distinguish them
 * (wire/cluster-auth 2.9). The responses are those of real mounts.
 */

export interface OtherMethod {
  readonly type: string;
  readonly roles: Map<string, object>;
  /** the content of the path `config`; absent if the method has no such path */
  readonly config?: object;
}

/** Roles with their own secrets; no config. */
export function appRole(...names: readonly string[]): OtherMethod {
  const role = {
    bind_secret_id: true,
    local_secret_ids: false,
    secret_id_bound_cidrs: null,
    secret_id_num_uses: 0,
    secret_id_ttl: 0,
    token_bound_cidrs: [],
    token_explicit_max_ttl: 0,
    token_max_ttl: 3600,
    token_no_default_policy: false,
    token_num_uses: 0,
    token_period: 0,
    token_policies: ['deploy'],
    token_ttl: 0,
    token_type: 'default',
  };
  return { type: 'approle', roles: new Map(names.map((name) => [name, role])) };
}

/** A config with issuers and keys, and roles that are bound to claims. */
export function jwt(...names: readonly string[]): OtherMethod {
  const role = {
    allowed_redirect_uris: null,
    bound_audiences: ['ci'],
    bound_claims: { project: 'payments' },
    bound_subject: '',
    role_type: 'jwt',
    token_policies: ['deploy'],
    token_ttl: 0,
    user_claim: 'sub',
  };
  const config = {
    bound_issuer: 'https://ci.internal',
    default_role: '',
    jwks_url: 'https://ci.internal/jwks',
    jwt_validation_pubkeys: [],
    oidc_discovery_url: '',
  };
  return { type: 'jwt', roles: new Map(names.map((name) => [name, role])), config };
}
