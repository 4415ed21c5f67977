/**
 * Rules about the tokens that a login gives: lifetimes, addresses, policies, type (wire/cluster-auth 2.4, 2.5). Also the form
 * of a finding, which all rules of a role share.
 */
import { fieldValue } from '../../api/cluster-auth/wire-fields.ts';
import { formatDuration, longestDuration, parseDuration } from '../../model/duration.ts';
import type { Json } from '../../model/json.ts';
import type { ResourceProblem } from '../../model/kind.ts';
import { quoted } from '../../model/quoted.ts';
import type { Spec } from '../../model/resource.ts';
import type { Dialect } from '../../model/stack.ts';
import { fieldNamesOf, fields } from './fields.ts';
import { isAddressBlock, takenForIPv4 } from './login-conditions.ts';
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

/** Undefined when the field is absent, null or no duration. */
function seconds(spec: RoleFields, name: RoleField): number | undefined {
  const value = spec[name];
  return typeof value === 'string' || typeof value === 'number' ? parseDuration(value) : undefined;
}

// Policies that the service takes in a role, and refuses every login for. Pure.

/** Source: wire/cluster-auth 3. */
const reservedAsSpecified: ReadonlySet<string> = new Set(['response-wrapping', 'control-group']);

/** The first policy that no token of a login may have, as the role writes it, and why. The service compares lower case. */
export function refusedPolicy(
  policies: readonly string[],
  { reservedPolicies = reservedAsSpecified }: Pick<Dialect, 'reservedPolicies'>,
): { readonly policy: string; readonly why: string } | undefined {
  for (const policy of policies) {
    const name = policy.trim().toLowerCase();
    if (name === 'root') return { policy, why: 'no login gives a root token' };
    if (reservedPolicies.has(name)) return { policy, why: 'the service keeps it for itself' };
  }
  return undefined;
}

// Rules about the tokens that a login gives: lifetimes, addresses, policies, type (wire/cluster-auth 2.4, 2.5).

const durationForm = 'seconds, or a duration such as "90m", "1h30m" or "7d"';

export function validateDuration(spec: RoleFields, name: RoleField): ResourceProblem[] {
  const value = spec[name];
  if (typeof value !== 'string' && typeof value !== 'number') return [];
  const parsed = parseDuration(value);
  const written = { found: String(value), allowed: durationForm };
  if (parsed === undefined)
    return [
      error('invalid-duration', name, `${quoted(String(value))} is no duration`, {
        ...written,
        fix: 'write it like "90m"',
      }),
    ];
  if (parsed > longestDuration) {
    const message = `${quoted(String(value))} is more than the service can count (${longestDuration} seconds): it refuses it`;
    return [error('duration-out-of-range', name, message, { ...written, fix: 'write a shorter one' })];
  }
  if (parsed > 0 || !/[1-9]/.test(String(value))) return [];
  const message = `${quoted(String(value))} is less than a second, which the service keeps as 0: no limit`;
  return [error('duration-below-second', name, message, written)];
}

/** In seconds: the longest life of a token where the mount says nothing else (wire/cluster-auth 2.5, step 4). */
const longLifetime = 768 * 3600;

export function lifetimeIsShort(spec: RoleFields, name: RoleField): ResourceProblem[] {
  const lifetime = seconds(spec, name) ?? 0;
  if (lifetime <= longLifetime || lifetime > longestDuration) return [];
  const effect =
    name === 'tokenPeriod'
      ? 'the service refuses it unless the mount allows more'
      : 'a token that leaks can be used for as long';
  const message = `${quoted(name)} is ${formatDuration(lifetime)}, more than 32 days: ${effect}`;
  return [warning('long-lifetime', name, message, { fix: 'write a shorter one, and let tokens be renewed' })];
}

export function lifetimeIsLimited(spec: RoleFields): ResourceProblem[] {
  const [period = 0, cap = 0] = [seconds(spec, 'tokenPeriod'), seconds(spec, 'tokenExplicitMaxTtl')];
  const isRefused = spec.tokenType === 'batch' || period > longestDuration;
  if (isRefused || period === 0 || cap > 0) return [];
  const message = '"tokenPeriod" lets tokens be renewed for ever: nothing ends them';
  const fix = 'set "tokenExplicitMaxTtl", or remove "tokenPeriod"';
  return [warning('unlimited-tokens', 'tokenPeriod', message, { fix })];
}

