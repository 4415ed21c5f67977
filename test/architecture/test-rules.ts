/** Rules about the tests themselves: how they are written. */
import type { Rule } from './rule.ts';
import { isTest, remembered, type SourceTree, sources } from './source-tree.ts';
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

export const testRules: readonly Rule[] = [oneWord];
