/** Fields that the API itself has deprecated. Looked for before a kind folds them into today's names, as users wrote them. */
import { isJsonObject, type JsonObject } from '../../model/json/json.ts';
import type { Kind } from '../../model/kind/kind.ts';
import type { Problem } from '../explain/problem.ts';

/** One warning for each member of `spec` whose schema says `deprecated`; the way out comes from its description. */
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
        message: `"${name}" is deprecated by the API`,
        fix: successor(field['description']) ?? `leave "${name}" out`,
      },
    ];
  });
}

/** What stands behind "Deprecated by the API:" up to the end of its clause. */
function successor(description: unknown): string | undefined {
  return typeof description === 'string'
    ? /^Deprecated by the API: ([^.,:]+)/.exec(description)?.[1]?.trim()
    : undefined;
}
