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
import { wholeKind, settingsKind, toyKinds } from '../../support/manifest/toy-kinds.ts';

/** As an editor would judge: unknown keywords mean nothing to it. */
const judge = (schema: object, value: unknown) =>
  new Ajv2020({ strict: false, logger: false }).validate(schema, value);

const document = {
  apiVersion: 'trueup.dev/v1',
  kind: 'Whole',
  metadata: { name: 'app' },
  spec: { repo: { identifier: 'x' } },
};
const tombstone = { apiVersion: 'trueup.dev/v1', kind: 'Whole', metadata: { name: 'app', remove: 'safe' } };

describe('the schema of a kind', () => {
  const schema = manifestSchema(wholeKind);

  it('admits its documents and its tombstones', () => {
    expect(judge(schema, document)).toBe(true);
    expect(judge(schema, tombstone)).toBe(true);
  });

  it.each([
    ['another kind', { ...document, kind: 'Role' }],
    ['no spec', { ...document, spec: undefined }],
    ['a tombstone with a spec', { ...tombstone, spec: {} }],
    ['an unknown field', { ...document, spec: { x: 1 } }],
    ['unknown metadata', { ...document, metadata: { name: 'app', x: 1 } }],
    ['a name that the service refuses', { ...document, metadata: { name: 'a b' } }],
  ])('refuses %s', (_, value) => {
    expect(judge(schema, JSON.parse(JSON.stringify(value)))).toBe(false);
  });

  it('says what it is to a reader', () => {
    expect(schema).toMatchObject({ title: 'Whole', description: 'A whole' });
    expect(JSON.stringify(schema)).not.toContain('$id');
  });

  it('cannot be made of a name pattern that JSON Schema cannot say', () => {
    const odd = { ...settingsKind, names: { pattern: /^main$/i, description: 'main' } };
    expect(() => manifestSchema(odd)).toThrow('the name pattern of Settings must do without flags');
  });
});

it('the schema of any kind admits each kind and nothing else', () => {
  const schema = anyManifestSchema(toyKinds);
  expect(judge(schema, document)).toBe(true);
  expect(judge(schema, { ...document, kind: 'Labels', spec: { labels: {} } })).toBe(true);
  expect(judge(schema, { ...document, kind: 'Labels' })).toBe(false);
});

describe('a part of a spec', () => {
  const schema = partialSpecSchema(wholeKind);

  it('need not be complete, at any depth, but for the items of lists', () => {
    expect(judge(schema, { repo: { branch: 'main' } })).toBe(true);
    expect(judge(schema, { retention: {} })).toBe(true);
    expect(judge(partialSpecSchema(settingsKind), {})).toBe(true);
  });

  it('is right as far as it goes', () => {
    expect(judge(schema, { repo: { brunch: 'main' } })).toBe(false);
    expect(judge(schema, { workers: 'many' })).toBe(false);
  });
});

describe('the schema of a stack', () => {
  const schema = stackDocumentSchema(toyKinds);

  it('admits a stack, and knows the fields of its defaults', () => {
    const stack = load(plainStack) as { spec: object };
    expect(judge(schema, stack)).toBe(true);
    const withDefaults = (defaults: object) => ({ ...stack, spec: { ...stack.spec, defaults } });
    expect(judge(schema, withDefaults({ Whole: { repo: { branch: 'x' } } }))).toBe(true);
    expect(judge(schema, withDefaults({ Whole: { x: 1 } }))).toBe(false);
    expect(judge(schema, withDefaults({ Nothing: {} }))).toBe(false);
  });
});
