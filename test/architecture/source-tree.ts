/**
 * The repository as input of the architecture rules: file names and texts, never running code. So a rule can be tried
 * on a tree that was broken on purpose.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

/**
 * Texts by path, relative to the repository's root, with `/`. Outside of `src`, of TypeScript below `test` and of `docs/guides`
 * only paths matter: texts are empty.
 */
export type SourceTree = ReadonlyMap<string, string>;

/** A change of a tree: new texts by path; `undefined` removes a file. */
export type Breakage = Readonly<Record<string, string | undefined>>;

export function readTree(root: string): SourceTree {
  const read = (path: string): [string, string] => [path, readFileSync(join(root, path), 'utf8')];
  const listed = ['schemas', 'test/corpus'].flatMap((folder) => filesBelow(root, folder));
  return new Map([
    ...filesBelow(root, 'src').map(read),
    ...filesBelow(root, 'test')
      .filter((path) => path.endsWith('.ts'))
      .map(read),
    ...filesBelow(root, 'docs/guides').map(read),
    ...listed.map((path): [string, string] => [path, '']),
  ]);
}

export function filesBelow(root: string, folder: string, recursive = true): string[] {
  return readdirSync(join(root, folder), { recursive, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => posix.relative(root, posix.join(entry.parentPath, entry.name)))
    .sort();
}

export function breakTree(tree: SourceTree, breakage: Breakage): SourceTree {
  const broken = new Map(tree);
  for (const [path, text] of Object.entries(breakage)) {
    if (text === undefined) broken.delete(path);
    else broken.set(path, text);
  }
  return broken;
}

/** Every TypeScript file of `src`, or of what is below one of its folders. */
export function sources(tree: SourceTree, below = 'src'): string[] {
  return [...tree.keys()].filter((path) => path.endsWith('.ts') && isBelow(path, below));
}

export function isTest(path: string): boolean {
  return path.endsWith('.test.ts');
}

/** True for the folder's files and for the path itself. */
export function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

/** The folder of `src` that a file is in, or the file itself: `src/model`, `src/main.ts`. */
export function floorOf(path: string): string {
  return path.split('/').slice(0, 2).join('/');
}

/** All imports of a file, in any form, types included: paths of our own files, names of packages and of Node's modules. */
export function importsOf(tree: SourceTree, path: string): string[] {
  return specifiersOf(tree.get(path) ?? '').map((specifier) => resolve(path, specifier));
}

const specifiersOf = memoize((text): readonly string[] => {
  const named = withoutComments(text).matchAll(
    /\b(?:from|import|require)\s*\(?\s*(['"])(?<specifier>[^'"\n]+)\1/g,
  );
  return [...named].flatMap(({ groups }) => groups?.['specifier'] ?? []);
});

function resolve(from: string, specifier: string): string {
  return specifier.startsWith('.') ? posix.join(posix.dirname(from), specifier) : specifier;
}

const commentsAndTexts =
  /(?<comment>\/\*[\s\S]*?\*\/|\/\/[^\n]*)|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`/g;

/** Removes comments. Good enough for formatted code: `//` inside a regular expression counts as a comment. */
function withoutComments(text: string): string {
  return text.replace(commentsAndTexts, (found, ...more) => {
    const { comment } = more.at(-1) as { comment?: string };
    return comment === undefined ? found : '';
  });
}

/** Code alone: without comments and texts in quotes. Templates stay, because they contain code. */
export const codeOf = memoize((text): string =>
  text.replace(commentsAndTexts, (found) => (found.startsWith('`') ? found : '')),
);

/** Caches results by text: many rules read the same trees, and each breakage changes only a file or two. */
export function memoize<T>(compute: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const seen = known.get(text);
    if (seen !== undefined) return seen;
    const made = compute(text);
    known.set(text, made);
    return made;
  };
}
