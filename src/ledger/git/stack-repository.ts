/**
 * Finds which repository a stack is applied from, and the path of its stack file there. Two repositories with a stack of one name
 * would undo each other's changes.
 */
import { realpath } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import type { AppliedRepository } from '../../model/stack/ledger.ts';
import { type GitContext, runGit } from './git-command.ts';

export interface StackRepository {
  readonly applied: AppliedRepository;
  /** all spellings of the remote: git may be set to rewrite its URL */
  readonly remotes: readonly string[];
  /** absolute path of the root of the work tree */
  readonly root: string;
}

/** @param root of the repository; @param file path of the stack file. @returns undefined where git cannot be run */
export async function stackRepository(
  place: GitContext,
  root: string,
  file: string,
): Promise<StackRepository | undefined> {
  try {
    const directory = await realpath(place.directory);
    const path = relative(root, join(directory, basename(file)))
      .split(sep)
      .join('/');
    const remotes = await remotesOf(place);
    const [remote] = remotes;
    return { applied: { ...(remote === undefined ? {} : { remote }), path }, remotes, root };
  } catch {
    return undefined;
  }
}

/** `origin`, else the only remote: as it is configured, and as git rewrites it. */
async function remotesOf(place: GitContext): Promise<string[]> {
  const names = linesOf(await runGit(['remote'], place));
  const name = names.includes('origin') ? 'origin' : names.length === 1 ? names[0] : undefined;
  if (name === undefined) return [];
  const answers = await Promise.all([
    runGit(['config', '--get', `remote.${name}.url`], place),
    runGit(['remote', 'get-url', name], place),
  ]);
  return [...new Set(answers.flatMap(linesOf).map(normalizeRemote))];
}

function linesOf({ code, out }: Awaited<ReturnType<typeof runGit>>): string[] {
  return code === 0
    ? out
        .toString()
        .split('\n')
        .filter((line) => line !== '')
    : [];
}

/** `git.example.com/acme/infra`, however it is spelt: without scheme, login, parameters and `.git`. A path of this machine stays a path. */
export function normalizeRemote(url: string): string {
  const scp = /^(?:[^@/\s]+@)?(?<host>[^:/\s]{2,}):(?!\/\/)(?<path>.+)$/.exec(url)?.groups;
  if (scp !== undefined) return spelt(scp['host'] ?? '', scp['path'] ?? '');
  if (!url.includes('://') || !URL.canParse(url)) return bare(url);
  const { protocol, hostname, port, pathname } = new URL(url);
  if (protocol === 'file:') return bare(decodeURIComponent(pathname));
  const isWeb = protocol === 'http:' || protocol === 'https:';
  return spelt(isWeb && port !== '' ? `${hostname}:${port}` : hostname, pathname);
}

function spelt(host: string, path: string): string {
  return `${host}/${bare(path).replace(/^\/+/, '')}`.toLowerCase();
}

function bare(path: string): string {
  return path.replace(/\/+$/, '').replace(/\.git$/, '');
}
