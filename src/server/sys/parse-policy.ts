/**
 * Policies as people write them: `path "auth/cluster/role/*" { capabilities = ["read"] }`, in HCL or in JSON.
 * Invariant: what is not understood is refused, never taken for less than it says.
 */
import type { ParameterRules, ParameterValues } from '../identity/parameter-rules.ts';
import { CAPABILITIES, type PolicyCapability, type PolicyRule } from '../identity/service-policies.ts';
import type { Coerced } from '../cluster-auth/values/field-coercion.ts';
import { isObject } from '../cluster-auth/values/is-object.ts';
import { type Block, readPolicyText } from './policy-text.ts';

const OLD_WRITE = ['create', 'read', 'update', 'delete', 'list'] as const;

/** The old word for a whole set of capabilities. */
const SHORTHANDS: ReadonlyMap<unknown, readonly PolicyCapability[]> = new Map<unknown, PolicyCapability[]>([
  ['deny', ['deny']],
  ['read', ['read', 'list']],
  ['write', [...OLD_WRITE]],
  ['sudo', [...OLD_WRITE, 'sudo']],
]);

/** What the original can store at all. */
const LONGEST_POLICY = 1024 * 1024;

/** What a service knows of policies. */
interface PolicyLanguage {
  /** Whether there is the capability to list all that is below a path. */
  readonly scans: boolean;
}

/**
 * Reads the rules of a policy; the problem says what is wrong with it. A path may stand in several blocks of HCL, as it may
 * in several policies.
 */
export function parsePolicy(text: string, language: PolicyLanguage): Coerced<PolicyRule[]> {
  if (text.length > LONGEST_POLICY) return { ok: false, problem: 'it is too long' };
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

function ruleOf(path: string, block: Block, language: PolicyLanguage): Coerced<PolicyRule> {
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
  if (comment !== undefined && typeof comment !== 'string') return refused('its comment is no text');
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
): Coerced<PolicyCapability[]> {
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

/** Only what is said of them is in the result. */
function parameterRules(block: Block): Coerced<ParameterRules> {
  const { allowed_parameters: allowed, denied_parameters: denied, required_parameters: required } = block;
  for (const values of [allowed, denied])
    if (values !== undefined && !isValues(values))
      return refused('its parameters are no lists of values by name');
  if (required !== undefined && !isTexts(required))
    return refused('its required parameters are no list of names');
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
