/**
 * Finds offline what the service would refuse about a role (wire/cluster-auth 2.5), and settings that it accepts but that are
 * probably mistakes. The rules about who may log in are here, those about tokens in `check-tokens.ts`.
 */
import type { CheckContext, ResourceProblem } from '../../model/kind.ts';
import { quoted } from '../../model/quoted.ts';
import { type DesiredResource, isDeclaration } from '../../model/resource.ts';
import type { Dialect } from '../../model/stack.ts';
import {
  checkBatchTokens,
  checkAddressBlocks,
  elements,
  error,
  checkUnlimitedLifetime,
  checkLongLifetime,
  checkRefusedPolicies,
  requirePolicies,
  checkPolicyNames,
  type RoleField,
  type RoleRule,
  checkStrictBindingDialect,
  checkStrictBindingAlone,
  text,
  checkStringLimit,
  checkTtlMaximum,
  validateDuration,
  warning,
} from './check-tokens.ts';
import { admitsAll } from './describe-access.ts';
import { NAMES, NAMESPACES, SELECTOR } from './fields.ts';
import { selectorLabels, selectorProblem, selectsEverything } from './login-conditions.ts';
import type { RoleFields, RoleSpec } from './schema.ts';

const DURATIONS = ['tokenTtl', 'tokenMaxTtl', 'tokenExplicitMaxTtl', 'tokenPeriod'] as const;

export function check(
  { spec, metadata }: DesiredResource<RoleSpec>,
  { dialect }: CheckContext,
): readonly ResourceProblem[] {
  return isDeclaration({ metadata }) ? rules.flatMap((rule) => rule(spec, dialect)) : [];
}

/** The rules about several fields. Also the live value of an undeclared field can break them. */
const rulesAcrossFields: readonly RoleRule[] = [
  requireNamespaces,
  checkTtlMaximum,
  checkBatchTokens,
  checkStrictBindingAlone,
  checkStringLimit,
];

const rules: readonly RoleRule[] = [
  requireNames,
  (spec) => checkWildcardAlone(spec, NAMES),
  (spec) => checkWildcardAlone(spec, NAMESPACES),
  checkPossibleNames,
  checkOpenRole,
  validateSelector,
  checkPossibleLabels,
  requireAudience,
  (spec) => DURATIONS.flatMap((name) => validateDuration(spec, name)),
  (spec) => DURATIONS.flatMap((name) => checkLongLifetime(spec, name)),
  checkUnlimitedLifetime,
  checkAddressBlocks,
  requirePolicies,
  checkRefusedPolicies,
  checkPolicyNames,
  checkStrictBindingDialect,
  ...rulesAcrossFields,
];

/** What the service would refuse about a complete role because of contradicting fields. */
export function findConflicts(spec: RoleFields, dialect: Dialect): readonly ResourceProblem[] {
  return rulesAcrossFields.flatMap((rule) => rule(spec, dialect));
}

// Rules about who may log in: names, namespaces, selector, audience (wire/cluster-auth 2.5).

function requireNames(spec: RoleFields): ResourceProblem[] {
  if (!Array.isArray(spec[NAMES]) || elements(spec, NAMES).length > 0) return [];
  return [
    error('empty-names', NAMES, `${quoted(NAMES)} can not be empty`, {
      fix: 'list the service accounts that may log in',
    }),
  ];
}

function requireNamespaces(spec: RoleFields): ResourceProblem[] {
  if (elements(spec, NAMESPACES).length > 0 || text(spec, SELECTOR) !== '') return [];
  const path = spec[NAMESPACES] === undefined ? [] : [NAMESPACES];
  const message = `${quoted(NAMESPACES)} can not be empty if ${quoted(SELECTOR)} is not set`;
  return [
    error('empty-namespaces', NAMESPACES, message, { path, fix: 'list the namespaces, or set the selector' }),
  ];
}

/** The service refuses only "*" together with other elements; it accepts "**", which matches the same. */
function checkWildcardAlone(spec: RoleFields, name: RoleField): ResourceProblem[] {
  const entries = elements(spec, name);
  if (entries.length < 2 || !entries.includes('*')) return [];
  const path = [name, String(entries.indexOf('*'))];
  const fix = 'make "*" the only value, or remove it';
  return [
    error('mixed-wildcard', name, 'can not mix "*" with values', { path, found: entries.join(', '), fix }),
  ];
}

/** Only a warning: the service accepts any name, and an impossible one can be written on purpose, to admit no account. */
function checkPossibleNames(spec: RoleFields): ResourceProblem[] {
  return [
    ...impossibleNames(spec, NAMES, {
      isPossible: canNameAccount,
      what: 'service account',
      allowed: accountNames,
    }),
    ...impossibleNames(spec, NAMESPACES, {
      isPossible: canNameNamespace,
      what: 'namespace',
      allowed: namespaceNames,
    }),
  ];
}

