/**
 * Formats the text of a file with YAML documents. Every result is checked: values, comments, anchors, aliases, tags and documents
 * are the same as before, and formatting it again changes nothing. Of files that a stack does not read, only manifests are
 * formatted: other programs may read YAML by other rules, in which quotes change a value.
 */
import { type CST, Parser } from 'yaml';
import { readSourceTrees, type SourceNode, UnusualYaml } from '../manifest/edit/source-tree.ts';
import { standardInput } from '../manifest/files/find-stack.ts';
import { manifestSchema } from '../manifest/schema/manifest-schema.ts';
import { stackDocumentSchema } from '../manifest/schema/stack-schema.ts';
import { findHidden } from '../manifest/yaml/hidden-parts.ts';
import { parseDocuments } from '../manifest/yaml/parse-documents.ts';
import { secretNames } from '../manifest/yaml/secret-fields.ts';
import { escapeInvisible, orderMembers } from '../manifest/yaml/write-manifests.ts';
import {
  createSourceText,
  placeIn,
  type SourceText,
  type YamlDocument,
} from '../manifest/yaml/yaml-document.ts';
import { jsonSchema } from '../model/define-kind.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { type Json, memberOf, sameJson } from '../model/json.ts';
import type { Registry } from '../model/kind.ts';
import { quoted } from '../model/quoted.ts';
import { policySchema } from '../policies/schema.ts';
import { printable } from '../report/view/printable.ts';
import type { CliHost } from '../run/host.ts';
import { type Collection, LayoutReader, type Line } from './fmt-layout.ts';
import { Lines, printDocument } from './fmt-print.ts';

/** How a file was chosen: as a file that a stack reads, by its own name, or by a directory around it. */
export type Origin = 'stack' | 'name' | 'directory';

/** @returns the formatted text, or why there is none; undefined for a file that is skipped: found in a directory, and not only manifests */
type Format = (file: string, text: string, origin: Origin) => string | readonly Diagnostic[] | undefined;

export function openFormat({ kinds }: CliHost): Format {
  const names = secretNames(kinds);
  const ofManifests = schemasOf(kinds);
  const schemaOf: SchemaOf = (value) =>
    memberOf(value, 'kind') === 'Policy' ? jsonSchema(policySchema) : ofManifests(value);
  return (file, text, origin) => {
    try {
      const source = createSourceText(file, text, (whole) => findHidden(whole, names));
      const other = origin === 'stack' ? undefined : findOther(source, schemaOf);
      if (other !== undefined && origin === 'directory') return undefined;
      return other?.document === undefined
        ? formatText(source, schemaOf)
        : [refuseOther(file, other.document)];
    } catch (error) {
      return [leftAsItIs(file, error)];
    }
  };
}

/**
 * Undefined for a file that has only manifests. Otherwise its first document that is not a manifest, or an empty object for a file
 * without documents, or with invalid YAML that does not mention trueup.
 */
function findOther(source: SourceText, schemaOf: SchemaOf): { readonly document?: YamlDocument } | undefined {
  const { documents, diagnostics } = parseDocuments(source);
  if (diagnostics.length > 0) return source.text.includes(apiGroup) ? undefined : {};
  const document = documents.find((each) => !isManifest(each, schemaOf));
  if (document !== undefined) return { document };
  return documents.length === 0 ? {} : undefined;
}

const apiGroup = 'trueup.dev/';

function isManifest({ value }: YamlDocument, schemaOf: SchemaOf): boolean {
  const version = memberOf(value, 'apiVersion');
  return typeof version === 'string' && version.startsWith(apiGroup) && schemaOf(value) !== undefined;
}

function refuseOther(file: string, document: YamlDocument): Diagnostic {
  return {
    ...notFormattable(
      file,
      'it has a document that is not a manifest, which other programs may read differently',
    ),
    place: placeIn(document, []),
    fix: 'format only files in which each document has "apiVersion: trueup.dev/v1" and a kind of trueup',
  };
}

