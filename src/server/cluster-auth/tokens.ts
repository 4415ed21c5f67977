/**
 * `auth/token/…` (wire/cluster-auth 2.9): create, look up, renew and revoke. A child token, unless it is an orphan, ends with
 * its parent, can be used only from the parent's addresses, and belongs to the same entity.
 */
import type { ClusterAuthDialect } from '../kernel/dialects.ts';
import type { Services } from '../kernel/services.ts';
import { newServiceToken } from '../kernel/tokens.ts';
import {
  answerAuth,
  answerData,
  answerDone,
  answerError,
  answerWrappedError,
  NOT_FOUND,
  type SecretsAnswer,
} from './answer.ts';
import { at, type ServiceCall, type ServiceEndpoint, type ServiceHandler, textIn } from './call.ts';
import { asDuration, type ValueOrProblem, readFields } from './field-coercion.ts';
import { leaseLimitsOf, mountOfId, SYSTEM_LIMITS } from './mounts.ts';
import {
  CHILD_FIELDS,
  childPolicies,
  childRefusal,
  type ChildRequest,
  parentRefusal,
  ROOT_POLICY,
} from './policy-rules.ts';
import { storedRole } from './roles.ts';
import {
  accessorsOf,
  authDocument,
  deleteToken,
  findByAccessor,
  findToken,
  limitOfUses,
  lookUpDocument,
  PLAIN_GRANT,
  renewToken,
  revokeOrphaning,
  revokeToken,
  type ServiceToken,
  storeToken,
  type TokenGrant,
} from './token-record.ts';
import { type LeaseLimits, type Lifetime, lifetimeOf, type LifetimeRequest } from './token-lifetime.ts';

const [CREATE, CREATE_ORPHAN] = ['auth/token/create', 'auth/token/create-orphan'] as const;

/** `POST auth/token/create`, or `create-orphan`, which creates an orphan without `sudo`: 200 with the child. */
const createToken =
  (path: ChildPath): ServiceHandler =>
  (call) =>
    call.services.database.transaction(() => createChild(call, path));

type ChildPath = typeof CREATE | typeof CREATE_ORPHAN;

function createChild(call: ServiceCall, path: ChildPath): SecretsAnswer {
  const { services, identity, namespace, body } = call;
  const read = readFields(CHILD_FIELDS, body);
  const parentProblem = parentRefusal(identity.token);
  if (parentProblem !== undefined) return answerError(400, parentProblem);
  if (!read.ok) return answerError(400, read.problem);
  const isSudo = identity.can('sudo', path);
  const { reservedPolicies } = services.dialects.clusterAuth;
  const request: ChildRequest = {
    parent: identity.token,
    sent: read.value,
    namespace,
    isSudo,
    reservedPolicies,
  };
  const policies = childPolicies(request);
  const refusal = childRefusal(request, policies);
  if (refusal !== undefined) return answerError(400, refusal);
  const lifetime = childLifetime(policies, request, services.dialects.clusterAuth);
  if (lifetime === undefined) return answerError(400, 'max TTL must be greater than zero');
  if (lifetime.ttl === 0 && identity.token.expiresAt !== null)
    return answerError(400, 'expiring root tokens cannot create non-expiring root tokens');
  return storeChild(call, request, { ...lifetime, policies, path });
}

interface ChildTerms extends Lifetime {
  readonly policies: readonly string[];
  /** The path of the request. */
  readonly path: ChildPath;
}

function storeChild({ services }: ServiceCall, request: ChildRequest, terms: ChildTerms): SecretsAnswer {
  const { database, dialects } = services;
  const now = services.now();
  const grant = grantOf(request, terms, now);
  const raw = request.sent.id || newServiceToken(dialects.clusterAuth.tokenPrefixes[grant.type]);
  if (findToken(database, raw, now) !== undefined)
    return answerError(400, 'cannot create a token with a duplicate ID');
  // A former token with this text must not leave its children to the new one.
  deleteToken(database, raw);
  const child = findByAccessor(database, storeToken(database, raw, grant, now), now);
  if (child === undefined) return answerError(500, 'the token expired at its creation');
  return answerAuth(authDocument(child, raw, terms.ttl), terms.warnings);
}

