/**
 * Keeps secrets out of excerpts. A manifest must not hold any, but the one that wrongly does is the one whose line a
 * diagnostic wants to show. Works on the text alone, so that it holds for files that cannot even be parsed.
 */
import { camelCase, kebabCase, snakeCase } from '../model/field-names.ts';
import type { Path } from '../model/json.ts';
import type { Registry } from '../model/kind.ts';

/** Fields of the stack that hold, or lead to, a secret. */
const stackSecrets = ['token', 'auditToken', 'jwt'];

/** Names of the fields whose value is a secret or says where one comes from. */
export function secretFields(kinds: Registry): ReadonlySet<string> {
  const ofKinds = [...kinds.values()].flatMap((kind) =>
    Object.entries(kind.fields).flatMap(([name, field]) => (field.compare.shape === 'secret' ? [name] : [])),
  );
  return new Set([...stackSecrets, ...ofKinds]);
}

/** Hides what stands behind a secret field's name in a line, but for a map (`token: ***`), and passwords in addresses. */
export function maskSecrets(fields: ReadonlySet<string>): (line: string) => string {
  const spellings = [...fields].flatMap((name) => [name, kebabCase(name), snakeCase(name)]);
  const behind = new RegExp(`(?<![\\w-])((?:${spellings.join('|')})["']?\\s*:\\s*)([^\\s{#].*)$`);
  return (line) => maskAddresses(line.replace(behind, '$1***'));
}

/** Hides who an address says one is, and with which password: before its last "@", and in its parameters. */
export function maskAddresses(text: string): string {
  return text.replace(/\S+/g, (word) => {
    const [start, end] = [word.indexOf('//'), word.lastIndexOf('@')];
    const shown = start === -1 || end < start ? word : `${word.slice(0, start)}//***${word.slice(end)}`;
    return start === -1 ? shown : shown.replace(/([?&](?:ssl)?password=)[^&"']+/gi, '$1***');
  });
}

/** Hides the rest of a line from a column (from 1) on, or all behind the colon of the key that stands there. */
export function maskFrom(line: string, column: number, side: 'key' | 'value'): string {
  const characters = [...line];
  const colon = side === 'key' ? characters.indexOf(':', column - 1) : -1;
  return colon === -1
    ? `${characters.slice(0, column - 1).join('')}***`
    : `${characters.slice(0, colon + 1).join('')} ***`;
}

/** Whether a path is a secret field's or lies below one, in whatever spelling. */
export function leadsToSecret(path: Path, fields: ReadonlySet<string>): boolean {
  return path.some((name) => fields.has(camelCase(name)));
}
