/** The schema of the defaults of a stack: a map by kind, or a list of such maps with conditions. */
import { isJsonObject, type JsonObject } from '../../model/json.ts';

export const defaultsExample = { Workspace: { executionMode: 'remote', allowDestroyPlan: false } };

const patterns = (description: string, example: string) => ({
  type: ['string', 'array'],
  minLength: 1,
  minItems: 1,
  items: { type: 'string', minLength: 1 },
  description,
  examples: [example],
});

/** A map by kind, or a list of such maps with conditions. @param kinds the schema of the map */
export function defaultsSchema(kinds: JsonObject): JsonObject {
  const { properties, ...others } = kinds;
  const match = {
    type: 'object',
    minProperties: 1,
    additionalProperties: false,
    properties: {
      name: patterns('Name of the resource, or a pattern in which only "*" is special', 'net-*'),
      target: patterns('Target of the resource', 'acme'),
      project: patterns('Project of the resource, by what its manifest says: its name or its id', 'payments'),
      tags: {
        type: 'object',
        minProperties: 1,
        additionalProperties: patterns('Value of the tag', 'prod'),
        description: 'Tags that the manifest itself has, each with a value or a pattern',
        examples: [{ env: 'prod' }],
      },
    },
    description: 'Manifests that the entry applies to, as they are written; all, if it is left out',
    examples: [{ name: 'net-*', tags: { env: 'prod' } }],
  };
  return {
    type: ['object', 'array'],
    ...kinds,
    items: {
      type: 'object',
      ...others,
      properties: { match, ...(isJsonObject(properties) ? properties : {}) },
    },
    description:
      'By kind: merged under the spec of each manifest of that kind; or a list of such maps with "match", in which later entries win',
    examples: [defaultsExample],
  };
}
