/**
 * One YAML document as a tree of exact source ranges, made from the concrete syntax tree of `yaml` (docs/internals/decisions/0011), and
 * replacements of ranges in its text.
 */
import { CST, Parser } from 'yaml';
import { quoted } from '../../model/quoted.ts';
import type { Span } from '../yaml/locate.ts';

/** How a value is written; `empty` is an implicit null. */
export type Style = 'plain' | 'single' | 'double' | 'text' | 'alias' | 'block' | 'flow' | 'empty';

/** The value itself, without anchor, tag and comments. */
export interface SourceNode extends Span {
  readonly style: Style;
  readonly is: 'scalar' | 'map' | 'list';
  /** the entries of a map or list, in the order of the text */
  readonly entries: readonly SourceEntry[];
  /** the anchor's name, with its span */
  readonly anchor?: Span & { readonly name: string };
  readonly tag?: Span;
  /** the name of an alias */
  readonly alias?: string;
}

/** A member of a map or an item of a list. */
export interface SourceEntry {
  /** where its key, its `-`, or, in a list with brackets, its value begins */
  readonly start: number;
  /** the end of its colon or dash; in a list with brackets where its value begins */
  readonly lead: number;
  /** only for members of maps */
  readonly key?: string;
  readonly value: SourceNode;
  /** its end: that of the value, or of the colon if it has no value */
  readonly end: number;
  /** the offset of the comma after it */
  readonly comma?: number;
}

/** A document in a form that cannot be edited. */
export class UnusualYaml extends Error {
  override readonly name = 'UnusualYaml';
}

/** @param at an offset in the content of the document @throws UnusualYaml */
export function readSourceTree(text: string, at: number): SourceNode {
  for (const root of readSourceTrees(text)) if (root.start <= at && at < root.end) return root;
  throw new UnusualYaml('its content was not found');
}

/** The documents of a text, without empty ones. @throws UnusualYaml */
export function* readSourceTrees(text: string): Generator<SourceNode> {
  for (const token of new Parser().parse(text))
    if (token.type === 'document' && token.value !== undefined) yield readNode(token.value, token.start);
}

/** @param around the tokens before the value, its anchor and its tag included */
function readNode(token: CST.Token, around: readonly CST.SourceToken[]): SourceNode {
  const anchor = around.find(({ type }) => type === 'anchor');
  const tag = around.find(({ type }) => type === 'tag');
  return {
    ...(anchor === undefined ? {} : { anchor: { ...spanOf(anchor), name: anchor.source.slice(1) } }),
    ...(tag === undefined ? {} : { tag: spanOf(tag) }),
    ...readValue(token),
  };
}

function readValue(token: CST.Token): Omit<SourceNode, 'anchor' | 'tag'> {
  const leaf = { is: 'scalar', entries: [] } as const;
  switch (token.type) {
    case 'scalar':
      return { ...leaf, style: 'plain', ...spanOf(token) };
    case 'single-quoted-scalar':
      return { ...leaf, style: 'single', ...spanOf(token) };
    case 'double-quoted-scalar':
      return { ...leaf, style: 'double', ...spanOf(token) };
    case 'alias':
      return { ...leaf, style: 'alias', alias: token.source.slice(1), ...spanOf(token) };
    case 'block-scalar': {
      const header = token.props.reduce((length, prop) => length + CST.stringify(prop).length, 0);
      const end = token.offset + header + token.source.length;
      return { ...leaf, style: 'text', start: token.offset, end };
    }
    case 'block-map':
    case 'block-seq':
      return readBlock(token);
    case 'flow-collection':
      return readFlow(token);
    default:
      throw new UnusualYaml(`${quoted(token.type)} is not expected in it`);
  }
}

function readBlock(token: CST.BlockMap | CST.BlockSequence): Omit<SourceNode, 'anchor' | 'tag'> {
  const isMap = token.type === 'block-map';
  const items = token.items.filter(({ key, sep, value, start }) =>
    isMap ? (key ?? sep ?? value) : start.some(({ type }) => type === 'seq-item-ind'),
  );
  const entries = items.map((item) => (isMap ? readMember(item) : readItem(item)));
  const [first, last] = [entries[0], entries.at(-1)];
  if (first === undefined || last === undefined) throw new UnusualYaml('a part of it is empty');
  return { style: 'block', is: isMap ? 'map' : 'list', entries, start: first.start, end: last.end };
}

type Item = CST.BlockMap['items'][number] | CST.FlowCollection['items'][number];

function readMember({ start, key, sep = [], value }: Item): SourceEntry {
  if (start.some(({ type }) => type === 'explicit-key-ind')) throw new UnusualYaml('it has a key after "?"');
  if (key === undefined || key === null || !('source' in key)) throw new UnusualYaml('it has a complex key');
  const name = CST.resolveAsScalar(key as CST.FlowScalar);
  if (name === null) throw new UnusualYaml('a key of it is an alias');
  const colon = sep.find(({ type }) => type === 'map-value-ind');
  const lead = colon === undefined ? spanOf(key).end : spanOf(colon).end;
  const node = value === undefined ? emptyNode(lead, sep) : readNode(value, sep);
  return { start: key.offset, lead, key: name.value, value: node, end: endOf(node, lead) };
}

