/**
 * `npm run measure`: prints the sizes of the code, with the values that the project aims at. A missed aim is not a failure: only the
 * rules on imports are enforced, by test/architecture.
 */
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import {
  filesBelow,
  importsOf,
  readTree,
  type SourceTree,
  sources,
} from '../test/architecture/source-tree.ts';

const root = join(import.meta.dirname, '..');

interface Measure {
  readonly name: string;
  readonly value: number;
  /** what the project aims at: at most this, or between two values */
  readonly aim: string;
}

const tree = readTree(root);
const measures = [...sizesOfSource(tree), ...sizesOfTests(), ...importsBetween(tree)];
for (const { name, value, aim } of measures) {
  process.stdout.write(`${name.padEnd(64)}${value.toLocaleString('en').padStart(8)}   ${aim}\n`);
}

function sizesOfSource(tree: SourceTree): Measure[] {
  const files = sources(tree);
  const lines = files.map((path) => linesOf(tree.get(path) ?? '').length).toSorted((a, b) => a - b);
  const code = files.map((path) => codeLines(tree.get(path) ?? ''));
  const readmes = [...tree.keys()].filter((path) => path.startsWith('src/') && path.endsWith('/README.md'));
  return [
    { name: 'source files', value: files.length, aim: 'at most 460' },
    { name: 'folders with source files', value: new Set(files.map(posix.dirname)).size, aim: 'at most 60' },
    { name: 'lines of the median file', value: lines[Math.floor(lines.length / 2)] ?? 0, aim: '110 to 150' },
    { name: 'lines of the longest file', value: lines.at(-1) ?? 0, aim: 'at most 350' },
    { name: 'files under 40 lines', value: lines.filter((count) => count < 40).length, aim: 'at most 40' },
    { name: 'lines of src', value: sum(lines), aim: 'at most 62,000' },
    { name: 'lines of src without comments and blank lines', value: sum(code), aim: 'at most 50,500' },
    { name: 'README files in src', value: readmes.length, aim: 'at most 25' },
  ];
}

function sizesOfTests(): Measure[] {
  const linesBelow = (folder: string) =>
    sum(
      filesBelow(root, folder)
        .filter((path) => path.endsWith('.ts'))
        .map((path) => linesOf(readFileSync(join(root, path), 'utf8')).length),
    );
  return [
    { name: 'lines of test', value: linesBelow('test'), aim: 'at most 70,000' },
    { name: 'lines of test/support', value: linesBelow('test/support'), aim: 'at most 9,000' },
  ];
}

function importsBetween(tree: SourceTree): Measure[] {
  const importers = new Map<string, string[]>();
  for (const path of sources(tree))
    for (const target of importsOf(tree, path))
      importers.set(target, [...(importers.get(target) ?? []), path]);
  const pairs = new Set(
    [...importers].flatMap(([target, from]) =>
      from.map((path) => `${posix.dirname(path)} ${posix.dirname(target)}`),
    ),
  );
  const mutual = [...pairs].filter((pair) => {
    const [from = '', to = ''] = pair.split(' ');
    return from < to && pairs.has(`${to} ${from}`);
  });
  const single = sources(tree).filter((path) => {
    const from = new Set(importers.get(path));
    return from.size === 1 && [...from].every((other) => posix.dirname(other) === posix.dirname(path));
  });
  const apply = 'src/commands/apply.ts';
  return [
    { name: 'pairs of folders that import each other', value: mutual.length, aim: '0, enforced' },
    { name: 'files with one importer, in the same folder', value: single.length, aim: 'at most 30' },
    { name: `imports of ${apply}`, value: importsOf(tree, apply).length, aim: 'at most 20' },
  ];
}

function linesOf(text: string): string[] {
  return text.replace(/\n$/, '').split('\n');
}

function codeLines(text: string): number {
  let isComment = false;
  return linesOf(text).filter((line) => {
    const trimmed = line.trim();
    const starts = isComment || trimmed.startsWith('/*');
    if (starts) isComment = !trimmed.includes('*/');
    return !starts && trimmed !== '' && !trimmed.startsWith('//');
  }).length;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