function grantOf({ parent, sent, namespace }: ChildRequest, terms: ChildTerms, now: Date): TokenGrant {
  const { ttl, policies, path } = terms;
  const isBatch = sent.type === 'batch';
  const inherited = { parent: parent.accessor, boundCidrs: parent.boundCidrs, entityId: parent.entityId };
  return {
    ...PLAIN_GRANT,
    namespace,
    type: isBatch ? 'batch' : 'service',
    path,
    meta: sent.meta ?? null,
    displayName: sent.display_name ? `token-${sent.display_name}` : 'token',
    policies,
    expiresAt: ttl === 0 ? null : new Date(now.getTime() + ttl * 1000),
    creationTtl: ttl,
    explicitMaxTtl: sent.explicit_max_ttl ?? 0,
    period: sent.period ?? 0,
    numUses: limitOfUses(sent.num_uses ?? 0),
    renewable: ttl > 0 && !isBatch && sent.renewable !== false,
    ...(sent.no_parent === true || path === CREATE_ORPHAN ? {} : inherited),
  };
}

/** The lifetime of a child. A `ttl` of 0 means that it does not expire, which is the default with the policy `root`. */
function childLifetime(
  policies: readonly string[],
  { sent: { ttl = 0, period = 0, explicit_max_ttl = 0 } }: ChildRequest,
  { durationFormat }: ClusterAuthDialect,
): Lifetime | undefined {
  if (policies.includes(ROOT_POLICY) && ttl === 0 && period === 0)
    return { ttl: explicit_max_ttl, warnings: [] };
  const lifetimeRequest = { increment: 0, ttl, period, maxTtl: 0, explicitMaxTtl: explicit_max_ttl };
  return lifetimeOf(lifetimeRequest, SYSTEM_LIMITS, 0, durationFormat);
}

// `auth/token/…`: lookup, renewal and revocation of tokens (wire/cluster-auth 2.9).
// Invariants: requests name a token by its text or its accessor; an unknown and an expired one get the same error, so that callers
// cannot guess; batch tokens are neither renewed nor revoked.

/** The token that a request is about; `raw` is empty if the request only has its accessor. */
interface Target {
  readonly token: ServiceToken;
  readonly raw: string;
}

/** Finds the target of a request, or returns the answer that refuses it. */
type FindTarget = (call: ServiceCall) => Target | SecretsAnswer;

const OWN_TOKEN: FindTarget = ({ identity, rawToken }) => ({ token: identity.token, raw: rawToken });

const byToken =
  (unknown: SecretsAnswer): FindTarget =>
  (call) => {
    const raw = textIn(call.body, 'token') || call.name;
    if (raw === '') return answerError(400, 'missing token ID');
    const token = findToken(call.services.database, raw, call.services.now());
    return token !== undefined && isReachable(call, token) ? { token, raw } : unknown;
  };

const BY_ACCESSOR: FindTarget = (call) => {
  const accessor = textIn(call.body, 'accessor') || call.name;
  if (accessor === '') return answerWrappedError(400, 'missing accessor');
  const token = findByAccessor(call.services.database, accessor, call.services.now());
  const isThere = token !== undefined && token.type === 'service' && isReachable(call, token);
  return isThere ? { token, raw: '' } : answerWrappedError(400, 'invalid accessor');
};

/** Whether the token belongs to the namespace of the request, or to one below it. */
function isReachable({ namespace }: ServiceCall, token: ServiceToken): boolean {
  return namespace === '' || `${token.namespace}/`.startsWith(`${namespace}/`);
}

function withTarget(
  find: FindTarget,
  act: (call: ServiceCall, target: Target) => SecretsAnswer,
): ServiceHandler {
  return (call) =>
    call.services.database.transaction(() => {
      const found = find(call);
      return 'status' in found ? found : act(call, found);
    });
}

const lookUp = (find: FindTarget): ServiceHandler =>
  withTarget(find, ({ services }, { token, raw }) => answerData(lookUpDocument(token, raw, services.now())));

const REVOKE_ORPHAN = 'auth/token/revoke-orphan';
const BATCH_NOT_REVOCABLE = 'batch tokens cannot be revoked';

const revoke = (find: FindTarget): ServiceHandler =>
  withTarget(find, ({ services }, { token }) => {
    if (token.type === 'batch') return answerError(400, BATCH_NOT_REVOCABLE);
    revokeToken(services.database, token.accessor);
    return answerDone();
  });

/** Revokes a token, but not its children. */
const revokeOrphan: ServiceHandler = (call) => {
  const { identity, services } = call;
  if (!identity.can('sudo', REVOKE_ORPHAN))
    return answerError(400, 'root or sudo privileges required to revoke and orphan');
  const find = byToken(answerError(400, 'token to revoke not found'));
  return withTarget(find, (_call, { token }) => {
    if (token.type === 'batch') return answerError(400, BATCH_NOT_REVOCABLE);
    revokeOrphaning(services.database, token.accessor);
    return answerDone();
  })(call);
};

