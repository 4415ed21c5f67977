/**
 * Prints a document in the form that `export` writes: two spaces a level, members in the order of the schema, quotes only where a
 * text needs them. Brackets on one line are kept; brackets over several lines become indented lines.
 */
import { dump, load } from 'js-yaml';
import { type Json, memberOf } from '../model/json.ts';
import { UnusualYaml } from '../manifest/edit/source-tree.ts';
import { bareText } from '../manifest/edit/value-text.ts';
import { jsonLikeSchema } from '../manifest/yaml/parse-documents.ts';
import { byRank, changesDirection, doubleQuoted, schemaOfMember } from '../manifest/yaml/write-manifests.ts';
import type { BlockText, Collection, Entry, Line, Scalar } from './fmt-layout.ts';

const step = '  ';

/** Lines of a text, never with two empty lines in a row, nor with one at the beginning or end of a part. */
export class Lines {
  readonly #lines: string[] = [];
  #isGap = false;
  #isBegin = true;

  /** @param opens whether an empty line after it is left out */
  add(line: string, { opens = false }: { readonly opens?: boolean } = {}): void {
    if (this.#isGap && !this.#isBegin) this.#lines.push('');
    this.#lines.push(line);
    this.#isGap = false;
    this.#isBegin = opens;
  }

  /** Adds lines that are kept as they are, such as those of a text after `|` or `>`. */
  addText(lines: readonly string[]): void {
    for (const line of lines) this.#lines.push(line);
  }

  addComments(lines: readonly Line[], indent: string): void {
    for (const line of lines) {
      if (line === '') this.#isGap = true;
      else this.add(`${indent}${line}`);
    }
  }

  /** Adds a line that separates documents. */
  addMarker(line: string): void {
    this.#isGap = false;
    this.add(line, { opens: true });
  }

  join(): string {
    return this.#lines.join('\n');
  }
}

/** @param schema of the value, for the order of its members */
export function printDocument(root: Collection, schema: Json | undefined, lines: Lines): void {
  if (root.inline || root.entries.length === 0) lines.add(inlineText(root, schema));
  else printEntries(root, schema, { indent: '', lines });
}

interface Place {
  readonly indent: string;
  readonly lines: Lines;
  /** the beginning of the first line, instead of its indentation */
  readonly lead?: string;
}

function printEntries(collection: Collection, schema: Json | undefined, place: Place): void {
  const { indent, lines, lead } = place;
  lines.addComments(collection.top, indent);
  for (const [index, entry] of inOrder(collection, schema).entries()) {
    const isBehindLead = index === 0 && lead !== undefined;
    if (!isBehindLead) lines.addComments(entry.before, indent);
    printEntry(entry, schemaOf(entry, schema), { indent, lines, lead: isBehindLead ? lead : indent });
  }
  lines.addComments(collection.after, indent);
}

function inOrder({ is, entries }: Collection, schema: Json | undefined): readonly Entry[] {
  if (is === 'list' || memberOf(schema, 'properties') === undefined) return entries;
  const isMerge = ({ key }: Entry) => Number(key === '<<');
  const byName = byRank(({ name = '' }: Entry) => name, schema);
  return entries.toSorted((one, other) => isMerge(other) - isMerge(one) || byName(one, other));
}

function schemaOf({ name }: Entry, schema: Json | undefined): Json | undefined {
  return name === undefined ? memberOf(schema, 'items') : schemaOfMember(schema, name);
}

function printEntry(entry: Entry, schema: Json | undefined, { indent, lines, lead }: Required<Place>): void {
  const { value } = entry;
  const below = indent + step;
  const begin = lead + (entry.key === undefined ? '-' : `${keyText(entry, false)}:`) + entry.props;
  const place = { begin, schema, below, lines };
  if ((value.is === 'map' || value.is === 'list') && isNested(value)) printNested(entry, value, place);
  else printFlat(entry, place);
  // Indented deeper, a comment below a text after "|" would be part of the text.
  lines.addComments(entry.after, value.is === 'text' ? indent : below);
}

interface ValuePlace {
  /** the key or dash, with anchor and tag */
  readonly begin: string;
  readonly schema: Json | undefined;
  /** indentation of what is written below */
  readonly below: string;
  readonly lines: Lines;
}

function printFlat(entry: Entry, { begin, schema, below, lines }: ValuePlace): void {
  const { value, head, between, beside } = entry;
  const [first = '', ...text] = valueLines(entry, schema, below);
  const isBelow = head !== undefined || between.length > 0;
  if (isBelow && text.length > 0)
    throw new UnusualYaml('a comment stands between a key and the text behind "|" or ">"');
  if (isBelow) {
    lines.add(begin + commentSuffix(head), { opens: true });
    lines.addComments(between, below);
  }
  const start = isBelow ? below : first === '' ? begin : `${begin} `;
  lines.add(start + first + commentSuffix(beside));
  lines.addText(text);
  if ('after' in value) lines.addComments(value.after, below);
}

function isNested({ inline, entries }: Collection): boolean {
  return !inline && entries.length > 0;
}

function printNested(
  { key, props, head, beside }: Entry,
  nested: Collection,
  { begin, schema, below, lines }: ValuePlace,
): void {
  const [first] = inOrder(nested, schema);
  const isBare = [...nested.top, ...(first?.before ?? [])].every((line) => line === '');
  if (key === undefined && props === '' && head === undefined && isBare) {
    printEntries(nested, schema, { indent: below, lines, lead: `${begin} ` });
  } else {
    lines.add(begin + commentSuffix(head), { opens: true });
    printEntries(nested, schema, { indent: below, lines });
  }
  // The closing bracket is not printed, so a comment after it gets a line of its own.
  if (beside !== undefined) lines.addComments([beside], below);
}

function commentSuffix(comment: string | undefined): string {
  return comment === undefined ? '' : ` ${comment}`;
}

/** The lines of a value; all but the first one with their indentation. */
function valueLines({ value, props }: Entry, schema: Json | undefined, below: string): string[] {
  if (value.is === 'text') return blockLines(value, below);
  return [value.is === 'scalar' ? scalarText(value, { flow: false, props }) : inlineText(value, schema)];
}

function blockLines({ sign, chomp, lines }: BlockText, indent: string): string[] {
  const isSpaced = lines.find((line) => line.trim() !== '')?.startsWith(' ') === true;
  return [
    `${sign}${isSpaced ? step.length : ''}${chomp}`,
    ...lines.map((line) => (line === '' ? '' : indent + line)),
  ];
}

function inlineText(collection: Collection, schema: Json | undefined): string {
  const members = inOrder(collection, schema).map((entry) => inlineEntry(entry, schemaOf(entry, schema)));
  const text = members.join(', ');
  if (collection.is === 'list') return `[${text}]`;
  return text === '' ? '{}' : `{ ${text} }`;
}

function inlineEntry(entry: Entry, schema: Json | undefined): string {
  const { value, props } = entry;
  const lead = entry.key === undefined ? props.trimStart() : `${keyText(entry, true)}:${props}`;
  if (value.is === 'text') throw new UnusualYaml('a text behind "|" or ">" stands between brackets');
  const text = value.is === 'scalar' ? scalarText(value, { flow: true, props }) : inlineText(value, schema);
  return [lead, text === '' ? 'null' : text].filter((part) => part !== '').join(' ');
}

// Quotes are the same as in `export`.

interface ScalarContext {
  readonly flow: boolean;
  /** anchor and tag: a value with a tag keeps its spelling */
  readonly props: string;
}

function scalarText({ style, source }: Scalar, { flow, props }: ScalarContext): string {
  if (style === 'alias' || source === '') return source;
  if (props.includes('!')) {
    if (source.includes('\n')) throw new UnusualYaml('one of its values with a tag has several lines');
    return source;
  }
  return wordText(source, (text) => {
    if (changesDirection(text)) return doubleQuoted(text);
    const bare = bareText(text, { flow, bare: false });
    return /^[|>]/.test(bare) ? doubleQuoted(text) : bare;
  });
}

function keyText({ key = '' }: Entry, flow: boolean): string {
  if (key === '<<') return key;
  return wordText(key, (text) => {
    if (changesDirection(text) || /[\r\n]/.test(text)) return doubleQuoted(text);
    if (flow) return bareText(text, { flow, bare: false });
    const line = dump({ [text]: 1 }, { lineWidth: -1 }).trimEnd();
    return line.endsWith(': 1') && !line.startsWith('? ') ? line.slice(0, -3) : key;
  });
}

/** @param write writes a text; other values, such as numbers, keep their spelling */
function wordText(source: string, write: (text: string) => string): string {
  const value = load(source, { schema: jsonLikeSchema });
  return typeof value === 'string' ? write(value) : source;
}
