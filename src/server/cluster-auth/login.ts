/** `POST login`: exchanges a JWT for a token, by the rules of a role (wire/cluster-auth 3). */
import { newId } from '../kernel/identifiers.ts';
import type { Services } from '../kernel/services.ts';
import { newServiceToken } from '../kernel/tokens.ts';
import { admitsAddress } from './address-blocks.ts';
import { answerAuth, answerError, type AuthDocument, ignoredWarnings, type SecretsAnswer } from './answer.ts';
import { checkAccount, type CheckedAccount } from './check-account.ts';
import { type ClusterAccess, isRefusal, loadClusterAccess } from './cluster-api.ts';
import { asText, readFields } from './field-coercion.ts';
import { storedText } from './json-values.ts';
import { leaseLimitsOf, type Mount, mountOfId } from './mounts.ts';
import { ROOT_POLICY, tokenPolicies } from './policy-rules.ts';
import type { Role } from './role-fields.ts';
import { storedRole } from './roles.ts';
import type { ServiceAccount } from './service-account.ts';
import {
  authDocument,
  findByAccessor,
  limitOfUses,
  storeToken,
  type TokenGrant,
  type TokenType,
} from './token-record.ts';
import { type Lifetime, lifetimeOf } from './token-lifetime.ts';

interface LoginCall {
  readonly services: Services;
  readonly mount: Mount;
  /** The client's IP address; undefined if unknown. */
  readonly address: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
}

// `POST login`, in the order of checks of the real service (wire/cluster-auth 3).
// Invariants: the first failed check decides, and its text reveals no more than in the real service; nothing is written before the
// cluster has confirmed the account; data from before the call to the cluster is read again after it: the mount must still
// exist, and if the role or the config has changed, all checks are repeated.

export const LOGIN_FIELDS = { role: asText, jwt: asText } as const;

const PERMISSION_DENIED = answerError(403, 'permission denied');

/** Logs in: 200 with `auth`, or the refusal. */
export async function logIn(call: LoginCall): Promise<SecretsAnswer> {
  const sent = readFields(LOGIN_FIELDS, call.body);
  if (!sent.ok) return answerError(400, `Field validation failed: ${sent.problem}`);
  const { role: roleName = '', jwt = '' } = sent.value;
  if (roleName === '') return answerError(400, 'missing role');
  if (jwt === '') return answerError(400, 'missing jwt');
  for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts += 1) {
    const answer = await logInOnce(call, roleName, jwt);
    if (answer !== 'changed') return answer;
  }
  return PERMISSION_DENIED;
}

/** A login is refused if its role or config changes during this many attempts. */
const MAX_ATTEMPTS = 2;

/** `changed`: the role or the config changed while the cluster checked the account. */
type Answer = SecretsAnswer | 'changed';

async function logInOnce(call: LoginCall, roleName: string, jwt: string): Promise<Answer> {
  const role = storedRole(call.services.database, call.mount.id, roleName);
  if (role === undefined) return answerError(400, `invalid role name ${JSON.stringify(roleName)}`);
  if (!role.ok) return answerError(500, role.problem);
  const { token_bound_cidrs: blocks } = role.value;
  if (blocks.length > 0 && !admitsAddress(blocks, call.address)) return PERMISSION_DENIED;
  return logInAs(call, { roleName, role: role.value, jwt });
}

/** The stored role, its name as in the request, and the JWT. */
interface Attempt {
  readonly roleName: string;
  readonly role: Role;
  readonly jwt: string;
}

async function logInAs(call: LoginCall, { roleName, role, jwt }: Attempt): Promise<Answer> {
  const access = loadClusterAccess(call.services, call.mount.id);
  if (!access.ok) return answerError(500, access.problem);
  const checked = await checkAccount(jwt, { role, access: access.value, now: call.services.now() });
  if (isRefusal(checked)) return answerError(checked.status, checked.text);
  return call.services.database.transaction((): Answer => {
    const isMounted = mountOfId(call.services.database, call.mount.id) !== undefined;
    if (isMounted && !isUnchanged(call, { roleName, role }, access.value)) return 'changed';
    const created = createToken(call, { role, roleName, ...checked });
    if ('refused' in created) return created.refused;
    return answerAuth(created.auth, [
      ...ignoredWarnings(call.body, Object.keys(LOGIN_FIELDS)),
      ...created.warnings,
    ]);
  });
}

/** Whether the role and the config are still the same as when they were checked. */
function isUnchanged(
  { services, mount }: LoginCall,
  { roleName, role }: Omit<Attempt, 'jwt'>,
  access: ClusterAccess,
): boolean {
  const now = [storedRole(services.database, mount.id, roleName), loadClusterAccess(services, mount.id)];
  const checked = [role, access].map((value) => ({ ok: true, value }));
  return storedText(now) === storedText(checked);
}

// The token of a login: the effect of a role's `token_…` fields (wire/cluster-auth 3).
// Invariants: the mount's limits override the role's; no login creates a root token; one transaction.

