/** A kind is written in the types of its own schema; a field that the schema lacks does not compile (`npm run typecheck`). */
import { Type } from 'typebox';
import { expect, it } from 'vitest';
import { workspaceSpec } from '../../src/kinds/workspace/schema.ts';
import { scalar } from '../../src/compare/comparisons.ts';
import { defineKind, jsonSchema, type TypedKind } from '../../src/model/define-kind.ts';
import type { FieldsOf } from '../../src/model/field.ts';
import { nullable } from '../../src/model/nullable.ts';
import { noResources } from '../../src/model/kind.ts';
import type { Declared, Named } from '../../src/model/kind-specs.ts';
import type { LiveResource } from '../../src/model/resource.ts';

type LampSpec = Declared<{ brightness: number; colour?: 'red' | 'green' | null }>;
type LiveLamp = LiveResource<Named<LampSpec>, { readonly burning?: boolean }>;

const schema = Type.Object({
  brightness: Type.Number(),
  colour: Type.Optional(nullable(Type.Enum(['red', 'green']))),
});

const lamp: TypedKind<LampSpec, LiveLamp> = {
  name: 'Lamp',
  service: 'workspaces',
  summary: 'A lamp',
  names: { pattern: /^[a-z]+$/, description: 'lower-case letters' },
  specSchema: jsonSchema(schema),
  fields: { brightness: { compare: scalar }, colour: { compare: scalar } } satisfies FieldsOf<LampSpec>,
  ownership: { by: 'ledger', limitedByOwns: false, undeclared: 'release' },
  absent: 'unmanaged',
  read: async () => noResources,
  readOne: async () => undefined,
  calls: () => ({ calls: [] }),
};

it('a kind may be written in its own types, and is the same object as a generic kind', () => {
  expect(defineKind(lamp)).toBe(lamp);
});

it('a field that the schema lacks does not compile', () => {
  const misspelt: readonly TypedKind<LampSpec, LiveLamp>[] = [
    // @ts-expect-error: no brightnes
    { ...lamp, prepare: ({ desired }) => ({ desired, notes: [String(desired.brightnes)] }) },
    // @ts-expect-error: no color
    { ...lamp, similarity: ({ color }) => [String(color)] },
    // @ts-expect-error: no burnt
    { ...lamp, blockers: ({ facts }) => (facts.burnt ? ['it is burnt'] : []) },
    // @ts-expect-error: no brightnes
    { ...lamp, fields: { brightnes: { compare: scalar } } satisfies FieldsOf<LampSpec> },
  ];
  expect(misspelt).toHaveLength(4);
});

it('a value that may be missing or of another type does not compile without a check', () => {
  const unchecked: readonly TypedKind<LampSpec, LiveLamp>[] = [
    // @ts-expect-error: a removal request declares no brightness
    { ...lamp, check: ({ spec }) => (spec.brightness.toFixed() === '0' ? [] : []) },
    // @ts-expect-error: not a value of the schema
    { ...lamp, check: ({ spec }) => (spec.colour === 'blue' ? [] : []) },
    // @ts-expect-error: a live value may have any type
    { ...lamp, toManifest: ({ spec }) => ({ spec: { brightness: 1 + (spec.brightness ?? 0) } }) },
  ];
  expect(unchecked).toHaveLength(3);
});

it('the schema of another kind does not compile', () => {
  // @ts-expect-error: a workspace is no lamp
  const mixedUp: TypedKind<LampSpec, LiveLamp> = { ...lamp, specSchema: jsonSchema(workspaceSpec) };
  expect(mixedUp.specSchema).not.toEqual(lamp.specSchema);
});