interface ClusterName {
  isPossible(pattern: string): boolean;
  readonly what: string;
  readonly allowed: string;
}

function impossibleNames(
  spec: RoleFields,
  name: RoleField,
  { isPossible, what, allowed }: ClusterName,
): ResourceProblem[] {
  return elements(spec, name).flatMap((entry, index) => {
    if (isPossible(entry)) return [];
    const message = `no ${what} of a cluster can be called ${quoted(entry)}, so it admits no account`;
    const fix = 'write the name as the cluster has it, or remove it from the list';
    return [warning('impossible-name', name, message, { path: [name, String(index)], allowed, fix })];
  });
}

function checkPossibleLabels(spec: RoleFields): ResourceProblem[] {
  const selector = text(spec, SELECTOR);
  if (selectorProblem(selector) !== undefined) return [];
  const invalid = selectorLabels(selector).find(([key, value]) => !canLabelNamespace(key, value));
  if (invalid === undefined) return [];
  const message = `no namespace can have the label ${quoted(invalid.join('='))}, so ${quoted(SELECTOR)} admits no account`;
  return [
    warning('impossible-name', SELECTOR, message, { fix: 'write the label as the namespaces have it' }),
  ];
}

function checkOpenRole(spec: RoleFields): ResourceProblem[] {
  if (!elements(spec, NAMES).some(admitsAll)) return [];
  const everyNamespace =
    elements(spec, NAMESPACES).some(admitsAll) || selectsEverything(text(spec, SELECTOR));
  if (!everyNamespace) return [];
  const message = `${quoted(NAMES)} and the namespaces both match everything: every service account of the cluster may log in`;
  return [warning('open-role', NAMES, message, { fix: 'name the service accounts or the namespaces' })];
}

function validateSelector(spec: RoleFields): ResourceProblem[] {
  const selector = text(spec, SELECTOR);
  if (selector === '') return [];
  const problem = selectorProblem(selector);
  if (problem !== undefined) {
    const allowed =
      'a LabelSelector as JSON or YAML with matchLabels only, such as {"matchLabels":{"team":"payments"}}';
    const { message, fix } = problem;
    return [
      error('invalid-selector', SELECTOR, `invalid ${quoted(SELECTOR)} configured: ${message}`, {
        found: selector,
        allowed,
        ...(fix === undefined ? {} : { fix }),
      }),
    ];
  }
  if (!selectsEverything(selector)) return [];
  const message = `${quoted(SELECTOR)} has no labels, so every namespace matches it, listed or not`;
  const fix = 'name labels, or write null for no selector';
  return [warning('open-selector', SELECTOR, message, { fix })];
}

function requireAudience(spec: RoleFields): ResourceProblem[] {
  if (text(spec, 'audience') !== '') return [];
  const path = spec.audience === undefined ? [] : ['audience'];
  const message = '"audience" is blank: a JWT that was issued for any other service is accepted';
  return [
    warning('blank-audience', 'audience', message, {
      path,
      fix: 'set the audience that JWTs are issued for',
    }),
  ];
}

// The names that a cluster allows: DNS labels for namespaces, DNS subdomains for service accounts, and labels of namespaces. The
// secrets service accepts any text in a role, but a name of any other form never admits an account.

const label = '[a-z0-9](?:[a-z0-9-]*[a-z0-9])?';
const dnsLabel = new RegExp(`^${label}$`);
const dnsSubdomain = new RegExp(`^${label}(?:\\.${label})*$`);
const labelText = /^[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?$/;

const maxLabel = 63;
const maxSubdomain = 253;

const namespaceNames =
  'lower-case letters, digits, and "-" except at the beginning and the end, at most 63 characters';
const accountNames =
  'lower-case letters, digits, and "-" and "." except at the beginning and the end, at most 253 characters';

/** Whether a namespace can have a name that matches this pattern. */
function canNameNamespace(pattern: string): boolean {
  return canMatch(pattern, dnsLabel, maxLabel);
}

/** Whether a service account can have a name that matches this pattern. */
function canNameAccount(pattern: string): boolean {
  return canMatch(pattern, dnsSubdomain, maxSubdomain);
}

/** Replaces each `*` by nothing, then by a letter: if neither gives a valid name, no name matches. */
function canMatch(pattern: string, names: RegExp, longest: number): boolean {
  const pieces = pattern.split('*');
  return ['', 'a'].some((between) => {
    const name = pieces.join(between);
    return name.length <= longest && names.test(name);
  });
}

/** Whether a namespace can have this label. */
function canLabelNamespace(key: string, value: string): boolean {
  const [name = '', prefix, ...more] = key.split('/').toReversed();
  const isPrefix = prefix === undefined || (prefix.length <= maxSubdomain && dnsSubdomain.test(prefix));
  return more.length === 0 && isPrefix && isLabelText(name) && (value === '' || isLabelText(value));
}

function isLabelText(text: string): boolean {
  return text.length <= maxLabel && labelText.test(text);
}
