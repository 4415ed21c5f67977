/**
 * Which fields hold an address or a secret, or say where one comes from, by their names alone and at any depth: a misspelt
 * or misplaced one holds the same as the one that was meant.
 */
import { camelCase } from '../model/kind/field-names.ts';
import { isJsonObject, type Json } from '../model/json/json.ts';
import { jsonSchema } from '../model/kind/json-schema.ts';
import type { Registry } from '../model/kind/kind.ts';
import { anyManifestSchema } from './schema/manifest-schema.ts';
import { secretFields } from './explain/mask-secrets.ts';
import { nearestWord } from './explain/nearest-word.ts';
import { stackSchema } from './schema/stack-schema.ts';

/** Fields of the stack whose value is an address, or has one below it. */
const addressFields = ['url', 'ledger'];

/** What other tools call theirs: no field of ours, and so a mistake that shows what stands behind it. */
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
  /** whether what stands behind the name is shown to nobody */
  hides(name: string): boolean;
  /** whether it is a field of some manifest or stack, and so a word of its own */
  isField(name: string): boolean;
}

const made = new WeakMap<Registry, SecretNames>();

/** Each name is judged once: a text may have thousands of the same. */
export function secretNames(kinds: Registry): SecretNames {
  const known = made.get(kinds);
  if (known !== undefined) return known;
  const secret = new Set([...secretFields(kinds), ...addressFields]);
  const fields = new Set([...fieldsOf(jsonSchema(stackSchema)), ...fieldsOf(anyManifestSchema(kinds))]);
  const judged = new Map<string, boolean>();
  const judge = (name: string) => {
    const ours = camelCase(name);
    if (secret.has(ours) || fields.has(ours)) return secret.has(ours);
    return foreignFields.has(ours) || nearestWord(ours, secret) !== undefined;
  };
  const names: SecretNames = {
    hides(name) {
      const hidden = judged.get(name) ?? judge(name);
      judged.set(name, hidden);
      return hidden;
    },
    isField: (name) => fields.has(camelCase(name)),
  };
  made.set(kinds, names);
  return names;
}

/** The names of all members that a schema knows, at any depth. */
function fieldsOf(schema: Json): string[] {
  if (Array.isArray(schema)) return schema.flatMap(fieldsOf);
  if (!isJsonObject(schema)) return [];
  return Object.entries(schema).flatMap(([keyword, value]) => [
    ...(keyword === 'properties' && isJsonObject(value) ? Object.keys(value) : []),
    ...fieldsOf(value),
  ]);
}
