/**
 * Lists the files that the patterns of `spec.manifests` match, sorted and each once. A pattern is a file, a directory (all YAML
 * below), a glob, or an exclusion with `!` in front. A pattern without a file is a problem unless it is optional: an empty list
 * must never mean "all resources were removed".
 */
import type { Dirent } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, join, relative, resolve } from 'node:path';
import picomatch from 'picomatch';
import type { Path } from '../../model/json.ts';
import { quoted } from '../../model/quoted.ts';
import {
  findRepository,
  liesIn,
  outsideMessage,
  type Repository,
  slashes,
  standardInput,
} from './find-stack.ts';
import type { TrackedFiles, Wanted } from './tracked-files.ts';

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

/** Files in these directories are not manifests, unless a pattern names the directory. */
export const ignoredDirectory = /^(\.|node_modules$)/;
export const isYaml = (file: string) => /\.ya?ml$/.test(file);
const isExclusion = ({ pattern }: ManifestPattern) => pattern.startsWith('!');

/** Whether a list has only exclusions, so that it matches nothing. An empty list means that there are no manifests. */
export function hasOnlyExclusions(patterns: readonly ManifestPattern[]): boolean {
  return patterns.length > 0 && patterns.every(isExclusion);
}

interface ListOptions {
  /** whether the file with an absolute path is left out even when a pattern matches it, because it holds no manifest */
  readonly isNoManifest?: (file: string) => boolean;
  /** notes the tracked files that the patterns match and the work tree lacks */
  readonly tracked?: TrackedFiles | undefined;
}

/**
 * @returns the files of each pattern except exclusions and `-`, in the order of `patterns`
 */
