/**
 * Writes regular files of a commit into a temporary folder, as data: nothing is run, and no filter or attribute of the commit is
 * applied. The folder can be a git repository, with a sparse checkout that leaves out the files that were not written.
 */
import { appendFile, copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { LedgerError } from '../../model/ledger.ts';
import { quoted } from '../../model/quoted.ts';
import { linesOf } from './borrowed-repository.ts';
import { runGit } from './git-command.ts';
import type { CommitReader, TreeEntry } from './read-commits.ts';

export interface WrittenCommit {
  /** absolute; the top of the repository */
  readonly directory: string;
  /** environment variables with which git uses the remotes of the clone; empty if the folder is not a repository */
  readonly env: Readonly<Record<string, string>>;
  /** Writes more files of the same commit. */
  add(entries: readonly TreeEntry[]): Promise<void>;
  close(): Promise<void>;
}

/** @param isRepository whether git must work there as in a clone with this commit */
export async function writeCommit(
  reader: CommitReader,
  commit: string,
  { isRepository }: { readonly isRepository: boolean },
): Promise<WrittenCommit> {
  const directory = await mkdtemp(resolve(tmpdir(), 'trueup-commit-'));
  const close = () => rm(directory, { recursive: true, force: true, maxRetries: 5 });
  try {
    const env = isRepository ? await beginRepository(reader, commit, directory) : {};
    // An empty `.git` marks the root of the repository: files of the stack may be outside of its folder.
    if (!isRepository) await mkdir(join(directory, '.git'));
    const write = async (entries: readonly TreeEntry[]) => {
      for (const [path, content] of await reader.contents(commit, entries)) {
        const file = join(directory, path);
        refuseOutside(directory, file, path);
        await mkdir(dirname(file), { recursive: true });
        await writeFile(file, content, { flag: 'wx', mode: 0o600 }).catch(unlessThere);
      }
      if (isRepository) await markWritten(reader, directory, entries);
    };
    // One after another, because git locks the index.
    let last = Promise.resolve();
    const add = (entries: readonly TreeEntry[]) => {
      const written = last.then(() => write(entries));
      last = written.catch(() => {});
      return written;
    };
    // Waits, because a file that is still being written would leave the folder behind.
    return { directory, env, add, close: () => last.then(close) };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Refuses a path outside of the folder, or in `.git`. git itself refuses such names, but a crafted repository may have them. */
function refuseOutside(directory: string, file: string, path: string): void {
  const below = relative(directory, file).split(sep);
  if (below[0] === '..' || below.some((name) => name.toLowerCase() === '.git'))
    throw new LedgerError(`${quoted(path)} is not a valid path of a file in a commit`);
}

function unlessMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

/** Creates a repository with the objects of the reader, and an index in which every file counts as left out. */
async function beginRepository(
  { at }: CommitReader,
  commit: string,
  directory: string,
): Promise<Readonly<Record<string, string>>> {
  const [objects = '', format = ''] = await linesOf(at, [
    'rev-parse',
    '--git-path',
    'objects',
    '--show-object-format',
  ]);
  const { GIT_DIR: _, ...env } = at.settings ?? {};
  const here = { ...at, directory, settings: env };
  await linesOf(here, ['init', '--quiet', '--template=', `--object-format=${format}`, directory]);
  await appendFile(join(directory, '.git', 'objects', 'info', 'alternates'), `${objects}\n`);
  const shallow = await runGit(['rev-parse', '--git-path', 'shallow'], at);
  await copyFile(shallow.out.toString().trim(), join(directory, '.git', 'shallow')).catch(unlessMissing);
  // Git shows the address of a remote only where the config file of the repository names the remote.
  for (const name of remotesIn(env)) await linesOf(here, ['config', `remote.${name}.skipFetchAll`, 'false']);
  await linesOf(here, ['update-ref', '--no-deref', 'HEAD', commit]);
  await linesOf(here, ['read-tree', commit]);
  const all = await runGit(['ls-files', '-z'], here);
  const skip = await runGit(['update-index', '--skip-worktree', '-z', '--stdin'], here, all.out.toString());
  if (skip.code !== 0) throw new LedgerError(`git update-index failed: ${skip.message}`);
  return env;
}

/** The remotes of the clone, which the environment names. */
function remotesIn(env: Readonly<Record<string, string>>): string[] {
  const keys = Object.entries(env).filter(([name]) => name.startsWith('GIT_CONFIG_KEY_'));
  return [...new Set(keys.flatMap(([, key]) => /^remote\.(.+)\.url$/.exec(key)?.[1] ?? []))];
}

async function markWritten(
  { at }: CommitReader,
  directory: string,
  entries: readonly TreeEntry[],
): Promise<void> {
  const { GIT_DIR: _, ...settings } = at.settings ?? {};
  const paths = entries.map(({ path }) => `${path}\0`).join('');
  const args = ['update-index', '--no-skip-worktree', '-z', '--stdin'];
  const { code, message } = await runGit(args, { ...at, directory, settings }, paths);
  if (code !== 0) throw new LedgerError(`git update-index failed: ${message}`);
}
