/**
 * Recognizes by its name a field that holds a URL or a secret, or names the source of a secret, at any depth and even if misspelt.
 * Diagnostics never show its value.
 */
import { jsonSchema } from '../../model/define-kind.ts';
import { camelCase } from '../../model/field.ts';
import { isJsonObject, type Json, type Path } from '../../model/json.ts';
import type { Registry } from '../../model/kind.ts';
import { nearestWord } from '../../model/nearest-word.ts';
import { anyManifestSchema } from '../schema/manifest-schema.ts';
import { stackSchema } from '../schema/stack-schema.ts';

/** Fields of the stack that hold, or lead to, a secret. */
const stackSecrets = ['token', 'auditToken', 'jwt'];

/** Names of the fields whose value is a secret or names the source of one. */
export function secretFields(kinds: Registry): ReadonlySet<string> {
  const ofKinds = [...kinds.values()].flatMap((kind) =>
    Object.entries(kind.fields).flatMap(([name, field]) => (field.compare.shape === 'secret' ? [name] : [])),
  );
  return new Set([...stackSecrets, ...ofKinds]);
}

/** Masks a line from a column (counted from 1) on; for a key, from its colon on. */
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

/** Fields of the stack whose value is a URL, or has one below it. */
const urlFields = ['url', 'ledger'];

/** Names of secrets in other tools. They are unknown fields here, so a message about them could show their value. */
const foreignFields = new Set([
  ...['password', 'passwd', 'passphrase', 'secret', 'credential', 'credentials', 'authorization', 'bearer'],
  ...[
    'apiKey',
    'accessKey',
    'secretKey',
    'privateKey',
    'clientSecret',
    'accessToken',
    'apiToken',
    'authToken',
  ],
]);

export interface SecretNames {
  /** whether the value of a field with this name must not be shown */
  hides(name: string): boolean;
  /** whether a manifest or a stack has a field with this name */
  isField(name: string): boolean;
}

const cache = new WeakMap<Registry, SecretNames>();

/** Results are cached by name, because a text may repeat a name thousands of times. */
export function secretNames(kinds: Registry): SecretNames {
  const known = cache.get(kinds);
  if (known !== undefined) return known;
  const secret = new Set([...secretFields(kinds), ...urlFields]);
  const fields = new Set([...fieldsOf(jsonSchema(stackSchema)), ...fieldsOf(anyManifestSchema(kinds))]);
  const results = new Map<string, boolean>();
  const isHidden = (name: string) => {
    const ours = camelCase(name);
    if (secret.has(ours) || fields.has(ours)) return secret.has(ours);
    return foreignFields.has(ours) || nearestWord(ours, secret) !== undefined;
  };
  const names: SecretNames = {
    hides(name) {
      const hidden = results.get(name) ?? isHidden(name);
      results.set(name, hidden);
      return hidden;
    },
    isField: (name) => fields.has(camelCase(name)),
  };
  cache.set(kinds, names);
  return names;
}

/** The names of all fields in a schema, at any depth. */
function fieldsOf(schema: Json): string[] {
  if (Array.isArray(schema)) return schema.flatMap(fieldsOf);
  if (!isJsonObject(schema)) return [];
  return Object.entries(schema).flatMap(([keyword, value]) => [
    ...(keyword === 'properties' && isJsonObject(value) ? Object.keys(value) : []),
    ...fieldsOf(value),
  ]);
}
