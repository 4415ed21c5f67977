/**
 * Which files `spec.secrets.files` allows as sources of secrets. Both the path in the manifest and the real file must
 * be allowed: a symbolic link in a repository must not give access to arbitrary files of the machine.
 */
import { realpathSync } from 'node:fs';
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import picomatch from 'picomatch';

/**
 * Whether a pattern matches the path as written. Path and patterns are relative to the stack's folder; `..` in the path is
 * resolved first, so it cannot lead out of a pattern's folder.
 */
export function isFileAdmitted(file: string, patterns: readonly string[], directory: string): boolean {
  return patterns.some((pattern) => matches(resolve(directory, file), pattern, directory));
}

/**
 * Follows the links of a file that a pattern matches, and checks that the real file lies below the fixed first part of such a
 * pattern. Links inside that folder and links to it are allowed: a pod's secrets are mounted that way.
 * @returns the real path when it lies outside; undefined when it lies inside or the file does not exist
 */
export function realPathOutside(
  file: string,
  patterns: readonly string[],
  directory: string,
): string | undefined {
  const written = resolve(directory, file);
  const real = realPath(written);
  if (real === undefined) return undefined;
  const isInside = patterns
    .filter((pattern) => matches(written, pattern, directory))
    .map((pattern) => realPath(folderOf(pattern, directory)))
    .some((folder) => folder !== undefined && below(folder, real) !== undefined);
  return isInside ? undefined : real;
}

function matches(wanted: string, pattern: string, directory: string): boolean {
  const { base, glob } = picomatch.scan(pattern);
  if (glob === '') return wanted === resolve(directory, pattern);
  const rest = below(resolve(directory, base), wanted);
  return rest !== undefined && picomatch(glob, { nonegate: true })(rest);
}

/** The folder before the first wildcard of a pattern; without a wildcard, the folder of the file. */
function folderOf(pattern: string, directory: string): string {
  const { base, glob } = picomatch.scan(pattern);
  return glob === '' ? dirname(resolve(directory, pattern)) : resolve(directory, base);
}

/** A path relative to a folder; undefined when it lies outside. */
function below(folder: string, path: string): string | undefined {
  const rest = relative(folder, path).split(sep).join('/');
  return rest === '..' || rest.startsWith('../') || isAbsolute(rest) ? undefined : rest;
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
