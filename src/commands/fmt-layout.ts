/**
 * Reads the text of YAML documents into a tree of entries, each with the comments and empty lines that belong to it. The tree keeps
 * the spelling of all of the text; text that does not fit into the tree is refused.
 */
import {
  columnOf,
  lineEnd,
  lineStart,
  type SourceEntry,
  type SourceNode,
  type Style,
  UnusualYaml,
} from '../manifest/edit/source-tree.ts';

/** A comment with its `#`, or an empty text for an empty line. */
export type Line = string;

export interface Entry {
  /** comments and empty lines above it */
  before: Line[];
  /** as it is written; absent in a list */
  readonly key?: string;
  /** the name that `key` spells */
  readonly name?: string;
  /** anchor and tag of the value, as written */
  props: string;
  /** the comment after the colon or dash, if the value begins on a later line */
  head?: string;
  /** comments between the key or dash and a value of one line */
  between: Line[];
  value: Value;
  /** the comment after the value, on the same line */
  beside?: string;
  /** comments below it, indented deeper */
  after: Line[];
}

type Value = Scalar | BlockText | Collection;

export interface Scalar {
  readonly is: 'scalar';
  readonly style: Exclude<Style, 'text' | 'block' | 'flow'>;
  readonly source: string;
}

/** A text after `|` or `>`. */
export interface BlockText {
  readonly is: 'text';
  readonly sign: string;
  /** what happens to line breaks at the end: `+` keeps all, `-` removes all, empty keeps one */
  readonly chomp: string;
  /** without their indentation */
  readonly lines: readonly string[];
}

export interface Collection {
  readonly is: 'map' | 'list';
  /** between brackets, on one line */
  readonly inline: boolean;
  readonly column: number;
  /** comments above the first entry that an empty line separates from it */
  top: Line[];
  readonly entries: Entry[];
  /** comments below the last entry */
  after: Line[];
}

/** The entry that has a collection as its value. */
interface Owner {
  readonly entry: SourceEntry;
  readonly made: Entry;
}

/** Comments and empty lines between two offsets. */
interface Trivia {
  /** the comment on the same line as the YAML before it */
  readonly beside?: string;
  readonly lines: readonly PlacedLine[];
}

interface PlacedLine {
  readonly text: Line;
  readonly column: number;
}

/** Reads one document, whose root begins at `at`. */
export class LayoutReader {
  readonly #text: string;
  /** the offset up to which the text is in the tree */
  at: number;
  /** the entry that a comment on the same line belongs to */
  #last: Entry | undefined;

  constructor(text: string, at: number) {
    this.#text = text;
    this.at = at;
  }

  /**
   * @param above comments of the first entry
   * @throws UnusualYaml
   */
  root(node: SourceNode, above: readonly Line[]): Collection {
    if (node.is === 'scalar') throw new UnusualYaml('one of its documents is neither a map nor a list');
    if (node.anchor ?? node.tag) throw new UnusualYaml('one of its documents has an anchor or a tag');
    const placed = above.map((text) => ({ text, column: 0 }));
    const root = this.#collection(node, placed);
    if (node.style === 'flow') this.#last = undefined;
    return root;
  }

  /**
   * Adds the comments below a root to the tree.
   * @param end the offset of the end of the document
   * @returns the lines that belong to no entry
   */
  finish(root: Collection, end: number): Line[] {
    const { beside, lines } = this.#trivia(end);
    const above = this.#noteBeside(beside);
    const [own, rest] = splitTail([...above, ...lines], root.column);
    attachBelow(root.entries.at(-1), own);
    return rest.map(({ text }) => text);
  }

  #collection(node: SourceNode, first: readonly PlacedLine[], owner?: Owner): Collection {
    const [top, above] = splitTop(first);
    const source = this.#text.slice(node.start, node.end);
    const made: Collection = {
      is: node.is === 'list' ? 'list' : 'map',
      inline: node.style === 'flow' && !source.includes('\n'),
      column: columnOf(this.#text, node.start),
      top,
      entries: [],
      after: [],
    };
    if (node.style === 'flow') this.#bracketed(node, made, { above, owner });
    else this.#indented(node, made, above);
    return made;
  }

