import { Ajv2020 } from 'ajv/dist/2020.js';
import { load } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import {
  anyManifestSchema,
  manifestSchema,
  partialSpecSchema,
} from '../../../src/manifest/schema/manifest-schema.ts';
import { stackDocumentSchema } from '../../../src/manifest/schema/stack-schema.ts';
import { plainStack } from '../../support/manifest/manifest-folder.ts';
import { parentKind, settingsKind, sampleKinds } from '../../support/manifest/sample-kinds.ts';

/** Validates like an editor, which ignores unknown keywords. */
const isValid = (schema: object, value: unknown) =>
  new Ajv2020({ strict: false, logger: false }).validate(schema, value);

const document = {
  apiVersion: 'trueup.dev/v1',
  kind: 'Parent',
  metadata: { name: 'app' },
  spec: { repo: { identifier: 'x' } },
};
const removalRequest = {
  apiVersion: 'trueup.dev/v1',
  kind: 'Parent',
  metadata: { name: 'app', remove: 'safe' },
};

describe('the schema of a kind', () => {
  const schema = manifestSchema(parentKind);

  it('accepts its documents and its removal requests', () => {
    expect(isValid(schema, document)).toBe(true);
    expect(isValid(schema, removalRequest)).toBe(true);
  });

  it.each([
    ['another kind', { ...document, kind: 'Role' }],
    ['no spec', { ...document, spec: undefined }],
    ['a removal request with a spec', { ...removalRequest, spec: {} }],
    ['an unknown field', { ...document, spec: { x: 1 } }],
    ['unknown metadata', { ...document, metadata: { name: 'app', x: 1 } }],
    ['a name that the service refuses', { ...document, metadata: { name: 'a b' } }],
  ])('refuses %s', (_, value) => {
    expect(isValid(schema, JSON.parse(JSON.stringify(value)))).toBe(false);
  });

  it('has a title and a description', () => {
    expect(schema).toMatchObject({ title: 'Parent', description: 'A whole' });
    expect(JSON.stringify(schema)).not.toContain('$id');
  });

  it('cannot be made from a name pattern that JSON Schema cannot express', () => {
    const odd = { ...settingsKind, names: { pattern: /^main$/i, description: 'main' } };
    expect(() => manifestSchema(odd)).toThrow('the name pattern of Settings must have no flags');
  });
});

it('the schema of mixed kinds accepts each kind and nothing else', () => {
  const schema = anyManifestSchema(sampleKinds);
  expect(isValid(schema, document)).toBe(true);
  expect(isValid(schema, { ...document, kind: 'Labels', spec: { labels: {} } })).toBe(true);
  expect(isValid(schema, { ...document, kind: 'Labels' })).toBe(false);
});

describe('a partial spec', () => {
  const schema = partialSpecSchema(parentKind);

  it('may be incomplete, at any depth, except in the items of lists', () => {
    expect(isValid(schema, { repo: { branch: 'main' } })).toBe(true);
    expect(isValid(schema, { retention: {} })).toBe(true);
    expect(isValid(partialSpecSchema(settingsKind), {})).toBe(true);
  });

  it('is checked as far as it goes', () => {
    expect(isValid(schema, { repo: { brunch: 'main' } })).toBe(false);
    expect(isValid(schema, { workers: 'many' })).toBe(false);
  });
});

describe('the schema of a stack', () => {
  const schema = stackDocumentSchema(sampleKinds);

  it('accepts a stack, and checks the fields of its defaults', () => {
    const stack = load(plainStack) as { spec: object };
    expect(isValid(schema, stack)).toBe(true);
    const withDefaults = (defaults: object) => ({ ...stack, spec: { ...stack.spec, defaults } });
    expect(isValid(schema, withDefaults({ Parent: { repo: { branch: 'x' } } }))).toBe(true);
    expect(isValid(schema, withDefaults({ Parent: { x: 1 } }))).toBe(false);
    expect(isValid(schema, withDefaults({ Nothing: {} }))).toBe(false);
  });
});
