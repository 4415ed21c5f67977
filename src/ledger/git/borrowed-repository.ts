/**
 * A repository of our own beside somebody's clone: it sees the clone's objects, and reaches the clone's remotes with the
 * clone's settings and credentials. What is fetched stays in it, so the clone remains as it is: no ref, no object, no
 * FETCH_HEAD, no other depth.
 */
import { appendFile, copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { LedgerError } from '../../model/stack/ledger.ts';
import { linesOf } from './commit-graph.ts';
import { learnSecrets } from './configured-secrets.ts';
import { type GitAnswer, type GitContext, runGit } from './git-command.ts';

export interface BorrowedRepository {
  /** git that runs here works on the borrowed repository */
  readonly at: GitContext;
  /** the one that the clone would ask: that of the branch, else `origin`, else the only one */
  readonly remote: string | undefined;
  close(): Promise<void>;
}

/** @throws LedgerError when git fails */
export async function borrowRepository(clone: GitContext): Promise<BorrowedRepository> {
  const paths = ['--show-toplevel', '--git-path', 'objects', '--git-path', 'shallow', '--show-object-format'];
  const [top = '', objects = '', shallow = '', format = ''] = await linesOf(clone, ['rev-parse', ...paths]);
  const settings = await readSettings(clone);
  const remote = remoteOf(settings, await branchOf(clone));
  await learnSecrets(clone, remote);
  const directory = await mkdtemp(join(tmpdir(), 'trueup-git-'));
  const close = () => rm(directory, { recursive: true, force: true, maxRetries: 5 });
  try {
    const reaching = configVariables(settings.filter(([key]) => isAboutReaching(key)));
    // Addresses and files that are relative are so to the top of the clone.
    const outside = { ...clone, directory: top, settings: { ...reaching, ...unasked(clone, settings) } };
    const begin = ['init', '--quiet', '--bare', '--template=', `--object-format=${format}`, directory];
    await linesOf(outside, begin);
    const at = { ...outside, settings: { ...outside.settings, GIT_DIR: directory } };
    await appendFile(
      join(directory, 'objects', 'info', 'alternates'),
      `${resolve(clone.directory, objects)}\n`,
    );
    await copyIfThere(resolve(clone.directory, shallow), join(directory, 'shallow'));
    return { at, remote, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** All that git goes by in a repository, in its order: key and value. */
type GitSettings = readonly (readonly [string, string])[];

async function readSettings(clone: GitContext): Promise<GitSettings> {
  const { code, out, words } = await runGit(['config', '--list', '-z'], clone);
  if (code !== 0) throw new LedgerError(`git config says: ${words}`);
  const entries = out.toString().split('\0').filter(Boolean);
  return entries.map((entry) => {
    const end = entry.indexOf('\n');
    // A key alone means yes.
    return end === -1 ? [entry, 'true'] : [entry.slice(0, end), entry.slice(end + 1)];
  });
}

/** Which remotes there are, how one gets there, and as whom. What a partial clone promises is not ours to rely on. */
function isAboutReaching(key: string): boolean {
  return (
    (/^(remote|url|http|credential|protocol|ssh)\./.test(key) &&
      !/^remote\..*\.(promisor|partialclonefilter)$/.test(key)) ||
    /^core\.(sshcommand|askpass|gitproxy)$/.test(key)
  );
}

/** In place of all files of settings, so that none of them counts twice: a header that is sent twice is refused. */
function configVariables(settings: GitSettings): Record<string, string> {
  const each = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key] as const,
    [`GIT_CONFIG_VALUE_${index}`, value] as const,
  ]);
  return {
    ...Object.fromEntries(each),
    GIT_CONFIG_COUNT: `${settings.length}`,
    GIT_CONFIG_PARAMETERS: '',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
  };
}

/** Nobody is asked for a passphrase, a host key or a login; a program of the clone's own that answers is kept. */
function unasked({ env }: GitContext, settings: GitSettings): Record<string, string> {
  const never = { GCM_INTERACTIVE: 'never' };
  if (env['SSH_ASKPASS'] !== undefined) return never;
  const hasOwn = env['GIT_ASKPASS'] !== undefined || settings.some(([key]) => key === 'core.askpass');
  // What ssh is given would be asked by git, too.
  const git = hasOwn ? {} : { GIT_ASKPASS: '' };
  return { ...never, ...git, SSH_ASKPASS: 'false', SSH_ASKPASS_REQUIRE: 'force' };
}

async function branchOf(clone: GitContext): Promise<string | undefined> {
  const { code, out } = await runGit(['symbolic-ref', '--quiet', '--short', 'HEAD'], clone);
  return code === 0 ? out.toString().trim() : undefined;
}

function remoteOf(settings: GitSettings, branch: string | undefined): string | undefined {
  const upstream = settings.findLast(([key]) => key === `branch.${branch}.remote`)?.[1];
  // A dot is this very repository.
  if (upstream !== undefined && upstream !== '.') return upstream;
  const names = new Set(settings.flatMap(([key]) => /^remote\.(.*)\.url$/.exec(key)?.[1] ?? []));
  if (names.has('origin')) return 'origin';
  return names.size === 1 ? [...names][0] : undefined;
}

async function copyIfThere(from: string, to: string): Promise<void> {
  await copyFile(from, to).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
}

export interface FetchRequest {
  /** ids, or refspecs */
  readonly refs: readonly string[];
  /** how many commits behind each of them */
  readonly depth: number;
  /** commits alone, or with the trees that they name; a service that knows no such thing sends all of them */
  readonly content: 'commits' | 'trees';
}

/**
 * Fetches from the remote, without telling it what is there already.
 * @throws LedgerError when there is no remote
 */
export async function fetchInto(
  { at, remote }: BorrowedRepository,
  { refs, depth, content }: FetchRequest,
): Promise<GitAnswer> {
  if (remote === undefined)
    throw new LedgerError('this clone does not hold all that lies between, and has no remote to ask');
  const filter = content === 'commits' ? 'tree:0' : 'blob:none';
  return runGit(
    [
      ...['-c', 'fetch.negotiationAlgorithm=noop', '-c', 'fetch.writeCommitGraph=false'],
      ...['fetch', '--quiet', '--no-write-fetch-head', '--no-tags', '--no-prune', '--refmap='],
      ...['--no-auto-maintenance', '--no-recurse-submodules'],
      ...[`--depth=${depth}`, `--filter=${filter}`, '--end-of-options', remote, ...refs],
    ],
    at,
  );
}
