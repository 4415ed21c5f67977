/**
 * Makes the JSON Schema of whole documents, and of the defaults of a stack, from the definition of each kind. Editors and `validate` use
 * the same schema, so an editor accepts what trueup accepts.
 */
import { isJsonObject, type Json, type JsonObject } from '../../model/json.ts';
import type { Kind, Registry } from '../../model/kind.ts';

export const apiVersion = 'trueup.dev/v1';

/** The fields that identify the kind of a document. */
const header = (kind: string) => ({
  apiVersion: { const: apiVersion, description: 'Version of the format of this document' },
  kind: { const: kind, description: 'Kind of this document' },
});

const targetName = {
  type: 'string',
  pattern: '^[a-z0-9-]+$',
  patternErrorMessage: 'lower-case letters, digits and "-"',
  examples: ['acme'],
};

/** One document of the kind: `spec` is required unless `metadata` says that the resource is removed or moves to another stack. */
export function manifestSchema(kind: Kind): JsonObject {
  return {
    title: kind.name,
    description: kind.summary,
    type: 'object',
    properties: {
      ...header(kind.name),
      metadata: metadataSchema(kind),
      spec: kind.specSchema,
    },
    required: ['apiVersion', 'kind', 'metadata'],
    additionalProperties: false,
    ...withoutSpec('remove', 'a document with "metadata.remove" is a removal request and has no "spec"', {
      ...withoutSpec('movedTo', 'a document with "metadata.movedTo" has no "spec": the other stack has it', {
        required: ['spec'],
      }),
    }),
  };
}

/** The document has no `spec` if this member of `metadata` is set. @param otherwise the schema of all other documents */
function withoutSpec(member: string, description: string, otherwise: JsonObject): JsonObject {
  return {
    if: {
      type: 'object',
      properties: { metadata: { type: 'object', required: [member] } },
      required: ['metadata'],
    },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties: { spec: { not: {}, description } } },
    else: otherwise,
  };
}

const stackName = {
  type: 'string',
  pattern: '^[a-z0-9-]{1,63}$',
  patternErrorMessage: 'the name of a stack: lower-case letters, digits and "-", at most 63 characters',
  examples: ['payments'],
};

/** A document of any kind: the schema for files that mix kinds. */
export function anyManifestSchema(kinds: Registry): JsonObject {
  return {
    title: 'Manifest',
    description: 'A document of any kind that trueup manages',
    oneOf: [...kinds.values()].map((kind) => manifestSchema(kind)),
  };
}

/** The schema of the fields that identify a document's kind: for documents of an unknown kind. */
export function headerSchema(kinds: Registry): JsonObject {
  return {
    type: 'object',
    properties: { apiVersion: { const: apiVersion }, kind: { enum: [...kinds.keys(), 'Stack'] } },
    required: ['apiVersion', 'kind'],
  };
}

/** The schema of a partial spec, as in the stack's defaults: the same fields, none of them required. */
export function partialSpecSchema(kind: Kind): JsonObject {
  return withoutRequirements(kind.specSchema);
}

/** Drops all keywords that require members. Items of lists keep them, because a list is not merged, but replaced as a whole. */
function withoutRequirements(schema: JsonObject): JsonObject {
  const requirements = [
    'required',
    'minProperties',
    'dependentRequired',
    'dependentSchemas',
    'if',
    'then',
    'else',
    'not',
  ];
  const kept = Object.entries(schema).filter(([keyword]) => !requirements.includes(keyword));
  return Object.fromEntries(
    kept.map(([keyword, value]): [string, Json] => {
      if (keyword !== 'properties' || !isJsonObject(value)) return [keyword, value];
      const members = Object.entries(value).map(([name, member]): [string, Json] => [
        name,
        isJsonObject(member) ? withoutRequirements(member) : member,
      ]);
      return [keyword, Object.fromEntries(members)];
    }),
  );
}

function metadataSchema(kind: Kind): JsonObject {
  return {
    type: 'object',
    description: 'Which resource this is, and how it is managed',
    properties: {
      name: {
        type: 'string',
        minLength: 1,
        pattern: namePattern(kind),
        patternErrorMessage: kind.names.description,
        description: 'Name of the resource in its target',
        examples: ['network-prod', 'config'].filter((name) => kind.names.pattern.test(name)),
      },
      target: {
        ...targetName,
        description: 'Target of the stack; may be left out when only one serves this kind',
      },
      targets: {
        type: 'array',
        items: targetName,
        minItems: 1,
        uniqueItems: true,
        description: 'Several targets: the same resource in each of them',
        examples: [['acme', 'acme-eu']],
      },
      each: {
        type: ['array', 'object'],
        description:
          'Makes the document a template, from which a resource is made for each item: a list of texts or of maps with a "key", a map, { file: PATH } for a YAML, JSON or CSV file, or { matrix: { NAME: LIST } }; ${each.key} and ${each.value.NAME} in its texts are replaced',
        examples: [['dev', 'prod'], { file: 'services.csv' }],
      },
      defaults: {
        type: 'boolean',
        default: true,
        description: 'Whether the defaults of the stack are merged under the spec',
      },
      adopt: {
        type: 'boolean',
        default: false,
        description: 'Take over a resource that exists and is not ours',
      },
      onRemove: {
        type: 'string',
        enum: ['delete', 'release'],
        description:
          'What happens when this document is gone: by default, created resources are deleted and adopted ones released. "release" also releases created ones. "delete" also deletes adopted roles, but releases adopted workspaces, except with "ownership: ledger" if they have the creator mark of this stack.',
      },
      protect: {
        type: 'boolean',
        default: false,
        description: 'Never delete this resource, even when its document is gone',
      },
      remove: {
        type: 'string',
        enum: ['safe', 'force'],
        description: 'Makes the document a removal request, which has no spec: the resource is removed',
      },
      renamedFrom: {
        type: 'string',
        minLength: 1,
        description: 'The name that the resource had before: trueup renames it in place',
        examples: ['network-old'],
      },
      ...(kind.ownership.by === 'child' ? {} : moves),
    },
    required: ['name'],
    additionalProperties: false,
  };
}

/** Children move with their parent. */
const moves = {
  movedFrom: {
    type: 'object',
    description:
      'The stack that owns the resource until this stack takes it over with its record and history',
    properties: {
      stack: { ...stackName, description: 'Name of that stack' },
      folder: {
        type: 'string',
        minLength: 1,
        description:
          'Folder of the ledger of that stack, relative to this stack; only with a local ledger, and if it is not the folder of ours',
        examples: ['../billing/.trueup'],
      },
    },
    required: ['stack'],
    additionalProperties: false,
  },
  movedTo: {
    type: 'object',
    description:
      'The stack that takes over the resource; the document has no spec, and this stack keeps the resource until then',
    properties: { stack: { ...stackName, description: 'Name of that stack' } },
    required: ['stack'],
    additionalProperties: false,
  },
};

/** @throws on a pattern that JSON Schema cannot express: a mistake in the kind */
function namePattern({ name, names }: Kind): string {
  if (/[^uv]/.test(names.pattern.flags)) throw new Error(`the name pattern of ${name} must have no flags`);
  return names.pattern.source;
}

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
