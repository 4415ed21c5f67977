/** Rules about files: how they begin, what they are called, how long they are. */
import type { Rule } from './rule.ts';
import { sources } from './source-tree.ts';

const maxLines = 350;
const drawers = ['utils', 'util', 'helpers', 'helper', 'common', 'shared', 'misc', 'lib', 'tools', 'stuff'];

const opensWithComment: Rule = {
  title: 'every source file opens with a comment',
  because: 'the comment says what the file is and which invariant it keeps',
  violations: (tree) =>
    sources(tree).filter((path) => !/^(?:#![^\n]*\n)?\/\*\*\s*\S/.test(tree.get(path) ?? '')),
  breakages: (tree) =>
    sources(tree, 'src/plan').map((path) => ({ [path]: `export const before = 1;\n${tree.get(path)}` })),
};

const noDrawers: Rule = {
  title: `no file or folder of src is called ${drawers.slice(0, 5).join(', ')} or the like`,
  because:
    'a file with such a name has no subject, so that anything fits into it; name a file by the one thing it exports',
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
  title: 'files of src are named in kebab-case',
  because: 'names that are written in one way are easier to find',
  violations: (tree) =>
    sources(tree).filter((path) => !/^src(?:\/[a-z0-9]+(?:-[a-z0-9]+)*)+\.ts$/.test(path)),
  breakages: () =>
    ['Plan.ts', 'makePlan.ts', 'make_plan.ts'].map((name) => ({ [`src/plan/${name}`]: '/** A plan. */' })),
};

const short: Rule = {
  title: `no file of src is longer than ${maxLines} lines`,
  because: 'a longer file is about more than one thing: find the second one and give it a name',
  violations: (tree) =>
    sources(tree).flatMap((path) => {
      const lines = (tree.get(path) ?? '').trimEnd().split('\n').length;
      return lines > maxLines ? [`${path} has ${lines} lines`] : [];
    }),
  breakages: (tree) =>
    sources(tree, 'src/plan').map((path) => ({ [path]: `${tree.get(path)}${'//\n'.repeat(maxLines)}` })),
};

/** An opening quote in a template, and a value before the quote is closed. */
const valueInRawQuotes = /(?:^|[ (`,>&])"[^"`]*\$\{/;

const quotedValues: Rule = {
  title: 'a sentence puts a value in quotes with `quoted`, never with quotes of its own',
  because: 'a value with a double quote would end those quotes and continue the sentence in our name',
  violations: (tree) =>
    sources(tree)
      .filter((path) => !/^src\/(?:server|report\/html)\//.test(path))
      .flatMap((path) => {
        const lines = (tree.get(path) ?? '').split('\n');
        return lines.filter((line) => valueInRawQuotes.test(line)).map((line) => `${path}: ${line.trim()}`);
      }),
  breakages: (tree) =>
    [`"\${name}" is taken`, `the tag "\${name}" is taken`, `write "name: \${name}" into it`].flatMap((text) =>
      ['src/plan/build-plan.ts', 'src/command-line.ts'].map((path) => ({
        [path]: `${tree.get(path)}const text = \`${text}\`;\n`,
      })),
    ),
};

export const fileRules: readonly Rule[] = [opensWithComment, noDrawers, kebabCase, short, quotedValues];
