/** The text of a test, with its table of values and with what it uses of its own file: what it reads of an answer stands nowhere else. */
import type { WrittenTitle } from './rows.ts';

/** The call that has the title, and every declaration of the file that it leads to. Relies on how the formatter indents. */
export function sourceOfTest(source: string, { index }: WrittenTitle): string {
  const lines = source.split('\n');
  const line = source.slice(0, index).split('\n').length - 1;
  const declared = declarationsIn(lines);
  const found = new Map([['', callAround(lines, line)]]);
  // Grows while it is walked: a table may lead to another one.
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

/** Those of the file and of its groups; what a test declares is its own. */
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

/** From a line to the next one that ends what begins there, which stands at the same indentation, or is the same line. */
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

/** The line where it stands at that indentation, else nothing. */
function atIndent(line = '', indent: number): string {
  return indentOf(line) === indent ? line : '';
}
