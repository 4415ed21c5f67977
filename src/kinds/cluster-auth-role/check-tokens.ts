/**
 * Rules about the tokens that a login creates: lifetimes, addresses, policies, type (wire/cluster-auth 2.4, 2.5). Also the
 * functions that make a finding, which all rules of a role share.
 */
import { fieldValue } from '../../api/cluster-auth-fields.ts';
import { formatDuration, longestDuration, parseDuration } from '../../model/duration.ts';
import type { Json } from '../../model/json.ts';
import type { ResourceProblem } from '../../model/kind.ts';
import { quoted } from '../../model/quoted.ts';
import type { Spec } from '../../model/resource.ts';
import type { Dialect } from '../../model/stack.ts';
import { fieldNamesOf, fields } from './fields.ts';
import { isAddressBlock, storedAsIPv4 } from './login-conditions.ts';
import type { RoleFields } from './schema.ts';

export type RoleField = keyof RoleFields;
export type RoleRule = (spec: RoleFields, dialect: Dialect) => readonly ResourceProblem[];

export function error(
  code: ResourceProblem['code'],
  name: RoleField,
  message: string,
  more: Partial<ResourceProblem> = {},
): ResourceProblem {
  return { code, severity: 'error', path: [name], message, ...more };
}

export function warning(
  code: ResourceProblem['code'],
  name: RoleField,
  message: string,
  more: Partial<ResourceProblem> = {},
): ResourceProblem {
  return { code, severity: 'warning', path: [name], message, ...more };
}

/** The elements of a list, or of a text with commas; empty when the field is absent or null. */
export function elements(spec: RoleFields, name: RoleField): string[] {
  const value = spec[name];
  const list: readonly Json[] =
    typeof value === 'string' && value !== '' ? value.split(',') : Array.isArray(value) ? value : [];
  return list.map((item) => String(item).trim());
}

export function text(spec: RoleFields, name: RoleField): string {
  const value = spec[name];
  return typeof value === 'string' ? value : '';
}

/** Undefined when the field is absent, null or not a duration. */
function seconds(spec: RoleFields, name: RoleField): number | undefined {
  const value = spec[name];
  return typeof value === 'string' || typeof value === 'number' ? parseDuration(value) : undefined;
}

// Policies that the service accepts in a role, but that make every login fail. Pure.

/** Source: wire/cluster-auth 3. */
const reservedAsSpecified: ReadonlySet<string> = new Set(['response-wrapping', 'control-group']);

/** The first policy that no token of a login can have, as the role spells it, and why. The service compares in lower case. */
export function refusedPolicy(
  policies: readonly string[],
  { reservedPolicies = reservedAsSpecified }: Pick<Dialect, 'reservedPolicies'>,
): { readonly policy: string; readonly why: string } | undefined {
  for (const policy of policies) {
    const name = policy.trim().toLowerCase();
    if (name === 'root') return { policy, why: 'no login creates a root token' };
    if (reservedPolicies.has(name)) return { policy, why: 'the service reserves it' };
  }
  return undefined;
}

const durationForm = 'seconds, or a duration such as "90m", "1h30m" or "7d"';

export function validateDuration(spec: RoleFields, name: RoleField): ResourceProblem[] {
  const value = spec[name];
  if (typeof value !== 'string' && typeof value !== 'number') return [];
  const parsed = parseDuration(value);
  const written = { found: String(value), allowed: durationForm };
  if (parsed === undefined)
    return [
      error('invalid-duration', name, `${quoted(String(value))} is not a duration`, {
        ...written,
        fix: 'write it like "90m"',
      }),
    ];
  if (parsed > longestDuration) {
    const message = `${quoted(String(value))} is longer than the service supports (${longestDuration} seconds): it refuses it`;
    return [error('duration-out-of-range', name, message, { ...written, fix: 'write a shorter one' })];
  }
  if (parsed > 0 || !/[1-9]/.test(String(value))) return [];
  const message = `${quoted(String(value))} is less than a second: the service stores it as 0, which means no limit`;
  return [error('duration-below-second', name, message, written)];
}

