// New parts of a manifest are written in the style of the rest; each case is a text before and after, line by line.
import { expect, it } from 'vitest';
import { editText } from '../../../src/manifest/edit/edit-document.ts';
import { createSourceText } from '../../../src/manifest/yaml/yaml-document.ts';
import type { JsonObject } from '../../../src/model/json.ts';

/** The edited text, with these members of its spec. @param changes undefined removes one */
function edited(text: string, changes: Readonly<Record<string, JsonObject[string] | undefined>>): string {
  const at = text.search(/\{|kind/);
  const values = Object.entries(changes).map(([name, value]) => ({ path: ['spec', name], value }));
  return editText(createSourceText('', text), [{ at, values }]) ?? '';
}

/** The edited lines of the spec of a manifest. */
function editedLines(lines: string[], changes: JsonObject): string[] {
  const head = ['kind: Thing', 'spec:'];
  return edited([...head, ...lines, ''].join('\n'), changes)
    .split('\n')
    .slice(2, -1);
}

it('writes JSON on one line without spaces if it has none', () => {
  const text = '{"kind":"Thing","spec":{"on":true,"names":["a","b"],"none":{}}}';
  expect(edited(text, { on: false, names: ['a', 'c', 'b'], none: { k: 1, l: [1, 2] }, more: 'm' })).toBe(
    '{"kind":"Thing","spec":{"on":false,"names":["a","c","b"],"none":{"k":1,"l":[1,2]},"more":"m"}}',
  );
});

it('writes JSON on many lines with its indentation', () => {
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
])('moves comments with reordered items of a list in %s', (_, before, after) => {
  expect(editedLines(before, { list: ['c', 'a', 'b'] })).toEqual(after);
});

const commented = [
  '  list:',
  '    # over a',
  '    # and more',
  '    - a # A',
  '      # below a',
  '    - b',
  '    # over c',
  '    - c # C',
  '    # at the end',
];

it.each<[string, string[], string[]]>([
  ['an item is removed', ['b', 'c'], ['    - b', '    # over c', '    - c # C', '    # at the end']],
  ['the last item is removed', ['a', 'b'], [...commented.slice(1, 6), '    # at the end']],
  ['an item is added', ['a', 'b', 'c', 'd'], [...commented.slice(1, 8), '    - d', '    # at the end']],
  ['an item comes first', ['d', 'a', 'b', 'c'], ['    - d', ...commented.slice(1)]],
  [
    'an item comes between others',
    ['a', 'd', 'b', 'c'],
    [...commented.slice(1, 5), '    - d', ...commented.slice(5)],
  ],
  [
    'items change places',
    ['b', 'c', 'a'],
    ['    - b', '    # over c', '    - c # C', ...commented.slice(1, 5), '    # at the end'],
  ],
  ['an item is replaced', ['b', 'd', 'c'], ['    - b', '    - d', ...commented.slice(6)]],
])('removes or moves a comment only with the item that it belongs to: %s', (_, list, after) => {
  expect(editedLines(commented, { list })).toEqual(['  list:', ...after]);
});

it.each<[string, string[], string[]]>([
  ['removed', ['b'], ['  list: [', '    b, # B', '   ]']],
  [
    'added in front',
    ['c', 'a', 'b'],
    ['  list: [', '    c,', '    # over a', '    a, # A', '    b, # B', '   ]'],
  ],
  ['moved', ['b', 'a'], ['  list: [', '    b, # B', '    # over a', '    a, # A', '   ]']],
])('moves comments in brackets on several lines with their item: %s', (_, list, after) => {
  const before = ['  list: [', '    # over a', '    a, # A', '    b, # B', '   ]'];
  expect(editedLines(before, { list })).toEqual(after);
});

it('removes the comments of a member with it, and keeps those of others', () => {
  const lines = [
    '  # of the first',
    '  first: 1 # one',
    '  second:',
    '    k: v',
    '    # in the second',
    '',
    '  # apart',
    '',
    '  # of the third',
    '  third: 3',
  ];
  const specText = [...lines, ''].join('\n');
  const without = (name: string) =>
    edited(`kind: Thing\nspec:\n${specText}`, { [name]: undefined })
      .split('\n')
      .slice(2, -1);
  expect(without('first')).toEqual(lines.slice(2));
  expect(without('second')).toEqual([...lines.slice(0, 2), ...lines.slice(5)]);
  expect(without('third')).toEqual(lines.slice(0, 8));
  expect(editedLines(lines.slice(0, 5), { more: 1 })).toEqual([...lines.slice(0, 5), '  more: 1']);
});

it('writes new items with the dash, and new lists at the column, of the others', () => {
  expect(editedLines(['  list:', '  -   a', '  other: x'], { list: ['a', 'b'], other: ['c'] })).toEqual([
    '  list:',
    '  -   a',
    '  -   b',
    '  other:',
    '  - c',
  ]);
});

it.each([
  ['a date if others have no quotes', ['  a: 2026-01-01', '  b: x'], '2026-02-02', '  b: 2026-02-02'],
  ['a date if there is no other one', ['  a: x', '  b: x'], '2026-02-02', "  b: '2026-02-02'"],
  ['a text with a comma', ['  b: one, two'], 'two, three', '  b: two, three'],
  ['unusual characters', ['  b: "x"'], '\u0085\u2028', String.raw`  b: "\u0085\u2028"`],
])('puts quotes around %s like the rest of the document', (_, lines, value, line) => {
  expect(editedLines(lines, { b: value })).toEqual([...lines.slice(0, -1), line]);
});

const directions = ['\u061c', '\u200e', '\u200f', '\u202a', '\u202e', '\u2066', '\u2069'];

it.each(directions)('writes a character that changes the text direction as an escape: %j', (odd) => {
  const written = `\\u${odd.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const lines = ['  a: x', "  b: 'x'", '  c: |', '    x', '  d: [x]', '  e:', '    - x', '  f: { k: v }'];
  const values = {
    ...{ a: `a${odd}`, b: `b${odd}`, c: `c\n${odd}`, d: ['x', `d${odd}`], e: ['x', `e${odd}`] },
    ...{
      f: { k: 'v', [`f${odd}`]: 1 },
      g: { deep: { [`g${odd}`]: [odd, `two\n${odd}\nlines`, 'text1end'] } },
    },
  };
  expect(editedLines(lines, values)).toEqual([
    `  a: "a${written}"`,
    `  b: "b${written}"`,
    `  c: "c\\n${written}"`,
    `  d: [x, "d${written}"]`,
    '  e:',
    '    - x',
    `    - "e${written}"`,
    `  f: { k: v, "f${written}": 1 }`,
    '  g:',
    '    deep:',
    `      "g${written}":`,
    `        - "${written}"`,
    `        - "two\\n${written}\\nlines"`,
    '        - text1end',
  ]);
});

it('puts a new key into quotes like the others', () => {
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
    'text that cannot be folded',
    ['  b: >', '    one', '    two'],
    ' one\ntwo\n',
    ['  b: |2', '     one', '    two'],
  ],
  [
    'deeply indented lines',
    ['  b: |', '        one'],
    'one\n two\n',
    ['  b: |', '        one', '         two'],
  ],
  [
    'lines with an indentation indicator',
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

it('keeps the column of comments below one another, if there is room', () => {
  const lines = ['  on: true    # one', '  b:  short   # two'];
  expect(editedLines(lines, { on: false })).toEqual(['  on: false   # one', lines[1]]);
  expect(editedLines(lines, { b: 'much too long' })).toEqual([lines[0], '  b:  much too long # two']);
});

it('changes no other document of the file', () => {
  const documents = ['a', 'b', 'c'].map((name) => `---\nkind: ${name}\nspec:\n  on: true # ${name}\n`);
  const text = documents.join('');
  const [second = ''] = documents.slice(1, 2);
  const edit = { at: text.indexOf('kind: b'), values: [{ path: ['spec', 'on'], value: false }] };
  expect(editText(createSourceText('', text), [edit])).toBe(
    text.replace(second, second.replace('true', 'false')),
  );
});
