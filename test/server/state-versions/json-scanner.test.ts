import fc from 'fast-check';
import { expect, it } from 'vitest';

import { JsonScanner } from '../../../src/server/workspaces/json-scanner.ts';

/** The scalars of a text with their paths, read in pieces of `piece` characters; undefined if it is not JSON. */
function scalarsOf(text: string, piece: number): string[] | undefined {
  const found: string[] = [];
  const scanner = new JsonScanner({
    begin: (_path, kind) => kind === 'other',
    text: (path, value) => void found.push([...path, value].join('/')),
    end: () => {},
  });
  try {
    for (let at = 0; at < text.length; at += piece) scanner.push(text.slice(at, at + piece));
    scanner.end();
    return found;
  } catch (error) {
    expect(error).toBeInstanceOf(SyntaxError);
    return undefined;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** JSON with some letters removed, replaced or inserted. */
const almostJson = fc
  .tuple(
    fc.json({ maxDepth: 4 }),
    fc.array(fc.tuple(fc.nat(), fc.nat(2), fc.constantFrom(...'{}[]:,"\\u01-.eEtn /')), { maxLength: 2 }),
  )
  .map(([json, changes]) =>
    changes.reduce((text, [place, removed, letter]) => {
      const at = place % (text.length + 1);
      return text.slice(0, at) + letter + text.slice(at + removed);
    }, json),
  );

it('accepts exactly what JSON.parse accepts, for any division into pieces', () => {
  fc.assert(
    fc.property(
      fc.oneof(almostJson, fc.string(), fc.json()),
      fc.integer({ min: 1, max: 7 }),
      (text, piece) => {
        expect([text, scalarsOf(text, piece) !== undefined]).toEqual([text, isJson(text)]);
      },
    ),
    { numRuns: 3000 },
  );
});

it('reports the paths of values, four levels deep', () => {
  const text = '{"a":[1,{"b":null},[]],"c":{"d":{"e":{"f":"deep"},"g":"x\\u0041"}},"":false}';
  for (const piece of [1, 3, 1000]) {
    expect(scalarsOf(text, piece)).toEqual([
      'a/0/1',
      'a/1/b/null',
      'c/d/e/f/"deep"',
      'c/d/g/"x\\u0041"',
      '/false',
    ]);
  }
});

it('limits the length of a value and the depth of nesting', () => {
  const wanted = { begin: () => true, text: () => {}, end: () => {} };
  const long = new JsonScanner(wanted);
  const megabyte = 'x'.repeat(1024 * 1024);
  expect(() => {
    long.push('"');
    for (let count = 0; count < 17; count += 1) long.push(megabyte);
  }).toThrow('more than 16777216 characters');
  const deep = new JsonScanner({ ...wanted, begin: () => false });
  expect(() => deep.push('['.repeat(10_001))).toThrow('more than 10000 levels');
});
