/**
 * The schemas for editors: those of the checks, but in a document with `metadata.each` any value of `metadata` and `spec` may be a
 * text with an expression. trueup itself checks the documents that a template makes.
 */
import { isJsonObject, type Json, type JsonObject } from '../../model/json.ts';
import type { Kind, Registry } from '../../model/kind.ts';
import { manifestSchema } from './manifest-schema.ts';

/** One document of the kind, or a template for such documents. */
export function editorSchema(kind: Kind): JsonObject {
  const { title = '', description = '', ...strict } = manifestSchema(kind);
  return {
    title,
    description,
    type: 'object',
    if: {
      type: 'object',
      properties: { metadata: { type: 'object', required: ['each'] } },
      required: ['metadata'],
    },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: templateSchema(strict),
    else: strict,
  };
}

/** A document of any kind, or a template: the schema for files that mix kinds. */
export function anyEditorSchema(kinds: Registry): JsonObject {
  return {
    title: 'Manifest',
    description: 'A document of any kind that trueup manages',
    oneOf: [...kinds.values()].map(editorSchema),
  };
}

function templateSchema(strict: JsonObject): JsonObject {
  return mapProperties(strict, (name, schema) => {
    if (name === 'spec') return withExpression(schema);
    if (name !== 'metadata' || !isJsonObject(schema)) return schema;
    return mapProperties(schema, (member, value) => (member === 'each' ? value : withExpression(value)));
  });
}

const expression = {
  type: 'string',
  pattern: String.raw`\$\{`,
  patternErrorMessage: 'a text with an expression such as ${each.value.NAME}',
};

/** A schema that also allows a text with an expression for each value, at any depth. */
function withExpression(schema: Json): Json {
  if (!isJsonObject(schema) || isPlainText(schema)) return schema;
  const inside = mapProperties(schema, (_, member) => withExpression(member));
  const { description, title, ...rest } = {
    ...inside,
    ...withEach(schema, 'items'),
    ...withEach(schema, 'additionalProperties'),
  };
  return {
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    anyOf: [rest, expression],
  };
}

function withEach(schema: JsonObject, keyword: string): JsonObject {
  const member = schema[keyword];
  return isJsonObject(member) ? { [keyword]: withExpression(member) } : {};
}

/** Whether the schema already allows any text. */
function isPlainText({ type, ...rest }: JsonObject): boolean {
  const limits = ['pattern', 'enum', 'const', 'format', 'maxLength'];
  const isText = type === 'string' || (Array.isArray(type) && type.includes('string'));
  return isText && limits.every((keyword) => rest[keyword] === undefined);
}

function mapProperties(schema: JsonObject, change: (name: string, schema: Json) => Json): JsonObject {
  const { properties } = schema;
  if (!isJsonObject(properties)) return schema;
  const changed = Object.entries(properties).map(([name, member]) => [name, change(name, member)] as const);
  return { ...schema, properties: Object.fromEntries(changed) };
}