export async function listFiles(
  patterns: readonly ManifestPattern[],
  directory: string,
  { isNoManifest = () => false, tracked }: ListOptions = {},
): Promise<readonly PatternFiles[]> {
  const excluded = patterns.filter(isExclusion).map(({ pattern }) => withoutDot(pattern.slice(1)));
  const isExcluded = picomatch(excluded, { dot: true });
  const isIncluded = (file: string) =>
    excluded.length === 0 || !isExcluded(slashes(relative(directory, file)));
  const repository = await findRepository(directory);
  const found: PatternFiles[] = [];
  for (const pattern of patterns) {
    if (isExclusion(pattern) || pattern.pattern === standardInput) continue;
    const context = { directory, repository, isIncluded, isNoManifest, tracked };
    const { files: all, problem, isPartial } = await listPattern(pattern.pattern, context);
    const candidates = all.filter((file) => !isNoManifest(file));
    const files = candidates.filter(isIncluded);
    const anyProblem = problem ?? (files.length > 0 ? undefined : nothingLeft(pattern, candidates));
    // If the checkout lacks the files of a pattern, that is reported as a problem of the checkout.
    const isFine = anyProblem === undefined || ((pattern.optional || isPartial) && !isUnread(anyProblem));
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
      ? `${quoted(pattern)} matches only the stack file, which holds no manifest`
      : `the exclusions remove all files of ${quoted(pattern)}`;
  return { code: 'no-manifests', message, fix: fixOrOptional(pattern) };
}

function fixOrOptional(pattern: string): string {
  return `correct the patterns, or write { pattern: ${JSON.stringify(pattern)}, optional: true } if it may match nothing`;
}

/** All files that one pattern matches. */
type PatternMatch = Omit<PatternFiles, 'pattern'> & {
  /** manifests may exist that this checkout does not show */
  readonly isPartial?: boolean;
};

interface ListContext extends Required<Pick<ListOptions, 'isNoManifest'>>, Pick<ListOptions, 'tracked'> {
  readonly directory: string;
  readonly repository: Repository;
  isIncluded(file: string): boolean;
}

async function listPattern(pattern: string, context: ListContext): Promise<PatternMatch> {
  const { directory, repository, isIncluded, tracked } = context;
  const { base, glob } = picomatch.scan(withoutDot(pattern));
  const root = resolve(directory, glob === '' ? pattern : base);
  const wanted = wantedOf(root, glob, context);
  const isPartial = (await tracked?.notePath(root, wanted)) ?? false;
  const file = glob === '' ? await listFile(pattern, root) : undefined;
  if (file !== undefined) return { ...file, isPartial };
  const isWanted = glob === '' ? isYaml : matchesBelow(root, glob);
  const walked = await walk(root, { repository, isWanted, wanted, tracked });
  const outside = walked.outside.filter((path) => isIncluded(path) && isIncluded(join(path, 'any.yaml')));
  if (outside.length > 0)
    return { files: walked.files.sort(), problem: refuseOutside(outside, directory, repository) };
  const nothing =
    glob === '' ? `the directory ${quoted(pattern)} holds no manifest` : `no file matches ${quoted(pattern)}`;
  return { ...withFiles(pattern, walked, nothing), isPartial: isPartial || walked.isPartial };
}

/** The files of a pattern whose absence matters: those that the walk would list if they existed. */
function wantedOf(root: string, glob: string, { isIncluded, isNoManifest }: ListContext): Wanted {
  const matches = glob === '' ? isYaml : matchesBelow(root, glob);
  return {
    isFile: (path) =>
      (path === root ? glob === '' : matches(path)) && isIncluded(path) && !isNoManifest(path),
    isEntered: (path) => path === root || !ignoredDirectory.test(basename(path)),
    mayHold: (path) =>
      isIncluded(path) &&
      isIncluded(join(path, 'any.yaml')) &&
      mayLeadTo(glob, slashes(relative(root, path))),
  };
}

/** Whether a glob may match files below a folder. Both are relative to the same root. */
function mayLeadTo(glob: string, folder: string): boolean {
  // Braces with slashes match several depths.
  if (glob === '' || folder === '' || /[{(][^})]*\//.test(glob)) return true;
  const parts = glob.split('/');
  for (const [index, name] of folder.split('/').entries()) {
    const part = parts[index];
    if (part === '**') return true;
    if (part === undefined || !picomatch(part)(name)) return false;
  }
  return parts.length > folder.split('/').length;
}

function matchesBelow(root: string, glob: string): (file: string) => boolean {
  const matches = picomatch(glob);
  return (file) => matches(slashes(relative(root, file)));
}

/** The file at a path; undefined for a directory. */
async function listFile(pattern: string, path: string): Promise<PatternMatch | undefined> {
  try {
    return (await stat(path)).isDirectory() ? undefined : { files: [path] };
  } catch (error) {
    const missing = codeOf(error) === 'ENOENT';
    const message = missing
      ? `${quoted(pattern)} does not exist`
      : `${quoted(pattern)} cannot be read: ${codeOf(error)}`;
    if (!missing) return { files: [], problem: { code: 'unreadable', message } };
    return { files: [], problem: { code: 'no-file', message, fix: fixOrOptional(pattern) } };
  }
}

function withFiles(pattern: string, { files, unreadable }: WalkedFiles, message: string): PatternMatch {
  const sorted = [...files].sort();
  if (unreadable.length > 0) {
    const reason = `a directory of ${quoted(pattern)} cannot be read: ${unreadable.join(', ')}`;
    return { files: sorted, problem: { code: 'unreadable', message: reason } };
  }
  if (sorted.length > 0) return { files: sorted };
  return { files: [], problem: { code: 'no-manifests', message, fix: fixOrOptional(pattern) } };
}

function refuseOutside(paths: readonly string[], directory: string, repository: Repository): PatternProblem {
  const names = paths.map((path) => quoted(slashes(relative(directory, path)))).sort();
  const { message, fix } = outsideMessage(repository);
  return { code: 'outside-repository', message: `the directory ${names.join(', ')} ${message}`, fix };
}

interface WalkedFiles {
  readonly files: string[];
  readonly unreadable: string[];
  /** directories outside the repository, which were not entered */
  readonly outside: string[];
  /** manifests may exist that this checkout does not show */
  isPartial: boolean;
}

interface DirectoryWalk extends Pick<ListContext, 'tracked'> {
  readonly repository: Repository;
  readonly wanted: Wanted;
  isWanted(file: string): boolean;
}

/** All wanted files below a directory. Links are followed, but no directory is entered again from inside itself. */
async function walk(root: string, about: DirectoryWalk): Promise<WalkedFiles> {
  const walked: WalkedFiles = { files: [], unreadable: [], outside: [], isPartial: false };
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
    const real = await realpath(directory);
    if (!liesIn(about.repository, real)) {
      walked.outside.push(directory);
      return;
    }
    const { dev, ino } = await stat(directory);
    const identity = `${dev}:${ino}`;
    if (above.includes(identity)) return;
    const entries = await readdir(directory, { withFileTypes: true });
    const names = entries.map(({ name }) => name);
    if (await about.tracked?.noteFolder({ path: directory, real, names }, about.wanted))
      walked.isPartial = true;
    for (const entry of entries) {
      const isDirectory = await listEntry(entry, directory, about, walked);
      if (isDirectory && !ignoredDirectory.test(entry.name))
        await enter(join(directory, entry.name), [...above, identity], about, walked);
    }
  } catch (error) {
    if (above.length > 0 || codeOf(error) !== 'ENOENT')
      walked.unreadable.push(`${directory} (${codeOf(error)})`);
  }
}

/** Adds an entry that is a wanted file. @returns whether it is a directory, or leads to one */
async function listEntry(
  entry: Dirent,
  directory: string,
  { tracked, wanted, isWanted }: DirectoryWalk,
  walked: WalkedFiles,
): Promise<boolean> {
  const path = join(directory, entry.name);
  const isLink = entry.isSymbolicLink();
  if (isLink && (await tracked?.notePath(path, wanted)) === true) {
    walked.isPartial = true;
    return false;
  }
  const isDirectory = isLink ? await leadsToDirectory(path) : entry.isDirectory();
  if (!isDirectory && isWanted(path)) walked.files.push(path);
  return isDirectory;
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

/** Files below the folder that are reached through a link, so that their real path is another one. */
export async function behindLinks(paths: readonly string[], directory: string): Promise<string[]> {
  const folder = await realpath(directory);
  const real = await Promise.all(paths.map((path) => realpath(path).catch(() => path)));
  return paths.filter((path, index) => real[index] !== join(folder, relative(directory, path)));
}