/** Only the name of an unexpected error is shown: its message may have parts of the file. */
function leftAsItIs(file: string, error: unknown): Diagnostic {
  if (error instanceof UnusualYaml)
    return {
      ...notFormattable(file, error.message),
      fix: 'change what the message names; an anchor must be above its aliases when the members are in order',
    };
  const name = error instanceof Error ? error.name : typeof error;
  return {
    ...notFormattable(file, `trueup failed on it with ${printable(name)}`),
    fix: 'report this as a bug of trueup, with the part of the file that causes it',
  };
}

function notFormattable(file: string, reason: string): Diagnostic {
  const shown = file === standardInput ? 'standard input' : quoted(printable(file));
  return {
    code: 'not-formattable',
    severity: 'error',
    class: 'failure',
    message: `${shown} cannot be formatted and is left as it is: ${reason}`,
  };
}

/** The schema of a document, which has the order of its members; undefined for a document of an unknown kind. */
type SchemaOf = (value: Json) => Json | undefined;

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

/** How often a text is formatted at most until nothing changes. */
const maxRounds = 4;

/**
 * @returns the formatted text, or the problems of invalid YAML
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
      checkNothingLost(text, formatted, before.documents, documents);
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
    lines.addComments(below, '');
  }
  addFileLines(text.slice(at), lines);
  return lines.join() + (text.endsWith('\n') ? '\n' : '');
}

const schemaLine = /^#\s*yaml-language-server:/;

/** @returns the lines above a document, and the comments at their end, which belong to its first entry */
function splitLead(text: string, { style }: SourceNode): [string, Line[]] {
  const all = text.split('\n').map((line) => line.trim());
  if (style !== 'block' || all.pop() !== '') return [text, []];
  const last = all.findLastIndex((line) => !line.startsWith('#') || schemaLine.test(line));
  const above = all.slice(0, last + 1).map((line) => `${line}\n`);
  return [above.join(''), all.slice(last + 1)];
}

const noLayout: Collection = { is: 'map', inline: true, column: 0, top: [], entries: [], after: [] };

/** Formats a document in JSON, whose numbers keep their spelling. @returns undefined for any other document */
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

/** The offset of the line that separates a document from the next one. */
function endOfDocument(text: string, from: number): number {
  marker.lastIndex = from;
  return marker.exec(text)?.index ?? text.length;
}

/** Adds comments, empty lines, and lines that separate documents. */
function addFileLines(text: string, lines: Lines): void {
  const all = text.split('\n');
  if (all.at(-1)?.trim() === '') all.pop();
  for (const line of all.map((each) => each.trim())) {
    if (line === '' || line.startsWith('#')) lines.addComments([line], '');
    else if (/^(?:---|\.\.\.)(?:\s+#.*)?$|^%/.test(line)) lines.addMarker(line);
    else throw new UnusualYaml(`${JSON.stringify(line)} is not expected between its documents`);
  }
}

// The check that nothing is lost.

/** @throws UnusualYaml when the texts do not mean the same, or a comment or a name is gone */
function checkNothingLost(
  before: string,
  after: string,
  old: readonly YamlDocument[],
  now: readonly YamlDocument[],
): void {
  const values = (documents: readonly YamlDocument[]) => documents.map(({ value }) => value);
  if (!sameJson(values(old), values(now))) throw new UnusualYaml('the result would have other values');
  const [oldParts, newParts] = [partsOf(before), partsOf(after)];
  for (const [what, parts] of oldParts)
    if (!sameJson(parts.toSorted(), (newParts.get(what) ?? []).toSorted()))
      throw new UnusualYaml(`the result would not have the same ${what}`);
  if (newParts.size !== oldParts.size)
    throw new UnusualYaml('the result would have parts that it had not before');
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

/** The comments, anchors and other parts of a text besides values, by their type. */
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
