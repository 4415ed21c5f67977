import fc from 'fast-check';
import jsonpatch, { type Operation } from 'fast-json-patch';
import { describe, expect, it } from 'vitest';
import { type FieldTable, jsonPointer, toJsonPatch } from '../../src/model/field.ts';
import type { Json } from '../../src/model/json.ts';
import type { Spec } from '../../src/model/resource.ts';
import {
  canonicalSpec,
  duration,
  list,
  scalar,
  set,
  stringMap,
  text,
  wholeValue,
} from '../../src/compare/comparisons.ts';
import { diff } from '../../src/compare/diff.ts';

const fields: FieldTable = {
  colour: { compare: scalar, default: 'red' },
  about: { compare: text },
  friends: { compare: set, default: [] },
  steps: { compare: list },
  labels: { compare: stringMap },
  pause: { compare: duration, default: 0 },
  box: {
    compare: wholeValue,
    default: null,
    members: { lid: { compare: scalar }, samples: { compare: set } },
  },
};

const word = fc.oneof(fc.constantFrom('a', 'b', 'c/d', 'e~f', '', '0'), fc.string({ maxLength: 3 }));
const words = fc.array(word, { maxLength: 5 });
/** The library refuses `__proto__` as a key, and no service has it. */
const key = word.filter((name) => name !== '__proto__');

const spec = fc.record(
  {
    colour: fc.oneof(word, fc.constant(null)),
    about: fc.oneof(word, fc.constant(null)),
    friends: fc.oneof(words, fc.constant(null)),
    steps: words,
    labels: fc.dictionary(key, word, { maxKeys: 4 }),
    pause: fc.constantFrom('1h', 3600, '90m', 0, null),
    box: fc.oneof(fc.record({ lid: word, samples: words }, { requiredKeys: [] }), fc.constant(null)),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Spec>;

function applied(document: Spec, operations: readonly object[]): Spec {
  const copy = JSON.parse(JSON.stringify(document)) as Record<string, Json>;
  return jsonpatch.applyPatch(copy, operations as Operation[], true).newDocument;
}

describe('the operations of field changes', () => {
  it('turn the live spec into the desired one, and leave unmanaged values unchanged', () => {
    fc.assert(
      fc.property(spec, spec, (desired, live) => {
        const before = canonicalSpec(fields, live);
        const found = diff({ fields, desired, live, recorded: undefined, absent: 'unmanaged' });
        const after = applied(before, toJsonPatch(found.fields));
        const left = diff({ fields, desired, live: after, recorded: undefined, absent: 'unmanaged' });
        expect(left.fields).toEqual([]);
        for (const [name, value] of Object.entries(before)) {
          if (desired[name] === undefined) expect(after[name]).toEqual(value);
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('make a new resource from nothing', () => {
    fc.assert(
      fc.property(spec, (desired) => {
        const found = diff({ fields, desired, live: undefined, recorded: undefined, absent: 'unmanaged' });
        expect(applied({}, toJsonPatch(found.fields))).toEqual(canonicalSpec(fields, desired));
      }),
    );
  });

  it('remove elements of a set from its end and add new ones behind it', () => {
    const change = { path: ['friends'], before: ['a', 'b', 'c'], after: ['b', 'd'], shape: 'set' as const };
    expect(toJsonPatch([change])).toEqual([
      { op: 'remove', path: '/friends/2' },
      { op: 'remove', path: '/friends/0' },
      { op: 'add', path: '/friends/-', value: 'd' },
    ]);
  });

  it('change a map key by key', () => {
    const change = {
      path: ['labels'],
      before: { a: '1', b: '2', c: '3' },
      after: { b: '2', c: '4', 'd/e': '5' },
      shape: 'map' as const,
    };
    expect(toJsonPatch([change])).toEqual([
      { op: 'remove', path: '/labels/a' },
      { op: 'replace', path: '/labels/c', value: '4' },
      { op: 'add', path: '/labels/d~1e', value: '5' },
    ]);
  });

  it('add a value whose former value is unknown, and remove one that is dropped', () => {
    expect(
      toJsonPatch([
        { path: ['issuer'], unknown: 'not returned by the service', after: 'x', shape: 'scalar' },
        { path: ['labels', 'old'], before: 'y', shape: 'scalar' },
      ]),
    ).toEqual([
      { op: 'add', path: '/issuer', value: 'x' },
      { op: 'remove', path: '/labels/old' },
    ]);
  });
});

it('a pointer escapes slashes and tildes', () => {
  expect(jsonPointer(['labels', 'a/b~c'])).toBe('/labels/a~1b~0c');
  expect(jsonPointer([])).toBe('');
});
