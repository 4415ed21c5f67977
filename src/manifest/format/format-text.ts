/**
 * Formats the text of a file with YAML documents. Every result is proven: its values, comments, anchors, aliases, tags and documents
 * are those of the text before, and formatting it again changes nothing.
 */
import { type CST, Parser } from 'yaml';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { type Json, memberOf, sameJson } from '../../model/json.ts';
import type { Registry } from '../../model/kind.ts';
import { readSourceTrees, type SourceNode, UnusualYaml } from '../edit/source-tree.ts';
import { manifestSchema } from '../schema/manifest-schema.ts';
import { stackDocumentSchema } from '../schema/stack-schema.ts';
import { parseDocuments } from '../yaml/parse-documents.ts';
import { escapeInvisible, orderMembers } from '../yaml/write-manifests.ts';
import { createSourceText, type SourceText, type YamlDocument } from '../yaml/yaml-document.ts';
import { type Collection, LayoutReader, type Line } from './layout.ts';
import { Lines, printDocument } from './print-layout.ts';

/** The schema of a document, which has the order of its members; undefined for a document of an unknown kind. */
export type SchemaOf = (value: Json) => Json | undefined;

/** @returns the schema of each kind of document that trueup reads */
export function schemasOf(kinds: Registry): SchemaOf {
  const made = new Map<string, Json | undefined>();
  const make = (name: string) => {
    const kind = kinds.get(name);
    if (name === 'Stack') return stackDocumentSchema(kinds);
    return kind === undefined ? undefined : manifestSchema(kind);
  };
  return (value) => {
    const name = memberOf(value, 'kind');
    if (typeof name !== 'string') return undefined;
    if (!made.has(name)) made.set(name, make(name));
    return made.get(name);
  };
}

/** How often a text is formatted until nothing changes. */
const maxRounds = 4;

/**
 * @returns the formatted text, or why there is none: problems of the YAML
 * @throws UnusualYaml when the text cannot be formatted without losing something
 */
export function formatText(source: SourceText, schemaOf: SchemaOf): string | readonly Diagnostic[] {
  const { text } = source;
  const before = parseDocuments(source);
  if (before.diagnostics.length > 0) return before.diagnostics;
  const lineBreak = /\r\n|\n/.exec(text)?.[0] ?? '\n';
  let formatted = format(text.replaceAll('\r\n', '\n'), before.documents, schemaOf);
  for (let round = 0; round < maxRounds; round++) {
    const documents = parsed(formatted);
    const again = format(formatted, documents, schemaOf);
    if (again === formatted) {
      prove(text, formatted, before.documents, documents);
      return lineBreak === '\n' ? formatted : formatted.replaceAll('\n', lineBreak);
    }
    formatted = again;
  }
  throw new UnusualYaml('its comments have no stable place');
}

function parsed(text: string): readonly YamlDocument[] {
  const { documents, diagnostics } = parseDocuments(createSourceText('', text));
  if (diagnostics.length > 0)
    throw new UnusualYaml(`the result would be invalid YAML: ${diagnostics[0]?.message ?? ''}`);
  return documents;
}

function format(text: string, documents: readonly YamlDocument[], schemaOf: SchemaOf): string {
  const lines = new Lines();
  let at = 0;
  for (const [index, root] of [...readSourceTrees(text)].entries()) {
    const [above, own] = splitLead(text.slice(at, root.start), root);
    addFileLines(above, lines);
    const schema = schemaOf(documents[index]?.value ?? null);
    const reader = new LayoutReader(text, root.start);
    const json = jsonText(text, root, schema);
    const layout = json === undefined ? reader.root(root, own) : noLayout;
    reader.at = json === undefined ? reader.at : root.end;
    at = endOfDocument(text, reader.at);
    const below = reader.finish(layout, at);
    if (json === undefined) printDocument(layout, schema, lines);
    else lines.addText(json.split('\n'));
    lines.addRemarks(below, '');
  }
  addFileLines(text.slice(at), lines);
  return lines.join() + (text.endsWith('\n') ? '\n' : '');
}

const schemaLine = /^#\s*yaml-language-server:/;

