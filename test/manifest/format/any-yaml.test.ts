// For any YAML: formatting keeps every value, comment, anchor, alias, tag and document, and formatting twice equals formatting once.
import fc from 'fast-check';
import { loadAll } from 'js-yaml';
import { expect, it } from 'vitest';
import { kinds } from '../../../src/kinds/index.ts';
import { UnusualYaml } from '../../../src/manifest/edit/source-tree.ts';
import { formatText, schemasOf } from '../../../src/commands/fmt-text.ts';
import { writeManifests } from '../../../src/manifest/yaml/write-manifests.ts';
import { createSourceText } from '../../../src/manifest/yaml/yaml-document.ts';
import type { Json, JsonObject } from '../../../src/model/json.ts';
import { writeAnyYaml } from '../../support/manifest/any-yaml.ts';

const schemaOf = schemasOf(kinds);
const format = (text: string) => formatText(createSourceText('a.yaml', text), schemaOf);

const words = fc.constantFrom(
  ...['a', 'yes', '1.0', 'no: way', '# x', '', "it's", '"q"', 'two\nlines', 'kept\n', ' lead', 'ä', '- x'],
  ...[
    '{',
    '*a',
    'null',
    'a\n\nb\n',
    ' in\nout',
    '0x1f',
    '2026-01-01T00:00:00Z',
    'x'.repeat(120),
    'tab\there',
  ],
  ...[
    'end\n\n',
    'one two',
    '~> 1.9.0',
    '<<',
    '=',
    '10:30:00',
    '1_000',
    '012',
    'trail ',
    'a #b',
    '[x',
    '\u202eodd',
  ],
  ...[
    '  two\n three\n',
    '\n\nlate\n',
    'a\n  b\n\n\nc\n\n\n',
    '!x',
    '&x',
    '%x',
    '@x',
    '---',
    'c:\\x',
    'a,b',
    'a]b',
  ],
);
const scalars: fc.Arbitrary<Json> = fc.oneof(words, fc.integer(), fc.boolean(), fc.constant(null));
const names = fc.constantFrom(
  ...[
    'description',
    'autoApply',
    'vcsRepo',
    'tags',
    'executionMode',
    'branch',
    'identifier',
    'env',
    'on',
    '5',
  ],
  ...['x-y', '#h', 'constructor', 'with space', 'a: b', 'é'],
);
const valuesWith = (keys: fc.Arbitrary<string>) =>
  fc.letrec<{ map: Json; list: Json; value: Json }>((tie) => ({
    map: fc.dictionary(keys, tie('value'), { maxKeys: 5, noNullPrototype: true }) as fc.Arbitrary<Json>,
    list: fc.array(tie('value'), { maxLength: 4 }) as fc.Arbitrary<Json>,
    value: fc.oneof({ maxDepth: 3 }, scalars, tie('list'), tie('map')),
  }));
const { map, list } = valuesWith(names);
const manifests = fc
  .tuple(fc.constantFrom('Workspace', 'Stack', 'ClusterAuthRole', 'Other'), map, fc.boolean())
  .map(([kind, spec, isTurned]): Json => {
    const members = { apiVersion: 'trueup.dev/v1', kind, metadata: { name: 'x', adopt: true }, spec };
    return isTurned ? Object.fromEntries(Object.entries(members).toReversed()) : members;
  });
const full = (value: Json) => Object.keys(value as JsonObject).length > 0;
const documents = fc.array(fc.oneof(manifests, map.filter(full), list.filter(full)), {
  minLength: 1,
  maxLength: 3,
});

const comments = (text: string) => [...text.matchAll(/# comment \d+ of it/g)].map(String).sort();
const named = (text: string) => [...text.matchAll(/[&*]a\d+x\b/g)].map(String).sort();

it('formatted text keeps its values, comments, anchors and aliases, and formatting it again changes nothing', () => {
  let refused = 0;
  let formatted = 0;
  fc.assert(
    fc.property(documents, fc.gen(), fc.boolean(), (values, g, isWindows) => {
      const made = writeAnyYaml(values, (below) => g(fc.nat, { max: below - 1 }));
      const text = isWindows ? made.text.replaceAll('\n', '\r\n') : made.text;
      let after: ReturnType<typeof format>;
      try {
        after = format(text);
      } catch (error) {
        if (!(error instanceof UnusualYaml)) throw error;
        refused++;
        // Refuses only an anchor that would come after its alias.
        expect(text, error.message).toMatch(/[*]a\d+x/);
        return;
      }
      formatted++;
      if (typeof after !== 'string') throw new Error(`${JSON.stringify(after)}\n${text}`);
      expect(loadAll(after)).toEqual(loadAll(text));
      expect(comments(after)).toEqual([...made.comments].sort());
      expect(named(after)).toEqual(named(text));
      expect(format(after)).toBe(after);
      expect(after.includes('\r\n')).toBe(isWindows);
    }),
    { numRuns: Number(process.env['TRUEUP_FORMAT_CASES'] ?? 400) },
  );
  expect(refused).toBeLessThan(formatted / 10);
});

it('a document in JSON keeps each number as it is written', () => {
  const numbers = fc.constantFrom(
    '0',
    '-0',
    '1.10',
    '1E2',
    '1e+2',
    '12345678901234567890',
    '0.0000001',
    '-1.5e-7',
  );
  const texts = words.map((text) => JSON.stringify(text));
  const { json } = fc.letrec<{ json: string; list: string; map: string }>((tie) => ({
    list: fc.array(tie('json'), { maxLength: 4 }).map((items) => `[${items.join(' , ')}]`),
    map: fc
      .dictionary(names, tie('json'), { maxKeys: 4 })
      .map(
        (members) => `{${Object.entries(members).map(([key, text]) => `${JSON.stringify(key)}:${text}`)}}`,
      ),
    json: fc.oneof({ maxDepth: 3 }, numbers, texts, tie('list'), tie('map')),
  }));
  const spellings = (text: string) =>
    text
      .replace(/"(?:[^"\\]|\\.)*"/g, '')
      .match(/[-\d][-+\d.eE]*/g)
      ?.sort();
  fc.assert(
    fc.property(json, json, (one, other) => {
      const text = `{"spec":${one},\n"kind":"Workspace", "more":${other}}`;
      const after = format(text);
      if (typeof after !== 'string') throw new Error(JSON.stringify(after));
      expect(spellings(after)).toEqual(spellings(text));
      expect(JSON.parse(after)).toEqual(JSON.parse(text));
      expect(format(after)).toBe(after);
    }),
  );
});

it('the output of export is already formatted', () => {
  const workspace = kinds.get('Workspace');
  if (workspace === undefined) throw new Error('there is no such kind');
  const drafts = fc.array(
    fc.record({
      metadata: fc.record({ name: words, adopt: fc.constant(true) }),
      // A number as a key comes first in any object, and no field has such a name.
      spec: valuesWith(names.filter((name) => name !== '5')).map as fc.Arbitrary<JsonObject>,
      remarks: fc.array(fc.constantFrom('left out', `${'long words '.repeat(20)}end`), { maxLength: 2 }),
    }),
    { minLength: 1, maxLength: 3 },
  );
  fc.assert(
    fc.property(drafts, (each) => {
      const { text } = writeManifests(
        each.map((draft) => ({ ...draft, kind: workspace })),
        'workspace.schema.json',
      );
      expect(format(text)).toBe(text);
    }),
    { numRuns: 300 },
  );
});
