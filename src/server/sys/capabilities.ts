/**
 * `sys/capabilities-self` and its sisters: what a token may do on paths (wire/cluster-auth 2.9).
 * Invariant: answered from the same rules that decide requests.
 */
import { answerError, answerOnTop, type SecretsAnswer } from '../cluster-auth/answer.ts';
import { asList } from '../cluster-auth/values/field-coercion.ts';
import { authenticateServiceToken } from '../identity/service-identity.ts';
import { type ServiceCall, type ServiceHandler, textIn } from './service-call.ts';

/** Others would wait for the answer to more of them. */
const MOST_PATHS = 10_000;

/** `POST sys/capabilities-self {paths}`: each path with what the asking token may do there. */
export const ownCapabilities: ServiceHandler = (call) => capabilities(call, call.identity.capabilitiesOn);

/** `POST sys/capabilities {token, paths}`: the same for another token. */
export const tokenCapabilities: ServiceHandler = (call) => {
  const { services, namespace, body } = call;
  const identity = authenticateServiceToken(services, textIn(body, 'token'), { namespace });
  return identity === undefined
    ? answerError(400, 'invalid token')
    : capabilities(call, identity.capabilitiesOn);
};

function capabilities({ body }: ServiceCall, on: (path: string) => readonly string[]): SecretsAnswer {
  const given = asList(body['paths'] ?? body['path'] ?? []);
  if (!given.ok) return answerError(400, `error converting input for field "paths": ${given.problem}`);
  const paths = given.value.map((path) => path.replace(/^\//, '').replace(/^v1\//, ''));
  const [only] = paths;
  if (only === undefined) return answerError(400, 'paths must be supplied');
  if (paths.length > MOST_PATHS)
    return answerError(400, `at most ${MOST_PATHS} paths can be asked for at once`);
  const found = paths.map((path) => [path, on(path)]);
  return answerOnTop({
    ...Object.fromEntries(found),
    ...(paths.length === 1 ? { capabilities: on(only) } : {}),
  });
}
