/**
 * Keeps secrets out of what diagnostics say. A manifest must not hold any, but the one that wrongly does is the one whose
 * line they want to show. `hidden-parts.ts` says what of a whole text is hidden.
 */
import { camelCase } from '../../model/kind/field-names.ts';
import type { Path } from '../../model/json/json.ts';
import type { Registry } from '../../model/kind/kind.ts';

/** Fields of the stack that hold, or lead to, a secret. */
const stackSecrets = ['token', 'auditToken', 'jwt'];

/** Names of the fields whose value is a secret or says where one comes from. */
export function secretFields(kinds: Registry): ReadonlySet<string> {
  const ofKinds = [...kinds.values()].flatMap((kind) =>
    Object.entries(kind.fields).flatMap(([name, field]) => (field.compare.shape === 'secret' ? [name] : [])),
  );
  return new Set([...stackSecrets, ...ofKinds]);
}

/** Hides the rest of a line from a column (from 1) on, or all behind the colon of the key that stands there. */
export function maskFrom(line: string, column: number, side: 'key' | 'value'): string {
  const characters = [...line];
  if (characters.slice(0, column).join('').includes('***') && line.endsWith('***')) return line;
  const colon = side === 'key' ? characters.indexOf(':', column - 1) : -1;
  return colon === -1
    ? `${characters.slice(0, column - 1).join('')}***`
    : `${characters.slice(0, colon + 1).join('')} ***`;
}

/** Whether a path is a secret field's or lies below one, in whatever spelling. */
export function leadsToSecret(path: Path, fields: ReadonlySet<string>): boolean {
  return path.some((name) => fields.has(camelCase(name)));
}
