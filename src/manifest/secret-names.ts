/**
 * Tells by its name alone, at any depth, whether a field holds an address or a secret or says where one comes from. Misspelt and
 * misplaced names count too, because their values are just as secret.
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

/** Names that other tools use for secrets. They are no fields of ours, so a message about them could show their value. */
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
  const secret = new Set([...secretFields(kinds), ...addressFields]);
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
