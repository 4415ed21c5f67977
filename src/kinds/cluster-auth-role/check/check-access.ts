/** Rules about who may log in: names, namespaces, selector, audience (wire/cluster-auth 2.5). */
import type { ResourceProblem } from '../../../model/kind/kind.ts';
import { quoted } from '../../../model/quoted.ts';
import { admitsAll } from '../access-words.ts';
import { NAMES, NAMESPACES, SELECTOR } from '../fields.ts';
import {
  accountNames,
  canLabelNamespace,
  canNameAccount,
  canNameNamespace,
  namespaceNames,
} from '../cluster-names.ts';
import { selectorLabels, selectorProblem, selectsEverything } from '../namespace-selector.ts';
import type { RoleFields } from '../schema.ts';
import { elements, error, type RoleField, text, warning } from './finding.ts';

export function namesAreThere(spec: RoleFields): ResourceProblem[] {
  if (!Array.isArray(spec[NAMES]) || elements(spec, NAMES).length > 0) return [];
  return [
    error('empty-names', NAMES, `${quoted(NAMES)} can not be empty`, {
      fix: 'list the service accounts that may log in',
    }),
  ];
}

export function namespacesAreThere(spec: RoleFields): ResourceProblem[] {
  if (elements(spec, NAMESPACES).length > 0 || text(spec, SELECTOR) !== '') return [];
  const path = spec[NAMESPACES] === undefined ? [] : [NAMESPACES];
  const message = `${quoted(NAMESPACES)} can not be empty if ${quoted(SELECTOR)} is not set`;
  return [
    error('empty-namespaces', NAMESPACES, message, { path, fix: 'list the namespaces, or set the selector' }),
  ];
}

/** Only the very element "*" is refused beside others: "**" admits as many, and is taken. */
export function wildcardStandsAlone(spec: RoleFields, name: RoleField): ResourceProblem[] {
  const entries = elements(spec, name);
  if (entries.length < 2 || !entries.includes('*')) return [];
  const path = [name, String(entries.indexOf('*'))];
  const fix = 'leave "*" alone in the list, or take it out';
  return [
    error('mixed-wildcard', name, 'can not mix "*" with values', { path, found: entries.join(', '), fix }),
  ];
}

/** The service takes any name, and some write one that nothing has on purpose: for nobody. So it is a warning. */
export function namesArePossible(spec: RoleFields): ResourceProblem[] {
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

export function labelsArePossible(spec: RoleFields): ResourceProblem[] {
  const selector = text(spec, SELECTOR);
  if (selectorProblem(selector) !== undefined) return [];
  const odd = selectorLabels(selector).find(([key, value]) => !canLabelNamespace(key, value));
  if (odd === undefined) return [];
  const message = `no namespace can have the label ${quoted(odd.join('='))}, so that ${quoted(SELECTOR)} admits nobody`;
  return [
    warning('impossible-name', SELECTOR, message, { fix: 'write the label as the namespaces have it' }),
  ];
}

export function notOpenToEveryone(spec: RoleFields): ResourceProblem[] {
  if (!elements(spec, NAMES).some(admitsAll)) return [];
  const everyNamespace =
    elements(spec, NAMESPACES).some(admitsAll) || selectsEverything(text(spec, SELECTOR));
  if (!everyNamespace) return [];
  const message = `${quoted(NAMES)} and the namespaces are both open: every service account of the cluster may log in`;
  return [warning('open-role', NAMES, message, { fix: 'name the service accounts or the namespaces' })];
}

export function validateSelector(spec: RoleFields): ResourceProblem[] {
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

export function requireAudience(spec: RoleFields): ResourceProblem[] {
  if (text(spec, 'audience') !== '') return [];
  const path = spec.audience === undefined ? [] : ['audience'];
  const message = '"audience" is blank: a JWT that was made for any other service is accepted';
  return [
    warning('blank-audience', 'audience', message, { path, fix: 'set the audience that JWTs are made for' }),
  ];
}
