/** Who may import whom: the floors of the program, its kinds, and no circles. */
import type { Rule } from './rule.ts';
import { floorOf, importsOf, isBelow, type SourceTree, sources } from './source-tree.ts';
import { onePerFolder, withImport } from './try-import.ts';

interface Floor {
  readonly floor: string;
  /** folders and files of `src` that it may import besides itself */
  readonly may: readonly string[];
  readonly because: string;
}

/** Bottom to top. Who stands beside or above is not in the list and so out of reach. */
const floors: readonly Floor[] = [
  {
    floor: 'model',
    may: [],
    because: 'the words stand below everything; a word that needs machinery to be defined is no word',
  },
  {
    floor: 'files',
    may: [],
    because: 'how a file is read that somebody names is one rule, whatever it is read for',
  },
  {
    floor: 'compare',
    may: ['model'],
    because:
      'what is equal and what differs has one answer for kinds, planner and apply, and asks nobody else',
  },
  {
    floor: 'manifest',
    may: ['model', 'files'],
    because: 'manifests are judged offline and without knowing what a plan or a service is',
  },
  {
    floor: 'plan',
    may: ['model', 'compare'],
    because: 'planning is pure: what it needs of the world is handed to it as a value of the model',
  },
  {
    floor: 'http',
    may: ['model'],
    because: 'the wire carries what it is given; what a request is for is none of its business',
  },
  {
    floor: 'ledger',
    may: ['model', 'files'],
    because: 'a ledger stores records; a store must be replaceable without touching who uses it',
  },
  {
    floor: 'report',
    may: ['model'],
    because: 'a report is a function of the plan; what it had to look up would not be in the plan',
  },
  {
    floor: 'apply',
    may: ['model', 'compare', 'plan'],
    because: 'apply is one small engine that carries out calls as data; readers and writers are handed to it',
  },
  {
    floor: 'audit',
    may: ['model', 'files', 'ledger'],
    because:
      'it reads a trail over a channel that is handed to it, and keeps it where ledgers are kept, in the way that they are',
  },
  {
    floor: 'services',
    may: ['model', 'compare', 'http'],
    because: 'it holds what several kinds of one service need in order to read it, and no more',
  },
  {
    floor: 'kinds',
    may: ['model', 'compare', 'http', 'services'],
    because: 'a kind is a filled-in form: planner, applier and reports use it, and it uses none of them',
  },
  {
    floor: 'cli',
    may: [
      ...['model', 'files', 'compare', 'manifest', 'plan', 'http', 'ledger', 'report', 'apply', 'services'],
      ...['audit', 'kinds', 'server'],
    ],
    because: 'commands put the floors together; above them is only the process',
  },
  {
    floor: 'server',
    may: [],
    because:
      'the wire is the only contract between the reconciler and the embedded service, so that no mistake can hide by being made on both sides',
  },
  {
    floor: 'main.ts',
    may: ['cli', 'kinds'],
    because: 'the process becomes a host here, and everything else happens below',
  },
];

function floorRule({ floor, may, because }: Floor): Rule {
  const allowed = [floor, ...may].map((path) => `src/${path}`);
  const isAllowed = (target: string) =>
    !target.startsWith('src/') || allowed.some((path) => isBelow(target, path));
  return {
    says: `src/${floor} imports ${may.length === 0 ? 'nothing of ours' : `only ${may.join(', ')}`}`,
    because,
    violations: (tree) => badImports(tree, `src/${floor}`, isAllowed),
    breakages: (tree) =>
      onePerFolder(sources(tree))
        .filter((path) => !isAllowed(path))
        .map((path) => withImport(tree, `src/${floor}`, path)),
  };
}

function badImports(tree: SourceTree, below: string, isAllowed: (target: string) => boolean): string[] {
  return sources(tree, below).flatMap((path) =>
    importsOf(tree, path)
      .filter((target) => !isAllowed(target))
      .map((target) => `${path} imports ${target}`),
  );
}

const everyFolderIsAFloor: Rule = {
  says: 'every folder of src is a floor',
  because: 'a new folder must say in the table of floors what it may import, and why',
  violations: (tree) => [
    ...new Set(
      sources(tree)
        .map(floorOf)
        .filter((found) => !floors.some(({ floor }) => found === `src/${floor}`)),
    ),
  ],
  breakages: () => [{ 'src/extras/thing.ts': '/** A thing. */' }, { 'src/other.ts': '/** Another. */' }],
};

const kindsAreStrangers: Rule = {
  says: 'kinds do not import each other',
  because:
    'a kind can be added and removed as one folder; what two of them share belongs into src/services or src/model',
  violations: (tree) => badKindImports(tree),
  breakages: (tree) => {
    const [one = '', other = ''] = sources(tree, 'src/kinds').filter((path) => path.endsWith('/schema.ts'));
    return [withImport(tree, one, other), withImport(tree, other, one)];
  },
};

function badKindImports(tree: SourceTree): string[] {
  const kindOf = (path: string) => path.split('/').slice(0, 3).join('/');
  return sources(tree, 'src/kinds')
    .filter((path) => path !== 'src/kinds/index.ts')
    .flatMap((path) =>
      importsOf(tree, path)
        .filter((target) => isBelow(target, 'src/kinds') && !isBelow(target, kindOf(path)))
        .map((target) => `${path} imports ${target}`),
    );
}

const noCycles: Rule = {
  says: 'no file imports itself, by whatever way round',
  because: 'files that need each other are one file, types included: move what both need below both',
  violations: (tree) => findCycle(tree),
  breakages: (tree) => {
    const [one = '', other = ''] = sources(tree, 'src/model');
    return [
      { ...withImport(tree, one, other), ...withImport(tree, other, one) },
      {
        'src/plan/a.ts': "/** A. */\nexport * from './b.ts';",
        'src/plan/b.ts': "/** B. */\nconst c = await import('./c.ts');",
        'src/plan/c.ts': "/** C. */\nimport './a.ts';",
      },
    ];
  },
};

/** The first cycle that a walk meets, as the path around it. */
function findCycle(tree: SourceTree): string[] {
  const done = new Set<string>();
  const walk = (path: string, above: readonly string[]): string[] => {
    const from = above.indexOf(path);
    if (from >= 0) return [[...above.slice(from), path].join(' -> ')];
    if (done.has(path)) return [];
    for (const target of importsOf(tree, path)) {
      const found = tree.has(target) ? walk(target, [...above, path]) : [];
      if (found.length > 0) return found;
    }
    done.add(path);
    return [];
  };
  for (const path of sources(tree)) {
    const found = walk(path, []);
    if (found.length > 0) return found;
  }
  return [];
}

export const importRules: readonly Rule[] = [
  ...floors.map(floorRule),
  everyFolderIsAFloor,
  kindsAreStrangers,
  noCycles,
];
