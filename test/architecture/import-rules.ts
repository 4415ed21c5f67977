/** Which folders may import which: the floors of the program, its kinds, and no cycles. */
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

/** From bottom to top. A floor must not import what its list does not name. */
const floors: readonly Floor[] = [
  {
    floor: 'model',
    may: [],
    because: 'the model defines the terms of the program, and depends on nothing else',
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
    because: 'files that users name are read in one way, for every purpose',
  },
  {
    floor: 'compare',
    may: ['model', 'redaction'],
    because: 'kinds, planner and apply compare values in one way, which depends on nothing else',
  },
  {
    floor: 'manifest',
    may: ['model', 'redaction', 'files'],
    because: 'manifests are checked offline, without knowing what a plan or a service is',
  },
  {
    floor: 'plan',
    may: ['model', 'redaction', 'compare'],
    because: 'planning is pure: it gets all that was read as values of the model',
  },
  {
    floor: 'api',
    may: ['model', 'redaction', 'compare'],
    because:
      'it sends requests, and holds what several kinds of one service need to read it; it knows no kind',
  },
  {
    floor: 'ledger',
    may: ['model', 'redaction', 'files'],
    because: 'a ledger stores records; a store must be replaceable without changes of its users',
  },
  {
    floor: 'report',
    may: ['model', 'redaction'],
    because: 'a report is a function of the plan, and reads nothing else',
  },
  {
    floor: 'apply',
    may: ['model', 'redaction', 'compare', 'plan'],
    because:
      'apply is one small engine that carries out calls as data; it gets readers and writers as arguments',
  },
  {
    floor: 'audit-trail',
    may: ['model', 'files', 'ledger', 'redaction'],
    because: 'it reads a trail over a connection that it gets as an argument, and stores it like a ledger',
  },
  {
    floor: 'approvals',
    may: ['model', 'redaction', 'files', 'api', 'ledger'],
    because: 'it reads from git and code hosts who approved a digest; its caller decides what follows',
  },
  {
    floor: 'policies',
    may: ['model', 'redaction', 'files', 'manifest', 'ledger'],
    because:
      'rules check the values of a plan: their documents are read like manifests, from files or git; the caller decides about violations',
  },
  {
    floor: 'kinds',
    may: ['model', 'compare', 'api'],
    because: 'all kinds have the same files: planner, apply and reports use a kind, and it uses none of them',
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
    because: 'it combines the lower folders for all commands, and knows no command',
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
      'the wire is the only contract between the reconciler and the embedded service, so that they cannot share a mistake',
  },
  {
    floor: 'main.ts',
    may: ['run', 'command-line.ts', 'kinds'],
    because: 'it makes a host of the process, and everything else is in the folders below',
  },
];

function floorRule({ floor, may, because }: Floor): Rule {
  const allowed = [floor, ...may].map((path) => `src/${path}`);
  const isAllowed = (target: string) =>
    !target.startsWith('src/') || allowed.some((path) => isBelow(target, path));
  return {
    title: `src/${floor} imports ${may.length === 0 ? 'no other folder of src' : `only ${may.join(', ')}`}`,
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
  title: 'every folder of src is a floor',
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

const kindsAreIndependent: Rule = {
  title: 'kinds do not import each other',
  because:
    'a kind can be added and removed as one folder; what two of them share belongs in src/api or src/model',
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
  title: 'the folders of commands do not import each other',
  because: 'a change of a command needs one folder; what two commands share belongs in src/run or src/report',
  violations: (tree) => badCommandImports(tree),
  breakages: (tree) => [
    withImport(tree, 'src/commands/apply', 'src/commands/plan.ts'),
    withImport(tree, 'src/commands/drift', 'src/commands/apply.ts'),
  ],
};

/** A command in a single file may import from these folders: `schema` lists the schemas of all commands. */
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
  title: 'no two folders of src import each other',
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
  title: 'no file imports itself, directly or through other files',
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
  kindsAreIndependent,
  commandsAreSeparate,
  foldersGoOneWay,
  noCycles,
];
