/**
 * From the patterns of `spec.manifests` to files, sorted and each once: files, directories (all YAML below), globs, and
 * `!` in front of what is left out. What stands for nothing, or has nothing left, is told unless it is optional: an empty
 * look must never be taken for "all is gone" (rule 41).
 */
import { readdir, realpath, stat } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import picomatch from 'picomatch';
import type { Path } from '../../model/json/json.ts';
import { findRepository, liesIn, outsideWords, type Repository } from './find-repository.ts';
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
  readonly code: 'unreadable' | 'outside-repository' | 'no-file' | 'no-manifests';
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
  const repository = await findRepository(directory);
  const found: PatternFiles[] = [];
  for (const pattern of patterns) {
    if (isExclusion(pattern) || pattern.pattern === standardInput) continue;
    const { files: all, problem } = await listPattern(pattern.pattern, { directory, repository, isLeft });
    const candidates = all.filter((file) => file !== noManifest);
    const files = candidates.filter(isLeft);
    const amiss = problem ?? (files.length > 0 ? undefined : nothingLeft(pattern, candidates));
    const isFine = amiss === undefined || (pattern.optional && !isHidden(amiss));
    found.push({ pattern, files, ...(isFine ? {} : { problem: amiss }) });
  }
  return found;
}

/** Something is there, and it was not looked into. */
function isHidden({ code }: PatternProblem): boolean {
  return code === 'unreadable' || code === 'outside-repository';
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
type PatternMatch = Omit<PatternFiles, 'pattern'>;

interface Around {
  readonly directory: string;
  readonly repository: Repository;
  isLeft(file: string): boolean;
}

async function listPattern(
  pattern: string,
  { directory, repository, isLeft }: Around,
): Promise<PatternMatch> {
  const { base, glob } = picomatch.scan(withoutDot(pattern));
  const root = resolve(directory, glob === '' ? pattern : base);
  const file = glob === '' ? await listFile(pattern, root) : undefined;
  if (file !== undefined) return file;
  const isWanted = glob === '' ? isYaml : matchesBelow(root, glob);
  const walked = await walk(root, { repository, isWanted });
  const outside = walked.outside.filter((path) => isLeft(path) && isLeft(join(path, 'any.yaml')));
  if (outside.length > 0)
    return { files: walked.files.sort(), problem: refuseOutside(outside, directory, repository) };
  const nothing =
    glob === '' ? `the directory "${pattern}" holds no manifest` : `no file matches "${pattern}"`;
  return withFiles(pattern, walked, nothing);
}

function matchesBelow(root: string, glob: string): (file: string) => boolean {
  const matches = picomatch(glob);
  return (file) => matches(slashes(relative(root, file)));
}

/** Undefined for a directory. */
async function listFile(pattern: string, path: string): Promise<PatternMatch | undefined> {
  try {
    return (await stat(path)).isDirectory() ? undefined : { files: [path] };
  } catch (error) {
    const missing = codeOf(error) === 'ENOENT';
    const message = missing ? `"${pattern}" does not exist` : `"${pattern}" cannot be read: ${codeOf(error)}`;
    if (!missing) return { files: [], problem: { code: 'unreadable', message } };
    return { files: [], problem: { code: 'no-file', message, fix: maybeNothing(pattern) } };
  }
}

function withFiles(pattern: string, { files, unreadable }: WalkedFiles, message: string): PatternMatch {
  const sorted = [...files].sort();
  if (unreadable.length > 0) {
    const told = `a directory of "${pattern}" cannot be read: ${unreadable.join(', ')}`;
    return { files: sorted, problem: { code: 'unreadable', message: told } };
  }
  if (sorted.length > 0) return { files: sorted };
  return { files: [], problem: { code: 'no-manifests', message, fix: maybeNothing(pattern) } };
}

function refuseOutside(paths: readonly string[], directory: string, repository: Repository): PatternProblem {
  const names = paths.map((path) => `"${slashes(relative(directory, path))}"`).sort();
  const { message, fix } = outsideWords(repository);
  return { code: 'outside-repository', message: `the directory ${names.join(', ')} ${message}`, fix };
}

interface WalkedFiles {
  readonly files: string[];
  readonly unreadable: string[];
  /** directories outside the repository, which were not entered */
  readonly outside: string[];
}

interface DirectoryWalk {
  readonly repository: Repository;
  isWanted(file: string): boolean;
}

/** All files below a directory that are wanted; links are followed, but no directory is entered twice on one way. */
async function walk(root: string, about: DirectoryWalk): Promise<WalkedFiles> {
  const walked: WalkedFiles = { files: [], unreadable: [], outside: [] };
  await enter(root, [], about, walked);
  return walked;
}

async function enter(
  directory: string,
  above: readonly string[],
  about: DirectoryWalk,
  walked: WalkedFiles,
): Promise<void> {
  try {
    if (!liesIn(about.repository, await realpath(directory))) {
      walked.outside.push(directory);
      return;
    }
    const { dev, ino } = await stat(directory);
    const identity = `${dev}:${ino}`;
    if (above.includes(identity)) return;
    for (const entry of await readdir(directory, { withFileTypes: true })) {
      const path = join(directory, entry.name);
      const isDirectory = entry.isSymbolicLink() ? await leadsToDirectory(path) : entry.isDirectory();
      if (!isDirectory && about.isWanted(path)) walked.files.push(path);
      if (isDirectory && !ignoredDirectory.test(entry.name))
        await enter(path, [...above, identity], about, walked);
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
