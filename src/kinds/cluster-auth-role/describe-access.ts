/** Phrases for messages about who a role admits and what they get: names, namespaces, policies, lifetime, audience. Pure. */
import type { Access } from '../../model/access.ts';
import { formatDuration } from '../../model/duration.ts';
import type { Json } from '../../model/json.ts';
import { quoted } from '../../model/quoted.ts';
import { fieldValue } from '../../api/cluster-auth-fields.ts';
import { fields, NAMES, NAMESPACES, SELECTOR } from './fields.ts';
import { selectsEverything } from './login-conditions.ts';
import type { RoleFields } from './schema.ts';

export function texts(value: Json): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** Whether a pattern matches every name: it consists of `*` only. */
export function admitsAll(pattern: string): boolean {
  return /^\*+$/.test(pattern);
}

/** `"api", "web" in "payments"`; given names or namespaces replace those of the role. */
export function accountsText(
  spec: RoleFields,
  only: { names?: readonly string[]; namespaces?: readonly string[] } = {},
): string {
  const names = only.names ?? texts(fieldValue(fields, spec, NAMES));
  const namespaces =
    only.namespaces === undefined
      ? namespacesText(spec)
      : patternTexts(only.namespaces, allNamespaces).join(' and ');
  return `${patternTexts(names, 'every service account').join(', ')} in ${namespaces}`;
}

/** The same accounts in the namespaces that the role's selector matches. */
export function selectedAccountsText(spec: RoleFields): string {
  const names = texts(fieldValue(fields, spec, NAMES));
  return `${patternTexts(names, 'every service account').join(', ')} in ${matched}`;
}

/** Whether the role's list or selector admits every namespace; the other one has no effect then. */
export function admitsEveryNamespace(spec: RoleFields): boolean {
  return texts(fieldValue(fields, spec, NAMESPACES)).some(admitsAll) || selectsEverything(selectorOf(spec));
}

const matched = 'the namespaces that its selector matches';
const allNamespaces = 'every namespace';

function namespacesText(spec: RoleFields): string {
  if (admitsEveryNamespace(spec)) return allNamespaces;
  const listed = patternTexts(texts(fieldValue(fields, spec, NAMESPACES)), allNamespaces);
  return [...listed, ...(selectorOf(spec) === '' ? [] : [matched])].join(' and ');
}

function selectorOf(spec: RoleFields): string {
  return String(fieldValue(fields, spec, SELECTOR));
}

function patternTexts(patterns: readonly string[], all: string): string[] {
  if (patterns.some(admitsAll)) return [all];
  return patterns.length === 0 ? [] : [quotedList(patterns)];
}

export function quotedList(words: readonly string[]): string {
  return words.map(quoted).join(', ');
}

/** `the policies "read", "default"`: the policies of a token of the role, including "default" unless it is disabled. */
export function policiesText(spec: RoleFields): string {
  const unique = policiesOf(spec);
  if (unique.length === 0) return 'no policy';
  return `the ${unique.length === 1 ? 'policy' : 'policies'} ${quotedList(unique)}`;
}

function policiesOf(spec: RoleFields): string[] {
  const given = texts(fieldValue(fields, spec, 'tokenPolicies'));
  const all = fieldValue(fields, spec, 'tokenNoDefaultPolicy') === true ? given : [...given, 'default'];
  return [...new Set(all)];
}

/** Who may log in with a role, and what the tokens get. */
export function access({ spec }: { readonly spec: RoleFields }): Access {
  const selector = selectorOf(spec);
  const required = String(fieldValue(fields, spec, 'audience') ?? '');
  return {
    login: {
      accounts: texts(fieldValue(fields, spec, NAMES)),
      namespaces: admitsEveryNamespace(spec) ? ['*'] : texts(fieldValue(fields, spec, NAMESPACES)),
      ...(selector === '' || admitsEveryNamespace(spec) ? {} : { selector }),
      ...(required === '' ? {} : { audience: required }),
      policies: policiesOf(spec),
    },
  };
}

/** ` for 1h, at most 8h`; empty if the mount decides. */
export function lifetimeText(spec: RoleFields): string {
  const seconds = (name: keyof RoleFields) => Number(fieldValue(fields, spec, name));
  const [ttl, period] = [seconds('tokenTtl'), seconds('tokenPeriod')];
  const most = [seconds('tokenMaxTtl'), seconds('tokenExplicitMaxTtl')].filter((limit) => limit > 0);
  const first = period || ttl;
  const parts = [
    ...(first ? [formatDuration(first)] : []),
    ...(period ? ['renewed for ever'] : []),
    ...(most.length === 0 ? [] : [`at most ${formatDuration(Math.min(...most))}`]),
  ];
  return parts.length === 0 ? '' : ` for ${parts.join(', ')}`;
}

/** `a JWT for the audience "payments"`, or `a JWT for any audience`. */
export function audience(value: Json): string {
  return value === '' ? 'a JWT for any audience' : `a JWT for the audience ${quoted(String(value))}`;
}
