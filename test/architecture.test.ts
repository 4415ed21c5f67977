// The architecture as rules: the repository keeps each rule, and each rule detects a tree that was broken on purpose.
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { kinds } from '../src/kinds/index.ts';
import { fileRules } from './architecture/file-rules.ts';
import { importRules } from './architecture/import-rules.ts';
import { kindRules } from './architecture/kind-rules.ts';
import { placeRules } from './architecture/place-rules.ts';
import { breakTree, readTree } from './architecture/source-tree.ts';
import { testRules } from './architecture/test-rules.ts';

const tree = readTree(fileURLToPath(new URL('..', import.meta.url)));
const rules = [...importRules, ...placeRules, ...kindRules, ...fileRules, ...testRules].map(
  (rule) => [rule.title, rule] as const,
);

describe('the architecture', () => {
  it.each(rules)('%s', (_, { because, violations }) => {
    expect(violations(tree), because).toEqual([]);
  });

  it('a kind is registered under the name of its folder', () => {
    const folders = new Set(
      [...tree.keys()].flatMap((path) => /^src\/kinds\/([^/]+)\//.exec(path)?.[1] ?? []),
    );
    const kebab = (name: string) => name.replace(/(?<!^)[A-Z]/g, '-$&').toLowerCase();
    expect([...kinds.keys()].map(kebab).sort()).toEqual([...folders].sort());
  });
});

describe('a broken tree is detected by the rule', () => {
  it.each(rules)('%s', (_, { violations, breakages }) => {
    const known = new Set(violations(tree));
    const broken = breakages(tree);
    expect(broken).not.toHaveLength(0);
    const unnoticed = broken.filter((way) =>
      violations(breakTree(tree, way)).every((found) => known.has(found)),
    );
    expect(
      unnoticed.map((way) => Object.entries(way).map(([path, text]) => `${path}: ${text?.slice(-80)}`)),
    ).toEqual([]);
  });
});
