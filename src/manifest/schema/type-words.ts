/** The type of a field in words, from its JSON Schema: `text`, `"remote" or "local"`, `a list of text`, `a number from 0 to 100`. */
import { orList } from '../../model/quoted.ts';
import { isJsonObject, type JsonObject, textsOf } from '../../model/json.ts';

/** Without null, which has a meaning of its own in each field. */
export function describeType(schema: JsonObject): string {
  const values = schema['const'] === undefined ? schema['enum'] : [schema['const']];
  if (Array.isArray(values) && values.length <= mostWords)
    return orList(values.filter((value) => value !== null).map((value) => JSON.stringify(value)));
  const types = [schema['type']].flat().filter((type) => type !== 'null');
  return orList(types.toSorted(scalarsFirst).map((type) => typeWord(String(type), schema)));
}

const mostWords = 8;

/** The allowed words of a text, or of the texts in a list, where `describeType` does not list them. */
export function valuesOf(schema: JsonObject): readonly string[] {
  const { enum: words } = isJsonObject(schema['items']) ? schema['items'] : schema;
  return Array.isArray(words) && words.length > mostWords ? textsOf(words) : [];
}

function scalarsFirst(one: unknown, other: unknown): number {
  return Number(isCollection(one)) - Number(isCollection(other));
}

function isCollection(type: unknown): boolean {
  return type === 'array' || type === 'object';
}

function typeWord(type: string, schema: JsonObject): string {
  switch (type) {
    case 'string':
      return 'text';
    case 'boolean':
      return 'true or false';
    case 'integer':
      return `a whole number${range(schema)}`;
    case 'number':
      return `a number${range(schema)}`;
    case 'array':
      return `a list of ${itemWord(schema['items'])}`;
    default:
      return `a map${isJsonObject(schema['additionalProperties']) ? ` of ${itemWord(schema['additionalProperties'])}` : ''}`;
  }
}

function itemWord(items: unknown): string {
  const schema = isJsonObject(items as JsonObject) ? (items as JsonObject) : {};
  const word = describeType(schema);
  return word === 'a map' ? 'maps' : word;
}

function range({ minimum, maximum, exclusiveMinimum }: JsonObject): string {
  if (typeof exclusiveMinimum === 'number') return ` above ${exclusiveMinimum}${upTo(maximum)}`;
  return typeof minimum === 'number' ? ` from ${minimum}${upTo(maximum)}` : '';
}

function upTo(maximum: unknown): string {
  return typeof maximum === 'number' && maximum < Number.MAX_SAFE_INTEGER ? ` to ${maximum}` : '';
}
