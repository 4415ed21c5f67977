/**
 * What the service would refuse about a role, found offline and in the service's own words (wire/cluster-auth 2.5), and what it
 * takes although nobody can have meant it. A rule says nothing about values that the schema refuses.
 */
import { formatDuration, parseDuration } from '../../model/kind/duration.ts';
import type { Json } from '../../model/json/json.ts';
import type { ResourceProblem } from '../../model/kind/kind.ts';
import type { DesiredResource } from '../../model/resource/resource.ts';
import { isAddressBlock } from './address-block.ts';
import { NAMES, NAMESPACES, SELECTOR } from './fields.ts';
import { selectorProblem, selectsEverything } from './namespace-selector.ts';
import type { RoleFields, RoleSpec } from './schema.ts';

const DURATIONS = ['tokenTtl', 'tokenMaxTtl', 'tokenExplicitMaxTtl', 'tokenPeriod'] as const;

type RoleField = keyof RoleFields;
type RoleRule = (spec: RoleFields) => readonly ResourceProblem[];

export function check({ spec, metadata }: DesiredResource<RoleSpec>): readonly ResourceProblem[] {
  return metadata.remove === undefined ? rules.flatMap((rule) => rule(spec)) : [];
}

/** The rules about several fields at once: what a manifest leaves out may break them with its live value. */
const rulesAcrossFields: readonly RoleRule[] = [namespacesAreThere, ttlFitsMaximum, batchTokensArePlain];

const rules: readonly RoleRule[] = [
  namesAreThere,
  (spec) => wildcardStandsAlone(spec, NAMES),
  (spec) => wildcardStandsAlone(spec, NAMESPACES),
  notOpenToEveryone,
  selectorIsOne,
  audienceIsSaid,
  (spec) => DURATIONS.flatMap((name) => durationIsOne(spec, name)),
  blocksAreAddresses,
  policiesHaveOneName,
  ...rulesAcrossFields,
];

/** What the service would refuse about a whole role because of how its fields stand to each other. */
export function findConflicts(spec: RoleFields): readonly ResourceProblem[] {
  return rulesAcrossFields.flatMap((rule) => rule(spec));
}

function error(
  code: ResourceProblem['code'],
  name: RoleField,
  message: string,
  more: Partial<ResourceProblem> = {},
): ResourceProblem {
  return { code, severity: 'error', path: [name], message, ...more };
}

function warning(
  code: ResourceProblem['code'],
  name: RoleField,
  message: string,
  more: Partial<ResourceProblem> = {},
): ResourceProblem {
  return { code, severity: 'warning', path: [name], message, ...more };
}

/** The elements of a list, or of a text with commas; none when the field is left out or null. */
function elements(spec: RoleFields, name: RoleField): string[] {
  const value = spec[name];
  const list: readonly Json[] =
    typeof value === 'string' && value !== '' ? value.split(',') : Array.isArray(value) ? value : [];
  return list.map((item) => String(item).trim());
}

function text(spec: RoleFields, name: RoleField): string {
  const value = spec[name];
  return typeof value === 'string' ? value : '';
}

/** Undefined when the field is left out, null or no duration. */
function seconds(spec: RoleFields, name: RoleField): number | undefined {
  const value = spec[name];
  return typeof value === 'string' || typeof value === 'number' ? parseDuration(value) : undefined;
}

function namesAreThere(spec: RoleFields): ResourceProblem[] {
  if (!Array.isArray(spec[NAMES]) || elements(spec, NAMES).length > 0) return [];
  return [
    error('empty-names', NAMES, `"${NAMES}" can not be empty`, {
      fix: 'list the service accounts that may log in',
    }),
  ];
}

function namespacesAreThere(spec: RoleFields): ResourceProblem[] {
  if (elements(spec, NAMESPACES).length > 0 || text(spec, SELECTOR) !== '') return [];
  const path = spec[NAMESPACES] === undefined ? [] : [NAMESPACES];
  const message = `"${NAMESPACES}" can not be empty if "${SELECTOR}" is not set`;
  return [
    error('empty-namespaces', NAMESPACES, message, { path, fix: 'list the namespaces, or set the selector' }),
  ];
}

function wildcardStandsAlone(spec: RoleFields, name: RoleField): ResourceProblem[] {
  const entries = elements(spec, name);
  if (entries.length < 2 || !entries.includes('*')) return [];
  const path = [name, String(entries.indexOf('*'))];
  const fix = 'leave "*" alone in the list, or take it out';
  return [
    error('mixed-wildcard', name, 'can not mix "*" with values', { path, found: entries.join(', '), fix }),
  ];
}