  #indented(node: SourceNode, made: Collection, above: Line[]): void {
    let before = above;
    for (const [index, entry] of node.entries.entries()) {
      if (index > 0) {
        const { beside, lines } = this.#trivia(entry.start);
        const [own, next] = splitTail([...this.#noteBeside(beside), ...lines], made.column);
        attachBelow(made.entries.at(-1), own);
        before = next.map(({ text }) => text);
      }
      made.entries.push(this.#entry(entry, before));
    }
  }

  #bracketed(
    node: SourceNode,
    made: Collection,
    { above, owner }: { readonly above: Line[]; readonly owner: Owner | undefined },
  ): void {
    this.at = node.start + 1;
    if (owner !== undefined && !made.inline) this.#noteOpening(node, owner);
    let before = above;
    for (const entry of node.entries) {
      before.push(...this.#between(entry.start, made));
      made.entries.push(this.#entry(entry, before));
      before = [];
      if (entry.comma === undefined) continue;
      before.push(...this.#between(entry.comma, made));
      this.at = entry.comma + 1;
    }
    made.after.push(...before, ...this.#between(node.end - 1, made));
    this.at = node.end;
  }

  /** Keeps a comment after an opening bracket on the line of its key or dash, if the bracket is on that line. */
  #noteOpening({ start, entries }: SourceNode, { entry, made }: Owner): void {
    const [gap, comment] = /^[ \t]*(#.*)/.exec(this.#text.slice(this.at, lineEnd(this.#text, this.at))) ?? [];
    if (gap === undefined || comment === undefined) return;
    if (this.#text.slice(entry.start, start).includes('\n')) return;
    const lead = this.#text.slice(lineStart(this.#text, entry.start), entry.start);
    if (!/^[\s-]*$/.test(lead)) throw new UnusualYaml('a comment follows two opening brackets on one line');
    this.at += gap.length;
    made[entries.length === 0 ? 'beside' : 'head'] = comment.trimEnd();
  }

  /** The lines before an offset between brackets. A comment on the line of the last entry is stored with that entry. */
  #between(until: number, made: Collection): Line[] {
    const { beside, lines } = this.#trivia(until);
    const above = made.entries.length === 0 ? toLines(beside) : this.#noteBeside(beside);
    return [...above, ...lines].map(({ text }) => text);
  }

  /** @returns the comment as a line, if no entry can keep it beside its value */
  #noteBeside(beside: string | undefined): PlacedLine[] {
    if (beside === undefined) return [];
    if (this.#last === undefined || this.#last.beside !== undefined) return toLines(beside);
    this.#last.beside = beside;
    return [];
  }

  #entry(entry: SourceEntry, before: Line[]): Entry {
    const made: Entry = {
      before,
      ...this.#key(entry),
      props: '',
      between: [],
      value: { is: 'scalar', style: 'empty', source: '' },
      after: [],
    };
    this.at = entry.lead;
    const lines = this.#lead(entry, made);
    const { value } = entry;
    this.#last = made;
    if (value.style === 'block' || value.style === 'flow') {
      const isInline = value.style === 'flow' && !this.#text.slice(value.start, value.end).includes('\n');
      if (isInline) made.between = lines.map(({ text }) => text);
      made.value = this.#collection(value, isInline ? [] : lines, { entry, made });
      if (value.style === 'flow') this.#last = made;
    } else {
      made.between = lines.map(({ text }) => text);
      made.value = value.style === 'text' ? this.#blockText(entry, made) : this.#scalar(value);
    }
    return made;
  }

  #key({ key, start, lead }: SourceEntry): Pick<Entry, 'key' | 'name'> {
    if (key === undefined) return {};
    const source = this.#text.slice(start, lead - 1).trimEnd();
    if (this.#text[lead - 1] !== ':' || source === '') throw new UnusualYaml('one of its keys has no colon');
    if (source.includes('\n')) throw new UnusualYaml('one of its keys has several lines');
    return { key: source, name: key };
  }

  /** Reads up to the value: anchor, tag and comments. @returns the lines above the value */
  #lead({ value }: SourceEntry, made: Entry): PlacedLine[] {
    const lines: PlacedLine[] = [];
    const take = (until: number) => {
      const found = this.#trivia(until);
      if (found.beside !== undefined && made.head === undefined && lines.length === 0)
        made.head = found.beside;
      else lines.push(...toLines(found.beside));
      lines.push(...found.lines);
    };
    const props = [value.anchor, value.tag].filter((prop) => prop !== undefined);
    for (const prop of props.toSorted((a, b) => a.start - b.start)) {
      take(prop.start);
      made.props += ` ${this.#text.slice(prop.start, prop.end)}`;
      this.at = prop.end;
    }
    if (value.style !== 'empty') take(value.start);
    return lines;
  }

  #scalar({ style, start, end }: SourceNode): Scalar {
    this.at = Math.max(this.at, end);
    if (style === 'text' || style === 'block' || style === 'flow')
      throw new UnusualYaml('one of its values is not a scalar');
    return { is: 'scalar', style, source: this.#text.slice(start, end) };
  }

  #blockText({ start: from, value: { start, end } }: SourceEntry, made: Entry): BlockText {
    const text = this.#text.slice(start, end);
    const [header = '', ...all] = text.split('\n');
    const [, sign = '', digits = '', comment] = /^([|>])([0-9+-]*)[ \t]*(#.*)?$/.exec(header) ?? [];
    if (sign === '') throw new UnusualYaml('a text behind "|" or ">" has another header');
    if (comment !== undefined) made.beside = comment.trimEnd();
    if (all.at(-1) === '') all.pop();
    const given = /[1-9]/.exec(digits)?.[0];
    const first = all.find((line) => /[^ ]/.test(line)) ?? '';
    const width =
      given === undefined
        ? first.length - first.trimStart().length
        : columnOf(this.#text, from) + Number(given);
    const chomp = /[+-]/.exec(digits)?.[0] ?? '';
    const last = all.findLastIndex((line) => line.slice(width) !== '');
    if (last === -1) throw new UnusualYaml('a text behind "|" or ">" has only empty lines');
    const kept = chomp === '+' ? all : all.slice(0, last + 1);
    // Empty lines below it belong to the text only with "+".
    this.at = start + [header, ...kept].join('\n').length;
    if (this.#text[this.at] === '\n') this.at++;
    return { is: 'text', sign, chomp, lines: kept.map((line) => line.slice(width)) };
  }

  /** @throws UnusualYaml for anything but comments and white space */
  #trivia(until: number): Trivia {
    const gap = this.#text.slice(this.at, until);
    const isLineStart = this.at === 0 || this.#text[this.at - 1] === '\n';
    this.at = until;
    const parts = gap.split('\n');
    const hasPartialLine = until < this.#text.length || parts.at(-1) === '';
    const partialLine = hasPartialLine ? parts.pop() : undefined;
    const commentIn = (part: string) => {
      const text = part.trim();
      if (text !== '' && !text.startsWith('#'))
        throw new UnusualYaml(`${JSON.stringify(text)} is not expected in it`);
      return text;
    };
    if (partialLine !== undefined && parts.length === 0) {
      if (commentIn(partialLine) !== '') throw new UnusualYaml(unplacedComment);
      return { lines: [] };
    }
    if (partialLine !== undefined && partialLine.trim() !== '') throw new UnusualYaml(unplacedComment);
    const beside = isLineStart ? '' : commentIn(parts.shift() ?? '');
    const lines = parts.map((part) => ({
      text: commentIn(part),
      column: part.length - part.trimStart().length,
    }));
    return { ...(beside === '' ? {} : { beside }), lines };
  }
}

const unplacedComment = 'one of its comments is at an unsupported place';

function toLines(comment: string | undefined): PlacedLine[] {
  return comment === undefined ? [] : [{ text: comment, column: 0 }];
}

/** Splits the comments above a first entry: those that an empty line separates from it, and its own. */
function splitTop(lines: readonly PlacedLine[]): [Line[], Line[]] {
  const texts = lines.map(({ text }) => text);
  const last = texts.lastIndexOf('');
  return texts.slice(0, last + 1).some((text) => text !== '')
    ? [texts.slice(0, last + 1), texts.slice(last + 1)]
    : [[], texts.slice(last + 1)];
}

/** Splits the lines below an entry: its own comments, which are indented deeper than its column, and the rest. */
function splitTail(lines: readonly PlacedLine[], column: number): [PlacedLine[], PlacedLine[]] {
  const end = lines.findIndex((line) => line.text !== '' && line.column <= column);
  const before = end === -1 ? lines : lines.slice(0, end);
  const last = before.findLastIndex(({ text }) => text !== '');
  return [lines.slice(0, last + 1), lines.slice(last + 1)];
}

/** Attaches comments to the innermost collection that ends with the entry and is not indented deeper than they are. */
function attachBelow(entry: Entry | undefined, lines: readonly PlacedLine[]): void {
  if (entry === undefined || lines.length === 0) return;
  const { value } = entry;
  if (value.is === 'map' || value.is === 'list') {
    if (!value.inline && value.entries.length > 0) {
      const [deeper, own] = splitTail(lines, value.column);
      attachBelow(value.entries.at(-1), deeper);
      value.after.push(...own.map(({ text }) => text));
      return;
    }
  }
  entry.after.push(...lines.map(({ text }) => text));
}
