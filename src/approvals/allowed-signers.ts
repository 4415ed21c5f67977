/**
 * Reads from git objects who may sign, so that neither the work tree nor a link in it matters. Reads who wrote the commits of a pull
 * request, with all names and keys in them, and checks whether a signer is one of these people.
 */
import { coAuthorsIn } from '../api/code-host/pull-requests.ts';
import type { GitContext } from '../ledger/git/git-command.ts';
import { runGit } from '../ledger/git/git-command.ts';
import { ApprovalsError } from '../model/approval.ts';
import { quoted } from '../model/quoted.ts';
import { publicKeyOf } from './signed-approval.ts';

/** The maximal size of a file of signers in bytes: some thousand keys. */
const maxSigners = 1024 * 1024;

interface SignersPlace {
  /** full id, or another name of a commit */
  readonly commit: string;
  /** paths below the root of the repository, with slashes */
  readonly paths: readonly string[];
}

/**
 * The concatenated texts of the files of allowed signers at a commit. A file that is missing there counts as empty.
 * @throws ApprovalsError when the commit or a file cannot be read, or one is not a regular file
 */
export async function readAllowedSigners(git: GitContext, { commit, paths }: SignersPlace): Promise<string> {
  const texts: string[] = [];
  for (const path of paths) texts.push(await readSigners(git, commit, path));
  return texts.join('\n');
}

async function readSigners(git: GitContext, commit: string, path: string): Promise<string> {
  const about = `the signers ${quoted(path)} of commit ${quoted(commit)}`;
  const at = { ...git, maxOutput: maxSigners + 4096 };
  const fail = (why: string) => new ApprovalsError(`${about} cannot be read: ${why}`);
  const listed = await runGit(
    ['--literal-pathspecs', 'ls-tree', '-l', '-z', '--full-tree', '--end-of-options', commit, path],
    at,
  );
  if (listed.code !== 0)
    throw fail(`${listed.message}; a shallow clone may lack the commit: fetch the whole history`);
  const [entry] = listed.out.toString().split('\0').filter(Boolean);
  if (entry === undefined) return '';
  const [mode = '', , id = '', size = ''] = entry.slice(0, entry.indexOf('\t')).split(/ +/);
  if (!mode.startsWith('100')) throw fail('it is not a regular file');
  if (!(Number(size) <= maxSigners)) throw fail('it has more than 1 MB');
  const { code, out, message } = await runGit(['cat-file', 'blob', id], at);
  if (code !== 0) throw fail(message);
  return out.toString();
}

// Who wrote commits.

/** The people who wrote the commits of a pull request. */
export interface CommitAuthors {
  /** email addresses, and user names of the code host, if they are known */
  readonly names: readonly string[];
  /** public SSH keys that signed the commits, base64 */
  readonly keys: readonly string[];
}

/** The maximal number of commits of one pull request. */
const maxCommits = 10_000;

/**
 * Authors, committers and co-authors of commits, and the SSH keys that signed them.
 * @param commits full ids
 * @throws ApprovalsError when a commit cannot be read
 */
export async function readCommitAuthors(git: GitContext, commits: readonly string[]): Promise<CommitAuthors> {
  if (commits.length === 0) return { names: [], keys: [] };
  const unread = (why: string) =>
    new ApprovalsError(`the authors of ${commits.length} commits cannot be read: ${why}`);
  if (commits.length > maxCommits) throw unread(`there are more than ${maxCommits}`);
  const input = commits.map((id) => `${id}\n`).join('');
  const { code, out, message } = await runGit(['cat-file', '--batch'], git, input);
  if (code !== 0) throw unread(message);
  const authors = { names: new Set<string>(), keys: new Set<string>() };
  let read = 0;
  for (let at = 0; at < out.length; read += 1) {
    const end = out.indexOf('\n', at);
    const [id = '', type, size = ''] = out.toString('utf8', at, end).split(' ');
    if (type !== 'commit')
      throw unread(`${quoted(id)} is not a commit of this clone: fetch the whole history`);
    addAuthors(out.toString('utf8', end + 1, end + 1 + Number(size)), authors);
    at = end + 1 + Number(size) + 1;
  }
  if (read !== commits.length) throw unread('git did not list all of them');
  return { names: [...authors.names], keys: [...authors.keys] };
}

function addAuthors(commit: string, { names, keys }: { names: Set<string>; keys: Set<string> }): void {
  const end = commit.indexOf('\n\n');
  const head = end === -1 ? commit : commit.slice(0, end);
  const body = end === -1 ? '' : commit.slice(end);
  for (const [, email = ''] of head.matchAll(/^(?:author|committer) [^\n]*<([^<>\n]*)> \d+ [+-]\d+$/gm))
    names.add(email);
  for (const email of coAuthorsIn(body)) names.add(email);
  const [, signature] =
    /^gpgsig(?:-sha256)? (-----BEGIN SSH SIGNATURE-----\n(?: [^\n]*\n?)+)/m.exec(head) ?? [];
  const key = signature === undefined ? undefined : publicKeyOf(signature.replace(/^ /gm, ''));
  if (key !== undefined) keys.add(key);
}

/** The names of a key's owner in a text of allowed signers: principals, and email addresses in comments. */
export function namesOfKey(allowed: string, key: string): string[] {
  const lines = allowed.split('\n').filter((line) => line.split(/\s+/).includes(key));
  return lines.flatMap((line) => {
    const [principals = ''] = line.trim().split(/\s+/);
    const comment = line.slice(line.indexOf(key) + key.length);
    return [...principals.replaceAll('"', '').split(','), ...(comment.match(/[^\s",<>]+@[^\s",<>]+/g) ?? [])];
  });
}

/** Whether a signer is one of the authors. @param signer names, which may be patterns, and the key, base64 */
export function isAuthor(
  signer: { readonly names: readonly string[]; readonly key: string },
  authors: CommitAuthors,
): boolean {
  const patterns = signer.names.filter((name) => name !== '').map(patternOf);
  return (
    authors.keys.includes(signer.key) ||
    authors.names.some((name) => patterns.some((pattern) => pattern.test(name.trim())))
  );
}

/** The patterns of ssh-keygen: `*` for any characters, `?` for one. */
function patternOf(name: string): RegExp {
  const escaped = name.trim().replace(/[\\^$.+()[\]{}|]/g, String.raw`\$&`);
  return new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`, 'is');
}
