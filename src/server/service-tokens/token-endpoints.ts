/**
 * `auth/token/…`: looking tokens up, renewing and revoking them (wire/cluster-auth 2.9).
 * Invariants: a token is named by itself or by its accessor, never by a guess: what is not found is refused in the same
 * words as what has expired; batch tokens are neither renewed nor revoked.
 */
import {
  answerAuth,
  answerData,
  answerDone,
  answerError,
  answerWrappedError,
  NOT_FOUND,
  type SecretsAnswer,
} from '../cluster-auth/answer.ts';
import { asDuration, readFields } from '../cluster-auth/values/field-coercion.ts';
import {
  at,
  type ServiceCall,
  type ServiceEndpoint,
  type ServiceHandler,
  textIn,
} from '../sys/service-call.ts';
import { createToken } from './create-token.ts';
import { renewedLifetime } from './renew.ts';
import { authDocument, lookUpDocument } from './token-document.ts';
import {
  accessorsOf,
  findByAccessor,
  findToken,
  renewToken,
  revokeToken,
  type ServiceToken,
} from './token-store.ts';

/** A token that a request is about; `raw` is empty where the request only knows its accessor. */
interface Target {
  readonly token: ServiceToken;
  readonly raw: string;
}

/** Finds the target of a request, or gives the answer that refuses it. */
type FindTarget = (call: ServiceCall) => Target | SecretsAnswer;

const ITSELF: FindTarget = ({ identity, rawToken }) => ({ token: identity.token, raw: rawToken });

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
  return isThere ? { token, raw: '' } : answerWrappedError(403, 'invalid accessor');
};

/** Tokens of the namespace, and of those within it. */
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

const revoke = (find: FindTarget): ServiceHandler =>
  withTarget(find, ({ services }, { token }) => {
    if (token.type === 'batch') return answerError(400, 'batch tokens cannot be revoked');
    revokeToken(services.database, token.accessor);
    return answerDone();
  });

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

const both = (handler: ServiceHandler) => ({ read: handler, write: handler });

/** The same at a path with a name at its end and at the one without, where the body has it. */
const byNameOrBody = (path: string, name: string, handlers: ServiceEndpoint['handlers']) => [
  at(path, handlers),
  at(`${path}/:${name}`, handlers),
];

export const TOKEN_ENDPOINTS: readonly ServiceEndpoint[] = [
  at('auth/token/lookup-self', both(lookUp(ITSELF))),
  ...byNameOrBody('auth/token/lookup', 'token', both(lookUp(byToken(answerError(403, 'bad token'))))),
  ...byNameOrBody('auth/token/lookup-accessor', 'accessor', { write: lookUp(BY_ACCESSOR) }),
  at('auth/token/renew-self', { write: renew(ITSELF) }),
  ...byNameOrBody('auth/token/renew', 'token', {
    write: renew(byToken(answerError(400, 'token not found'))),
  }),
  at('auth/token/renew-accessor', { write: renew(BY_ACCESSOR) }),
  at('auth/token/revoke-self', { write: revoke(ITSELF) }),
  ...byNameOrBody('auth/token/revoke', 'token', { write: revoke(byToken(answerDone())) }),
  ...byNameOrBody('auth/token/revoke-accessor', 'accessor', { write: revoke(BY_ACCESSOR) }),
  at('auth/token/accessors/', { list: listAccessors }, { needsSudo: true }),
  at('auth/token/create', { write: createToken }),
];
