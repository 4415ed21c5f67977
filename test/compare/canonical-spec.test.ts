import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalSpec, contentAfter } from '../../src/compare/comparisons.ts';
import { diff } from '../../src/compare/diff.ts';
import { wholeSpec, liveWhole, rewritten } from '../support/toys/arbitrary-toys.ts';
import { wholeFields } from '../support/toys/toy-kind.ts';

describe('the canonical form of a spec', () => {
  it('is its own canonical form', () => {
    fc.assert(
      fc.property(wholeSpec, (spec) => {
        const once = canonicalSpec(wholeFields, spec);
        expect(canonicalSpec(wholeFields, once)).toEqual(once);
      }),
    );
  });

  it('is the same for every spelling', () => {
    const pairs = wholeSpec.chain((spec) => fc.tuple(fc.constant(spec), rewritten(spec)));
    fc.assert(
      fc.property(pairs, ([spec, other]) => {
        expect(canonicalSpec(wholeFields, other)).toEqual(canonicalSpec(wholeFields, spec));
      }),
    );
  });

  it('has the fields that the spec has, and no others', () => {
    expect(canonicalSpec(wholeFields, { colour: null, unheardOf: 1 })).toEqual({ colour: 'red' });
  });
});

describe('the content that changes leave behind', () => {
  it('is what a whole is once they are carried out', () => {
    fc.assert(
      fc.property(wholeSpec, liveWhole, (desired, live) => {
        const { fields } = diff({
          fields: wholeFields,
          desired,
          live,
          recorded: undefined,
          absent: 'unmanaged',
        });
        const after = contentAfter(wholeFields, live, fields);
        const left = diff({
          fields: wholeFields,
          desired,
          live: after,
          recorded: undefined,
          absent: 'unmanaged',
        });
        expect(left.fields).toEqual([]);
        expect(contentAfter(wholeFields, after, [])).toEqual(after);
      }),
    );
  });

  it('has a default for every field that nobody mentions, and nothing secret', () => {
    const { credential, hint, ...content } = contentAfter(wholeFields, undefined, []);
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
