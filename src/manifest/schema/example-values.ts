/** Examples of a field, from its JSON Schema: those that it names, or one that follows from its type, its words or its members. */
import { isJsonObject, type Json, type JsonObject, textsOf } from '../../model/json.ts';

/** @param usual the default of the service: the example is another value, where there is one */
export function examplesOf(schema: JsonObject, usual?: Json): readonly Json[] {
  const { examples } = schema;
  if (Array.isArray(examples) && examples.length > 0) return examples;
  const example = exampleFromType(schema, schema['default'] ?? usual);
  return example === undefined ? [] : [example];
}

function exampleFromType(schema: JsonObject, usual: Json | undefined): Json | undefined {
  const { enum: words, const: only, items } = schema;
  if (only !== undefined) return only;
  if (Array.isArray(words)) return words.find((word) => word !== null && word !== usual);
  const types = [schema['type']].flat();
  if (types.includes('boolean')) return usual !== true;
  if (types.includes('object') && isJsonObject(schema['properties'])) return exampleOfMembers(schema);
  if (isJsonObject(items)) return examplesOf(items).slice(0, 1);
  return usual ?? undefined;
}

/** Its required members, or else its first one. */
function exampleOfMembers({ properties, required }: JsonObject): Json {
  const members = Object.entries(isJsonObject(properties) ? properties : {});
  const needed = textsOf(required ?? []);
  const shown = needed.length === 0 ? members.slice(0, 1) : members.filter(([name]) => needed.includes(name));
  return Object.fromEntries(
    shown.flatMap(([name, member]) => {
      const [value] = isJsonObject(member) ? examplesOf(member) : [];
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}
