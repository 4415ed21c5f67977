/** Rules about the tests themselves: how they are written. */
import type { Rule } from './rule.ts';
import { isTest, memoize, type SourceTree, sources } from './source-tree.ts';
import { onePerFolder } from './try-import.ts';

const oneName: Rule = {
  title: 'every test is written with `it` of vitest',
  because: 'two names for one thing suggest a difference: write `it`, in a `describe` or without one',
  violations: (tree) =>
    sources(tree, 'test').flatMap((path) =>
      otherNamesIn(tree.get(path) ?? '').map((found) => `${path} imports ${found}`),
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

/** Imports of a function for tests other than `it` of vitest. */
const otherNamesIn = memoize((text): readonly string[] => {
  const named = [...text.matchAll(/^import \{(?<names>[^}]*)\} from 'vitest';$/gm)];
  const names = named.flatMap(({ groups }) => groups?.['names']?.split(',').map((name) => name.trim()) ?? []);
  const whole = text.match(/^import (?:\*|\w)[^{\n]* from 'vitest';$/m) ?? [];
  const ofNode = text.match(/^import .* from 'node:test';$/m) ?? [];
  return [...names.filter((name) => /^test\b/.test(name)), ...whole, ...ofNode];
});

function testsOf(tree: SourceTree): string[] {
  return sources(tree, 'test').filter(isTest);
}

export const testRules: readonly Rule[] = [oneName];
