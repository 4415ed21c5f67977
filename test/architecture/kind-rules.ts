/** Rules about kinds and dialects: each is complete, registered and documented, and named only where it may be. */
import { dialects } from '../../src/api/dialects.ts';
import type { Rule } from './rule.ts';
import { isBelow, type SourceTree, sources } from './source-tree.ts';

/** The folders of kinds: `cluster-auth-role`. */
function kindFolders(tree: SourceTree): string[] {
  const folders = [...tree.keys()].flatMap((path) => /^src\/kinds\/([^/]+)\//.exec(path)?.[1] ?? []);
  return [...new Set(folders)].sort();
}

/** `cluster-auth-role` is the folder of the kind `ClusterAuthRole`. */
function kindName(folder: string): string {
  return folder.replace(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function perKind(tree: SourceTree, check: (folder: string, name: string) => readonly string[]): string[] {
  return kindFolders(tree).flatMap((folder) => check(folder, kindName(folder)));
}

const parts = ['schema.ts', 'fields.ts', 'check.ts', 'read.ts', 'calls.ts', 'index.ts', 'README.md'];

const complete: Rule = {
  title: 'every kind has all files of a kind',
  because: 'kinds have the same files, so that a reader of one knows all; an empty file says why it is empty',
  violations: (tree) =>
    perKind(tree, (folder) =>
      parts
        .map((part) => `src/kinds/${folder}/${part}`)
        .filter((path) => !tree.has(path))
        .map((path) => `${path} is missing`),
    ),
  breakages: (tree) =>
    kindFolders(tree).flatMap((folder) =>
      parts.map((part) => ({ [`src/kinds/${folder}/${part}`]: undefined })),
    ),
};

const registry = 'src/kinds/index.ts';

const registered: Rule = {
  title: 'every kind is registered',
  because: 'a kind that src/kinds/index.ts does not list does not exist for users',
  violations: (tree) => {
    const text = tree.get(registry) ?? '';
    const listed = /\[([^\]]*)\];/.exec(text)?.[1] ?? '';
    return perKind(tree, (folder) => {
      const variable = new RegExp(`import \\{ (\\w+) \\} from './${folder}/index\\.ts'`).exec(text)?.[1];
      const isListed = variable !== undefined && new RegExp(`\\b${variable}\\b`).test(listed);
      return isListed ? [] : [`${registry} does not list ${folder}`];
    });
  },
  breakages: (tree) => {
    const text = tree.get(registry) ?? '';
    const [folder = ''] = kindFolders(tree);
    return [
      { [registry]: text.replace(new RegExp(`^.*/${folder}/.*\\n`, 'm'), '') },
      { [registry]: text.replace(/\[([^,\]]*),/, '[') },
      { 'src/kinds/forgotten/index.ts': '/** Forgotten. */' },
    ];
  },
};

const page = 'docs/guides/writing-manifests.md';

const documented: Rule = {
  title: 'every kind is in the table of kinds in docs/guides/writing-manifests.md',
  because: 'users find a kind by reading that table, with a link to the README in its folder',
  violations: (tree) => {
    const rows = (tree.get(page) ?? '').split('\n').filter((line) => line.startsWith('|'));
    return perKind(tree, (folder, name) =>
      rows.some((row) => row.includes(`\`${name}\``) && row.includes(`src/kinds/${folder}/README.md`))
        ? []
        : [`no row of ${page} names \`${name}\` and links src/kinds/${folder}/README.md`],
    );
  },
  breakages: (tree) => [
    { [page]: undefined },
    { [page]: (tree.get(page) ?? '').replaceAll('|', '') },
    { 'src/kinds/unknown-thing/index.ts': '/** Unknown. */' },
  ],
};

const published: Rule = {
  title: 'every kind has a generated schema',
  because: 'editors complete and check manifests with it: run "npm run schemas"',
  violations: (tree) =>
    perKind(tree, (folder) => (tree.has(schemaFile(folder)) ? [] : [`${schemaFile(folder)} is missing`])),
  breakages: (tree) => kindFolders(tree).map((folder) => ({ [schemaFile(folder)]: undefined })),
};

function schemaFile(folder: string): string {
  return `schemas/${folder}.schema.json`;
}

const proven: Rule = {
  title: 'every kind has a corpus',
  because: 'the corpus shows field by field that a plan after apply is empty, in both directions',
  violations: (tree) =>
    perKind(tree, (_, name) =>
      tree.has(`test/corpus/${name}.yaml`) ? [] : [`test/corpus/${name}.yaml is missing`],
    ),
  breakages: () => [{ 'src/kinds/unverified/index.ts': '/** Unproven. */' }],
};

const floorsWithoutKinds = ['src/model', 'src/plan', 'src/apply', 'src/report'];

const unnamed: Rule = {
  title: 'model, plan, apply and report name no kind, not even in a comment',
  because: 'they work for kinds that do not exist yet; what only one kind needs belongs in its folder',
  violations: (tree) => {
    const names = kindFolders(tree).flatMap(spellings);
    const pattern = new RegExp(`\\b(?:${names.join('|')})\\b`);
    return linesThat(tree, pattern, (path) => floorsWithoutKinds.some((floor) => isBelow(path, floor)));
  },
  breakages: (tree) =>
    floorsWithoutKinds.flatMap((floor) =>
      kindFolders(tree).map((folder) => {
        const [path = ''] = sources(tree, floor);
        return { [path]: `${tree.get(path)}\nif (kind === '${kindName(folder)}') {}` };
      }),
    ),
};

/** The name of a kind, and of its variable or field if that is not a plain English word. */
function spellings(folder: string): string[] {
  const name = kindName(folder);
  return folder.includes('-') ? [name, `${name.charAt(0).toLowerCase()}${name.slice(1)}`] : [name];
}

function linesThat(tree: SourceTree, pattern: RegExp, where: (path: string) => boolean): string[] {
  return sources(tree)
    .filter(where)
    .flatMap((path) =>
      (tree.get(path) ?? '')
        .split('\n')
        .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
    );
}

const words = (name: string) => name.toLowerCase().split(/[-_]/);

/** The names of real services: all dialects except `neutral`. */
const brands = new Set([...dialects.values()].flatMap(({ name }) => (name === 'neutral' ? [] : words(name))));

/** The words that a dialect puts into names that the neutral spec has without them. */
const brandedWords = new Set(
  [...dialects.values()].flatMap(({ rename }) =>
    Object.entries(rename).flatMap(([neutral, real]) =>
      words(real).filter((word) => !words(neutral).includes(word)),
    ),
  ),
);

const dialectTables = 'src/api/dialects.ts';
const servedDialects: readonly string[] = [
  'src/server/kernel/dialects.ts',
  'src/server/kernel/workspaces-dialects.ts',
];

/**
 * Code hosts and CI. trueup does not reconcile them, although a wire name contains the word. Commands and reports send requests to
 * them, and detect their jobs by environment variables.
 */
const platforms: ReadonlySet<string> = new Set(['github']);
const usersOfPlatforms = [
  'src/command-line.ts',
  'src/commands',
  'src/run',
  'src/report',
  'src/approvals',
  'src/api/code-host',
  'src/api/code-host.ts',
];

/** Matches upper and lower case, words and parts of compound names. `hcp:`, a reserved prefix of tag keys, does not match. */
function brandPattern(names: ReadonlySet<string>): RegExp {
  return new RegExp(`(?<![a-z])(?:${[...names].join('|')})(?![a-z:])`, 'i');
}

const unbranded: Rule = {
  title: 'no brand is named outside the dialect tables, not even in a comment',
  because: 'what one service calls or does differently is a row of its dialect in src/api/dialects.ts',
  violations: (tree) => {
    const isBound = (path: string) => path !== dialectTables && !isBelow(path, 'src/server');
    const all = [...brands, ...brandedWords];
    const services = new Set(all.filter((word) => !platforms.has(word)));
    const others = new Set(all.filter((word) => platforms.has(word)));
    const isPlain = (path: string) => !usersOfPlatforms.some((place) => isBelow(path, place));
    return [
      ...linesThat(tree, brandPattern(services), isBound),
      ...linesThat(tree, brandPattern(others), (path) => isBound(path) && isPlain(path)),
    ];
  },
  breakages: (tree) =>
    [...brands, ...brandedWords].map((brand) => ({
      'src/compare/diff.ts': `${tree.get('src/compare/diff.ts')}\n// as ${brand} does\n`,
    })),
};

const unbrandedServer: Rule = {
  title: 'the embedded service names no brand outside its own tables of dialects',
  because: `it speaks the specs as written; what a dialect changes about them is a row of ${servedDialects.join(' or ')}`,
  violations: (tree) =>
    linesThat(
      tree,
      brandPattern(brands),
      (path) => !servedDialects.includes(path) && isBelow(path, 'src/server'),
    ),
  breakages: () => [...brands].map((brand) => ({ 'src/server/x.ts': `/** X. */\nconst name = '${brand}';` })),
};

export const kindRules: readonly Rule[] = [
  complete,
  registered,
  documented,
  published,
  proven,
  unnamed,
  unbranded,
  unbrandedServer,
];