const renew = (find: FindTarget): ServiceHandler =>
  withTarget(find, ({ services, body }, { token, raw }) => {
    const sent = readFields({ increment: asDuration }, body);
    if (!sent.ok) return answerError(400, `Field validation failed: ${sent.problem}`);
    const { increment = 0 } = sent.value;
    if (token.type === 'batch') return answerError(400, 'batch tokens cannot be renewed');
    if (!token.renewable) return answerError(400, 'lease is not renewable');
    const renewed = renewedLifetime(services, token, increment);
    if (!renewed.ok) return answerWrappedError(500, `failed to renew entry: ${renewed.problem}`);
    const now = services.now();
    const { ttl, warnings } = renewed.value;
    renewToken(services.database, token.accessor, new Date(now.getTime() + ttl * 1000), now);
    return answerAuth(authDocument(token, raw, ttl), warnings);
  });

const listAccessors: ServiceHandler = ({ services, namespace }) => {
  const keys = accessorsOf(services.database, namespace, services.now());
  return keys.length === 0 ? NOT_FOUND : answerData({ keys });
};

const readAndWrite = (handler: ServiceHandler) => ({ read: handler, write: handler });

/** The same handlers at two paths: one ends with the name, and with the other the name is in the body. */
const byNameOrBody = (path: string, name: string, handlers: ServiceEndpoint['handlers']) => [
  at(path, handlers),
  at(`${path}/:${name}`, handlers),
];

export const TOKEN_ENDPOINTS: readonly ServiceEndpoint[] = [
  at('auth/token/lookup-self', readAndWrite(lookUp(OWN_TOKEN))),
  ...byNameOrBody('auth/token/lookup', 'token', readAndWrite(lookUp(byToken(answerError(403, 'bad token'))))),
  ...byNameOrBody('auth/token/lookup-accessor', 'accessor', { write: lookUp(BY_ACCESSOR) }),
  at('auth/token/renew-self', { write: renew(OWN_TOKEN) }),
  ...byNameOrBody('auth/token/renew', 'token', {
    write: renew(byToken(answerError(400, 'token not found'))),
  }),
  at('auth/token/renew-accessor', { write: renew(BY_ACCESSOR) }),
  at('auth/token/revoke-self', { write: revoke(OWN_TOKEN) }),
  ...byNameOrBody('auth/token/revoke', 'token', { write: revoke(byToken(answerDone())) }),
  ...byNameOrBody('auth/token/revoke-accessor', 'accessor', { write: revoke(BY_ACCESSOR) }),
  at('auth/token/accessors/', { list: listAccessors }, { needsSudo: true }),
  at(REVOKE_ORPHAN, { write: revokeOrphan }),
  at(CREATE, { write: createToken(CREATE) }),
  at(CREATE_ORPHAN, { write: createToken(CREATE_ORPHAN) }),
];

// How long a renewal lets a token live (wire/cluster-auth 3).
// Invariant: for the token of a login, the role is read again: its current lifetimes apply, and without the role the token is not
// renewed. Policies, addresses and uses of the token stay as they are.

/** The new lifetime, or the error. `increment` is the requested one, in seconds. */
function renewedLifetime(
  services: Services,
  token: ServiceToken,
  increment: number,
): ValueOrProblem<Lifetime> {
  const source = lifetimeSource(services, token);
  if (!source.ok) return source;
  const age = Math.trunc((services.now().getTime() - token.createdAt.getTime()) / 1000);
  const lifetimeRequest = {
    ...source.value.lifetimeRequest,
    increment,
    explicitMaxTtl: token.explicitMaxTtl,
  };
  const { durationFormat } = services.dialects.clusterAuth;
  const lifetime = lifetimeOf(lifetimeRequest, source.value.limits, age, durationFormat);
  return lifetime === undefined
    ? { ok: false, problem: 'past the max TTL, cannot renew' }
    : { ok: true, value: lifetime };
}

interface LifetimeSource {
  readonly lifetimeRequest: Pick<LifetimeRequest, 'ttl' | 'period' | 'maxTtl'>;
  readonly limits: LeaseLimits;
}

function lifetimeSource(services: Services, token: ServiceToken): ValueOrProblem<LifetimeSource> {
  if (token.mount === null) {
    const lifetimeRequest = { ttl: token.creationTtl, period: token.period, maxTtl: 0 };
    return { ok: true, value: { lifetimeRequest, limits: SYSTEM_LIMITS } };
  }
  const mount = mountOfId(services.database, token.mount);
  const role = storedRole(services.database, token.mount, token.role);
  if (mount === undefined || role === undefined)
    return { ok: false, problem: `role ${token.role} does not exist during renewal` };
  if (!role.ok) return role;
  const { token_ttl: ttl, token_period: period, token_max_ttl: maxTtl } = role.value;
  const lifetimeRequest = { ttl, period, maxTtl };
  return { ok: true, value: { lifetimeRequest, limits: leaseLimitsOf(mount) } };
}
