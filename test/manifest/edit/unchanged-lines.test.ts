// For any edit of any handwritten manifest: the result has the new values, and no other line changes.
import { load } from 'js-yaml';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { editText } from '../../../src/manifest/edit/edit-document.ts';
import { createSourceText } from '../../../src/manifest/yaml/yaml-document.ts';
import { isJsonObject, type Json, type JsonObject, sameJson } from '../../../src/model/json.ts';
import { type HandLine, writeByHand } from '../../support/manifest/written-by-hand.ts';

const words = fc.constantFrom(
  ...[
    'a',
    'yes',
    '1.0',
    'no: way',
    '# x',
    '',
    "it's",
    '"q"',
    'two\nlines',
    'kept\n',
    ' lead',
    'ä',
    '- x',
    '{',
    '*a',
    'null',
  ],
  ...['a\n\nb\n', ' in\nout', '0x1f', '2026-01-01T00:00:00Z', 'x'.repeat(120), 'tab\there', 'end\n\n'],
);
const scalars: fc.Arbitrary<Json> = fc.oneof(words, fc.integer(), fc.boolean(), fc.constant(null));
const names = fc.constantFrom(
  'one',
  'two',
  'three',
  'env',
  'with space',
  'on',
  '5',
  'x-y',
  '#h',
  'constructor',
);
const lists = fc.uniqueArray(scalars, { maxLength: 4, selector: (item) => JSON.stringify(item) });
const { spec: specs } = fc.letrec<{ spec: JsonObject; value: Json }>((tie) => ({
  spec: fc.dictionary(names, tie('value'), { maxKeys: 5, noNullPrototype: true }) as fc.Arbitrary<JsonObject>,
  value: fc.oneof({ maxDepth: 3 }, scalars, lists as fc.Arbitrary<Json>, tie('spec')),
}));

/** A changed value that keeps some of its members. */
function changed(value: Json, g: fc.GeneratorValue): Json {
  const what = g(fc.nat, { max: 5 });
  if (what === 0) return g(() => fc.oneof(scalars, lists as fc.Arbitrary<Json>, specs as fc.Arbitrary<Json>));
  if (isJsonObject(value)) {
    const members = Object.entries(value).flatMap(([key, member]): [string, Json][] =>
      g(fc.nat, { max: 4 }) === 0 ? [] : [[key, changed(member, g)]],
    );
    const more =
      g(fc.nat, { max: 2 }) === 0 ? [[`${g(() => names)} more`, g(() => scalars)] as [string, Json]] : [];
    return Object.fromEntries([...members, ...more]);
  }
  if (!Array.isArray(value)) return value;
  const kept = value.filter(() => g(fc.nat, { max: 3 }) > 0);
  const more = g(fc.nat, { max: 2 }) === 0 ? [`more ${g(fc.nat)}`] : [];
  return g(fc.boolean) ? [...kept, ...more] : [...more, ...kept];
}

/** The value at a path whose last part may be the JSON of a list's item. */
function at(value: Json | undefined, path: readonly string[]): Json | undefined {
  return path.reduce<Json | undefined>((found, name) => {
    if (Array.isArray(found)) return found.find((item) => JSON.stringify(item) === name);
    return isJsonObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  }, value);
}

function isFull(value: Json | undefined): boolean {
  return Array.isArray(value) ? value.length > 0 : isJsonObject(value) && Object.keys(value).length > 0;
}

/** Whether a list has reordered items, because it is undefined which of them moves. */
function isReordered(from: Json | undefined, to: Json | undefined): boolean {
  if (!Array.isArray(from) || !Array.isArray(to)) return false;
  const common = (some: readonly Json[], others: readonly Json[]) =>
    some
      .map((item) => JSON.stringify(item))
      .filter((item) => others.some((other) => JSON.stringify(other) === item));
  return common(from, to).join() !== common(to, from).join();
}

/** Whether a line is not affected by a change. */
function isUnaffected({ path, is }: HandLine, from: JsonObject, to: JsonObject): boolean {
  const [before, after] = [at(from, path), at(to, path)];
  const around = path.slice(0, -1).map((_, depth) => path.slice(0, depth + 1));
  const isInside = around.every(
    (above) => isFull(at(to, above)) && Array.isArray(at(to, above)) === Array.isArray(at(from, above)),
  );
  if (!isInside || after === undefined || isReordered(at(from, path.slice(0, -1)), at(to, path.slice(0, -1))))
    return false;
  if (is === 'value') return sameJson(before, after);
  if (is === 'comment') return true;
  return (
    (isFull(after) && Array.isArray(before) === Array.isArray(after) && path.length > 0) ||
    (is === 'empty' && path.length === 0 && isFull(to))
  );
}

// For more cases than `npm test` runs.
const runs = Number(process.env['TRUEUP_ACCEPT_CASES'] ?? 300);

it('writes the new values and leaves every other line as it was', { timeout: 60_000 + 100 * runs }, () => {
  fc.assert(
    fc.property(specs, fc.gen(), fc.constantFrom('\n', '\r\n'), (spec, g, lineBreak) => {
      fc.pre(Object.keys(spec).length > 0);
      const lines = writeByHand(spec, (below) => g(fc.nat, { max: below - 1 }));
      const to = changed(spec, g);
      fc.pre(isJsonObject(to));
      const head = ['# of the file', 'kind: Thing # first', 'spec: # all'];
      const tail = ['# behind', '---', 'kind: Other'];
      const text = `${[...head, ...lines.map((line) => line.text), ...tail].join(lineBreak)}${lineBreak}`;
      const edited =
        editText(createSourceText('', text), [
          { at: text.indexOf('kind'), values: [{ path: ['spec'], value: to as JsonObject }] },
        ]) ?? '';
      const [first] = edited.split(/^---\r?\n/m);
      expect(load(first ?? '')).toEqual({ kind: 'Thing', spec: to });
      const kept = lines
        .filter((line) => isUnaffected(line, spec, to as JsonObject))
        .map((line) => line.text);
      const specLine = isFull(to) ? ['spec: # all'] : [];
      const written = edited.split(lineBreak);
      expect(inOrder([...head.slice(0, 2), ...specLine, ...kept, ...tail, ''], written)).toEqual([]);
    }),
    { numRuns: runs, endOnFailure: runs > 300 },
  );
});

/** The lines that are not found in their order. */
function inOrder(lines: readonly string[], written: readonly string[]): string[] {
  let next = 0;
  return lines.filter((line) => {
    const found = written.indexOf(line, next);
    if (found !== -1) next = found + 1;
    return found === -1;
  });
}