/** A login that passed all checks. */
interface CheckedLogin extends CheckedAccount {
  readonly role: Role;
  /** As in the request. */
  readonly roleName: string;
}

type CreatedToken =
  | { readonly auth: AuthDocument; readonly warnings: readonly string[] }
  | { readonly refused: SecretsAnswer };

/** Creates the token, or returns the error of a role that cannot create tokens. */
function createToken(call: LoginCall, login: CheckedLogin): CreatedToken {
  const { services } = call;
  return services.database.transaction((): CreatedToken => {
    const mount = mountOfId(services.database, call.mount.id);
    if (mount === undefined) return { refused: answerError(403, 'permission denied') };
    const { role } = login;
    const lifetimeRequest = {
      increment: 0,
      ttl: role.token_ttl,
      period: role.token_period,
      maxTtl: role.token_max_ttl,
      explicitMaxTtl: role.token_explicit_max_ttl,
    };
    const { clusterAuth } = services.dialects;
    const lifetime = lifetimeOf(lifetimeRequest, leaseLimitsOf(mount), 0, clusterAuth.durationFormat);
    if (lifetime === undefined) return { refused: answerError(500, 'max TTL must be greater than zero') };
    const policies = tokenPolicies(role.token_policies, !role.token_no_default_policy);
    if (policies.includes(ROOT_POLICY))
      return { refused: answerError(400, 'auth methods cannot create root tokens') };
    const reserved = policies.find((policy) => clusterAuth.reservedPolicies.includes(policy));
    if (reserved !== undefined) return { refused: answerError(400, `cannot assign policy "${reserved}"`) };
    const grant = grantOf(call, login, { mount, lifetime, policies });
    const [now, raw] = [services.now(), newServiceToken(clusterAuth.tokenPrefixes[grant.type])];
    const token = findByAccessor(services.database, storeToken(services.database, raw, grant, now), now);
    if (token === undefined) return { refused: answerError(500, 'the token expired at its creation') };
    return { auth: authDocument(token, raw, lifetime.ttl), warnings: lifetime.warnings };
  });
}

interface GrantTerms {
  readonly mount: Mount;
  readonly lifetime: Lifetime;
  readonly policies: readonly string[];
}

function grantOf(call: LoginCall, login: CheckedLogin, terms: GrantTerms): TokenGrant {
  const { role, roleName, account } = login;
  const { mount, lifetime, policies } = terms;
  const type = typeOf(mount, role);
  const isBatch = type === 'batch';
  return {
    displayName: [sourceOf(mount), account.namespace, account.name].join('-'),
    policies,
    namespace: mount.namespace,
    type,
    path: `auth/${mount.path}/login`,
    meta: { role: roleName, ...metadataOf(account) },
    expiresAt: new Date(call.services.now().getTime() + lifetime.ttl * 1000),
    creationTtl: lifetime.ttl,
    explicitMaxTtl: isBatch ? 0 : role.token_explicit_max_ttl,
    period: isBatch ? 0 : role.token_period,
    numUses: isBatch ? 0 : limitOfUses(role.token_num_uses),
    boundCidrs: boundTo(call, role),
    renewable: !isBatch,
    entityId: entityOf(call, mount, login),
    mount: mount.id,
    role: roleName,
    parent: null,
  };
}

/** The mount's path with dashes instead of slashes; outside of the root namespace, after the namespace and `auth`. */
function sourceOf({ namespace, path }: Mount): string {
  return (namespace === '' ? path : `${namespace}/auth/${path}`).replaceAll('/', '-');
}

/** The mount's token type if it does not begin with `default-`; otherwise the role's, if the role sets one. */
function typeOf({ settings }: Mount, { token_type }: Role): TokenType {
  const ofMount = settings.token_type ?? 'default-service';
  const chosen = ofMount.startsWith('default-') && token_type !== 'default' ? token_type : ofMount;
  return chosen.endsWith('batch') ? 'batch' : 'service';
}

function boundTo({ address }: LoginCall, role: Role): readonly string[] {
  return role.token_strictly_bind_ip === true && address !== undefined ? [address] : role.token_bound_cidrs;
}

function metadataOf(account: ServiceAccount): Readonly<Record<string, string>> {
  return {
    service_account_name: account.name,
    service_account_namespace: account.namespace,
    service_account_secret_name: account.secretName,
    service_account_uid: account.uid,
  };
}

/** The entity of the alias: the same one at each login, with the metadata of the last login. */
function entityOf({ services }: LoginCall, mount: Mount, login: CheckedLogin): string {
  const { alias, account, annotated } = login;
  const row = services.database.get<{ id: string }>(
    `INSERT INTO service_entities (id, mount, alias_name, alias_metadata, created_at)
     VALUES (:id, :mount, :alias, :metadata, :now)
     ON CONFLICT (mount, alias_name) DO UPDATE SET alias_metadata = excluded.alias_metadata
     RETURNING id`,
    {
      id: newId('entity'),
      mount: mount.id,
      alias,
      metadata: JSON.stringify({ ...annotated, ...metadataOf(account) }),
      now: services.now().toISOString(),
    },
  );
  return row?.id ?? '';
}
