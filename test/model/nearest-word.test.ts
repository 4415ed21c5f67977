import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { editDistance, nearestWord, nearestWords } from '../../src/model/nearest-word.ts';

const fields = ['executionMode', 'engineVersion', 'autoApply', 'autoApplyRunTrigger', 'tags', 'tagNames'];

describe('a misspelt word', () => {
  it.each([
    ['exectionMode', 'executionMode'],
    ['execution-mode', 'executionMode'],
    ['EXECUTION_MODE', 'executionMode'],
    ['enginVersoin', 'engineVersion'],
    ['autoAply', 'autoApply'],
    ['tag', 'tags'],
    ['tgas', 'tags'],
  ])('"%s" is taken for "%s"', (word, meant) => {
    expect(nearestWord(word, fields)).toBe(meant);
  });

  it.each(['terraform', 'x', '', 'executionMode'])('"%s" has no near word', (word) => {
    expect(nearestWord(word, fields)).toBeUndefined();
  });
});

describe('the distance of two words', () => {
  it('counts a swap of neighbours as one', () => {
    expect(editDistance('form', 'from')).toBe(1);
    expect(editDistance('kitten', 'sitting')).toBe(3);
  });

  it('is zero to itself, the same both ways, and at most the length of the longer word', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 12 }), fc.string({ maxLength: 12 }), (one, other) => {
        const distance = editDistance(one, other);
        expect(distance).toBe(editDistance(other, one));
        expect(distance === 0).toBe(one === other);
        expect(distance).toBeLessThanOrEqual(Math.max(one.length, other.length));
      }),
    );
  });

  it('is at most one after one edit', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 12 }), fc.nat(), (word, at) => {
        const index = at % word.length;
        expect(editDistance(word, word.slice(0, index) + word.slice(index + 1))).toBe(1);
        expect(editDistance(word, `${word.slice(0, index)}~~${word.slice(index)}`)).toBe(2);
      }),
    );
  });
});

it('finds up to three near words, the nearest first', () => {
  const names = ['payments-eu', 'payments', 'Payments-Us', 'payment', 'network', 'paymnts'];
  expect(nearestWords('paymets', names)).toEqual(['payments', 'paymnts', 'payment']);
  expect(nearestWords('payments', names)).toEqual([]);
  expect(nearestWords('zzz', names)).toEqual([]);
  expect(nearestWords('paymets', names, 1)).toEqual([nearestWord('paymets', names)]);
});
