/**
 * Finds offline what the service would refuse about a role (wire/cluster-auth 2.5), and settings that it accepts but that are
 * hardly intended. Here are the rules about who may log in, with the names that a cluster can give; those about tokens are in
 * `check-tokens.ts`.
 */
import type { CheckContext, ResourceProblem } from '../../model/kind.ts';
import { quoted } from '../../model/quoted.ts';
import type { DesiredResource } from '../../model/resource.ts';
import type { Dialect } from '../../model/stack.ts';
import {
  batchTokensArePlain,
  blocksAreAddresses,
  elements,
  error,
  lifetimeIsLimited,
  lifetimeIsShort,
  policiesAreGiven,
  policiesAreThere,
  policiesHaveOneName,
  type RoleField,
  type RoleRule,
  strictBindingIsKnown,
  strictBindingStandsAlone,
  text,
  textsAreFewEnough,
  ttlFitsMaximum,
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
  return metadata.remove === undefined ? rules.flatMap((rule) => rule(spec, dialect)) : [];
}

/** The rules about several fields: the live value of an undeclared field may break them, too. */
const rulesAcrossFields: readonly RoleRule[] = [
  namespacesAreThere,
  ttlFitsMaximum,
  batchTokensArePlain,
  strictBindingStandsAlone,
  textsAreFewEnough,
];

const rules: readonly RoleRule[] = [
  namesAreThere,
  (spec) => wildcardStandsAlone(spec, NAMES),
  (spec) => wildcardStandsAlone(spec, NAMESPACES),
  namesArePossible,
  notOpenToEveryone,
  validateSelector,
  labelsArePossible,
  requireAudience,
  (spec) => DURATIONS.flatMap((name) => validateDuration(spec, name)),
  (spec) => DURATIONS.flatMap((name) => lifetimeIsShort(spec, name)),
  lifetimeIsLimited,
  blocksAreAddresses,
  policiesAreThere,
  policiesAreGiven,
  policiesHaveOneName,
  strictBindingIsKnown,
  ...rulesAcrossFields,
];

/** What the service would refuse about a complete role because of contradicting fields. */
export function findConflicts(spec: RoleFields, dialect: Dialect): readonly ResourceProblem[] {
  return rulesAcrossFields.flatMap((rule) => rule(spec, dialect));
}

// Rules about who may log in: names, namespaces, selector, audience (wire/cluster-auth 2.5).

function namesAreThere(spec: RoleFields): ResourceProblem[] {
  if (!Array.isArray(spec[NAMES]) || elements(spec, NAMES).length > 0) return [];
  return [
    error('empty-names', NAMES, `${quoted(NAMES)} can not be empty`, {
      fix: 'list the service accounts that may log in',
    }),
  ];
}

function namespacesAreThere(spec: RoleFields): ResourceProblem[] {
  if (elements(spec, NAMESPACES).length > 0 || text(spec, SELECTOR) !== '') return [];
  const path = spec[NAMESPACES] === undefined ? [] : [NAMESPACES];
  const message = `${quoted(NAMESPACES)} can not be empty if ${quoted(SELECTOR)} is not set`;
  return [
    error('empty-namespaces', NAMESPACES, message, { path, fix: 'list the namespaces, or set the selector' }),
  ];
}

/** Only the very element "*" is refused beside others: "**" admits as many, and is taken. */
function wildcardStandsAlone(spec: RoleFields, name: RoleField): ResourceProblem[] {
  const entries = elements(spec, name);
  if (entries.length < 2 || !entries.includes('*')) return [];
  const path = [name, String(entries.indexOf('*'))];
  const fix = 'leave "*" alone in the list, or take it out';
  return [
    error('mixed-wildcard', name, 'can not mix "*" with values', { path, found: entries.join(', '), fix }),
  ];
}

/** The service takes any name, and some write one that nothing has on purpose: for nobody. So it is a warning. */
function namesArePossible(spec: RoleFields): ResourceProblem[] {
  return [
    ...impossible(spec, NAMES, { can: canNameAccount, what: 'service account', allowed: accountNames }),
    ...impossible(spec, NAMESPACES, { can: canNameNamespace, what: 'namespace', allowed: namespaceNames }),
  ];
}

interface ClusterName {
  can(pattern: string): boolean;
  readonly what: string;
  readonly allowed: string;
}

function impossible(
  spec: RoleFields,
  name: RoleField,
  { can, what, allowed }: ClusterName,
): ResourceProblem[] {
  return elements(spec, name).flatMap((entry, index) => {
    if (can(entry)) return [];
    const message = `no ${what} of a cluster can be called ${quoted(entry)}, so that it admits nobody`;
    const fix = 'write the name as the cluster has it, or take it out of the list';
    return [warning('impossible-name', name, message, { path: [name, String(index)], allowed, fix })];
  });
}

function labelsArePossible(spec: RoleFields): ResourceProblem[] {
  const selector = text(spec, SELECTOR);
  if (selectorProblem(selector) !== undefined) return [];
  const odd = selectorLabels(selector).find(([key, value]) => !canLabelNamespace(key, value));
  if (odd === undefined) return [];
  const message = `no namespace can have the label ${quoted(odd.join('='))}, so that ${quoted(SELECTOR)} admits nobody`;
  return [
    warning('impossible-name', SELECTOR, message, { fix: 'write the label as the namespaces have it' }),
  ];
}

function notOpenToEveryone(spec: RoleFields): ResourceProblem[] {
  if (!elements(spec, NAMES).some(admitsAll)) return [];
  const everyNamespace =
    elements(spec, NAMESPACES).some(admitsAll) || selectsEverything(text(spec, SELECTOR));
  if (!everyNamespace) return [];
  const message = `${quoted(NAMES)} and the namespaces are both open: every service account of the cluster may log in`;
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
  const message = '"audience" is blank: a JWT that was made for any other service is accepted';
  return [
    warning('blank-audience', 'audience', message, { path, fix: 'set the audience that JWTs are made for' }),
  ];
}

// The names that a cluster can give: DNS labels to namespaces, DNS subdomains to service accounts, labels to namespaces. The secrets
// service takes any text, but a role with another name can never admit anybody by it.

const label = '[a-z0-9](?:[a-z0-9-]*[a-z0-9])?';
const dnsLabel = new RegExp(`^${label}$`);
const dnsSubdomain = new RegExp(`^${label}(?:\\.${label})*$`);
const labelText = /^[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?$/;

const maxLabel = 63;
const maxSubdomain = 253;

const namespaceNames = 'lower-case letters, digits and "-" inside, at most 63 characters';
const accountNames = 'lower-case letters, digits, "-" and "." inside, at most 253 characters';

/** Whether a namespace can have a name that matches this pattern. */
function canNameNamespace(pattern: string): boolean {
  return canMatch(pattern, dnsLabel, maxLabel);
}

/** Whether a service account can have a name that matches this pattern. */
function canNameAccount(pattern: string): boolean {
  return canMatch(pattern, dnsSubdomain, maxSubdomain);
}

/** Each `*` may stand for nothing, or for a letter: if neither makes a name, nothing does. */
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