function notOpenToEveryone(spec: RoleFields): ResourceProblem[] {
  if (!elements(spec, NAMES).includes('*')) return [];
  const everyNamespace = elements(spec, NAMESPACES).includes('*') || selectsEverything(text(spec, SELECTOR));
  if (!everyNamespace) return [];
  const message = `"${NAMES}" and the namespaces are both open: every service account of the cluster may log in`;
  return [warning('open-role', NAMES, message, { fix: 'name the service accounts or the namespaces' })];
}

function selectorIsOne(spec: RoleFields): ResourceProblem[] {
  const selector = text(spec, SELECTOR);
  if (selector === '') return [];
  const problem = selectorProblem(selector);
  if (problem !== undefined) {
    const allowed =
      'a LabelSelector as JSON or YAML with matchLabels only, such as {"matchLabels":{"team":"payments"}}';
    const { says, fix } = problem;
    return [
      error('invalid-selector', SELECTOR, `invalid "${SELECTOR}" configured: ${says}`, {
        found: selector,
        allowed,
        ...(fix === undefined ? {} : { fix }),
      }),
    ];
  }
  if (!selectsEverything(selector)) return [];
  const message = `"${SELECTOR}" has no labels, so every namespace matches it, listed or not`;
  const fix = 'name labels, or write null for no selector';
  return [warning('open-selector', SELECTOR, message, { fix })];
}

function audienceIsSaid(spec: RoleFields): ResourceProblem[] {
  if (text(spec, 'audience') !== '') return [];
  const path = spec.audience === undefined ? [] : ['audience'];
  const message = '"audience" is blank: a JWT that was made for any other service is accepted';
  return [
    warning('blank-audience', 'audience', message, { path, fix: 'set the audience that JWTs are made for' }),
  ];
}

function durationIsOne(spec: RoleFields, name: RoleField): ResourceProblem[] {
  const value = spec[name];
  if (typeof value !== 'string') return [];
  const parsed = parseDuration(value);
  const allowed = 'seconds, or a duration such as "90m", "1h30m" or "7d"';
  if (parsed === undefined)
    return [
      error('invalid-duration', name, `"${value}" is no duration`, {
        found: value,
        allowed,
        fix: 'write it like "90m"',
      }),
    ];
  if (parsed > 0 || !/[1-9]/.test(value)) return [];
  const message = `"${value}" is less than a second, which the service keeps as 0: no limit`;
  return [error('duration-below-second', name, message, { found: value, allowed })];
}

function ttlFitsMaximum(spec: RoleFields): ResourceProblem[] {
  const [ttl = 0, maximum = 0] = [seconds(spec, 'tokenTtl'), seconds(spec, 'tokenMaxTtl')];
  if (maximum === 0 || ttl <= maximum) return [];
  const message = '"tokenTtl" cannot be greater than "tokenMaxTtl"';
  const related = { message: '"tokenMaxTtl" is set here', path: ['tokenMaxTtl'] };
  const found = `${formatDuration(ttl)} over ${formatDuration(maximum)}`;
  const fix = 'lower "tokenTtl", or raise "tokenMaxTtl"';
  return [error('ttl-over-maximum', 'tokenTtl', message, { found, fix, related })];
}

function batchTokensArePlain(spec: RoleFields): ResourceProblem[] {
  if (spec.tokenType !== 'batch') return [];
  const refused = '"tokenType" cannot be "batch" when set to generate';
  const at = (name: RoleField) => ({
    fix: `remove "${name}", or make "tokenType" another one`,
    related: { message: `"${name}" is set here`, path: [name] },
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

function blocksAreAddresses(spec: RoleFields): ResourceProblem[] {
  const name = 'tokenBoundCidrs';
  return elements(spec, name).flatMap((block, index) => {
    if (isAddressBlock(block)) return [];
    const path = Array.isArray(spec[name]) ? [name, String(index)] : [name];
    const message = block.includes('/')
      ? `"${block}" is no CIDR block: the service would take it for the path of a socket, which nobody comes from`
      : `error parsing address "${block}"`;
    return [
      error('invalid-cidr', name, message, {
        path,
        found: block,
        allowed: 'an IP address or a CIDR block',
        fix: 'write it like "10.20.0.0/16" or "10.1.2.3"',
      }),
    ];
  });
}

function policiesHaveOneName(spec: RoleFields): ResourceProblem[] {
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
