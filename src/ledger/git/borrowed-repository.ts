/**
 * A temporary repository that uses the objects and remotes of the user's clone, so that the clone is not changed. Compares two
 * commits in it; if the history is incomplete, their relation may be unknown.
 */
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { LedgerError } from '../../model/ledger.ts';
import { quoted } from '../../model/quoted.ts';
import { type GitAnswer, type GitContext, runGit } from './git-command.ts';
import { type GitPlace, learnSecrets, locate, NoRepository, settingsOf, shared } from './git-place.ts';

export interface BorrowedRepository {
  /** runs git in the temporary repository */
  readonly at: GitContext;
  /** the remote that the clone would use: that of the branch, else `origin`, else the only one */
  readonly remote: string | undefined;
  close(): Promise<void>;
}

/** @throws LedgerError when git fails */
export async function borrowRepository(clone: GitContext): Promise<BorrowedRepository> {
  const { top, objects, shallow, format, settings, remote } = await describeOnce(clone);
  const directory = await mkdtemp(resolve(tmpdir(), 'trueup-git-'));
  const close = () => rm(directory, { recursive: true, force: true, maxRetries: 5 });
  try {
    await beginBare(directory, format);
    await writeFile(join(directory, 'objects', 'info', 'alternates'), `${objects}\n`);
    await copyIfThere(shallow, join(directory, 'shallow'));
    const remoteSettings = configVariables(settings.filter(([key]) => isRemoteSetting(key)));
    const ownSettings = { ...remoteSettings, ...withoutPrompts(clone, settings), GIT_DIR: directory };
    // Relative addresses and files are relative to the top of the clone.
    const at = { ...clone, directory: top, settings: ownSettings };
    knownCommits.set(ownSettings, new Map());
    return { at, remote, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Creates the files of "git init --bare" without templates. This saves a git process for each borrowed repository. */
async function beginBare(directory: string, format: string): Promise<void> {
  const isUsual = format === 'sha1';
  const lines = ['[core]', `repositoryformatversion = ${isUsual ? 0 : 1}`, 'bare = true'];
  if (!isUsual) lines.push('[extensions]', `objectformat = ${format}`);
  for (const folder of ['objects/info', 'objects/pack', 'refs/heads'])
    await mkdir(join(directory, folder), { recursive: true });
  await writeFile(join(directory, 'config'), `${lines.join('\n')}\n`);
  await writeFile(join(directory, 'HEAD'), 'ref: refs/heads/main\n');
}

interface Clone extends GitPlace {
  /** the top of its work tree */
  readonly top: string;
  readonly settings: GitSettings;
  readonly remote: string | undefined;
}

/** Clones by the working directories of a run, and by git directory, so that the stacks of a clone share one. */
interface KnownClones {
  readonly byFolder: Map<string, Promise<Clone>>;
  readonly byRepository: Map<string, Promise<Clone>>;
}

const noClones = (): KnownClones => ({ byFolder: new Map(), byRepository: new Map() });

/** The clones that each run has read, by its secrets: a run borrows several times, and each git process takes time. */
const clonesOfRuns = new WeakMap<object, KnownClones>();

function describeOnce(clone: GitContext): Promise<Clone> {
  const { secrets, directory } = clone;
  if (secrets === undefined) return describe(clone, noClones());
  const ofRun = clonesOfRuns.get(secrets) ?? noClones();
  clonesOfRuns.set(secrets, ofRun);
  return shared(ofRun.byFolder, directory, clone, (at) => describe(at, ofRun));
}

async function describe(clone: GitContext, { byRepository }: KnownClones): Promise<Clone> {
  const place = await locate(clone).catch((error: unknown) => {
    throw error instanceof NoRepository ? new LedgerError(`git rev-parse failed: ${error.message}`) : error;
  });
  return shared(byRepository, place.repository, clone, async (at) => {
    const [top = ''] = await linesOf(at, ['rev-parse', '--show-toplevel']);
    const entries = parseSettings(await settingsOf(at));
    const remote = remoteOf(entries, await branchOf(at));
    await learnSecrets(at, remote);
    return { ...place, top, settings: entries, remote };
  });
}

/** All settings of git in a repository, in git's order: key and value. */
type GitSettings = readonly (readonly [string, string])[];

/** @param text as `git config --list -z` prints it */
function parseSettings(text: string): GitSettings {
  const entries = text.split('\0').filter(Boolean);
  return entries.map((entry): readonly [string, string] => {
    const end = entry.indexOf('\n');
    // A key without a value means true.
    return end === -1 ? [entry, 'true'] : [entry.slice(0, end), entry.slice(end + 1)];
  });
}

/** Settings of remotes, connections and credentials. Those of partial clones are left out: they would make git fetch by itself. */
function isRemoteSetting(key: string): boolean {
  return (
    (/^(remote|url|http|credential|protocol|ssh)\./.test(key) &&
      !/^remote\..*\.(promisor|partialclonefilter)$/.test(key)) ||
    /^core\.(sshcommand|askpass|gitproxy)$/.test(key)
  );
}

/** Replaces all config files, so that no setting is used twice: services refuse a header that is sent twice. */
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

/** Git and ssh must never prompt for a passphrase, a host key or a login. A configured askpass program is kept. */
function withoutPrompts({ env }: GitContext, settings: GitSettings): Record<string, string> {
  const never = { GCM_INTERACTIVE: 'never' };
  if (env['SSH_ASKPASS'] !== undefined) return never;
  const hasOwn = env['GIT_ASKPASS'] !== undefined || settings.some(([key]) => key === 'core.askpass');
  // Without GIT_ASKPASS, git would also use SSH_ASKPASS, which is set below.
  const git = hasOwn ? {} : { GIT_ASKPASS: '' };
  return { ...never, ...git, SSH_ASKPASS: 'false', SSH_ASKPASS_REQUIRE: 'force' };
}

async function branchOf(clone: GitContext): Promise<string | undefined> {
  const { code, out } = await runGit(['symbolic-ref', '--quiet', '--short', 'HEAD'], clone);
  return code === 0 ? out.toString().trim() : undefined;
}

function remoteOf(settings: GitSettings, branch: string | undefined): string | undefined {
  const upstream = settings.findLast(([key]) => key === `branch.${branch}.remote`)?.[1];
  // A dot means the repository itself.
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
  /** number of commits of history for each of them */
  readonly depth: number;
  /** commits alone, with their trees, or with trees and files; a service without filters sends everything */
  readonly content: 'commits' | 'trees' | 'files';
}

/**
 * Fetches from the remote, without sending it the commits that the clone has.
 * @throws LedgerError when there is no remote
 */
export async function fetchInto(
  { at, remote }: BorrowedRepository,
  { refs, depth, content }: FetchRequest,
): Promise<GitAnswer> {
  if (remote === undefined)
    throw new LedgerError('this clone does not have all commits between the two, and has no remote');
  // Git keeps the filter of an earlier fetch and would use it again.
  const filter = { commits: ['--filter=tree:0'], trees: ['--filter=blob:none'], files: ['--no-filter'] }[
    content
  ];
  const answer = await runGit(
    [
      ...['-c', 'fetch.negotiationAlgorithm=noop', '-c', 'fetch.writeCommitGraph=false'],
      ...['fetch', '--quiet', '--no-write-fetch-head', '--no-tags', '--no-prune', '--refmap='],
      ...['--no-auto-maintenance', '--no-recurse-submodules'],
      ...[`--depth=${depth}`, ...filter, '--end-of-options', remote, ...refs],
    ],
    at,
  );
  const known = at.settings && knownCommits.get(at.settings);
  for (const [id, isThere] of known ?? []) if (!isThere) known?.delete(id);
  return answer;
}

// Compares two commits within one repository, without using the network. In a shallow clone, their relation may be unknown.

/** Two commits, by their whole ids. */
export interface CommitPair {
  /** the commit that was applied last; the repository may not have it */
  readonly applied: string;
  /** our commit, which the repository has */
  readonly ours: string;
}

/**
 * `behind`: ours is an ancestor of the applied commit; `ahead`: ours descends from it; `diverged`: neither; `unknown`: this
 * repository does not have enough history.
 */
export type CommitRelation = 'behind' | 'ahead' | 'diverged' | 'unknown';

export async function relationOf(at: GitContext, { applied, ours }: CommitPair): Promise<CommitRelation> {
  if (!(await hasCommit(at, applied))) return 'unknown';
  if (await isAncestor(at, ours, applied)) return 'behind';
  if (await isAncestor(at, applied, ours)) return 'ahead';
  const cut = await cutCommits(at);
  if (cut.size === 0) return 'diverged';
  // If the parents of a commit on one side are missing, the other side may be among its ancestors.
  const oneSided = await linesOf(at, ['rev-list', `${ours}...${applied}`]);
  return oneSided.some((id) => cut.has(id)) ? 'unknown' : 'diverged';
}

/** Whether a borrowed repository has a commit, by its settings. It never loses a commit, and only a fetch adds any. */
const knownCommits = new WeakMap<object, Map<string, boolean>>();

/** Whether the repository has a commit. With these options, git does not fetch a missing object in a partial clone. */
export async function hasCommit(at: GitContext, id: string): Promise<boolean> {
  const known = at.settings && knownCommits.get(at.settings);
  const before = known?.get(id);
  if (before !== undefined) return before;
  const { code, out } = await runGit(['rev-list', '--missing=allow-any', '--max-count=1', id, '--'], at);
  const isThere = code === 0 && out.toString().trim() === id;
  known?.set(id, isThere);
  return isThere;
}

/** Which of these commits and their ancestors have parents that are missing in the repository. */
export async function commitsWithoutParents(at: GitContext, ids: readonly string[]): Promise<string[]> {
  const cut = await cutCommits(at);
  if (cut.size === 0) return [];
  return (await linesOf(at, ['rev-list', ...ids])).filter((id) => cut.has(id));
}

async function cutCommits(at: GitContext): Promise<ReadonlySet<string>> {
  const borrowed = at.settings?.['GIT_DIR'];
  const [path = ''] =
    borrowed === undefined
      ? await linesOf(at, ['rev-parse', '--git-path', 'shallow'])
      : [join(borrowed, 'shallow')];
  const text = await readFile(resolve(at.directory, path), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw new LedgerError(`${quoted(path)} cannot be read: ${error.message}`, { cause: error });
  });
  return new Set(text.split('\n').filter((line) => line !== ''));
}

async function isAncestor(at: GitContext, one: string, other: string): Promise<boolean> {
  const { code, message } = await runGit(['merge-base', '--is-ancestor', one, other], at);
  if (code > 1) throw new LedgerError(`git merge-base failed: ${message}`);
  return code === 0;
}

/** @throws LedgerError when git fails */
export async function linesOf(at: GitContext, args: readonly string[]): Promise<string[]> {
  const { code, out, message } = await runGit(args, at);
  if (code !== 0) throw new LedgerError(`git ${args[0]} failed: ${message}`);
  return out
    .toString()
    .split('\n')
    .filter((line) => line !== '');
}
