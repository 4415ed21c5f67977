/** The rows of a CSV file with a header, as items of a list. Places are computed on demand, by parsing the text again. */
import type { Info } from 'csv-parse/sync';
import type { Diagnostic, Place } from '../../model/diagnostic.ts';
import { messageOf } from '../../model/error-message.ts';
import type { Path } from '../../model/json.ts';
import { counted, quoted } from '../../model/quoted.ts';
import { privateKeyParts } from '../../redaction/mask-text.ts';
import type { HiddenParts } from '../yaml/hidden-parts.ts';
import type { SecretNames } from '../yaml/secret-fields.ts';
import { createSourceText, type EntrySide, type SourceText } from '../yaml/yaml-document.ts';
import type { CellFile, Item, ItemList } from './list-items.ts';

type CsvParser = typeof import('csv-parse/sync');

/** Offsets of a cell in the text, with its quotes. */
interface CellSpan {
  readonly start: number;
  readonly end: number;
}

const settings = { record_delimiter: ['\r\n', '\n', '\r'], skip_empty_lines: true };

export class CsvFile implements ItemList, CellFile {
  readonly holdsOnlyTexts = true;
  readonly source: SourceText;
  readonly items: readonly Item[];
  readonly columns: readonly string[];
  readonly editable: { readonly cells: CellFile };
  readonly #parser: CsvParser;
  #spans: readonly (readonly CellSpan[])[] | undefined;

  private constructor(
    source: SourceText,
    rows: readonly (readonly string[])[],
    parser: CsvParser,
    names: SecretNames,
  ) {
    const [columns = [], ...lines] = rows;
    this.#parser = parser;
    this.source = createSourceText(source.file, source.text, () => this.#hidden(names));
    this.columns = columns;
    this.editable = { cells: this };
    const key = columns.indexOf('key');
    this.items = lines.map((cells, index) => ({
      list: this,
      at: `${index}`,
      key: cells[key] ?? '',
      value: Object.fromEntries(columns.map((name, column) => [name, cells[column] ?? ''])),
    }));
  }

  /** @param source its text; @returns problems when it cannot be used */
  static async read(source: SourceText, names: SecretNames): Promise<CsvFile | Diagnostic[]> {
    const parser = await import('csv-parse/sync');
    let rows: string[][];
    try {
      rows = parser.parse(source.text, settings);
    } catch (error) {
      return [wrongCsv(source, error, parser)];
    }
    const file = new CsvFile(source, rows, parser, names);
    const wrong =
      file.#wrongHeader() ?? file.items.flatMap((item) => (item.key === '' ? [file.#emptyKey(item)] : []));
    return wrong.length === 0 ? file : wrong;
  }

  place({ at }: Pick<Item, 'at'>, path: Path, side: EntrySide = 'value'): Place {
    const row = this.#cells()[Number(at) + 1] ?? [];
    const column = path[0] === undefined || side === 'key' ? 0 : this.columns.indexOf(path[0]);
    const { start, end } = row[Math.max(0, column)] ?? { start: 0, end: 1 };
    return this.source.place(start, end);
  }

  get header(): Place {
    return this.place({ at: '-1' }, [], 'key');
  }

  typed({ at }: Pick<Item, 'at'>, [name = '']: Path): string | undefined {
    const cell = this.span(at, name);
    return cell && this.source.text.slice(cell.start, cell.end);
  }

  span(at: string, column: string): CellSpan | undefined {
    return this.#cells()[Number(at) + 1]?.[this.columns.indexOf(column)];
  }

  #cells(): readonly (readonly CellSpan[])[] {
    this.#spans ??= findCells(this.source.text, this.#parser);
    return this.#spans;
  }

  #wrongHeader(): Diagnostic[] | undefined {
    const [header = []] = this.#cells();
    const at = (column: number) => {
      const { start, end } = header[column] ?? { start: 0, end: 1 };
      return this.source.place(start, end);
    };
    const other = this.columns.length === 1 ? /[;\t|]/.exec(this.columns[0] ?? '')?.[0] : undefined;
    if (other !== undefined)
      return [
        wrongList(
          `the header has one column, and a ${other === '\t' ? 'tab' : quoted(other)} in its name`,
          at(0),
          'separate the columns with ","',
        ),
      ];
    if (!this.columns.includes('key'))
      return [
        wrongList(
          'the header has no column "key"',
          at(0),
          'add a column "key" with a text that names each row',
        ),
      ];
    const repeated = this.columns.findIndex((name, index) => this.columns.indexOf(name) !== index);
    if (repeated === -1) return undefined;
    const name = quoted(this.columns[repeated] ?? '');
    return [
      wrongList(`the header has the column ${name} twice`, at(repeated), 'give each column its own name'),
    ];
  }

  #emptyKey(item: Item): Diagnostic {
    return wrongList('a row has no "key"', this.place(item, ['key']), 'write a text that names the row');
  }

  /** The cells of columns whose name says that they hold a secret. */
  #hidden(names: SecretNames): HiddenParts {
    const hidden = this.columns.flatMap((name, index) => (names.hides(name) ? [index] : []));
    const keys = privateKeyParts(this.source.text);
    if (hidden.length === 0) return { spans: keys, values: [] };
    const cells = this.#cells()
      .slice(1)
      .flatMap((row) => hidden.flatMap((column) => row[column] ?? []));
    return {
      spans: [...cells, ...keys].sort((a, b) => a.start - b.start),
      values: cells.map(({ start, end }) => this.source.text.slice(start, end)),
    };
  }
}

