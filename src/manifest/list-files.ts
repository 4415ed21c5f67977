/**
 * From the patterns of `spec.manifests` to files, sorted and each once: files, directories (all YAML below), globs, and
 * `!` in front of what is left out. What stands for nothing, or has nothing left, is told unless it is optional: an empty
 * look must never be taken for "all is gone" (RULES 41).
 */
import { readdir, stat } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import picomatch from 'picomatch';
import type { Path } from '../model/json.ts';
import { standardInput } from './find-stack.ts';

/** One item of `spec.manifests`. */
export interface ManifestPattern {
  readonly pattern: string;
  /** it may stand for nothing */
  readonly optional: boolean;
  /** where it stands in the Stack */
  readonly path: Path;
}

/** What one pattern brought; `problem` says why it brought nothing, or not all. */
export interface PatternFiles {
  readonly pattern: ManifestPattern;
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
export const ignoredDirectory = /^(\.|node_modules$)/;
export const isYaml = (file: string) => /\.ya?ml$/.test(file);
const isExclusion = ({ pattern }: ManifestPattern) => pattern.startsWith('!');

/** Whether a list only leaves out, and so does not say where manifests are. An empty one says that there are none. */
export function onlyLeavesOut(patterns: readonly ManifestPattern[]): boolean {
  return patterns.length > 0 && patterns.every(isExclusion);
}

/**
 * @param noManifest absolute path of a file that is known to hold none, although a pattern may stand for it
 * @returns for each pattern that is no exclusion and not `-` what it stands for, in the order of `patterns`
 */
export async function listFiles(
  patterns: readonly ManifestPattern[],
  directory: string,
  noManifest?: string,
): Promise<readonly PatternFiles[]> {
  const excluded = patterns.filter(isExclusion).map(({ pattern }) => withoutDot(pattern.slice(1)));
  const isExcluded = picomatch(excluded, { dot: true });
  const isLeft = (file: string) => excluded.length === 0 || !isExcluded(slashes(relative(directory, file)));
  const found: PatternFiles[] = [];
  for (const pattern of patterns) {
    if (isExclusion(pattern) || pattern.pattern === standardInput) continue;
    const { files: all, problem } = await listPattern(pattern.pattern, directory);
    const candidates = all.filter((file) => file !== noManifest);
    const files = candidates.filter(isLeft);
    const amiss = problem ?? (files.length > 0 ? undefined : nothingLeft(pattern, candidates));
    const isFine = amiss === undefined || (pattern.optional && amiss.code !== 'unreadable');
    found.push({ pattern, files, ...(isFine ? {} : { problem: amiss }) });
  }
  return found;
}

/** @param candidates what it stands for before anything is left out */
function nothingLeft({ pattern }: ManifestPattern, candidates: readonly string[]): PatternProblem {
  const message =
    candidates.length === 0
      ? `"${pattern}" stands for the stack file alone, which holds no manifest`
      : `the exclusions leave nothing of "${pattern}"`;
  return { code: 'no-manifests', message, fix: maybeNothing(pattern) };
}

function maybeNothing(pattern: string): string {
  return `correct the patterns, or write { pattern: ${JSON.stringify(pattern)}, optional: true } where there may be nothing`;
}

/** All that one pattern stands for. */
type Listed = Omit<PatternFiles, 'pattern'>;

async function listPattern(pattern: string, directory: string): Promise<Listed> {
  const { base, glob } = picomatch.scan(withoutDot(pattern));
  if (glob === '') return listPath(pattern, resolve(directory, pattern));
  const root = resolve(directory, base);
  const matches = picomatch(glob);
  const walked = await walk(root, (file) => matches(slashes(relative(root, file))));
  return withFiles(pattern, walked, `no file matches "${pattern}"`);
}

async function listPath(pattern: string, path: string): Promise<Listed> {
  try {
    if (!(await stat(path)).isDirectory()) return { files: [path] };
  } catch (error) {
    const missing = codeOf(error) === 'ENOENT';
    const message = missing ? `"${pattern}" does not exist` : `"${pattern}" cannot be read: ${codeOf(error)}`;
    if (!missing) return { files: [], problem: { code: 'unreadable', message } };
    return { files: [], problem: { code: 'no-file', message, fix: maybeNothing(pattern) } };
  }
  return withFiles(pattern, await walk(path, isYaml), `the directory "${pattern}" holds no manifest`);
}

function withFiles(pattern: string, { files, unreadable }: Walked, message: string): Listed {
  const sorted = [...files].sort();
  if (unreadable.length > 0) {
    const told = `a directory of "${pattern}" cannot be read: ${unreadable.join(', ')}`;
    return { files: sorted, problem: { code: 'unreadable', message: told } };
  }
  if (sorted.length > 0) return { files: sorted };
  return { files: [], problem: { code: 'no-manifests', message, fix: maybeNothing(pattern) } };
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

export function withoutDot(pattern: string): string {
  return pattern.replace(/^(\.\/)+/, '');
}

export function slashes(path: string): string {
  return path.split(sep).join('/');
}
