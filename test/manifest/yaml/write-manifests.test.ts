/** Resources as the text of a manifest file: parsing the text returns the same resources. */
import fc from 'fast-check';
import { loadAll } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { kinds } from '../../../src/kinds/index.ts';
import { parseDocuments } from '../../../src/manifest/yaml/parse-documents.ts';
import { createSourceText } from '../../../src/manifest/yaml/yaml-document.ts';
import { type ManifestDraft, writeManifests } from '../../../src/manifest/yaml/write-manifests.ts';
import type { Json } from '../../../src/model/json.ts';
import type { Kind } from '../../../src/model/kind.ts';
import type { Spec } from '../../../src/model/resource.ts';

const workspace = kinds.get('Workspace') as Kind;
const schema = '../schemas/workspace.schema.json';

const draft = (name: string, spec: Spec, remarks: readonly string[] = []): ManifestDraft => ({
  kind: workspace,
  metadata: { name, adopt: true },
  spec,
  remarks,
});

describe('the text of manifests', () => {
  it('begins with the schema for editors, has blocks of text, and members in the order of the schema', () => {
    const spec = {
      tags: { env: 'prod' },
      vcsRepo: { branch: 'main', identifier: 'acme/app' },
      autoApply: true,
      description: 'one\ntwo\n',
    };
    expect(writeManifests([draft('app', spec)], schema).text).toBe(
      `# yaml-language-server: $schema=../schemas/workspace.schema.json
apiVersion: trueup.dev/v1
kind: Workspace
metadata:
  name: app
  adopt: true
spec:
  description: |
    one
    two
  autoApply: true
  vcsRepo:
    identifier: acme/app
    branch: main
  tags:
    env: prod
`,
    );
  });

  it('reports on which line each manifest begins', () => {
    const { text, lines } = writeManifests(
      [draft('a', { description: 'x\n\ny' }, ['one']), draft('b', {}), draft('c', {}, ['two', 'three'])],
      schema,
    );
    expect(lines.map((line) => text.split('\n')[line - 1])).toEqual(
      Array.from({ length: 3 }, () => 'apiVersion: trueup.dev/v1'),
    );
  });

  it('has remarks as wrapped comments, for any content', () => {
    const { text } = writeManifests(
      [draft('a', {}, ['word '.repeat(40).trim(), 'bad\u001b[2J\nkind: Evil\u2028'])],
      '',
    );
    expect(
      text
        .split('\n')
        .filter((line) => line.includes('#'))
        .every((line) => line.length < 110),
    ).toBe(true);
    expect(text).not.toContain('\u001b');
    expect(text).not.toContain('\u2028');
    expect(loadAll(text)).toHaveLength(1);
    expect(text).not.toMatch(/^kind: Evil/m);
  });

  it('is parsed into the same values, for any values', () => {
    const tricky = fc.constantFrom(
      '\u202eevil\u2066',
      '',
      ' ',
      'yes',
      'null',
      '~',
      '010',
      '1e3',
      '2031-01-31',
      '- a',
      'a: b',
      '# c',
      '|',
      '\t',
      'a\r\nb',
      '\n\n',
      '\u0085',
      '"',
      "'",
      '<<',
      '=',
      '!x',
      '*a',
      '&a',
      '%',
      '@',
      '`',
      '---',
      '...',
    );
    const word = fc.oneof(tricky, fc.string({ unit: 'grapheme' }));
    const value: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        word,
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(word, tie('value'), { maxKeys: 3, noNullPrototype: true }),
      ),
    })).value;
    fc.assert(
      fc.property(
        fc.array(fc.dictionary(word, value, { maxKeys: 4, noNullPrototype: true }), {
          minLength: 1,
          maxLength: 3,
        }),
        (specs) => {
          const { text } = writeManifests(
            specs.map((spec, index) => draft(`n-${index}`, spec, ['a remark'])),
            schema,
          );
          const { documents, diagnostics } = parseDocuments(createSourceText('x.yaml', text));
          expect(diagnostics).toEqual([]);
          expect(text).not.toMatch(/\p{Bidi_Control}/u);
          const read = documents.map((document) => (document.value as { spec: Json }).spec);
          expect(read).toEqual(specs);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('is the same for the same resources', () => {
    const one = writeManifests([draft('a', { autoApply: true, tags: { b: '1', a: '2' } })], schema);
    expect(writeManifests([draft('a', { tags: { b: '1', a: '2' }, autoApply: true })], schema)).toEqual(one);
  });
});