export function policiesAreThere(spec: RoleFields): ResourceProblem[] {
  const name = spec.policies === undefined ? 'tokenPolicies' : 'policies';
  if (spec[name] === undefined || elements(spec, name).some((policy) => policy !== '')) return [];
  const carried = spec.tokenNoDefaultPolicy === true ? 'no policy at all' : 'the policy "default" alone';
  const message = `${quoted(name)} is empty: tokens carry ${carried}`;
  return [
    warning('no-policies', name, message, { fix: 'list the policies that tokens carry, or leave it out' }),
  ];
}

export function policiesAreGiven(spec: RoleFields, dialect: Dialect): ResourceProblem[] {
  return (['tokenPolicies', 'policies'] as const).flatMap((name) => {
    const refused = refusedPolicy(elements(spec, name), dialect);
    if (refused === undefined) return [];
    const { policy, why } = refused;
    const message = `${quoted(name)} has ${quoted(policy)}: the service takes the role, and refuses every login, because ${why}`;
    return [warning('refused-policy', name, message, { fix: `take ${quoted(policy)} out of the list` })];
  });
}

export function ttlFitsMaximum(spec: RoleFields): ResourceProblem[] {
  const [ttl = 0, maximum = 0] = [seconds(spec, 'tokenTtl'), seconds(spec, 'tokenMaxTtl')];
  if (maximum === 0 || ttl <= maximum) return [];
  const message = '"tokenTtl" cannot be greater than "tokenMaxTtl"';
  const related = { message: '"tokenMaxTtl" is set here', path: ['tokenMaxTtl'] };
  const found = `${formatDuration(ttl)} over ${formatDuration(maximum)}`;
  const fix = 'lower "tokenTtl", or raise "tokenMaxTtl"';
  return [error('ttl-over-maximum', 'tokenTtl', message, { found, fix, related })];
}

export function batchTokensArePlain(spec: RoleFields): ResourceProblem[] {
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

export function blocksAreAddresses(spec: RoleFields): ResourceProblem[] {
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
      ? `${quoted(block)} is no CIDR block: the service would take it for the path of a socket, which nobody comes from`
      : `error parsing address ${quoted(block)}`;
  const taken = takenForIPv4(block);
  return taken === undefined
    ? undefined
    : `${quoted(block)} is an IPv4 address as IPv6 with a prefix below 96: the service would keep ${quoted(taken)} instead`;
}

const STRICT = 'tokenStrictlyBindIp';

export function strictBindingIsKnown(spec: RoleFields, { name, capabilities }: Dialect): ResourceProblem[] {
  // Its default asks for nothing that the service lacks.
  if (spec[STRICT] !== true || capabilities.has('strict-ip-binding')) return [];
  const message = `${quoted(STRICT)} is no field of the dialect ${quoted(name)}, whose service drops it without a word`;
  const fix = `remove ${quoted(STRICT)}; "tokenBoundCidrs" limits addresses`;
  return [error('not-in-dialect', STRICT, message, { side: 'key', fix })];
}

export function strictBindingStandsAlone(spec: RoleFields): ResourceProblem[] {
  if (spec[STRICT] !== true || elements(spec, 'tokenBoundCidrs').length === 0) return [];
  const message = `${quoted(STRICT)} conflicts with "tokenBoundCidrs"; set only one`;
  const related = { message: '"tokenBoundCidrs" is set here', path: ['tokenBoundCidrs'] };
  return [error('two-bindings', STRICT, message, { fix: 'remove one of the two', related })];
}

/** A body holds each list whole: there is no other way to write many names (wire/cluster-auth 2.1). */
export function textsAreFewEnough(spec: RoleFields, dialect: Dialect): ResourceProblem[] {
  const { maxTexts } = dialect;
  if (maxTexts === undefined) return [];
  const declared: Spec = spec;
  const values = fieldNamesOf(dialect).map((name) => fieldValue(fields, declared, name));
  const texts = values.map((value) =>
    Array.isArray(value) ? value.length : typeof value === 'string' ? 1 : 0,
  );
  const found = texts.reduce((sum: number, count) => sum + count, values.length);
  if (found <= maxTexts) return [];
  const message = `a request for this role holds ${found} texts, names of fields included, and the service takes ${maxTexts} unless its listener allows more`;
  const fix = 'divide it among several roles, or use patterns';
  return [{ code: 'too-many-texts', severity: 'error', path: [], message, fix }];
}

export function policiesHaveOneName(spec: RoleFields): ResourceProblem[] {
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
