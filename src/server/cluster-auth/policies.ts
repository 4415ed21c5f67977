/**
 * `sys/policies/acl/…` and `sys/capabilities…` (wire/cluster-auth 2.9): policies are listed, read, written and deleted, and a
 * token's capabilities are read from the same rules that decide requests. Names are in lower case. `root` has no text and is
 * never written; `default` always exists.
 */
import type { ParameterRules, ParameterValues } from '../kernel/parameter-rules.ts';
import {
  answerData,
  answerDone,
  answerError,
  answerOnTop,
  answerWrappedError,
  NOT_FOUND,
  type SecretsAnswer,
} from './answer.ts';
import { type ServiceCall, type ServiceHandler, textIn } from './call.ts';
import { asList, type ValueOrProblem } from './field-coercion.ts';
import { isObject } from './json-values.ts';
import {
  builtInPolicy,
  CAPABILITIES,
  DEFAULT_POLICY,
  type Permission,
  type PolicyCapability,
  type PolicyRule,
  ROOT_POLICY,
} from './policy-rules.ts';
import { type Block, readPolicyText } from './policy-text.ts';
import { identityOfToken } from './service-identity.ts';
import { findByAccessor, findToken, type ServiceToken } from './token-record.ts';

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
    return answerData({
      name,
      policy: stored.source || policyText(JSON.parse(stored.rules) as PolicyRule[]),
    });
  if (name === ROOT_POLICY) return answerData({ name, policy: '' });
  const policy = builtInPolicy(name)?.source;
  return policy === undefined ? NOT_FOUND : answerData({ name, policy });
};

/** `POST sys/policies/acl/:name {policy}`: 204, or 400 for an invalid policy. */
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

/** `DELETE sys/policies/acl/:name`: 204, also for an unknown one. */
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

/** The rules of a seeded policy, as text. */
function policyText(rules: readonly PolicyRule[]): string {
  return rules
    .map(
      ({ path, capabilities }) => `path "${path}" {\n  capabilities = ${JSON.stringify(capabilities)}\n}\n`,
    )
    .join('\n');
}

// `sys/capabilities-self` and similar paths: the capabilities of a token on paths (wire/cluster-auth 2.9).
// Invariant: the answers use the same rules that decide requests.

/** More paths would delay other requests. */
const MAX_PATHS = 10_000;

/** `POST sys/capabilities-self {paths}`: each path with the capabilities of the calling token. */
export const ownCapabilities: ServiceHandler = (call) => capabilities(call, call.identity.capabilitiesOn);

/** `POST sys/capabilities {token, paths}`: the same for another token. */
export const tokenCapabilities: ServiceHandler = (call) => {
  const { database, now } = call.services;
  return capabilitiesOf(call, findToken(database, textIn(call.body, 'token'), now()), 'invalid token');
};

/** `POST sys/capabilities-accessor {accessor, paths}`: the same for the token with this accessor. */
export const accessorCapabilities: ServiceHandler = (call) => {
  const { database, now } = call.services;
  const accessor = textIn(call.body, 'accessor');
  if (accessor === '') return answerError(400, 'missing accessor');
  const token = findByAccessor(database, accessor, now());
  return capabilitiesOf(call, token?.type === 'batch' ? undefined : token, 'invalid accessor');
};

/** `GET sys/internal/ui/resultant-acl`: the capabilities of the calling token by path; rules with `+` are left out. */
export const resultantAcl: ServiceHandler = ({ identity }) => {
  const { permissions, policies, token } = identity;
  if (policies.includes(ROOT_POLICY)) return answerData({ root: true });
  const prefix = token.namespace === '' ? '' : `${token.namespace}/`;
  const listed = [...permissions].filter(([path]) => !path.split('/').includes('+'));
  const documents = (isPrefix: boolean) =>
    Object.fromEntries(
      listed
        .filter(([path]) => path.endsWith('*') === isPrefix)
        .map(([path, permission]) => [prefix + path.replace(/\*$/, ''), permissionDocument(permission)]),
    );
  return answerData({ exact_paths: documents(false), glob_paths: documents(true), root: false });
};

function permissionDocument({ granted, parameters }: Permission): Record<string, unknown> {
  const { allowed = {}, denied = {}, required = [] } = parameters;
  return {
    capabilities: granted.size === 0 ? ['deny'] : [...granted].toSorted(),
    ...(Object.keys(allowed).length > 0 && { allowed_parameters: allowed }),
    ...(Object.keys(denied).length > 0 && { denied_parameters: denied }),
    ...(required.length > 0 && { required_parameters: required }),
  };
}

function capabilitiesOf(call: ServiceCall, token: ServiceToken | undefined, unknown: string): SecretsAnswer {
  const identity = token && identityOfToken(call.services.database, token, call.namespace);
  return identity === undefined
    ? answerWrappedError(400, unknown)
    : capabilities(call, identity.capabilitiesOn);
}

