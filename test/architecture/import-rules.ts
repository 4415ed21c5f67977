/** Who may import whom: the floors of the program, its kinds, and no circles. */
import { posix } from 'node:path';
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
    floor: 'redaction',
    may: ['model'],
    because:
      'everything that keeps secrets out of outputs is in one place, below all that prints or stores something',
  },
  {
    floor: 'files',
    may: ['model'],
    because: 'how a file is read that somebody names is one rule, whatever it is read for',
  },
  {
    floor: 'compare',
    may: ['model', 'redaction'],
    because:
      'what is equal and what differs has one answer for kinds, planner and apply, and asks nobody else',
  },
  {
    floor: 'manifest',
    may: ['model', 'redaction', 'files'],
    because: 'manifests are judged offline and without knowing what a plan or a service is',
  },
  {
    floor: 'plan',
    may: ['model', 'redaction', 'compare'],
    because: 'planning is pure: what it needs of the world is handed to it as a value of the model',
  },
  {
    floor: 'api',
    may: ['model', 'redaction', 'compare'],
    because:
      'it carries requests and holds what several kinds of one service need in order to read it; it knows no kind',
  },
  {
    floor: 'ledger',
    may: ['model', 'redaction', 'files'],
    because: 'a ledger stores records; a store must be replaceable without touching who uses it',
  },
  {
    floor: 'report',
    may: ['model', 'redaction'],
    because: 'a report is a function of the plan; what it had to look up would not be in the plan',
  },
  {
    floor: 'apply',
    may: ['model', 'redaction', 'compare', 'plan'],
    because: 'apply is one small engine that carries out calls as data; readers and writers are handed to it',
  },
  {
    floor: 'audit-trail',
    may: ['model', 'files', 'ledger', 'redaction'],
    because:
      'it reads a trail over a channel that is handed to it, and keeps it where ledgers are kept, in the way that they are',
  },
  {
    floor: 'approvals',
    may: ['model', 'redaction', 'files', 'api', 'ledger'],
    because:
      'who approved a digest is read from git and code hosts; what is done with it is not decided here',
  },
  {
    floor: 'policies',
    may: ['model', 'redaction', 'files', 'manifest', 'ledger'],
    because:
      'rules judge the values of a plan: their documents are read like manifests, from files or from git, and what is done about a violation is not decided here',
  },
  {
    floor: 'kinds',
    may: ['model', 'compare', 'api'],
    because: 'a kind is a filled-in form: planner, applier and reports use it, and it uses none of them',
  },
  {
    floor: 'run',
    may: [
      'model',
      'files',
      'compare',
      'manifest',
      'plan',
      'redaction',
      'api',
      'ledger',
      'report',
      'apply',
      'audit-trail',
      'approvals',
      'policies',
      'server',
    ],
    because: 'what every command needs puts the lower folders together and knows no command',
  },
  {
    floor: 'commands',
    may: [
      'model',
      'files',
      'compare',
      'manifest',
      'plan',
      'redaction',
      'api',
      'ledger',
      'report',
      'apply',
      'audit-trail',
      'approvals',
      'policies',
      'kinds',
      'server',
      'run',
    ],
    because:
      'a command is built from the folders below; above them are only the command line and the process',
  },
  {
    floor: 'command-line.ts',
    may: ['model', 'run', 'commands'],
    because: 'it chooses the command, and the command does everything else',
  },
  {
    floor: 'server',
    may: [],
    because:
      'the wire is the only contract between the reconciler and the embedded service, so that no mistake can hide by being made on both sides',
  },
  {
    floor: 'main.ts',
    may: ['run', 'command-line.ts', 'kinds'],
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
    'a kind can be added and removed as one folder; what two of them share belongs into src/api or src/model',
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

const commandsAreSeparate: Rule = {
  says: 'the folders of commands do not import each other',
  because:
    'who changes a command opens one folder; what two commands share belongs into src/run or src/report',
  violations: (tree) => badCommandImports(tree),
  breakages: (tree) => [
    withImport(tree, 'src/commands/apply', 'src/commands/plan.ts'),
    withImport(tree, 'src/commands/drift', 'src/commands/apply.ts'),
  ],
};

/** A command of one file is beside those folders, and may import from them: `schema` lists the schemas of all commands. */
function badCommandImports(tree: SourceTree): string[] {
  const folderOf = (path: string) => path.split('/').slice(0, 3).join('/');
  return sources(tree, 'src/commands')
    .filter((path) => path.split('/').length > 3)
    .flatMap((path) =>
      importsOf(tree, path)
        .filter((target) => isBelow(target, 'src/commands') && !isBelow(target, folderOf(path)))
        .map((target) => `${path} imports ${target}`),
    );
}

const foldersGoOneWay: Rule = {
  says: 'no two folders of src import each other',
  because: 'two folders that import each other are one folder: move what both need to a folder below them',
  violations: (tree) => mutualImports(tree),
  breakages: (tree) => [
    withImport(tree, 'src/model', sources(tree, 'src/compare')[0] ?? ''),
    withImport(tree, 'src/server/kernel', sources(tree, 'src/server/workspaces')[0] ?? ''),
    withImport(
      tree,
      'src/api/transport',
      sources(tree, 'src/api').find((path) => path.split('/').length === 3) ?? '',
    ),
  ],
};

/** Pairs of folders, a folder and its own sub-folder included, with one import in each direction. */
function mutualImports(tree: SourceTree): string[] {
  const imports = new Map<string, string>();
  for (const path of sources(tree))
    for (const target of importsOf(tree, path)) {
      if (!tree.has(target)) continue;
      const [from, to] = [posix.dirname(path), posix.dirname(target)];
      if (from !== to) imports.set(`${from} ${to}`, `${path} imports ${target}`);
    }
  return [...imports].flatMap(([pair, example]) => {
    const [from = '', to = ''] = pair.split(' ');
    const back = imports.get(`${to} ${from}`);
    return from < to && back !== undefined ? [`${example}, and ${back}`] : [];
  });
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
  commandsAreSeparate,
  foldersGoOneWay,
  noCycles,
];
