/**
 * Decides whether a path is one of a stack's files. It matches the same files as `listFiles`, but needs only the path, so it works
 * for every commit and not only for the one that is checked out. Pure.
 */
import { basename, relative, resolve } from 'node:path';
import picomatch from 'picomatch';
import type { StackPaths } from '../../model/checkout.ts';
import type { Stack } from '../../model/stack.ts';
import { slashes, standardInput } from './find-stack.ts';
import { ignoredDirectory, isYaml, withoutDot } from './list-files.ts';

/**
 * Matches the stack file, all files that its patterns match, and the files of its lists and policies.
 * @param piped the command line takes manifests from standard input. It is unknown which files they were made from, so every
 * file below the stack's directory counts.
 */
export function matchStackFiles(
  {
    manifests,
    directory,
    file,
    lists = [],
    policies = [],
  }: Pick<Stack, 'manifests' | 'directory' | 'file' | 'lists' | 'policies'>,
  piped: boolean,
): StackPaths {
  const ofPolicies = policies.flatMap((source) => ('files' in source ? source.files : []));
  const [listed, named] = [matchFiles(manifests, directory), matchFiles(ofPolicies, directory)];
  const fromInput = piped || manifests.includes(standardInput);
  const needsNoPattern = (path: string) =>
    path === basename(file) || (fromInput && !path.startsWith('../')) || lists.includes(path);
  return {
    isFile: (path) => needsNoPattern(path) || listed.isFile(path) || named.isFile(path),
    isAncestor: (path) =>
      needsNoPattern(path) ||
      listed.isAncestor(path) ||
      named.isAncestor(path) ||
      lists.some((list) => list.startsWith(`${path}/`)),
  };
}

/** The files of policies at a path of a ref: the file, or all files of the folder. All paths are from the root of the repository. */
export function matchRefPath(path: string): StackPaths {
  const root = path.replace(/^\.?\/+|\/+$/g, '');
  const isAll = root === '' || root === '.';
  return {
    isFile: (file) => file === root || (isYaml(file) && (isAll || file.startsWith(`${root}/`))),
    isAncestor: (file) => file === root || root.startsWith(`${file}/`),
  };
}

/**
 * The files of policies that a stack takes from branches, if their remote is this repository: then a change of the files changes the
 * policies. A tag does not follow changes. All paths are from the root of the repository.
 */
export function matchRefs({ policies = [] }: Pick<Stack, 'policies'>): (file: string) => boolean {
  const each = policies.flatMap((source) =>
    'git' in source && !source.git.ref.startsWith('refs/tags/') ? [matchRefPath(source.git.path)] : [],
  );
  return (file) => each.some(({ isFile }) => isFile(file));
}

/** @param directory absolute; what the patterns are relative to */
export function matchFiles(patterns: readonly string[], directory: string): StackPaths {
  const excluded = patterns.filter((pattern) => pattern.startsWith('!')).map((pattern) => pattern.slice(1));
  const included = patterns.filter((pattern) => !pattern.startsWith('!') && pattern !== standardInput);
  const isExcluded = picomatch(excluded.map(withoutDot), { dot: true });
  const each = included.map((pattern) => matchPattern(pattern, directory));
  return {
    isFile: (path) => each.some(({ isFile }) => isFile(path)) && (excluded.length === 0 || !isExcluded(path)),
    isAncestor: (path) => each.some(({ isAncestor }) => isAncestor(path)),
  };
}

function matchPattern(pattern: string, directory: string): StackPaths {
  const { base, glob } = picomatch.scan(withoutDot(pattern));
  const matches = glob === '' ? isYaml : picomatch(glob);
  const root = resolve(directory, glob === '' ? pattern : base);
  /** Relative to the root: empty for the root itself, `../…` for a path outside. */
  const fromRoot = (path: string) => slashes(relative(root, resolve(directory, path)));
  return {
    isFile: (path) => {
      const rest = fromRoot(path);
      // A pattern may name a file that does not end in .yaml.
      if (rest === '') return glob === '';
      return isEntered(rest) && matches(rest);
    },
    isAncestor: (path) => {
      const rest = fromRoot(path);
      return isEntered(rest) || /^(\.\.\/)*\.\.$/.test(rest);
    },
  };
}

/** Whether listing the files below the root would reach this path: no folder on it is ignored. */
function isEntered(path: string): boolean {
  const folders = path.split('/').slice(0, -1);
  return path !== '..' && !folders.some((folder) => ignoredDirectory.test(folder));
}
