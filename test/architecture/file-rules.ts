/** Rules about files: how they begin, what they are called, how long they are. */
import { posix } from 'node:path';
import type { Rule } from './rule.ts';
import { type SourceTree, sources } from './source-tree.ts';

const maxLines = 350;
const drawers = ['utils', 'util', 'helpers', 'helper', 'common', 'shared', 'misc', 'lib', 'tools', 'stuff'];

const opensWithComment: Rule = {
  says: 'every source file opens with a comment',
  because: 'it says what the file is and which invariant it keeps, before anything else',
  violations: (tree) =>
    sources(tree).filter((path) => !/^(?:#![^\n]*\n)?\/\*\*\s*\S/.test(tree.get(path) ?? '')),
  breakages: (tree) =>
    sources(tree, 'src/plan').map((path) => ({ [path]: `export const before = 1;\n${tree.get(path)}` })),
};

const noDrawers: Rule = {
  says: `no file or folder of src is called ${drawers.slice(0, 5).join(', ')} or the like`,
  because:
    'a drawer has no subject, so that everything fits into it; name a file by the one thing it exports',
  violations: (tree) =>
    [...tree.keys()].filter(
      (path) =>
        path.startsWith('src/') && path.split('/').some((part) => drawers.includes(part.split('.')[0] ?? '')),
    ),
  breakages: () =>
    drawers.flatMap((drawer) => [
      { [`src/plan/${drawer}.ts`]: '/** A drawer. */' },
      { [`src/${drawer}/thing.ts`]: '/** In a drawer. */' },
      { [`src/kinds/${drawer}/README.md`]: '# A drawer' },
    ]),
};

const kebabCase: Rule = {
  says: 'files of src are named in kebab-case',
  because: 'one way to write names is one thing less to look up',
  violations: (tree) =>
    sources(tree).filter((path) => !/^src(?:\/[a-z0-9]+(?:-[a-z0-9]+)*)+\.ts$/.test(path)),
  breakages: () =>
    ['Plan.ts', 'makePlan.ts', 'make_plan.ts'].map((name) => ({ [`src/plan/${name}`]: '/** A plan. */' })),
};

const short: Rule = {
  says: `no file of src is longer than ${maxLines} lines`,
  because: 'a longer file is about more than one thing: find the second one and give it a name',
  violations: (tree) =>
    sources(tree).flatMap((path) => {
      const lines = (tree.get(path) ?? '').trimEnd().split('\n').length;
      return lines > maxLines ? [`${path} has ${lines} lines`] : [];
    }),
  breakages: (tree) =>
    sources(tree, 'src/plan').map((path) => ({ [path]: `${tree.get(path)}${'//\n'.repeat(maxLines)}` })),
};

const maxFiles = 15;

/** What is of one shape by design, and so scanned by its shape. */
const wide: Readonly<Record<string, string>> = {
  'src/kinds/workspace': 'the parts of a kind have the same names in every kind',
  'src/kinds/cluster-auth-role': 'the parts of a kind have the same names in every kind',
};

const scannable: Rule = {
  says: `no folder of src has more than ${maxFiles} files, but for those with a reason`,
  because: 'a folder is read at one glance: find the second theme in it and give that a folder',
  violations: (tree) =>
    [...filesByFolder(tree)].flatMap(([folder, files]) =>
      files.length > maxFiles && !(folder in wide) ? [`${folder} has ${files.length} files`] : [],
    ),
  breakages: () => [
    Object.fromEntries(
      Array.from(
        { length: maxFiles + 1 },
        (_, at) => [`src/compare/ring-${at}.ts`, '/** A ring. */'] as const,
      ),
    ),
  ],
};

const introduced: Rule = {
  says: 'every folder of src opens with a README',
  because: 'it says what comes in, what goes out, and where to start reading',
  violations: (tree) =>
    [...filesByFolder(tree).keys()]
      .filter((folder) => !tree.has(`${folder}/README.md`))
      .map((folder) => `${folder}/README.md is missing`),
  breakages: (tree) =>
    [...filesByFolder(tree).keys()].map((folder) => ({ [`${folder}/README.md`]: undefined })),
};

function filesByFolder(tree: SourceTree): Map<string, string[]> {
  return Map.groupBy(sources(tree), (path) => posix.dirname(path));
}

export const fileRules: readonly Rule[] = [
  opensWithComment,
  noDrawers,
  kebabCase,
  short,
  scannable,
  introduced,
];