function capabilities(
  { body }: ServiceCall,
  capabilitiesOn: (path: string) => readonly string[],
): SecretsAnswer {
  const given = asList(body['paths'] ?? body['path'] ?? []);
  if (!given.ok) return answerError(400, `error converting input for field "paths": ${given.problem}`);
  const paths = given.value.map((path) => path.replace(/^\//, '').replace(/^v1\//, ''));
  const [only] = paths;
  if (only === undefined) return answerError(400, 'paths must be supplied');
  if (paths.length > MAX_PATHS)
    return answerError(400, `at most ${MAX_PATHS} paths can be asked for at once`);
  const found = paths.map((path) => [path, capabilitiesOn(path)]);
  return answerOnTop({
    ...Object.fromEntries(found),
    ...(paths.length === 1 ? { capabilities: capabilitiesOn(only) } : {}),
  });
}

// Policies as people write them: `path "auth/cluster/role/*" { capabilities = ["read"] }`, in HCL or in JSON.
// Invariant: a rule that cannot be parsed is refused, never read as a weaker one.

const WRITE_SHORTHAND = ['create', 'read', 'update', 'delete', 'list'] as const;

/** The older keywords for sets of capabilities. */
const SHORTHANDS: ReadonlyMap<unknown, readonly PolicyCapability[]> = new Map<unknown, PolicyCapability[]>([
  ['deny', ['deny']],
  ['read', ['read', 'list']],
  ['write', [...WRITE_SHORTHAND]],
  ['sudo', [...WRITE_SHORTHAND, 'sudo']],
]);

/** The limit of the real service's storage. */
const MAX_POLICY_LENGTH = 1024 * 1024;

/** The dialect's language of policies. */
interface PolicyLanguage {
  /** Whether the capability `scan` exists. */
  readonly scans: boolean;
}

/**
 * The rules of a policy, or the problem. A path may occur in several HCL blocks, just as it may occur in several policies.
 */
export function parsePolicy(text: string, language: PolicyLanguage): ValueOrProblem<PolicyRule[]> {
  if (text.length > MAX_POLICY_LENGTH) return { ok: false, problem: 'it is too long' };
  const paths = readPolicyText(text);
  if (!paths.ok) return paths;
  const rules: PolicyRule[] = [];
  for (const [path, block] of paths.value) {
    const rule = ruleOf(path, block, language);
    if (!rule.ok) return { ok: false, problem: `path "${path}": ${rule.problem}` };
    rules.push(rule.value);
  }
  return { ok: true, value: rules };
}

function ruleOf(path: string, block: Block, language: PolicyLanguage): ValueOrProblem<PolicyRule> {
  const {
    capabilities,
    policy,
    comment,
    allowed_parameters,
    denied_parameters,
    required_parameters,
    ...more
  } = block;
  const [unknown] = Object.keys(more);
  if (unknown !== undefined) return refused(`"${unknown}" is not supported here`);
  if (comment !== undefined && typeof comment !== 'string') return refused('the comment is not a string');
  const granted = grantedBy({ capabilities, policy }, language);
  if (!granted.ok) return granted;
  const parameters = parameterRules({ allowed_parameters, denied_parameters, required_parameters });
  if (!parameters.ok) return parameters;
  if (path.includes('+*')) return refused(`invalid use of wildcards ('+*' is forbidden)`);
  return {
    ok: true,
    value: { path: path.replace(/^\//, ''), capabilities: granted.value, ...parameters.value },
  };
}

function grantedBy(
  { capabilities = [], policy }: Block,
  { scans }: PolicyLanguage,
): ValueOrProblem<PolicyCapability[]> {
  const short = policy === undefined ? [] : SHORTHANDS.get(policy);
  if (short === undefined) return refused(`invalid policy "${String(policy)}"`);
  const granted: PolicyCapability[] = [...short];
  for (const each of Array.isArray(capabilities) ? capabilities : [capabilities]) {
    const capability = CAPABILITIES.find((known) => known === each && (scans || known !== 'scan'));
    if (capability === undefined) return refused(`invalid capability "${String(each)}"`);
    granted.push(capability);
  }
  return { ok: true, value: granted };
}

/** The result has only the members that the block has. */
function parameterRules(block: Block): ValueOrProblem<ParameterRules> {
  const { allowed_parameters: allowed, denied_parameters: denied, required_parameters: required } = block;
  for (const values of [allowed, denied])
    if (values !== undefined && !isValues(values))
      return refused('allowed_parameters and denied_parameters must have a list of values for each name');
  if (required !== undefined && !isTexts(required))
    return refused('required_parameters must be a list of names');
  return {
    ok: true,
    value: {
      ...(isValues(allowed) ? { allowed: inLowerCase(allowed) } : {}),
      ...(isValues(denied) ? { denied: inLowerCase(denied) } : {}),
      ...(isTexts(required) ? { required } : {}),
    },
  };
}

function isValues(value: unknown): value is ParameterValues {
  return isObject(value) && Object.values(value).every(Array.isArray);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function inLowerCase(values: ParameterValues): ParameterValues {
  return Object.fromEntries(Object.entries(values).map(([name, list]) => [name.toLowerCase(), list]));
}

function refused(problem: string): { readonly ok: false; readonly problem: string } {
  return { ok: false, problem };
}
