/** The shortest spec that asks for exactly what is live. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mergeDefaults } from '../../src/manifest/stack-defaults.ts';
import type { FieldTable } from '../../src/model/field.ts';
import type { Json, JsonObject } from '../../src/model/json.ts';
import type { Spec } from '../../src/model/resource.ts';
import {
  duration,
  list,
  optionalText,
  scalar,
  set,
  stringMap,
  text,
  wholeValue,
} from '../../src/compare/comparisons.ts';
import { diff } from '../../src/compare/diff.ts';
import { exportSpec } from '../../src/plan/export-spec.ts';

const fields: FieldTable = {
  size: { compare: scalar },
  loud: { compare: scalar, default: false },
  note: { compare: text, default: null },
  words: { compare: set, default: [] },
  steps: { compare: list, default: [] },
  ttl: { compare: duration, default: 0 },
  labels: { compare: stringMap, default: {} },
  repo: {
    compare: wholeValue,
    default: null,
    members: { url: { compare: scalar }, branch: { compare: optionalText, default: null } },
  },
  born: { compare: scalar, createOnly: true },
  secret: { compare: scalar, writeOnly: true, default: null },
  old: { compare: scalar, local: true, default: true },
};

const write = (live: Spec, defaults: Spec = {}) => exportSpec({ fields, live, defaults });

describe('an exported spec', () => {
  it('leaves out what the service would choose by itself', () => {
    expect(
      write({ loud: false, note: '', words: [], steps: [], ttl: 0, labels: {}, repo: null, size: null }),
    ).toEqual({});
  });

  it('holds everything else, in canonical form and in the order of the fields', () => {
    const spec = write({
      repo: { url: 'x', branch: '' },
      ttl: 5400,
      words: ['b', 'a'],
      labels: { z: '1', a: '2' },
      size: 3,
      note: 'one\ntwo\n',
    });
    expect(JSON.stringify(spec)).toBe(
      '{"size":3,"note":"one\\ntwo\\n","words":["a","b"],"ttl":"1h30m","labels":{"a":"2","z":"1"},"repo":{"url":"x"}}',
    );
  });

  it('leaves out fields that no write can change or no read reports', () => {
    expect(write({ born: 'by hand', secret: 'x', old: false })).toEqual({});
    expect(write({})).toEqual({});
  });

  it('overrides the defaults of the stack, even with values that the service would choose', () => {
    const defaults = {
      loud: true,
      note: 'ours',
      ttl: '1h',
      words: ['x'],
      labels: { a: 'b' },
      repo: { branch: 'main' },
    };
    expect(write({ loud: false, note: null, ttl: 0, words: [], labels: {}, repo: null }, defaults)).toEqual({
      loud: false,
      note: null,
      ttl: '0s',
      words: [],
      labels: null,
      repo: null,
    });
    expect(write({ repo: { url: 'x', branch: null } }, defaults)).toEqual({
      repo: { url: 'x', branch: null },
    });
  });

  it('does not repeat the defaults of the stack', () => {
    const defaults = { loud: true, ttl: '60m', words: ['b', 'a'], repo: { url: 'x', branch: 'main' } };
    expect(
      write({ loud: true, ttl: 3600, words: ['a', 'b'], repo: { url: 'x', branch: 'main' } }, defaults),
    ).toEqual({});
  });

  it('gives the live values again for any defaults that are merged under it', () => {
    const word = fc.constantFrom('', 'a', 'b', 'two\nlines\n');
    const spec = fc.record<Record<string, Json>>(
      {
        size: fc.integer({ min: 1, max: 3 }),
        loud: fc.boolean(),
        note: fc.oneof(word, fc.constant(null)),
        words: fc.subarray(['a', 'b', 'c']),
        steps: fc.array(word, { maxLength: 3 }),
        ttl: fc.constantFrom(0, 60, 5400),
        labels: fc.constant({}),
        repo: fc.oneof(
          fc.constant(null),
          fc.record<Record<string, Json>>({
            url: fc.constantFrom('x', 'y'),
            branch: fc.oneof(word, fc.constant(null)),
          }),
        ),
      },
      { noNullPrototype: true },
    );
    const defaults = fc.oneof(
      fc.constant<JsonObject>({}),
      spec.chain((parent) => fc.subarray(Object.keys(parent)).map((names) => pick(parent, names))),
    );
    fc.assert(
      fc.property(spec, defaults, (live, below) => {
        const desired = mergeDefaults(below, write(live, below));
        expect(diff({ fields, desired, live, recorded: undefined, absent: 'default' }).fields).toEqual([]);
      }),
    );
  });
});

function pick(spec: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(spec).filter(([name]) => names.includes(name)));
}