/** In seconds: the longest lifetime of a token if the mount sets no other (wire/cluster-auth 2.5, step 4). */
const longLifetime = 768 * 3600;

export function checkLongLifetime(spec: RoleFields, name: RoleField): ResourceProblem[] {
  const lifetime = seconds(spec, name) ?? 0;
  if (lifetime <= longLifetime || lifetime > longestDuration) return [];
  const effect =
    name === 'tokenPeriod'
      ? 'the service refuses it unless the mount allows more'
      : 'a token that leaks can be used for as long';
  const message = `${quoted(name)} is ${formatDuration(lifetime)}, more than 32 days: ${effect}`;
  return [warning('long-lifetime', name, message, { fix: 'write a shorter one, and let tokens be renewed' })];
}

export function checkUnlimitedLifetime(spec: RoleFields): ResourceProblem[] {
  const [period = 0, cap = 0] = [seconds(spec, 'tokenPeriod'), seconds(spec, 'tokenExplicitMaxTtl')];
  const isRefused = spec.tokenType === 'batch' || period > longestDuration;
  if (isRefused || period === 0 || cap > 0) return [];
  const message = '"tokenPeriod" lets tokens be renewed for ever, without any limit';
  const fix = 'set "tokenExplicitMaxTtl", or remove "tokenPeriod"';
  return [warning('unlimited-tokens', 'tokenPeriod', message, { fix })];
}

export function requirePolicies(spec: RoleFields): ResourceProblem[] {
  const name = spec.policies === undefined ? 'tokenPolicies' : 'policies';
  if (spec[name] === undefined || elements(spec, name).some((policy) => policy !== '')) return [];
  const carried = spec.tokenNoDefaultPolicy === true ? 'no policy at all' : 'the policy "default" alone';
  const message = `${quoted(name)} is empty: tokens carry ${carried}`;
  return [
    warning('no-policies', name, message, { fix: 'list the policies that tokens carry, or leave it out' }),
  ];
}

export function checkRefusedPolicies(spec: RoleFields, dialect: Dialect): ResourceProblem[] {
  return (['tokenPolicies', 'policies'] as const).flatMap((name) => {
    const refused = refusedPolicy(elements(spec, name), dialect);
    if (refused === undefined) return [];
    const { policy, why } = refused;
    const message = `${quoted(name)} has ${quoted(policy)}: the service accepts the role, but refuses every login, because ${why}`;
    return [warning('refused-policy', name, message, { fix: `take ${quoted(policy)} out of the list` })];
  });
}

export function checkTtlMaximum(spec: RoleFields): ResourceProblem[] {
  const [ttl = 0, maximum = 0] = [seconds(spec, 'tokenTtl'), seconds(spec, 'tokenMaxTtl')];
  if (maximum === 0 || ttl <= maximum) return [];
  const message = '"tokenTtl" cannot be greater than "tokenMaxTtl"';
  const related = { message: '"tokenMaxTtl" is set here', path: ['tokenMaxTtl'] };
  const found = `${formatDuration(ttl)} over ${formatDuration(maximum)}`;
  const fix = 'lower "tokenTtl", or raise "tokenMaxTtl"';
  return [error('ttl-over-maximum', 'tokenTtl', message, { found, fix, related })];
}

export function checkBatchTokens(spec: RoleFields): ResourceProblem[] {
  if (spec.tokenType !== 'batch') return [];
  const refused = '"tokenType" cannot be "batch" when set to generate';
  const at = (name: RoleField) => ({
    fix: `remove ${quoted(name)}, or make "tokenType" another one`,
    related: { message: `${quoted(name)} is set here`, path: [name] },
  });
  const uses = spec.tokenNumUses;
  return [
    ...((seconds(spec, 'tokenPeriod') ?? 0) > 0
      ? [error('batch-periodic', 'tokenType', `${refused} periodic tokens`, at('tokenPeriod'))]
      : []),
    ...(typeof uses === 'number' && uses > 0
      ? [error('batch-counted', 'tokenType', `${refused} tokens with limited use count`, at('tokenNumUses'))]
      : []),
  ];
}

