import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { depthOf, mergeDefaults } from '../../src/manifest/stack-defaults.ts';
import { isJsonObject, type Json, type JsonObject } from '../../src/model/json.ts';

describe('defaults under a spec', () => {
  it('are merged into maps by key, at any depth', () => {
    expect(mergeDefaults({ a: 1, repo: { branch: 'main', id: 'x' } }, { repo: { id: 'y' } })).toEqual({
      a: 1,
      repo: { branch: 'main', id: 'y' },
    });
  });

  it('are replaced as a whole by lists, text, null and empty lists', () => {
    expect(mergeDefaults({ a: [1, 2], b: { c: 1 }, d: 'x' }, { a: [3], b: null, d: '' })).toEqual({
      a: [3],
      b: null,
      d: '',
    });
    expect(mergeDefaults({ a: [1] }, { a: [] })).toEqual({ a: [] });
  });

  const json = fc.letrec<{ node: Json; map: JsonObject }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom<Json>(null, true, 1, 'x', 'y'),
      fc.array(tie('node'), { maxLength: 2 }),
      tie('map'),
    ),
    map: fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__'), tie('node')),
  }));

  it('change nothing when there are none, or when the spec has all of them', () => {
    fc.assert(
      fc.property(json.map, (spec) => {
        expect(mergeDefaults({}, spec)).toEqual(spec);
        expect(mergeDefaults(spec, {})).toEqual(spec);
        expect(mergeDefaults(spec, spec)).toEqual(spec);
      }),
    );
  });

  it('never change a value of the spec', () => {
    const keeps = (own: Json, merged: Json | undefined): boolean =>
      isJsonObject(own) && isJsonObject(merged)
        ? Object.entries(own).every(([key, value]) => Object.hasOwn(merged, key) && keeps(value, merged[key]))
        : JSON.stringify(own) === JSON.stringify(merged);
    fc.assert(
      fc.property(json.map, json.map, (defaults, own) => {
        expect(keeps(own, mergeDefaults(defaults, own))).toBe(true);
      }),
    );
  });

  it('change nothing when they are merged again', () => {
    fc.assert(
      fc.property(json.map, json.map, (defaults, own) => {
        const merged = mergeDefaults(defaults, own);
        expect(mergeDefaults(defaults, merged)).toEqual(merged);
      }),
    );
  });

  it('add only fields that they have', () => {
    fc.assert(
      fc.property(json.map, json.map, (defaults, own) => {
        for (const key of Object.keys(mergeDefaults(defaults, own)))
          expect(Object.hasOwn(defaults, key) || Object.hasOwn(own, key)).toBe(true);
      }),
    );
  });
});

it('the depth of a path is the number of its segments that exist', () => {
  const value = { a: { b: [{ c: 1 }] } };
  expect(depthOf(value, ['a', 'b', '0', 'c'])).toBe(4);
  expect(depthOf(value, ['a', 'b', '1', 'c'])).toBe(2);
  expect(depthOf(value, ['a', 'toString'])).toBe(1);
  expect(depthOf(value, [])).toBe(0);
});
