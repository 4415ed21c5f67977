/** Rules about the tests themselves: how they are written, and where the test of a source file stands. */
import { posix } from 'node:path';
import type { Rule } from './rule.ts';
import { importsOf, isTest, remembered, type SourceTree, sources } from './source-tree.ts';
import { triedByCommands } from './tried-by-commands.ts';
import { triedByRequests } from './tried-by-requests.ts';
import { triedElsewhere } from './tried-elsewhere.ts';
import { onePerFolder } from './try-import.ts';

const oneWord: Rule = {
  says: 'every test is written with `it` of vitest',
  because:
    'two words for one thing make a reader look for a difference: write `it`, in a `describe` or without one',
  violations: (tree) =>
    sources(tree, 'test').flatMap((path) =>
      otherWordsIn(tree.get(path) ?? '').map((found) => `${path} imports ${found}`),
    ),
  breakages: (tree) =>
    onePerFolder(testsOf(tree)).flatMap((path) =>
      [
        `import { test } from 'vitest';`,
        `import { expect,\n  test,\n} from 'vitest';`,
        `import { test as it } from 'vitest';`,
        `import * as vitest from 'vitest';`,
        `import { it } from 'node:test';`,
      ].map((line) => ({ [path]: `${tree.get(path)}\n${line}\n` })),
    ),
};

/** Where the word for a test comes from otherwise than as `it` of vitest. */
const otherWordsIn = remembered((text): readonly string[] => {
  const named = [...text.matchAll(/^import \{(?<names>[^}]*)\} from 'vitest';$/gm)];
  const names = named.flatMap(({ groups }) => groups?.['names']?.split(',').map((name) => name.trim()) ?? []);
  const whole = text.match(/^import (?:\*|\w)[^{\n]* from 'vitest';$/m) ?? [];
  const ofNode = text.match(/^import .* from 'node:test';$/m) ?? [];
  return [...names.filter((name) => /^test\b/.test(name)), ...whole, ...ofNode];
});

function testsOf(tree: SourceTree): string[] {
  return sources(tree, 'test').filter(isTest);
}

const longest = 60;

/** Which test tries a source file, where it is not the one at its path. */
const listed: ReadonlyMap<string, string> = new Map(
  [...triedElsewhere, ...triedByCommands, ...triedByRequests].flatMap(({ by, sources: tried }) =>
    tried.map((source) => [`src/${source}`, by]),
  ),
);

const atTheSamePath: Rule = {
  says: `a source file of more than ${longest} lines has its test at the same path, or stands in the list with a reason`,
  because:
    'the test of a file is looked for at its path; where it is tried by another one, test/architecture/tried-elsewhere.ts says which and why',
  violations: (tree) => {
    const untried = sources(tree).filter(
      (path) => isLong(tree.get(path) ?? '') && !tree.has(testOf(path)) && !listed.has(path),
    );
    const links = linksOf(tree);
    const reached = new Map([...new Set(listed.values())].map((test) => [test, reachedFrom(links, test)]));
    const wrong = [...listed].flatMap(([path, test]) => {
      if (!tree.has(path) || !isLong(tree.get(path) ?? '')) return [`${path} needs no place in the list`];
      if (tree.has(testOf(path))) return [`${path} has a test of its own, and stands in the list`];
      if (!tree.has(test)) return [`${path} is said to be tried by ${test}, which is missing`];
      return reached.get(test)?.has(path) ? [] : [`${test} does not reach ${path} by its imports`];
    });
    return [...untried.map((path) => `${path} has no test at ${testOf(path)}`), ...wrong];
  },
  breakages: (tree) => [
    { 'src/plan/new.ts': `/** New. */\n${'export const one = 1;\n'.repeat(longest + 1)}` },
    ...sources(tree, 'src/plan')
      .filter((path) => isLong(tree.get(path) ?? '') && tree.has(testOf(path)))
      .map((path) => ({ [testOf(path)]: undefined })),
    ...[...listed]
      .slice(0, 3)
      .flatMap(([source, by]) => [
        { [by]: undefined },
        { [by]: `/** Tries nothing. */` },
        { [source]: undefined },
        { [testOf(source)]: '/** New. */' },
      ]),
  ],
};

/** Long, and more than types, which the compiler tries. */
function isLong(text: string): boolean {
  return (
    text.split('\n').length - 1 > longest &&
    /^(?:export )?(?:async |abstract )?(?:function|const|let|class)\b/m.test(text)
  );
}

function testOf(path: string): string {
  return path.replace(/^src\/(.*)\.ts$/, 'test/$1.test.ts');
}

/** What each file imports, or starts as a process. */
function linksOf(tree: SourceTree): ReadonlyMap<string, readonly string[]> {
  const files = [...sources(tree), ...sources(tree, 'test')];
  return new Map(
    files.map((path) => [path, [...importsOf(tree, path), ...startedBy(path, tree.get(path) ?? '')]]),
  );
}

/** Where links lead from a file, itself and by way of others. */
function reachedFrom(links: ReadonlyMap<string, readonly string[]>, from: string): ReadonlySet<string> {
  const reached = new Set<string>();
  const open = [from];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (reached.has(path)) continue;
    reached.add(path);
    open.push(...(links.get(path) ?? []));
  }
  return reached;
}

function startedBy(path: string, text: string): string[] {
  const named = text.matchAll(/new URL\('(?<relative>[^']+\.ts)', import\.meta\.url\)/g);
  return [...named].map(({ groups }) => posix.join(posix.dirname(path), groups?.['relative'] ?? ''));
}

export const testRules: readonly Rule[] = [oneWord, atTheSamePath];
