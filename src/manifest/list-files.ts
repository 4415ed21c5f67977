/**
 * From the patterns of `spec.manifests` to files, sorted and each once: files, directories (all YAML below), globs, and
 * `!` in front of what is left out. What matches nothing is told: an empty look must never be taken for "all is gone".
 */
import { readdir, stat } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import picomatch from 'picomatch';
import { standardInput } from './find-stack.ts';

/** What one pattern brought; `problem` says why it brought nothing, or not all. */
export interface PatternFiles {
  /** absolute, sorted */
  readonly files: readonly string[];
  readonly problem?: PatternProblem;
}

export interface PatternProblem {
  readonly code: 'unreadable' | 'no-file' | 'no-manifests';
  readonly message: string;
  readonly fix?: string;
}

/** What lies in such directories is never a manifest, unless it is named. */
const ignoredDirectory = /^(\.|node_modules$)/;
const isYaml = (file: string) => /\.ya?ml$/.test(file);

/** @returns for each pattern that is no exclusion and not `-` what it stands for, in the order of `patterns` */
export async function listFiles(
  patterns: readonly string[],
  directory: string,
): Promise<ReadonlyMap<string, PatternFiles>> {
  const excluded = patterns.filter((pattern) => pattern.startsWith('!')).map((pattern) => pattern.slice(1));
  const isExcluded = picomatch(excluded.map(withoutDot), { dot: true });
  const found = new Map<string, PatternFiles>();
  for (const pattern of patterns) {
    if (pattern.startsWith('!') || pattern === standardInput) continue;
    const listed = await listPattern(pattern, directory);
    const files = listed.files.filter(
      (file) => excluded.length === 0 || !isExcluded(slashes(relative(directory, file))),
    );
    found.set(pattern, { ...listed, files });
  }
  return found;
}

async function listPattern(pattern: string, directory: string): Promise<PatternFiles> {
  const { base, glob } = picomatch.scan(withoutDot(pattern));
  if (glob === '') return listPath(pattern, resolve(directory, pattern));
  const root = resolve(directory, base);
  const matches = picomatch(glob);
  const walked = await walk(root, (file) => matches(slashes(relative(root, file))));
  return withFiles(pattern, walked, `no file matches "${pattern}"`);
}

async function listPath(pattern: string, path: string): Promise<PatternFiles> {
  try {
    if (!(await stat(path)).isDirectory()) return { files: [path] };
  } catch (error) {
    const missing = codeOf(error) === 'ENOENT';
    const message = missing ? `"${pattern}" does not exist` : `"${pattern}" cannot be read: ${codeOf(error)}`;
    return { files: [], problem: { code: missing ? 'no-file' : 'unreadable', message } };
  }
  return withFiles(pattern, await walk(path, isYaml), `the directory "${pattern}" holds no manifest`);
}

function withFiles(pattern: string, { files, unreadable }: Walked, message: string): PatternFiles {
  const sorted = [...files].sort();
  if (unreadable.length > 0) {
    const told = `a directory of "${pattern}" cannot be read: ${unreadable.join(', ')}`;
    return { files: sorted, problem: { code: 'unreadable', message: told } };
  }
  if (sorted.length > 0) return { files: sorted };
  const fix = 'correct the pattern, or remove it when there is to be nothing';
  return { files: [], problem: { code: 'no-manifests', message, fix } };
}

interface Walked {
  readonly files: string[];
  readonly unreadable: string[];
}

/** All files below a directory that are wanted; links are followed, but no directory is entered twice on one way. */
async function walk(root: string, isWanted: (file: string) => boolean): Promise<Walked> {
  const walked: Walked = { files: [], unreadable: [] };
  await enter(root, [], isWanted, walked);
  return walked;
}

async function enter(
  directory: string,
  above: readonly string[],
  isWanted: (file: string) => boolean,
  walked: Walked,
): Promise<void> {
  try {
    const { dev, ino } = await stat(directory);
    const identity = `${dev}:${ino}`;
    if (above.includes(identity)) return;
    for (const entry of await readdir(directory, { withFileTypes: true })) {
      const path = join(directory, entry.name);
      const isDirectory = entry.isSymbolicLink() ? await leadsToDirectory(path) : entry.isDirectory();
      if (!isDirectory && isWanted(path)) walked.files.push(path);
      if (isDirectory && !ignoredDirectory.test(entry.name))
        await enter(path, [...above, identity], isWanted, walked);
    }
  } catch (error) {
    if (above.length > 0 || codeOf(error) !== 'ENOENT')
      walked.unreadable.push(`${directory} (${codeOf(error)})`);
  }
}

async function leadsToDirectory(link: string): Promise<boolean> {
  try {
    return (await stat(link)).isDirectory();
  } catch {
    return false;
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}

function withoutDot(pattern: string): string {
  return pattern.replace(/^(\.\/)+/, '');
}

function slashes(path: string): string {
  return path.split(sep).join('/');
}