/** The lines above a document, and below them the comments that belong to its first entry. */
function splitLead(text: string, { style }: SourceNode): [string, Line[]] {
  const all = text.split('\n').map((line) => line.trim());
  if (style !== 'block' || all.pop() !== '') return [text, []];
  const last = all.findLastIndex((line) => !line.startsWith('#') || schemaLine.test(line));
  const above = all.slice(0, last + 1).map((line) => `${line}\n`);
  return [above.join(''), all.slice(last + 1)];
}

const noLayout: Collection = { is: 'map', inline: true, column: 0, top: [], entries: [], after: [] };

/** A document in JSON stays JSON, and its numbers keep their spelling. */
function jsonText(
  text: string,
  { style, start, end }: SourceNode,
  schema: Json | undefined,
): string | undefined {
  if (style !== 'flow') return undefined;
  const source = text.slice(start, end);
  let value: Json;
  try {
    value = JSON.parse(source) as Json;
  } catch {
    return undefined;
  }
  // Each number is first written as a placeholder, a text that occurs nowhere else.
  let mark = 'number';
  while (JSON.stringify(value).includes(mark)) mark += 'x';
  const numbers: string[] = [];
  const marked = source.replace(stringOrNumber, (token) =>
    token.startsWith('"') ? token : JSON.stringify(`${mark}${numbers.push(token)}end`),
  );
  const ordered = orderMembers(JSON.parse(marked) as Json, schema);
  const written = JSON.stringify(ordered, undefined, source.includes('\n') ? 2 : undefined);
  return escapeInvisible(
    written.replace(new RegExp(`.${mark}(\\d+)end.`, 'g'), (_, number) => numbers[Number(number) - 1] ?? ''),
  );
}

const stringOrNumber = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

const marker = /^(?:---|\.\.\.)(?=\s|$)|^%/gm;

/** Where the line begins that divides a document from the next one. */
function endOfDocument(text: string, from: number): number {
  marker.lastIndex = from;
  return marker.exec(text)?.index ?? text.length;
}

/** Comments, empty lines, and lines that divide documents. */
function addFileLines(text: string, lines: Lines): void {
  const all = text.split('\n');
  if (all.at(-1)?.trim() === '') all.pop();
  for (const line of all.map((each) => each.trim())) {
    if (line === '' || line.startsWith('#')) lines.addRemarks([line], '');
    else if (/^(?:---|\.\.\.)(?:\s+#.*)?$|^%/.test(line)) lines.addMarker(line);
    else throw new UnusualYaml(`${JSON.stringify(line)} is not expected between its documents`);
  }
}

// The proof that nothing is lost.

/** @throws UnusualYaml when the texts do not mean the same, or a comment or a name is gone */
function prove(
  before: string,
  after: string,
  old: readonly YamlDocument[],
  now: readonly YamlDocument[],
): void {
  const values = (documents: readonly YamlDocument[]) => documents.map(({ value }) => value);
  if (!sameJson(values(old), values(now))) throw new UnusualYaml('the result would have other values');
  const [kept, left] = [partsOf(before), partsOf(after)];
  for (const [what, parts] of kept)
    if (!sameJson(parts.toSorted(), (left.get(what) ?? []).toSorted()))
      throw new UnusualYaml(`the result would not have the same ${what}`);
  if (left.size !== kept.size) throw new UnusualYaml('the result would have parts that it had not before');
}

const keptParts: Readonly<Record<string, string>> = {
  comment: 'comments',
  anchor: 'anchors',
  alias: 'aliases',
  tag: 'tags',
  directive: 'directives',
  'doc-start': 'documents',
  'doc-end': 'documents',
};

/** What a text has besides values, by its sort. */
function partsOf(text: string): ReadonlyMap<string, readonly Line[]> {
  const found = new Map<string, string[]>();
  const note = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(note);
    else if (typeof value === 'object' && value !== null) {
      const { type, source } = value as Partial<CST.SourceToken>;
      const what = keptParts[String(type)];
      if (what !== undefined && source !== undefined)
        found.set(what, [...(found.get(what) ?? []), source.trim()]);
      Object.values(value).forEach(note);
    }
  };
  for (const token of new Parser().parse(text)) note(token);
  return found;
}
