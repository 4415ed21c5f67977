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

/** As an editor would judge: unknown keywords mean nothing to it. */
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

  it('admits its documents and its removal requests', () => {
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

  it('says what it is to a reader', () => {
    expect(schema).toMatchObject({ title: 'Parent', description: 'A whole' });
    expect(JSON.stringify(schema)).not.toContain('$id');
  });

  it('cannot be made of a name pattern that JSON Schema cannot say', () => {
    const odd = { ...settingsKind, names: { pattern: /^main$/i, description: 'main' } };
    expect(() => manifestSchema(odd)).toThrow('the name pattern of Settings must have no flags');
  });
});

it('the schema of any kind admits each kind and nothing else', () => {
  const schema = anyManifestSchema(sampleKinds);
  expect(isValid(schema, document)).toBe(true);
  expect(isValid(schema, { ...document, kind: 'Labels', spec: { labels: {} } })).toBe(true);
  expect(isValid(schema, { ...document, kind: 'Labels' })).toBe(false);
});

describe('a part of a spec', () => {
  const schema = partialSpecSchema(parentKind);

  it('need not be complete, at any depth, but for the items of lists', () => {
    expect(isValid(schema, { repo: { branch: 'main' } })).toBe(true);
    expect(isValid(schema, { retention: {} })).toBe(true);
    expect(isValid(partialSpecSchema(settingsKind), {})).toBe(true);
  });

  it('is right as far as it goes', () => {
    expect(isValid(schema, { repo: { brunch: 'main' } })).toBe(false);
    expect(isValid(schema, { workers: 'many' })).toBe(false);
  });
});

describe('the schema of a stack', () => {
  const schema = stackDocumentSchema(sampleKinds);

  it('admits a stack, and knows the fields of its defaults', () => {
    const stack = load(plainStack) as { spec: object };
    expect(isValid(schema, stack)).toBe(true);
    const withDefaults = (defaults: object) => ({ ...stack, spec: { ...stack.spec, defaults } });
    expect(isValid(schema, withDefaults({ Parent: { repo: { branch: 'x' } } }))).toBe(true);
    expect(isValid(schema, withDefaults({ Parent: { x: 1 } }))).toBe(false);
    expect(isValid(schema, withDefaults({ Nothing: {} }))).toBe(false);
  });
});
