/** Imports that a rule is tried on. */
import { posix } from 'node:path';
import { type Breakage, type SourceTree, sources } from './source-tree.ts';

/** The first file of each folder: enough to try a rule on. */
export function onePerFolder(paths: readonly string[]): string[] {
  return [...new Map([...paths].reverse().map((path) => [posix.dirname(path), path])).values()];
}

/** The first file of a floor, with one more import; the forms take turns. */
export function withImport(tree: SourceTree, floor: string, target: string): Breakage {
  const [path = `${floor}/new.ts`] = sources(tree, floor);
  const up = '../'.repeat(path.split('/').length - 1);
  const specifier = target.startsWith('src/') ? `${up}${target}` : target;
  const forms = [
    `import { x } from '${specifier}';`,
    `import type { X } from '${specifier}';`,
    `export * from '${specifier}';`,
    `const x = await import('${specifier}');`,
    `type X = import('${specifier}').X;`,
    `import '${specifier}';`,
    `import {\n  x,\n} from "${specifier}";`,
  ];
  const form = forms[target.length % forms.length] ?? '';
  return { [path]: `${tree.get(path) ?? '/** New. */'}\n${form}\n` };
}