/** The spans of all cells, by rows, the header first. The parser reports where each cell ends, in bytes. */
function findCells(text: string, { parse }: CsvParser): CellSpan[][] {
  const bytes = Buffer.from(text);
  const isAscii = bytes.length === text.length;
  const rows: CellSpan[][] = [];
  // The end of the previous cell; a comma or line ends follow it.
  let [lastByte, last] = [0, 0];
  parse(bytes, {
    ...settings,
    cast: (value, { bytes: ends, index }) => {
      const start = index === 0 ? afterLineEnds(text, last) : last + 1;
      last += isAscii ? ends - lastByte : bytes.subarray(lastByte, ends).toString('utf8').length;
      lastByte = ends;
      if (index === 0) rows.push([]);
      rows.at(-1)?.push({ start: Math.min(start, last), end: last });
      return value;
    },
  });
  return rows;
}

function afterLineEnds(text: string, from: number): number {
  let at = from;
  while (text[at] === '\n' || text[at] === '\r') at++;
  return at;
}

function wrongCsv(source: SourceText, error: unknown, { CsvError }: CsvParser): Diagnostic {
  if (!(error instanceof CsvError)) throw error;
  const mistake = findCsvMistake(source.text);
  const { message, fix, at } = mistake ?? {
    message: `the text is not valid CSV: ${messageOf(error)}`,
    fix: 'separate the cells by "," and put quotes around a cell with a comma, a quote or a line break in it',
    at: lineStart(source.text, (error as { readonly lines?: Info['lines'] }).lines ?? 1),
  };
  return wrongList(message, source.place(at, at + 1), fix, 'csv-syntax');
}

/** The offset of a line; the first is 1. */
function lineStart(text: string, line: number): number {
  let at = 0;
  for (let count = 1; count < line; count++) at = text.indexOf('\n', at) + 1 || at;
  return at;
}

export function wrongList(
  message: string,
  place: Place,
  fix: string,
  code: Diagnostic['code'] = 'invalid-list',
): Diagnostic {
  return { code, severity: 'error', class: 'invalid', message, place, fix };
}

/** A text as a cell of a CSV file: in quotes where it needs them, or had them before. */
export function cellText(value: string, before: string): string {
  const needsQuotes = before.startsWith('"') || /[",\r\n]/.test(value);
  const mark = '"';
  return needsQuotes ? mark + value.replaceAll(mark, mark + mark) + mark : value;
}

// Explains why a text is not valid CSV, at the place of the mistake: the parser reports an open quote at the end of the text.

interface CsvMistake {
  readonly message: string;
  readonly fix: string;
  /** offset in the text */
  readonly at: number;
}

const quoteCell = 'put quotes around the whole cell, and write each quote in it as two';

/** @returns the first mistake; undefined for a text in which this finds none */
export function findCsvMistake(text: string): CsvMistake | undefined {
  let wanted: number | undefined;
  for (let at = 0; at < text.length; ) {
    const row = readRow(text, at);
    if ('message' in row) return row;
    const isEmpty = row.end === at;
    if (!isEmpty) wanted ??= row.cells;
    if (!isEmpty && row.cells !== wanted) return otherCount(row.cells, wanted ?? 0, at);
    at = row.end + (text.startsWith('\r\n', row.end) ? 2 : 1);
  }
  return undefined;
}

/** Reads a row from its start to its end. A line end in a quoted cell does not end the row. */
function readRow(text: string, from: number): { readonly cells: number; readonly end: number } | CsvMistake {
  let at = from;
  for (let cells = 1; ; cells++) {
    const end = text[at] === '"' ? quotedEnd(text, at) : plainEnd(text, at);
    if (typeof end !== 'number') return end;
    if (text[end] !== ',') return { cells, end };
    at = end + 1;
  }
}

function plainEnd(text: string, from: number): number | CsvMistake {
  const end = next(text, /[,\r\n]/g, from);
  const quote = text.slice(from, end).indexOf('"');
  return quote === -1
    ? end
    : { message: 'a quote stands in a cell that does not begin with one', fix: quoteCell, at: from + quote };
}

function quotedEnd(text: string, from: number): number | CsvMistake {
  let at = from + 1;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote === -1)
      return {
        message: 'a quote is opened and never closed',
        fix: 'close it at the end of the cell, and write each quote in the cell as two',
        at: from,
      };
    if (text[quote + 1] !== '"') return afterQuote(text, from, quote + 1);
    at = quote + 2;
  }
}

/** If a closing quote is missing, the next quote that should open a cell closes this one, perhaps many lines later. */
function afterQuote(text: string, from: number, end: number): number | CsvMistake {
  const after = text[end];
  if (after === undefined || /[,\r\n]/.test(after)) return end;
  return {
    message: `the quote that is opened here is closed before ${quoted(after)}${lineOf(text, from, end)}, and not before a comma or the end of a row`,
    fix: `close it at the end of the cell; or ${quoteCell}`,
    at: from,
  };
}

/** The line of the second offset as the end of a phrase; empty if both offsets are in one line. */
function lineOf(text: string, from: number, end: number): string {
  const between = lines(text.slice(from, end));
  return between === 0 ? '' : ` in line ${lines(text.slice(0, end)) + 1}`;
}

function lines(text: string): number {
  return text.match(/\r\n|\r|\n/g)?.length ?? 0;
}

function otherCount(cells: number, wanted: number, at: number): CsvMistake {
  return {
    message: `the row has ${counted(cells, 'cell')}, and the header ${wanted}`,
    fix:
      cells > wanted
        ? 'put quotes around a cell with a comma in it, or add the column to the header'
        : 'add the missing cells, with a comma before each; an empty cell is nothing between two commas',
    at,
  };
}

function next(text: string, wanted: RegExp, from: number): number {
  wanted.lastIndex = from;
  return wanted.exec(text)?.index ?? text.length;
}
