// The architecture as rules: each holds, and each notices when it is broken on purpose.
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
const named = [...importRules, ...placeRules, ...kindRules, ...fileRules, ...testRules].map(
  (rule) => [rule.says, rule] as const,
);

describe('the architecture', () => {
  it.each(named)('%s', (_, { because, violations }) => {
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

describe('a rule notices when it is broken', () => {
  it.each(named)('%s', (_, { violations, breakages }) => {
    const known = new Set(violations(tree));
    const ways = breakages(tree);
    expect(ways).not.toHaveLength(0);
    const unnoticed = ways.filter((way) =>
      violations(breakTree(tree, way)).every((found) => known.has(found)),
    );
    expect(
      unnoticed.map((way) => Object.entries(way).map(([path, text]) => `${path}: ${text?.slice(-80)}`)),
    ).toEqual([]);
  });
});
