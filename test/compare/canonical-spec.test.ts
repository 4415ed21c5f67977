import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalSpec, contentAfter } from '../../src/compare/canonical-spec.ts';
import { diff } from '../../src/compare/diff.ts';
import { houseSpec, liveHouse, rewritten } from '../support/toys/arbitrary-toys.ts';
import { houseFields } from '../support/toys/toy-kind.ts';

describe('the canonical form of a spec', () => {
  test('is its own canonical form', () => {
    fc.assert(
      fc.property(houseSpec, (spec) => {
        const once = canonicalSpec(houseFields, spec);
        expect(canonicalSpec(houseFields, once)).toEqual(once);
      }),
    );
  });

  test('is the same for every spelling', () => {
    const pairs = houseSpec.chain((spec) => fc.tuple(fc.constant(spec), rewritten(spec)));
    fc.assert(
      fc.property(pairs, ([spec, other]) => {
        expect(canonicalSpec(houseFields, other)).toEqual(canonicalSpec(houseFields, spec));
      }),
    );
  });

  test('has the fields that the spec has, and no others', () => {
    expect(canonicalSpec(houseFields, { colour: null, unheardOf: 1 })).toEqual({ colour: 'red' });
  });
});

describe('the content that changes leave behind', () => {
  test('is what a house is once they are carried out', () => {
    fc.assert(
      fc.property(houseSpec, liveHouse, (desired, live) => {
        const { fields } = diff({
          fields: houseFields,
          desired,
          live,
          recorded: undefined,
          absent: 'unmanaged',
        });
        const after = contentAfter(houseFields, live, fields);
        const left = diff({
          fields: houseFields,
          desired,
          live: after,
          recorded: undefined,
          absent: 'unmanaged',
        });
        expect(left.fields).toEqual([]);
        expect(contentAfter(houseFields, after, [])).toEqual(after);
      }),
    );
  });

  test('has a default for every field that nobody mentions, and nothing secret', () => {
    const { code, hint, ...content } = contentAfter(houseFields, undefined, []);
    expect([code, hint]).toEqual([undefined, undefined]);
    expect(content).toEqual({
      colour: 'red',
      about: null,
      rooms: [],
      steps: [],
      friends: [],
      timer: 0,
      labels: {},
      owner: null,
      box: null,
      maker: null,
    });
  });
});
