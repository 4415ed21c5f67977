/**
 * The repository as the architecture's rules see it: file names and texts, never running code. A rule can so be tried
 * on a tree that was broken on purpose.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

/**
 * Texts by path, relative to the repository's root, with `/`. Outside of `src`, of TypeScript below `test` and of `docs/guides`
 * only paths matter: texts are empty.
 */
export type SourceTree = ReadonlyMap<string, string>;

/** What a tree is changed by: new texts by path; `undefined` takes a file away. */
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

/** The folder of `src` that a file stands in, or the file itself: `src/model`, `src/main.ts`. */
export function floorOf(path: string): string {
  return path.split('/').slice(0, 2).join('/');
}

/** What a file imports, in any form, types included: paths of our own files, names of packages and of Node's modules. */
export function importsOf(tree: SourceTree, path: string): string[] {
  return specifiersOf(tree.get(path) ?? '').map((specifier) => resolve(path, specifier));
}

const specifiersOf = remembered((text): readonly string[] => {
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

/** Comments go, all else stays. Good enough for formatted code: `//` inside a regular expression counts as a comment. */
function withoutComments(text: string): string {
  return text.replace(commentsAndTexts, (found, ...more) => {
    const { comment } = more.at(-1) as { comment?: string };
    return comment === undefined ? found : '';
  });
}

/** Code alone: neither comments nor what stands between quotes. Templates stay, for they hold code. */
export const codeOf = remembered((text): string =>
  text.replace(commentsAndTexts, (found) => (found.startsWith('`') ? found : '')),
);

/** The same trees are read by many rules, and each way to break one changes a file or two. */
export function remembered<T>(look: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const seen = known.get(text);
    if (seen !== undefined) return seen;
    const made = look(text);
    known.set(text, made);
    return made;
  };
}
