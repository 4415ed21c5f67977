// Every citation in comments and documents leads to a page and a place that exist.
import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  brokenLinksIn,
  citationsIn,
  commentsIn,
  danglingIn,
  formerCitationsIn,
  placesOf,
} from './citations.ts';
import { filesBelow } from './source-tree.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string): [string, string] => [path, readFileSync(join(root, path), 'utf8')];
const folders = ['src', 'test', 'scripts', 'bench', 'docs', 'examples'].flatMap((folder) =>
  filesBelow(root, folder),
);
const files = [...folders, ...filesBelow(root, '.', false)];
const pages = new Map(files.filter((path) => path.endsWith('.md')).map(read));
const sources = files.filter((path) => /\.[cm]?[jt]s$/.test(path)).map(read);
const prose: readonly (readonly [string, string])[] = [
  ...pages,
  ...sources.map(([path, code]) => [path, commentsIn(code)] as const),
];
const places = placesOf(pages);
const links = {
  resolve: (from: string, to: string) => posix.join(posix.dirname(from), to),
  exists: (path: string) => existsSync(join(root, path)),
};

describe('the documentation', () => {
  it('has no citation of a place that does not exist', () => {
    const found = prose.flatMap(([path, text]) => danglingIn(text, places).map((line) => `${path}: ${line}`));
    expect(found).toEqual([]);
  });

  it('is cited only by page and place', () => {
    const found = prose.flatMap(([path, text]) => formerCitationsIn(text).map((line) => `${path}: ${line}`));
    expect(found).toEqual([]);
  });

  it('is cited in the kinds, in the embedded service and in the tests', () => {
    for (const folder of ['src/kinds', 'src/server', 'test']) {
      const cited = prose
        .filter(([path]) => path.startsWith(folder))
        .flatMap(([, text]) => citationsIn(text));
      expect(cited.length, folder).toBeGreaterThan(10);
    }
  });

  it.each(['docs/internals', 'docs'])('lists every page below %s in its README', (folder) => {
    const index = pages.get(`${folder}/README.md`) ?? '';
    const below = (path: string) =>
      path.startsWith(`${folder}/`) &&
      path !== `${folder}/README.md` &&
      (folder !== 'docs' || path === 'docs/internals/README.md' || !path.startsWith('docs/internals/'));
    const documents = [...pages.keys()].filter(below);
    expect(documents).not.toEqual([]);
    expect(documents.filter((path) => !index.includes(`(${posix.relative(folder, path)})`))).toEqual([]);
  });

  it('links only files and headings that exist', () => {
    expect([...pages.keys()].flatMap((path) => brokenLinksIn(path, pages, links))).toEqual([]);
  });
});

describe('a citation of a place that does not exist', () => {
  const some = placesOf(
    new Map([
      [
        'docs/internals/wire/bells.md',
        '# Bells\n\n## 1. Sound\n\n### 1.1 Pitch\n\n| 1.1.3 | it may be low |\n',
      ],
      [
        'docs/internals/architecture.md',
        '# Architecture\n\n## Apply finishes or tells\n\n```sh\n# no heading\n```\n',
      ],
      ['docs/internals/decisions/0001-bells.md', '# 0001: bells\n'],
    ]),
  );

  it.each([
    'wire/bells',
    'wire/bells 1, 1.1 and 1.1.3',
    '(wire/bells 1.1, step 9)',
    '(architecture: apply finishes or tells)',
    'decision 0001',
    'a set of rules',
  ])('is not reported in %j', (text) => {
    expect(danglingIn(text, some)).toEqual([]);
  });

  it.each([
    ['wire/bells 1.2', 'docs/internals/wire/bells.md has no 1.2'],
    ['wire/bells 1.1-1.2', 'docs/internals/wire/bells.md has no 1.2'],
    ['wire/drums 1', 'there is no docs/internals/wire/drums.md'],
    ['architecture: no heading', 'docs/internals/architecture.md has no no heading'],
    ['decision 0002', 'docs/internals/decisions has no 0002'],
  ])('is reported in %j', (text, why) => {
    expect(danglingIn(`as ${text}, says`, some)).toEqual([`${text}: ${why}`]);
  });

  it('is found across a line break in a comment', () => {
    const code = [
      '/**',
      ' * How it sounds (wire/bells 1.1,',
      ' * 7). And more',
      ' */',
      'const rule = 9;',
      '',
    ].join('\n');
    expect(danglingIn(commentsIn(code), some)).toEqual([
      'wire/bells 1.1, 7: docs/internals/wire/bells.md has no 7',
    ]);
  });

  it('is found in a comment behind code', () => {
    const code = `const one = 1; ${'/'.repeat(2)} wire/bells 8`;
    expect(danglingIn(commentsIn(code), some)).toEqual([
      'wire/bells 8: docs/internals/wire/bells.md has no 8',
    ]);
  });
});

describe('a citation in a form that is no longer used', () => {
  it.each([
    'RULES 24',
    'DESIGN section 4',
    'facts 2.5',
    'facts on cluster auth, 2.4',
    'facts/toolchain.md',
    'specs/workspaces.md',
    'cluster-auth-wire.md 2.1',
    '(specs, "Create a workspace")',
    'rule 24',
    'rules 22, 24',
  ])('is found in %j', (text) => {
    expect(formerCitationsIn(`as ${text} says`)).not.toEqual([]);
  });

  it.each(['the spec of a kind', 'facts of a live resource', 'the specs as written', 'a set of rules'])(
    'is not found in %j',
    (text) => {
      expect(formerCitationsIn(text)).toEqual([]);
    },
  );
});

describe('a link', () => {
  const documents = new Map([
    [
      'docs/a.md',
      '[b](b.md#owned-names-roles) [c](c.md) [d](b.md#owned-roles) [e](#nowhere) [f](https://example.com/x)',
    ],
    ['docs/b.md', '## Owned names: roles\n'],
  ]);

  it('is reported if its file or heading does not exist', () => {
    const exists = (path: string) => documents.has(path);
    expect(brokenLinksIn('docs/a.md', documents, { ...links, exists })).toEqual([
      'docs/a.md links docs/c.md, which is not there',
      'docs/a.md links docs/b.md#owned-roles, a heading that is not there',
      'docs/a.md links docs/a.md#nowhere, a heading that is not there',
    ]);
  });
});
