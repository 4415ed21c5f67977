import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalSpec, contentAfter } from '../../src/compare/comparisons.ts';
import { diff } from '../../src/compare/diff.ts';
import { parentSpec, liveParent, rewritten } from '../support/sample-kinds/arbitrary-resources.ts';
import { parentFields } from '../support/sample-kinds/sample-kind.ts';

describe('the canonical form of a spec', () => {
  it('is its own canonical form', () => {
    fc.assert(
      fc.property(parentSpec, (spec) => {
        const once = canonicalSpec(parentFields, spec);
        expect(canonicalSpec(parentFields, once)).toEqual(once);
      }),
    );
  });

  it('is the same for every spelling', () => {
    const pairs = parentSpec.chain((spec) => fc.tuple(fc.constant(spec), rewritten(spec)));
    fc.assert(
      fc.property(pairs, ([spec, other]) => {
        expect(canonicalSpec(parentFields, other)).toEqual(canonicalSpec(parentFields, spec));
      }),
    );
  });

  it('has only known fields that the spec has', () => {
    expect(canonicalSpec(parentFields, { colour: null, unheardOf: 1 })).toEqual({ colour: 'red' });
  });
});

describe('the content after changes', () => {
  it('is the content of a resource to which they were applied', () => {
    fc.assert(
      fc.property(parentSpec, liveParent, (desired, live) => {
        const { fields } = diff({
          fields: parentFields,
          desired,
          live,
          recorded: undefined,
          absent: 'unmanaged',
        });
        const after = contentAfter(parentFields, live, fields);
        const left = diff({
          fields: parentFields,
          desired,
          live: after,
          recorded: undefined,
          absent: 'unmanaged',
        });
        expect(left.fields).toEqual([]);
        expect(contentAfter(parentFields, after, [])).toEqual(after);
      }),
    );
  });

  it('has a default for every undeclared field, and no secrets', () => {
    const { credential, hint, ...content } = contentAfter(parentFields, undefined, []);
    expect([credential, hint]).toEqual([undefined, undefined]);
    expect(content).toEqual({
      colour: 'red',
      about: null,
      readers: [],
      steps: [],
      consumers: [],
      timeout: 0,
      labels: {},
      owner: null,
      access: null,
      madeBy: null,
    });
  });
});
