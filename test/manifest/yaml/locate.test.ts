import fc from 'fast-check';
import { dump, load } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { parseDocuments } from '../../../src/manifest/yaml/parse-documents.ts';
import {
  createSourceText,
  isWritten,
  placeIn,
  typedText,
  type YamlDocument,
} from '../../../src/manifest/yaml/yaml-document.ts';
import type { Json, Path } from '../../../src/model/json.ts';

function parse(text: string, number = 0): YamlDocument {
  const { documents, diagnostics } = parseDocuments(createSourceText('a.yaml', text));
  expect(diagnostics).toEqual([]);
  const document = documents[number];
  if (document === undefined) throw new Error('no such document');
  return document;
}

/** The text that a place underlines. */
function underlined(document: YamlDocument, path: Path, side?: 'key' | 'value'): string {
  const { text, column, length } = placeIn(document, path, side);
  return [...text].slice(column - 1, column - 1 + length).join('');
}

describe('the place of a path', () => {
  const document = parse(`# a comment
kind: Parent
metadata: { name: "app", tags: [a, 'b c', { d: e }] } # more
spec:
  text: |
    one
    two
  empty:
  list:
    - first
    - second: 2
      third: 3
  folded: >-
    one
    two
  plain: some
    words
`);

  it.each([
    [['kind'], 'kind', 'Parent'],
    [['metadata', 'name'], 'name', '"app"'],
    [['metadata', 'tags', '1'], "'b c'", "'b c'"],
    [['metadata', 'tags', '2', 'd'], 'd', 'e'],
    [['metadata', 'tags', '2'], '{ d: e }', '{ d: e }'],
    [['metadata', 'tags'], 'tags', "[a, 'b c', { d: e }]"],
    [['spec', 'text'], 'text', '|'],
    [['spec', 'folded'], 'folded', '>-'],
    [['spec', 'empty'], 'empty', 'empty'],
    [['spec', 'list', '0'], 'first', 'first'],
    [['spec', 'list', '1', 'third'], 'third', '3'],
    [['spec', 'plain'], 'plain', 'some'],
  ])('%j has the key %s and the value %s', (path, key, value) => {
    expect(underlined(document, path, 'key')).toBe(key);
    expect(underlined(document, path, 'value')).toBe(value);
  });

  it('that does not exist is the key of the map that should contain it', () => {
    expect(underlined(document, ['spec', 'missing'])).toBe('spec');
    expect(underlined(document, ['spec', 'list', '1', 'missing'])).toBe('second: 2');
    expect(underlined(document, ['nothing', 'here'])).toBe('kind');
    expect(isWritten(document, ['spec', 'missing'])).toBe(false);
  });

  it('of the whole document is its first key', () => {
    expect(underlined(document, [])).toBe('kind');
    expect(placeIn(document, [])).toMatchObject({ line: 2, column: 1 });
    expect(underlined(parse('- a\n- b\n'), [])).toBe('- a');
  });

  it('follows aliases and merge keys to the place where the value was written', () => {
    const merged = parse('base: &base\n  a: 1\n  b: { c: 2 }\nspec:\n  <<: [*base]\n  d: *base\n');
    expect(placeIn(merged, ['spec', 'a'])).toMatchObject({ line: 2, column: 6 });
    expect(placeIn(merged, ['spec', 'b', 'c'])).toMatchObject({ line: 3, column: 11 });
    expect(underlined(merged, ['spec', 'd'])).toBe('*base');
    expect(placeIn(merged, ['spec', 'd', 'a'])).toMatchObject({ line: 2, column: 6 });
  });

  it('is correct in any document of a file', () => {
    const last = parse('a: 1\n---\na: 2\n---\nb: &x 1\na: *x\n', 2);
    expect(placeIn(last, ['a'])).toMatchObject({ line: 6, column: 4, length: 2 });
  });

  it('shows a scalar as it was typed', () => {
    const typed = parse('a: 1.10\nb: "yes"\nc: 0x1F\nd: [~]\ne:\n');
    expect(['a', 'b', 'c', 'e', 'd'].map((key) => typedText(typed, [key]))).toEqual([
      '1.10',
      'yes',
      '0x1F',
      '',
      undefined,
    ]);
  });
});

/** Every scalar of a value, by path. */
function scalars(value: Json, path: Path = []): [Path, Json][] {
  if (typeof value !== 'object' || value === null) return [[path, value]];
  return Object.entries(value).flatMap(([key, member]) => scalars(member as Json, [...path, key]));
}

describe('in any document of any style', () => {
  const key = fc.stringMatching(/^[a-z][a-zA-Z0-9 .:#-]{0,6}$/);
  const scalar = fc.oneof(
    fc.integer(),
    fc.boolean(),
    fc.stringMatching(/^[ -~]{1,12}$/),
    fc.constantFrom('yes', '1.10', '2024-01-01', 'a: b', '- x', '🚀'),
  );
  const value = fc.letrec<{ node: unknown; map: unknown }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      scalar,
      fc.array(tie('node'), { minLength: 1, maxLength: 3 }),
      tie('map'),
    ),
    map: fc.dictionary(key, tie('node'), { minKeys: 1, maxKeys: 4 }),
  })).map;

  it('the place of each scalar underlines its text', () => {
    fc.assert(
      fc.property(value, fc.constantFrom(-1, 0, 1, 2), fc.nat(3), (written, flowLevel, before) => {
        const text = `${'a: 1\n---\n'.repeat(before)}${dump(written, { flowLevel, lineWidth: -1, noRefs: true })}`;
        const document = parse(text, before);
        expect(document.value).toEqual(written);
        for (const [path, scalar] of scalars(document.value)) {
          const shown = underlined(document, path);
          expect(load(shown)).toEqual(scalar);
        }
      }),
      { numRuns: 300 },
    );
  });
});
