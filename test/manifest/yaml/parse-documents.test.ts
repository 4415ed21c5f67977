import * as yaml from 'js-yaml';
import { describe, expect, it, vi } from 'vitest';
import { parseDocuments } from '../../../src/manifest/yaml/parse-documents.ts';
import { createSourceText, placeIn } from '../../../src/manifest/yaml/yaml-document.ts';
import { formatDiagnostics } from '../../support/manifest/manifest-folder.ts';

vi.mock('js-yaml', { spy: true });

const parse = (text: string) => parseDocuments(createSourceText('a.yaml', text));
const values = (text: string) => parse(text).documents.map(({ value }) => value);

describe('a text of YAML documents', () => {
  it('is read as JSON: dates, infinities and yes are text', () => {
    expect(
      values('{ a: 2024-01-01, b: .inf, c: yes, d: 1.5, e: 0x10, f: ~, g: True, h: 012, i: "1" }'),
    ).toEqual([{ a: '2024-01-01', b: '.inf', c: 'yes', d: 1.5, e: 16, f: null, g: true, h: 12, i: '1' }]);
  });

  it('may use anchors, aliases and merge keys', () => {
    expect(values('base: &b { a: 1, c: 2 }\nspec: { <<: *b, c: 3 }\ncopy: *b\n')).toEqual([
      { base: { a: 1, c: 2 }, spec: { a: 1, c: 3 }, copy: { a: 1, c: 2 } },
    ]);
  });

  it('has no documents if there is nothing between the markers', () => {
    expect(values('')).toEqual([]);
    expect(values('# nothing\n')).toEqual([]);
    expect(values('---\n---\na: 1\n---\n')).toEqual([{ a: 1 }]);
  });

  it('may have a field called __proto__', () => {
    const [value] = values('__proto__: { a: 1 }\n');
    expect(Object.keys(value ?? {})).toEqual(['__proto__']);
  });

  it('is parsed once when valid, and a second time for the places of all its ten thousand documents', () => {
    vi.clearAllMocks();
    const text = Array.from(
      { length: 10_000 },
      (_, number) => `name: app-${number}\nspec: { a: [1, 2] }\n`,
    ).join('---\n');
    const { documents, diagnostics } = parse(text);
    expect(diagnostics).toEqual([]);
    expect(documents).toHaveLength(10_000);
    expect(yaml.parseEvents).toHaveBeenCalledTimes(1);
    const [first, last] = [documents[0], documents.at(-1)];
    expect(first && placeIn(first, ['spec', 'a', '1'])).toMatchObject({ line: 2, column: 16 });
    expect(last && placeIn(last, ['spec', 'a', '1'])).toMatchObject({ line: 29_999, column: 16 });
    expect(yaml.parseEvents).toHaveBeenCalledTimes(2);
    expect(yaml.constructFromEvents).toHaveBeenCalledTimes(1);
  });

  it('is not split at a directive', () => {
    expect(
      formatDiagnostics(parse('%TAG ! tag:example.com,2000:\n---\na: !x 1\n---\nb: 1\n').diagnostics),
    ).toEqual([
      'a.yaml:3:4+1 yaml-syntax: the tag "tag:example.com,2000:x" is not supported | fix: leave the tag out',
    ]);
  });
});
