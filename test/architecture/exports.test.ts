/** Another file imports every exported name, so that a reader can trust that something depends on it. */
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { filesBelow } from './source-tree.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const texts = new Map(
  ['src', 'test', 'scripts', 'bench']
    .flatMap((folder) => filesBelow(root, folder))
    .filter((path) => path.endsWith('.ts'))
    .map((path) => [path, readFileSync(join(root, path), 'utf8')] as const),
);

const named =
  /\b(?:import|export)\s+(?:type\s+)?(?<names>\{[^}]*\}|\*(?:\s+as\s+\w+)?)\s+from\s+'(?<from>\.[^']+)'/g;
const lazy = /(?:\{(?<names>[^{}]*)\}\s*=\s*await\s+)?(?:import|typeof import)\(\s*'(?<from>\.[^']+)'\s*\)/g;

/** `path#name` for each import of the repository; `path#*` if a file imports all of another one. */
const imported = new Set(
  [...texts].flatMap(([path, text]) =>
    [...text.matchAll(named), ...text.matchAll(lazy)].flatMap(({ groups = {} }) => {
      const target = posix.join(posix.dirname(path), groups['from'] ?? '');
      const names = groups['names']?.replace(/[{}]/g, '').split(',') ?? ['*'];
      return names.map((name) => {
        const [first = ''] = name
          .trim()
          .replace(/^type\s+/, '')
          .split(/\s+as\s+|\s*:\s*|\s+/);
        return `${target}#${first}`;
      });
    }),
  ),
);

const declared = /^export (?:async |abstract )*(?:function\*?|const|class|interface|type) (?<name>[\w$]+)/gm;

/** The types of a spec are exported for readers of the schema. */
const isSchema = (path: string) => path.endsWith('/schema.ts');

it('every exported name of src is imported by another file', () => {
  const unused = [...texts]
    .filter(([path]) => path.startsWith('src/') && !isSchema(path) && !imported.has(`${path}#*`))
    .flatMap(([path, text]) =>
      [...text.matchAll(declared)]
        .map(({ groups }) => `${path}#${groups?.['name']}`)
        .filter((name) => !imported.has(name)),
    );
  expect(unused, 'drop the word `export`').toEqual([]);
});
