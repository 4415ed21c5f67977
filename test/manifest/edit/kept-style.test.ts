// What is new in a manifest is written as the rest of it is; each case is a text before and after, line by line.
import { expect, it } from 'vitest';
import { editText } from '../../../src/manifest/edit/edit-document.ts';
import { createSourceText } from '../../../src/manifest/yaml/source-text.ts';
import type { JsonObject } from '../../../src/model/json/json.ts';

/** The text afterwards, with these members of its spec. @param changes undefined removes one */
function edited(text: string, changes: Readonly<Record<string, JsonObject[string] | undefined>>): string {
  const at = text.search(/\{|kind/);
  const values = Object.entries(changes).map(([name, value]) => ({ path: ['spec', name], value }));
  return editText(createSourceText('', text), [{ at, values }]) ?? '';
}

/** The spec of a manifest, of which only the lines of the spec are told. */
function editedLines(lines: string[], changes: JsonObject): string[] {
  const head = ['kind: Thing', 'spec:'];
  return edited([...head, ...lines, ''].join('\n'), changes)
    .split('\n')
    .slice(2, -1);
}

it('writes JSON of one line without spaces where it has none', () => {
  const text = '{"kind":"Thing","spec":{"on":true,"names":["a","b"],"none":{}}}';
  expect(edited(text, { on: false, names: ['a', 'c', 'b'], none: { k: 1, l: [1, 2] }, more: 'm' })).toBe(
    '{"kind":"Thing","spec":{"on":false,"names":["a","c","b"],"none":{"k":1,"l":[1,2]},"more":"m"}}',
  );
});

it('writes JSON of many lines as it is indented', () => {
  const before = { kind: 'Thing', spec: { names: ['a'], none: {}, empty: [] } };
  const spec = { names: ['b', 'a'], none: { k: 1 }, empty: ['x'], more: { k: { l: [1] } } };
  for (const indent of [2, 4, '\t'])
    expect(edited(`${JSON.stringify(before, null, indent)}\n`, spec)).toBe(
      `${JSON.stringify({ kind: 'Thing', spec }, null, indent)}\n`,
    );
});

it.each([
  ['[a,b] # c', ['a', 'b', 'c'], '[a,b,c] # c'],
  ['[ a, b ] # c', ['b', 'c'], '[ b, c ] # c'],
  ['[a, b, c] # c', ['b'], '[b] # c'],
  ['[a, "b", c] # c', ['c', 'a', 'b'], '[c, a, "b"] # c'],
  ['[a] # c', [], '[] # c'],
  ['[] # c', ['a', 'b'], '[a, b] # c'],
  ['[ ] # c', ['a'], '[a] # c'],
])('keeps the brackets of %s', (before, list, after) => {
  expect(editedLines([`  list: ${before}`], { list })).toEqual([`  list: ${after}`]);
});

it('gives a new map the spaces inside of brackets that others have', () => {
  expect(editedLines(['  a: { x: 1 }', '  b: {}'], { b: { k: 'z w' } })).toEqual([
    '  a: { x: 1 }',
    '  b: { k: z w }',
  ]);
});

it.each([
  [
    'lines',
    ['  list:', '    # over a', '    - a # A', '    - b # B', '    # over c', '    - "c" # C'],
    ['  list:', '    # over c', '    - "c" # C', '    # over a', '    - a # A', '    - b # B'],
  ],
  [
    'brackets over lines',
    ['  list: [', '    a, # A', '    b, # B', '    c # C', '   ] # all'],
    ['  list: [', '    c, # C', '    a, # A', '    b # B', '   ] # all'],
  ],
])('lets items of a list in %s that change places take their comments along', (_, before, after) => {
  expect(editedLines(before, { list: ['c', 'a', 'b'] })).toEqual(after);
});

it('gives new items the dash, and new lists the place, that others have', () => {
  expect(editedLines(['  list:', '  -   a', '  other: x'], { list: ['a', 'b'], other: ['c'] })).toEqual([
    '  list:',
    '  -   a',
    '  -   b',
    '  other:',
    '  - c',
  ]);
});

it.each([
  ['a date beside others without quotes', ['  a: 2026-01-01', '  b: x'], '2026-02-02', '  b: 2026-02-02'],
  ['a date where no other one stands', ['  a: x', '  b: x'], '2026-02-02', "  b: '2026-02-02'"],
  ['a text with a comma', ['  b: one, two'], 'two, three', '  b: two, three'],
  ['what is odd', ['  b: "x"'], '\u0085\u2028', String.raw`  b: "\u0085\u2028"`],
])('puts quotes around %s as the document does', (_, lines, value, line) => {
  expect(editedLines(lines, { b: value })).toEqual([...lines.slice(0, -1), line]);
});

it('puts a new key into the quotes of the others', () => {
  expect(editedLines(["  'some': x", "  'other': y"], { third: 'z' }).at(-1)).toBe("  'third': z");
});

it.each([
  [
    'folded text',
    ['  b: >- # folded', '    one two', '    three'],
    'one two four',
    ['  b: >- # folded', '    one two', '    four'],
  ],
  [
    'folded paragraphs',
    ['  b: >', '    one two', '    three', '', '    four'],
    'one two three\nfive\n',
    ['  b: >', '    one two', '    three', '', '    five'],
  ],
  [
    'what cannot be folded',
    ['  b: >', '    one', '    two'],
    ' one\ntwo\n',
    ['  b: |2', '     one', '    two'],
  ],
  [
    'lines far to the right',
    ['  b: |', '        one'],
    'one\n two\n',
    ['  b: |', '        one', '         two'],
  ],
  [
    'lines with an indicator',
    ['  b: |4-', '        one'],
    '  one\ntwo',
    ['  b: |4-', '        one', '      two'],
  ],
  [
    'empty lines at the end',
    ['  b: |+ # all', '    one', '', ''],
    'two\n',
    ['  b: | # all', '    two', '', ''],
  ],
])('keeps the block of %s', (_, before, value, after) => {
  expect(editedLines(before, { b: value })).toEqual(after);
});

it('keeps comments below one another in their column, where there is room', () => {
  const lines = ['  on: true    # one', '  b:  short   # two'];
  expect(editedLines(lines, { on: false })).toEqual(['  on: false   # one', lines[1]]);
  expect(editedLines(lines, { b: 'much too long' })).toEqual([lines[0], '  b:  much too long # two']);
});

it('touches no other document, however many there are', () => {
  const documents = ['a', 'b', 'c'].map((name) => `---\nkind: ${name}\nspec:\n  on: true # ${name}\n`);
  const text = documents.join('');
  const [second = ''] = documents.slice(1, 2);
  const edit = { at: text.indexOf('kind: b'), values: [{ path: ['spec', 'on'], value: false }] };
  expect(editText(createSourceText('', text), [edit])).toBe(
    text.replace(second, second.replace('true', 'false')),
  );
});