export function checkAddressBlocks(spec: RoleFields): ResourceProblem[] {
  const name = 'tokenBoundCidrs';
  return elements(spec, name).flatMap((block, index) => {
    const problem = blockProblem(block);
    if (problem === undefined) return [];
    const path = Array.isArray(spec[name]) ? [name, String(index)] : [name];
    return [
      error('invalid-cidr', name, problem, {
        path,
        found: block,
        allowed: 'an IP address or a CIDR block',
        fix: 'write it like "10.20.0.0/16" or "10.1.2.3"',
      }),
    ];
  });
}

function blockProblem(block: string): string | undefined {
  if (!isAddressBlock(block))
    return block.includes('/')
      ? `${quoted(block)} is not a CIDR block: the service would read it as the path of a socket, and refuse every login`
      : `error parsing address ${quoted(block)}`;
  const stored = storedAsIPv4(block);
  return stored === undefined
    ? undefined
    : `${quoted(block)} is an IPv4 address as IPv6 with a prefix below 96: the service would store ${quoted(stored)} instead`;
}

const STRICT = 'tokenStrictlyBindIp';

export function checkStrictBindingDialect(
  spec: RoleFields,
  { name, capabilities }: Dialect,
): ResourceProblem[] {
  // The default, false, is the same as the field being absent.
  if (spec[STRICT] !== true || capabilities.has('strict-ip-binding')) return [];
  const message = `${quoted(STRICT)} is not a field of the dialect ${quoted(name)}: the service silently ignores it`;
  const fix = `remove ${quoted(STRICT)}; "tokenBoundCidrs" limits addresses`;
  return [error('not-in-dialect', STRICT, message, { side: 'key', fix })];
}

export function checkStrictBindingAlone(spec: RoleFields): ResourceProblem[] {
  if (spec[STRICT] !== true || elements(spec, 'tokenBoundCidrs').length === 0) return [];
  const message = `${quoted(STRICT)} conflicts with "tokenBoundCidrs"; set only one`;
  const related = { message: '"tokenBoundCidrs" is set here', path: ['tokenBoundCidrs'] };
  return [error('two-bindings', STRICT, message, { fix: 'remove one of the two', related })];
}

/** The listener limits the strings in a request, and a body contains each list completely (wire/cluster-auth 2.1). */
export function checkStringLimit(spec: RoleFields, dialect: Dialect): ResourceProblem[] {
  const { maxTexts } = dialect;
  if (maxTexts === undefined) return [];
  const declared: Spec = spec;
  const values = fieldNamesOf(dialect).map((name) => fieldValue(fields, declared, name));
  const texts = values.map((value) =>
    Array.isArray(value) ? value.length : typeof value === 'string' ? 1 : 0,
  );
  const found = texts.reduce((sum: number, count) => sum + count, values.length);
  if (found <= maxTexts) return [];
  const message = `a request for this role contains ${found} strings, field names included, and the service allows ${maxTexts} unless its listener allows more`;
  const fix = 'split it into several roles, or use patterns';
  return [{ code: 'too-many-texts', severity: 'error', path: [], message, fix }];
}

export function checkPolicyNames(spec: RoleFields): ResourceProblem[] {
  if (spec.policies === undefined || spec.tokenPolicies === undefined) return [];
  const fix = 'write "tokenPolicies" only';
  const related = { message: '"tokenPolicies" is set here', path: ['tokenPolicies'] };
  return [
    error(
      'policies-twice',
      'policies',
      '"policies" is the deprecated name of "tokenPolicies", and both are set',
      { fix, related },
    ),
  ];
}
