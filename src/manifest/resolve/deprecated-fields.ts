/** Warns about fields that the API has deprecated. Checks the names that users wrote, before a kind replaces them by the new ones. */
import { isJsonObject, type JsonObject } from '../../model/json/json.ts';
import type { Kind } from '../../model/kind/kind.ts';
import { quoted } from '../../model/quoted.ts';
import type { Problem } from '../explain/problem.ts';

/** One warning for each member of `spec` whose schema says `deprecated`; the fix comes from the schema's description. */
export function deprecatedFields({ specSchema }: Kind, spec: JsonObject): Problem[] {
  const { properties } = specSchema;
  return Object.keys(spec).flatMap((name): Problem[] => {
    const field = isJsonObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (!isJsonObject(field) || field['deprecated'] !== true) return [];
    return [
      {
        code: 'deprecated-field',
        severity: 'warning',
        path: ['spec', name],
        side: 'key',
        message: `${quoted(name)} is deprecated by the API`,
        fix: successor(field['description']) ?? `leave ${quoted(name)} out`,
      },
    ];
  });
}

/** The text after "Deprecated by the API:" up to the next punctuation mark. */
function successor(description: unknown): string | undefined {
  return typeof description === 'string'
    ? /^Deprecated by the API: ([^.,:]+)/.exec(description)?.[1]?.trim()
    : undefined;
}
