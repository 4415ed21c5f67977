/** The source of a test, with its table of values and all declarations of its file that it uses. */
import type { WrittenTitle } from './rows.ts';

/** The call with this title, and all declarations of the file that it uses. Relies on the indentation of the formatter. */
export function sourceOfTest(source: string, { index }: WrittenTitle): string {
  const lines = source.split('\n');
  const line = source.slice(0, index).split('\n').length - 1;
  const declared = declarationsIn(lines);
  const found = new Map([['', callAround(lines, line)]]);
  // The map grows during the loop: a table may use another one.
  for (const text of found.values())
    for (const [word] of text.matchAll(/\w+/g)) {
      const declaration = declared.get(word);
      if (declaration !== undefined) found.set(word, declaration);
    }
  return [...found.values()].join('\n');
}

function callAround(lines: readonly string[], line: number): string {
  const indent = indentOf(lines[line]);
  let first = line;
  if (/^\s*[\])}]/.test(lines[line] ?? ''))
    while (first > 0 && !/^\s*(?:it|describe)\b/.test(atIndent(lines[first], indent))) first -= 1;
  return upToEnd(lines, first, (text) => text.endsWith(');'));
}

/** The declarations of the file and of its groups, without those inside tests. */
function declarationsIn(lines: readonly string[]): ReadonlyMap<string, string> {
  const declared = lines.flatMap((line, index): [string, string][] => {
    const name = /^\s*(?:export )?(?:async )?(?:function|const|class)\*? (\w+)/.exec(line)?.[1];
    if (name === undefined || !isShared(lines, index)) return [];
    return [[name, upToEnd(lines, index, (text) => /[;}]$/.test(text))]];
  });
  return new Map(declared);
}

function isShared(lines: readonly string[], line: number): boolean {
  const indent = indentOf(lines[line]);
  if (indent === 0) return true;
  const around = lines.slice(0, line).findLast((other) => other !== '' && indentOf(other) < indent) ?? '';
  return around.trimStart().startsWith('describe');
}

/** From a line to the end of its statement, which is the same line or the next one with the same indentation. */
function upToEnd(lines: readonly string[], first: number, isEnd: (line: string) => boolean): string {
  const indent = indentOf(lines[first]);
  const isOpen = /[=>]$/.test(lines[first] ?? '');
  const length = lines.slice(first).findIndex((line, index) => {
    const isWhole = index === 0 || (isOpen && line.endsWith(';') && indentOf(line) === indent + 2);
    return isEnd(isWhole ? line : atIndent(line, indent));
  });
  return lines.slice(first, length < 0 ? undefined : first + length + 1).join('\n');
}

function indentOf(line = ''): number {
  return line.length - line.trimStart().length;
}

/** The line if it has that indentation, else an empty text. */
function atIndent(line = '', indent: number): string {
  return indentOf(line) === indent ? line : '';
}
