import { expect, it } from 'vitest';
import { parseDocuments } from '../../../src/manifest/yaml/parse-documents.ts';
import { createSourceText } from '../../../src/manifest/yaml/yaml-document.ts';
import { formatDiagnostics } from '../../support/manifest/manifest-folder.ts';

const parse = (text: string) => parseDocuments(createSourceText('a.yaml', text));

it('an alias inside its own anchor is refused, and the other documents are read', () => {
  const { documents, diagnostics } = parse('a: &a { b: *a }\n---\nc: 1\n');
  expect(documents.map(({ value }) => value)).toEqual([{ c: 1 }]);
  expect(formatDiagnostics(diagnostics)).toEqual([
    'a.yaml:1:12+2 endless-alias: the alias "*a" is inside its own anchor "&a" | fix: write the value out',
  ]);
});

it('a few lines that expand to billions of values are refused', () => {
  const level = (name: string, below: string) => `${name}: &${name} [${Array(10).fill(below).join(', ')}]\n`;
  const bomb = ['b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'].map((name, index) =>
    level(name, `*${String.fromCharCode(97 + index)}`),
  );
  expect(formatDiagnostics(parse(`a: &a x\n${bomb.join('')}`).diagnostics)).toEqual([
    'a.yaml:7:8+2 too-many-aliases: the alias "*f" expands to more than 100000 values | fix: use fewer aliases of aliases, or split the document',
  ]);
});

it('an anchor of a small value may be used often', () => {
  const { documents, diagnostics } = parse(`a: &a { x: 1 }\nb: [${Array(1000).fill('*a').join(', ')}]\n`);
  expect(diagnostics).toEqual([]);
  expect(documents).toHaveLength(1);
});

it('an anchor may be defined again', () => {
  const [document] = parse('a: &x 1\nb: *x\nc: &x { d: 1 }\ne: *x\n').documents;
  expect(document?.value).toEqual({ a: 1, b: 1, c: { d: 1 }, e: { d: 1 } });
});
