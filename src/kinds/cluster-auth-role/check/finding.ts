/** What the rules of a role share: the form of a finding, and reading declared values, which may be invalid. */
import { parseDuration } from '../../../model/kind/duration.ts';
import type { Json } from '../../../model/json/json.ts';
import type { ResourceProblem } from '../../../model/kind/kind.ts';
import type { Dialect } from '../../../model/stack/target.ts';
import type { RoleFields } from '../schema.ts';

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
export function seconds(spec: RoleFields, name: RoleField): number | undefined {
  const value = spec[name];
  return typeof value === 'string' || typeof value === 'number' ? parseDuration(value) : undefined;
}
