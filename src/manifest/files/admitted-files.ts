/**
 * Which files `spec.secrets.files` admits as sources of secrets (rule 42). A pattern is about the path that stands in a
 * manifest and about the file behind it: a symbolic link in a repository must not lead to any file of the machine.
 */
import { realpathSync } from 'node:fs';
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import picomatch from 'picomatch';

/** By its written path alone, which is meant from the stack's folder, as patterns are: no `..` leads out of one. */
export function isFileAdmitted(file: string, patterns: readonly string[], directory: string): boolean {
  return patterns.some((pattern) => matches(resolve(directory, file), pattern, directory));
}

/**
 * Where a file really lies, when that is below none of the folders that the patterns admitting it begin with; undefined
 * for one that lies there, and for one that is not there at all. Links inside such a folder are well, as are links on the
 * way to it: that is how a pod's secrets are mounted.
 */
export function leadsOut(file: string, patterns: readonly string[], directory: string): string | undefined {
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

/** What is before its first wildcard; of one that has none, the folder of that file. */
function folderOf(pattern: string, directory: string): string {
  const { base, glob } = picomatch.scan(pattern);
  return glob === '' ? dirname(resolve(directory, pattern)) : resolve(directory, base);
}

/** The way from a folder to what lies in it; undefined for what lies elsewhere. */
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
