import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  creatorMarkOf,
  formatOwnershipTag,
  parseOwnershipTag,
  stackOfCreatorMark,
} from '../../src/model/resource.ts';

const stack = fc.stringMatching(/^[a-z0-9-]{1,63}$/);

describe('an ownership tag', () => {
  it('is parsed to what was formatted', () => {
    const ownershipTag = fc.record({
      stack,
      protect: fc.boolean(),
      release: fc.boolean(),
      inherited: fc.boolean(),
    });
    fc.assert(
      fc.property(ownershipTag, (written) => {
        expect(parseOwnershipTag(formatOwnershipTag(written), written.inherited)).toEqual(written);
      }),
    );
  });

  it.each([
    ['payments', 'payments'],
    ['payments:protect', 'payments:protect'],
    ['payments:release:protect', 'payments:protect:release'],
    ['payments:unheard-of', 'payments'],
  ])('%s is written %s', (text, written) => {
    expect(formatOwnershipTag(parseOwnershipTag(text))).toBe(written);
  });
});

describe('a creator mark', () => {
  it('has the name of the stack that it was made for', () => {
    fc.assert(fc.property(stack, (name) => stackOfCreatorMark(creatorMarkOf(name)) === name));
  });

  it.each([null, undefined, '', 'tfe-provider', 'trueup', 'Trueup/payments'])('is not %j', (text) => {
    expect(stackOfCreatorMark(text)).toBeUndefined();
  });
});