function readItem({ start, value }: Item): SourceEntry {
  const dash = start.find(({ type }) => type === 'seq-item-ind');
  if (dash === undefined) throw new UnusualYaml('an item of it has no dash');
  const { end: lead } = spanOf(dash);
  const props = start.slice(start.indexOf(dash) + 1);
  const node = value === undefined ? emptyNode(lead, props) : readNode(value, props);
  return { start: dash.offset, lead, value: node, end: endOf(node, lead) };
}

/** An empty value ends after its anchor or tag. */
function endOf(node: SourceNode, lead: number): number {
  return Math.max(lead, node.end, node.anchor?.end ?? 0, node.tag?.end ?? 0);
}

function emptyNode(at: number, around: readonly CST.SourceToken[]): SourceNode {
  const props = around.filter(({ type }) => type === 'anchor' || type === 'tag');
  if (props.length > 0) throw new UnusualYaml('it has an anchor or a tag without a value');
  return { style: 'empty', is: 'scalar', entries: [], start: at, end: at };
}

function readFlow(token: CST.FlowCollection): Omit<SourceNode, 'anchor' | 'tag'> {
  const close = token.end.find(({ type }) => type === 'flow-map-end' || type === 'flow-seq-end');
  if (close === undefined) throw new UnusualYaml('a bracket of it is not closed');
  const isMap = token.start.type === 'flow-map-start';
  const entries: SourceEntry[] = [];
  for (const item of token.items) {
    const comma = item.start.find(({ type }) => type === 'comma');
    const before = entries.at(-1);
    if (comma !== undefined && before !== undefined)
      entries[entries.length - 1] = { ...before, comma: comma.offset };
    if ((item.key ?? item.value) === undefined || (item.key ?? item.value) === null) continue;
    entries.push(isMap ? readMember(item) : readFlowItem(item));
  }
  return {
    ...{ style: 'flow', is: isMap ? 'map' : 'list', entries },
    ...{ start: token.start.offset, end: close.offset + 1 },
  };
}

function readFlowItem({ start, key, value }: Item): SourceEntry {
  if (key !== undefined || value === undefined) throw new UnusualYaml('an item of it is a pair');
  const node = readNode(value, start);
  const from = Math.min(node.start, node.anchor?.start ?? node.start, node.tag?.start ?? node.start);
  return { start: from, lead: from, value: node, end: node.end };
}

function spanOf(token: { readonly offset: number; readonly source: string }): Span {
  return { start: token.offset, end: token.offset + token.source.length };
}

// Replacements of spans of a text, and its lines.

export interface Splice extends Span {
  readonly text: string;
}

/** @param splices must not overlap; two at the same offset are inserted in the given order */
export function applySplices(text: string, splices: readonly Splice[]): string {
  let result = '';
  let kept = 0;
  for (const { start, end, text: added } of splices.toSorted((a, b) => a.start - b.start)) {
    result += text.slice(kept, start) + added;
    kept = end;
  }
  return result + text.slice(kept);
}

export function lineStart(text: string, at: number): number {
  return text.lastIndexOf('\n', at - 1) + 1;
}

/** The offset after the line break of the line in which a value ends; a block scalar includes its line break. */
export function lineEnd(text: string, end: number): number {
  if (text[end - 1] === '\n') return end;
  const at = text.indexOf('\n', end);
  return at === -1 ? text.length : at + 1;
}

/** The rest of a line with its line break, if it is empty or a comment; otherwise undefined. */
export function bareRest(text: string, at: number): string | undefined {
  const rest = text.slice(at, lineEnd(text, at));
  return /^[ \t]*(#.*)?\r?\n?$/.test(rest) ? rest : undefined;
}

/** The number of characters before the offset in its line. */
export function columnOf(text: string, at: number): number {
  return at - lineStart(text, at);
}

/** Whether only spaces are before the offset in its line. */
export function beginsLine(text: string, at: number): boolean {
  return text.slice(lineStart(text, at), at).trim() === '';
}

/** The line break of the line at an offset, or of the line before. */
export function lineBreakAt(text: string, at: number): string {
  const next = text.indexOf('\n', at);
  const found = next === -1 ? text.lastIndexOf('\n') : next;
  return found > 0 && text[found - 1] === '\r' ? '\r\n' : '\n';
}

/** Inserts lines at the start of a line, or at the end of a text whose last line has no line break. */
export function insertLines(text: string, at: number, lines: readonly string[]): Splice {
  const lineBreak = lineBreakAt(text, Math.max(0, at - 1));
  const body = lines.join(lineBreak);
  const isOpenEnd = at === text.length && at > 0 && text[at - 1] !== '\n';
  return { start: at, end: at, text: isOpenEnd ? `${lineBreak}${body}` : `${body}${lineBreak}` };
}
