/**
 * Lists the files that the patterns of `spec.manifests` match, sorted and each once. A pattern is a file, a directory (all YAML
 * below), a glob, or an exclusion with `!` in front. A pattern without a file is a problem unless it is optional: an empty list
 * must never be taken for "all resources were removed" (rule 41).
 */
import { readdir, realpath, stat } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import picomatch from 'picomatch';
import type { Path } from '../../model/json/json.ts';
import { findRepository, liesIn, outsideMessage, type Repository } from './find-repository.ts';
import { standardInput } from './find-stack.ts';

/** One item of `spec.manifests`. */
export interface ManifestPattern {
  readonly pattern: string;
  /** it may match no file */
  readonly optional: boolean;
  /** its path in the Stack */
  readonly path: Path;
}

/** The files of one pattern; `problem` says why there are none, or why some are missing. */
interface PatternFiles {
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

/** Files in such directories are no manifests, unless a pattern names the directory. */
export const ignoredDirectory = /^(\.|node_modules$)/;
export const isYaml = (file: string) => /\.ya?ml$/.test(file);
const isExclusion = ({ pattern }: ManifestPattern) => pattern.startsWith('!');

/** Whether a list has only exclusions and so does not say where manifests are. An empty list says that there are none. */
export function hasOnlyExclusions(patterns: readonly ManifestPattern[]): boolean {
  return patterns.length > 0 && patterns.every(isExclusion);
}

/**
 * @param isNone whether the file of an absolute path holds no manifest and is left out, even when a pattern matches it
 * @returns the files of each pattern that is no exclusion and not `-`, in the order of `patterns`
 */
export async function listFiles(
  patterns: readonly ManifestPattern[],
  directory: string,
  isNone: (file: string) => boolean = () => false,
): Promise<readonly PatternFiles[]> {
  const excluded = patterns.filter(isExclusion).map(({ pattern }) => withoutDot(pattern.slice(1)));
  const isExcluded = picomatch(excluded, { dot: true });
  const isLeft = (file: string) => excluded.length === 0 || !isExcluded(slashes(relative(directory, file)));
  const repository = await findRepository(directory);
  const found: PatternFiles[] = [];
  for (const pattern of patterns) {
    if (isExclusion(pattern) || pattern.pattern === standardInput) continue;
    const { files: all, problem } = await listPattern(pattern.pattern, { directory, repository, isLeft });
    const candidates = all.filter((file) => !isNone(file));
    const files = candidates.filter(isLeft);
    const anyProblem = problem ?? (files.length > 0 ? undefined : nothingLeft(pattern, candidates));
    const isFine = anyProblem === undefined || (pattern.optional && !isUnread(anyProblem));
    found.push({ pattern, files, ...(isFine ? {} : { problem: anyProblem }) });
  }
  return found;
}

/** Whether something exists that was not read. */
function isUnread({ code }: PatternProblem): boolean {
  return code === 'unreadable' || code === 'outside-repository';
}

/** @param candidates the files that the pattern matches before exclusions */
function nothingLeft({ pattern }: ManifestPattern, candidates: readonly string[]): PatternProblem {
  const message =
    candidates.length === 0
      ? `"${pattern}" stands for the stack file alone, which holds no manifest`
      : `the exclusions leave nothing of "${pattern}"`;
  return { code: 'no-manifests', message, fix: fixOrOptional(pattern) };
}

function fixOrOptional(pattern: string): string {
  return `correct the patterns, or write { pattern: ${JSON.stringify(pattern)}, optional: true } where there may be nothing`;
}

/** All files that one pattern matches. */
type PatternMatch = Omit<PatternFiles, 'pattern'>;

interface ListContext {
  readonly directory: string;
  readonly repository: Repository;
  isLeft(file: string): boolean;
}

async function listPattern(
  pattern: string,
  { directory, repository, isLeft }: ListContext,
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
    return { files: [], problem: { code: 'no-file', message, fix: fixOrOptional(pattern) } };
  }
}

function withFiles(pattern: string, { files, unreadable }: WalkedFiles, message: string): PatternMatch {
  const sorted = [...files].sort();
  if (unreadable.length > 0) {
    const reason = `a directory of "${pattern}" cannot be read: ${unreadable.join(', ')}`;
    return { files: sorted, problem: { code: 'unreadable', message: reason } };
  }
  if (sorted.length > 0) return { files: sorted };
  return { files: [], problem: { code: 'no-manifests', message, fix: fixOrOptional(pattern) } };
}

function refuseOutside(paths: readonly string[], directory: string, repository: Repository): PatternProblem {
  const names = paths.map((path) => `"${slashes(relative(directory, path))}"`).sort();
  const { message, fix } = outsideMessage(repository);
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

/** All wanted files below a directory. Links are followed, but no directory is entered again from inside itself. */
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
