/** Explains why a text is not valid CSV, at the place of the mistake: the parser reports an open quote at the end of the text. */
import { counted, quoted } from '../../model/quoted.ts';

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

/** From the start of a row to its end, which a line end in a quoted cell is not. */
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

/** Where a quote is missing, the next one that was to open a cell closes this one, perhaps many lines later. */
function afterQuote(text: string, from: number, end: number): number | CsvMistake {
  const after = text[end];
  if (after === undefined || /[,\r\n]/.test(after)) return end;
  return {
    message: `the quote that is opened here is closed before ${quoted(after)}${lineOf(text, from, end)}, and not before a comma or the end of a row`,
    fix: `close it at the end of the cell; or ${quoteCell}`,
    at: from,
  };
}

/** Empty if both are in one line. */
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
