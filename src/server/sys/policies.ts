/**
 * `sys/policies/acl/…`: policies are listed, read, written and deleted (wire/cluster-auth 2.9).
 * Invariants: names in lower case; `root` has no text and is never written; `default` is always there.
 */
import { answerData, answerDone, answerError, NOT_FOUND } from '../cluster-auth/answer.ts';
import { builtInPolicy, DEFAULT_POLICY } from '../identity/built-in-policies.ts';
import { type PolicyRule, ROOT_POLICY } from '../identity/service-policies.ts';
import { parsePolicy } from './parse-policy.ts';
import { type ServiceCall, type ServiceHandler, textIn } from './service-call.ts';

/** `LIST sys/policies/acl`: the names, sorted. */
export const listPolicies: ServiceHandler = ({ services, namespace }) => {
  const rows = services.database.all<{ name: string }>(
    'SELECT name FROM service_policies WHERE namespace = :namespace',
    { namespace },
  );
  const names = new Set([
    DEFAULT_POLICY,
    ...(namespace === '' ? [ROOT_POLICY] : []),
    ...rows.map(({ name }) => name),
  ]);
  return answerData({ keys: [...names].toSorted() });
};

/** `GET sys/policies/acl/:name`: 200 with the text, 404 for a name without a policy. */
export const readPolicy: ServiceHandler = (call) => {
  const name = policyName(call);
  const stored = call.services.database.get<{ rules: string; source: string }>(
    'SELECT rules, source FROM service_policies WHERE namespace = :namespace AND name = :name',
    { namespace: call.namespace, name },
  );
  if (stored !== undefined)
    return answerData({ name, policy: stored.source || written(JSON.parse(stored.rules) as PolicyRule[]) });
  if (name === ROOT_POLICY) return answerData({ name, policy: '' });
  const policy = builtInPolicy(name)?.source;
  return policy === undefined ? NOT_FOUND : answerData({ name, policy });
};

/** `POST sys/policies/acl/:name {policy}`: 204, or 400 for a text that is no policy. */
export const writePolicy: ServiceHandler = (call) => {
  const name = policyName(call);
  const { reservedPolicies } = call.services.dialects.clusterAuth;
  if ([ROOT_POLICY, ...reservedPolicies].includes(name))
    return answerError(400, `cannot update "${name}" policy`);
  const sent = textIn(call.body, 'policy');
  if (sent === '') return answerError(400, "'policy' parameter not supplied or empty");
  const isEncoded = /^[A-Za-z0-9+/]+={0,2}$/.test(sent) && sent.length % 4 === 0;
  const source = isEncoded ? Buffer.from(sent, 'base64').toString('utf8') : sent;
  const rules = parsePolicy(source, call.services.dialects.clusterAuth);
  if (!rules.ok) return answerError(400, `failed to parse policy: ${rules.problem}`);
  call.services.database.run(
    `INSERT INTO service_policies (namespace, name, rules, source) VALUES (:namespace, :name, :rules, :source)
     ON CONFLICT (namespace, name) DO UPDATE SET rules = excluded.rules, source = excluded.source`,
    { namespace: call.namespace, name, rules: JSON.stringify(rules.value), source },
  );
  return answerDone();
};

/** `DELETE sys/policies/acl/:name`: 204, also for what is not there. */
export const deletePolicy: ServiceHandler = (call) => {
  const name = policyName(call);
  const { reservedPolicies } = call.services.dialects.clusterAuth;
  if ([ROOT_POLICY, DEFAULT_POLICY, ...reservedPolicies].includes(name))
    return answerError(400, `cannot delete "${name}" policy`);
  call.services.database.run('DELETE FROM service_policies WHERE namespace = :namespace AND name = :name', {
    namespace: call.namespace,
    name,
  });
  return answerDone();
};

function policyName({ name }: ServiceCall): string {
  return name.toLowerCase();
}

/** Rules that came from a seed, as a policy's text. */
function written(rules: readonly PolicyRule[]): string {
  return rules
    .map(
      ({ path, capabilities }) => `path "${path}" {\n  capabilities = ${JSON.stringify(capabilities)}\n}\n`,
    )
    .join('\n');
}
