/**
 * Keeps secrets out of the excerpts in diagnostics. A manifest must not hold a secret, but when it does, the diagnostic is about
 * exactly that line. `hidden-parts.ts` finds what to hide in a whole text.
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

/** Hides a line from a column (counted from 1), or for a key from behind its colon. */
export function maskFrom(line: string, column: number, side: 'key' | 'value'): string {
  const characters = [...line];
  if (characters.slice(0, column).join('').includes('***') && line.endsWith('***')) return line;
  const colon = side === 'key' ? characters.indexOf(':', column - 1) : -1;
  return colon === -1
    ? `${characters.slice(0, column - 1).join('')}***`
    : `${characters.slice(0, colon + 1).join('')} ***`;
}

/** Whether a path leads to a secret field or below one; spellings other than camelCase count too. */
export function leadsToSecret(path: Path, fields: ReadonlySet<string>): boolean {
  return path.some((name) => fields.has(camelCase(name)));
}
