import { describe, expect, it } from 'vitest';
import { parseDocuments } from '../../../src/manifest/yaml/parse-documents.ts';
import { createSourceText } from '../../../src/manifest/yaml/yaml-document.ts';
import { formatDiagnostics } from '../../support/manifest/manifest-folder.ts';

function diagnose(text: string): string[] {
  return formatDiagnostics(parseDocuments(createSourceText('a.yaml', text)).diagnostics);
}

describe('text that is not YAML is explained at its mistake', () => {
  it.each([
    ['a tab', 'spec:\n\tname: x\n', '2:1+1', 'a tab indents this line', 'indent with spaces'],
    [
      'a colon in a value',
      'description: keep: it\n',
      '1:18+1',
      'the line has a second ": "',
      'put a value that holds ": " in quotes, or start a new line',
    ],
    [
      'a colon without its space',
      'kind:Parent\nmetadata:\n  name: x\n',
      '1:5+1',
      'a colon needs a space behind it',
      'write "field: value"',
    ],
    [
      'a line that is not a field',
      'kind: Parent\nnonsense\nmetadata: {}\n',
      '2:1+1',
      'this line is not "field: value"',
      'write a field and a colon, or indent a continued text',
    ],
    [
      'an indentation too deep',
      'kind: Parent\n  name: x\n',
      '2:3+1',
      'this line is not indented like its neighbours',
      'line it up with them',
    ],
    [
      'an indentation too shallow',
      'spec:\n  a: 1\n b: 2\n',
      '3:2+1',
      'this line is not indented like its neighbours',
      'line it up with them',
    ],
    ['an open bracket', 'a: [1, 2\nb: 3\n', '1:4+1', 'a "[" or "{" is not closed', 'close it'],
    [
      'a missing comma',
      'a: { b: 1 "c": 2 }\n',
      '1:14+1',
      'a comma is missing between two members of a "[…]" or "{…}"',
      'put a comma between them, or close the bracket before',
    ],
    ['an open quote', 'a: 1\nb: "text\nc: 2\n', '2:4+1', 'a quote is opened and never closed', 'close it'],
    [
      'text behind a quote',
      'a: "one" two\n',
      '1:10+1',
      'text follows the closing quote',
      'put all of the value inside the quotes',
    ],
    ['a value with @', 'a: @me\n', '1:4+1', 'a value cannot begin with "@"', 'put the value in quotes'],
    ['a value with %', 'a: %me\n', '1:4+1', 'a value cannot begin with "%"', 'put the value in quotes'],
    [
      'a backslash in quotes',
      'pattern: "\\d+"\n',
      '1:12+1',
      'a backslash in double quotes starts an escape, and this one is unknown',
      'use single quotes, or write the backslash twice',
    ],
    [
      'an unknown alias',
      'a: *base\n',
      '1:4+1',
      'there is no anchor "&base" before this alias',
      'anchors reach no further than their own document: define it there, or write the value out',
    ],
    ['a wildcard', 'a: [*]\n', '1:5+1', 'a value cannot begin with "*"', 'put the value in quotes'],
    ['a glob', 'a: *.yaml\n', '1:4+1', 'a value cannot begin with "*"', 'put the value in quotes'],
    [
      'a separator of four dashes',
      'a: 1\n----\nb: 2\n',
      '2:1+1',
      'documents are separated by exactly three dashes',
      'write "---"',
    ],
    [
      'a separator that a word processor changed',
      'a: 1\n—\nb: 2\n',
      '2:1+1',
      'documents are separated by exactly three dashes',
      'write "---"',
    ],
    ['a tag', 'a: !secret x\n', '1:4+1', 'the tag "!secret" is not supported', 'leave the tag out'],
    ...[
      ['!has(resource.spec.project)', "'!has(resource.spec.project)'"],
      ['!(change.name == "a" && has(x))  # a comment', '\'!(change.name == "a" && has(x))\''],
      ['!resource.spec.autoApply', "'!resource.spec.autoApply'"],
      ["!has(x) || y == 'prod'", "'!has(x) || y == ''prod'''"],
      ['!plan.counts.all(t, t == "x")', '\'!plan.counts.all(t, t == "x")\''],
    ].map(([rule = '', corrected = '']) => [
      `a rule without quotes that begins with "!": ${rule}`,
      `a: 1\nrule: ${rule}\n`,
      '2:7+1',
      'a value that begins with "!" needs quotes: YAML takes the mark for a tag',
      `write rule: ${corrected}`,
    ]),
    [
      'a list on the line of its field',
      'a: - b\n',
      '1:4+1',
      'a list cannot begin on the line of its field',
      'start it on a new line',
    ],
    [
      'a template',
      'kind: Parent\nmetadata: { name: {{ .Values.name }} }\n',
      '2:19+1',
      'a template is not rendered: "{{" has no meaning here',
      'render the manifests first and pipe them in, with "-" as the path',
    ],
    [
      'a merge conflict',
      'kind: Parent\n<<<<<<< HEAD\nspec: 1\n=======\nspec: 2\n>>>>>>> other\n',
      '2:1+1',
      'a merge conflict is not resolved',
      'resolve it, and remove its marks',
    ],
    [
      'a control character',
      'a: "\u0000"\n',
      '1:5+1',
      'the text holds a character that YAML does not allow',
      'save the file as UTF-8 text, and remove control characters',
    ],
  ])('%s', (...[, text = '', place, message, fix]) => {
    const [first] = diagnose(text);
    expect(first).toBe(`a.yaml:${place} yaml-syntax: ${message} | fix: ${fix}`);
  });

  it('a repeated key, at each repetition and with the first one', () => {
    expect(diagnose('a: 1\nb: { c: 1, c: 2, c: 3 }\n---\na: 1\n---\nd: 1\nd: 2\n')).toEqual([
      'a.yaml:2:12+1 duplicate-field: "c" appears twice in one map | fix: keep one of them | first here a.yaml:2:6',
      'a.yaml:2:18+1 duplicate-field: "c" appears twice in one map | fix: keep one of them | first here a.yaml:2:6',
      'a.yaml:7:1+1 duplicate-field: "d" appears twice in one map | fix: keep one of them | first here a.yaml:6:1',
    ]);
  });

  it('in each document of a file, without losing the valid ones', () => {
    const { documents, diagnostics } = parseDocuments(
      createSourceText('a.yaml', 'a: 1\n---\nb: "\n---\nc: [\n---\nd: 1\n'),
    );
    expect(documents.map(({ value }) => value)).toEqual([{ a: 1 }, { d: 1 }]);
    expect(formatDiagnostics(diagnostics)).toEqual([
      'a.yaml:3:4+1 yaml-syntax: a quote is opened and never closed | fix: close it',
      'a.yaml:5:4+1 yaml-syntax: a "[" or "{" is not closed | fix: close it',
    ]);
  });
});
