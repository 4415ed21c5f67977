/**
 * The rows of the pages below docs/internals/conformance, and the tests that they name. A named test is a path below `test` and a
 * title. The title may have the placeholders (`%s`) of the title in the source, and then names the tests with all values.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const testsFolder = fileURLToPath(new URL('../../', import.meta.url));
const pagesFolder = fileURLToPath(new URL('../../../docs/internals/conformance/', import.meta.url));

export interface Row {
  readonly number: number;
  /** The text of the row, without the tests. */
  readonly what: string;
  /** Each as it is written: a path below `test`, and a title. */
  readonly shownBy: readonly string[];
}

/** The names of all pages. */
export function conformancePages(): string[] {
  return readdirSync(pagesFolder).filter((name) => name.endsWith('.md'));
}

export function readPage(page: string): string {
  return readFileSync(pagesFolder + page, 'utf8');
}

/** The rows of all tables of a page that begin with a number. */
export function rowsOf(page: string): Row[] {
  return page.split('\n').flatMap((line) => {
    const { number, rest = '' } = /^\| (?<number>\d+) \| (?<rest>.*)$/.exec(line)?.groups ?? {};
    if (number === undefined) return [];
    const [what = ''] = rest.split(/ \| ``/);
    return [{ number: Number(number), what, shownBy: testsNamedIn(line) }];
  });
}

/** The files of all tests that the pages name, below `test`. */
export function namedFiles(): ReadonlySet<string> {
  const rows = conformancePages().flatMap((page) => rowsOf(readPage(page)));
  return new Set(rows.flatMap(({ shownBy }) => shownBy.map((named) => splitNamed(named).file)));
}

export function testsNamedIn(text: string): string[] {
  return [...text.matchAll(/``(.+?)``(?!`)/g)].flatMap(([, named]) => named ?? []);
}

/** The file and the title of a named test. */
export function splitNamed(named: string): { readonly file: string; readonly title: string } {
  const [file = '', title = ''] = named.split(' › ');
  return { file, title };
}

export interface WrittenTitle {
  readonly title: string;
  /** The start of the call with this title in the source. */
  readonly index: number;
}

/** All titles of tests and groups in a source. */
export function titlesIn(source: string): WrittenTitle[] {
  const calls = source.matchAll(
    /(?:\b(?:it|test|describe)|\))\(\s*(?<quote>['"`])(?<title>.*?)(?<!\\)\k<quote>/gs,
  );
  return [...calls].map(({ groups, index }) => ({
    title: (groups?.['title'] ?? '').replaceAll(/\\(.)/g, '$1'),
    index,
  }));
}

/** The values of a title for the placeholders of another one; undefined if the titles do not match. */
export function valuesOf(written: string, title: string): readonly string[] | undefined {
  if (written === title) return [];
  const parts = written.split(/%[a-z#]|\$\w+/).map((part) => part.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&'));
  if (parts.length === 1) return undefined;
  return new RegExp(`^${parts.join('(.+?)')}$`, 's').exec(title)?.slice(1);
}

/** Whether a value in a title is a placeholder itself. */
export function isPlaceholder(value: string): boolean {
  return /^(?:%[a-z#]|\$\w+)$/.test(value);
}
