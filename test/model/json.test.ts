import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalText, isJsonObject, type Json, ownMember, sameJson } from '../../src/model/json.ts';

const json = fc.jsonValue() as fc.Arbitrary<Json>;

describe('the text of a value', () => {
  it('is parsed to the same value', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(JSON.parse(canonicalText(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('does not depend on the order of keys, at any depth', () => {
    const reversed = (value: Json): Json => {
      if (Array.isArray(value)) return value.map(reversed);
      if (!isJsonObject(value)) return value;
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([key, member]) => [key, reversed(member)]),
      );
    };
    fc.assert(
      fc.property(json, (value) => {
        expect(canonicalText(reversed(value))).toBe(canonicalText(value));
      }),
    );
  });

  it('has sorted keys, even those that objects order themselves', () => {
    const value = JSON.parse('{"a":[{"9":1,"10":2,"1a":3}],"__proto__":{"b":1,"a":2},"B":null}') as Json;
    expect(canonicalText(value)).toBe('{"B":null,"__proto__":{"a":2,"b":1},"a":[{"10":2,"1a":3,"9":1}]}');
  });

  it.each<[Json | undefined, Json | undefined]>([
    [null, undefined],
    [{}, []],
    [{ a: null }, {}],
    ['1', 1],
    [
      [[1], 2],
      [1, [2]],
    ],
    [{ 'a":1,"b': 2 }, { a: 1, b: 2 }],
  ])('distinguishes %j from %j', (one, other) => {
    expect(sameJson(one, other)).toBe(false);
  });
});

it('a member is only an own property of the object', () => {
  expect(ownMember({}, 'constructor')).toBeUndefined();
  expect(ownMember({ constructor: 'x' }, 'constructor')).toBe('x');
  expect(ownMember(JSON.parse('{ "__proto__": "x" }'), '__proto__')).toBe('x');
});
