/** The texts of policies: from files of the work tree, from a ref of a remote, or from an earlier commit. */
import { join, posix, relative } from 'node:path';
import { borrowRepository, type BorrowedRepository, fetchInto } from '../ledger/git/borrowed-repository.ts';
import { readIndex } from '../ledger/git/checkout.ts';
import { type GitContext, runGit } from '../ledger/git/git-command.ts';
import { displayPath, findRepository, slashes } from '../manifest/files/find-stack.ts';
import { behindLinks, listFiles } from '../manifest/files/list-files.ts';
import { matchFiles, matchRefPath, matchRefs } from '../manifest/files/match-files.ts';
import { decodeText, readText } from '../manifest/files/read-text.ts';
import { TrackedFiles } from '../manifest/files/tracked-files.ts';
import type { StackPaths } from '../model/checkout.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { LedgerError } from '../model/ledger.ts';
import type { ReadSource } from '../model/policy.ts';
import type { PolicyRef, PolicySource, PolicyText } from '../model/policy-source.ts';
import { quoted, quoteSome } from '../model/quoted.ts';
import type { Stack } from '../model/stack.ts';

export interface ReadContext {
  /** absolute; the places of problems are relative to it */
  readonly cwd: string;
  /** anywhere in the clone */
  readonly git: GitContext;
}

/** The texts of a source. */
export interface SourceTexts {
  readonly read: Omit<ReadSource, 'policies'>;
  readonly texts: readonly PolicyText[];
  readonly diagnostics: readonly Diagnostic[];
  /** whether the ref or its path does not exist */
  readonly isGone?: true;
}

type StackPlace = Pick<Stack, 'directory' | 'file'>;

export async function readSource(
  source: PolicySource,
  stack: StackPlace,
  context: ReadContext,
): Promise<SourceTexts> {
  if ('files' in source) return readWorkTree(source.files, stack, context);
  if ('texts' in source) return { read: { commit: source.commit }, texts: source.texts, diagnostics: [] };
  try {
    return await readRef(source.git, context.git);
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error;
    const fix =
      error instanceof NoRemote
        ? 'name a remote of this clone in "spec.policies", or add this one with "git remote add"'
        : 'let this run read the remote, or correct "spec.policies"; without its policies nothing is planned';
    return failed(`the policies of ${refText(source.git)} cannot be read: ${error.message}`, fix);
  }
}

class NoRemote extends LedgerError {}

function refText({ remote, ref, path }: PolicyRef): string {
  return `${quoted(path)} in ${quoted(ref)} of the remote ${quoted(remote)}`;
}

function failed(message: string, fix: string): SourceTexts {
  const problem = { code: 'policies-unreadable', severity: 'error', class: 'failure', message, fix } as const;
  return { read: {}, texts: [], diagnostics: [problem] };
}

function gone(message: string, fix: string): SourceTexts {
  return { ...failed(message, fix), isGone: true };
}

async function readWorkTree(
  patterns: readonly string[],
  { directory }: StackPlace,
  { cwd, git }: ReadContext,
): Promise<SourceTexts> {
  const wanted = patterns.map((pattern) => ({ pattern, optional: false, path: [] }));
  const tracked = new TrackedFiles((root) => readIndex({ ...git, directory: root }), directory);
  const listed = await listFiles(wanted, directory, { tracked });
  const repository = await findRepository(directory);
  const problems = listed.flatMap(({ problem }) =>
    problem === undefined
      ? []
      : [
          unreadable(
            `${problem.message}, which "spec.policies" names`,
            'correct the pattern, or remove it from "spec.policies"',
          ),
        ],
  );
  const paths = [...new Set(listed.flatMap(({ files }) => files))];
  const diagnostics = [
    ...problems,
    ...(await missingFileProblems(tracked)),
    ...(await behindLinks(paths, directory)).map((path) =>
      unreadable(
        `${quoted(displayPath(path, cwd))} is a file of "spec.policies" behind a symbolic link, which a commit does not show`,
        'name the file itself',
      ),
    ),
  ];
  const texts: PolicyText[] = [];
  for (const path of paths) {
    const file = displayPath(path, cwd);
    const text = await readText(path, { file, repository });
    if (typeof text === 'string') texts.push({ file, text });
    else diagnostics.push(text);
  }
  const files = paths.map((path) => slashes(relative(directory, path))).sort();
  return { read: { files }, texts, diagnostics };
}

function unreadable(message: string, fix: string): Diagnostic {
  return { code: 'policies-unreadable', severity: 'error', class: 'invalid', message, fix };
}

/** Problems of a checkout that lacks files: it would have fewer policies than its commit. */
async function missingFileProblems(tracked: TrackedFiles): Promise<Diagnostic[]> {
  const { leftOut, submodules, moved } = await tracked.missing();
  const lacking = [...leftOut, ...(submodules ?? []), ...(moved ?? [])];
  if (lacking.length === 0) return [];
  const message = `this checkout lacks ${quoteSome(lacking)}, which "spec.policies" names`;
  return [unreadable(message, 'check out all files of policies')];
}

// Files of a commit are read as git objects. A link or a submodule in place of a file is an error: its content is elsewhere.

async function readRef({ remote, ref, path }: PolicyRef, at: GitContext): Promise<SourceTexts> {
  const borrowed = await borrowRepository(at);
  try {
    const name = await refAt({ ...borrowed, remote }, ref);
    if (name === undefined) {
      const why = `there is no branch or tag ${quoted(ref)}`;
      const fix = 'correct "ref" in "spec.policies", or push the branch or the tag';
      return gone(`the policies of ${refText({ remote, ref, path })} cannot be read: ${why}`, fix);
    }
    const refs = [`+${name}:refs/trueup/policies`];
    const fetched = await fetchInto({ ...borrowed, remote }, { refs, depth: 1, content: 'files' });
    if (fetched.code !== 0) throw new LedgerError(fetched.message);
    const commit = await idOf(borrowed.at, 'refs/trueup/policies^{commit}');
    const found = await readCommit({ ...borrowed, remote }, commit, matchRefPath(path));
    if (found.length === 0)
      return gone(
        `${refText({ remote, ref, path })} has no file of policies (commit ${commit})`,
        'correct "path" in "spec.policies", or add the policies there',
      );
    const texts = found.map((one) => ({ ...one, file: `${remote}/${ref}:${one.file}` }));
    return { read: { remote, ref, path, commit }, texts, diagnostics: [] };
  } finally {
    await borrowed.close();
  }
}

/** The full name of a branch, or of a tag if there is no such branch. Looks for the remote first: git also takes the path of a folder. */
async function refAt({ at, remote = '' }: BorrowedRepository, ref: string): Promise<string | undefined> {
  const { code } = await runGit(['config', '--get', `remote.${remote}.url`], at);
  if (code !== 0) throw new NoRemote(`this clone has no remote ${quoted(remote)}`);
  const names = ref.startsWith('refs/') ? [ref] : [`refs/heads/${ref}`, `refs/tags/${ref}`];
  const listed = await runGit(['ls-remote', '--quiet', '--end-of-options', remote, ...names], at);
  if (listed.code !== 0) throw new LedgerError(listed.message);
  const there = new Set(
    listed.out
      .toString()
      .split('\n')
      .map((line) => line.split('\t')[1]),
  );
  return names.find((name) => there.has(name));
}

/** A stack at a commit. */
interface StackAtCommit {
  readonly stack: Pick<Stack, 'policies' | 'directory'>;
  readonly commit: string;
  /** of the stack file, from the root of the repository */
  readonly path: string;
}

/**
 * The policy files that a stack named at a commit. For policies in a branch, these are the files at the same path of this commit, because
 * the remote may be this repository.
 * @throws LedgerError when the commit cannot be read
 */
export async function policyTextsAt(
  { stack, commit, path }: StackAtCommit,
  at: GitContext,
): Promise<readonly PolicyText[]> {
  const patterns = patternsOf(stack);
  const borrowed = await borrowRepository(at);
  try {
    const folder = posix.dirname(`/${path}`);
    const wanted = matchFiles(patterns, stack.directory);
    const fromStack = (file: string) => posix.relative(folder, `/${file}`);
    const ofStack = {
      isFile: (file: string) => wanted.isFile(fromStack(file)),
      isAncestor: (file: string) => wanted.isAncestor(fromStack(file)),
    };
    const ofRefs = { isFile: matchRefs(stack), isAncestor: () => false, ignoresLinks: true };
    const found = [
      ...(patterns.length === 0 ? [] : await readCommit(borrowed, commit, ofStack)),
      ...(await readCommit(borrowed, commit, ofRefs)).filter(mayHavePolicies),
    ];
    return found.map((one) => ({ ...one, file: `${commit.slice(0, 12)}:${one.file}` }));
  } finally {
    await borrowed.close();
  }
}

/** The same in a folder with the files of a commit. Missing files are not reported. @param root the top of the folder */
export async function policyTextsIn(
  stack: Pick<Stack, 'policies' | 'directory' | 'file'>,
  root: string,
  context: ReadContext,
): Promise<readonly PolicyText[]> {
  const patterns = patternsOf(stack);
  const texts = patterns.length === 0 ? [] : [...(await readWorkTree(patterns, stack, context)).texts];
  const atRefs = (stack.policies ?? []).flatMap((source) => ('git' in source ? [source.git.path] : []));
  const wanted = atRefs.map((path) => ({ pattern: join('.', path), optional: true, path: [] }));
  const repository = await findRepository(root);
  for (const path of (await listFiles(wanted, root)).flatMap(({ files }) => files)) {
    const file = slashes(relative(root, path));
    const text = await readText(path, { file, repository });
    if (typeof text === 'string' && mayHavePolicies({ text })) texts.push({ file, text });
  }
  return texts;
}

/** Whether a file can have policies: if the remote is another repository, this one may have something else at the same path. */
function mayHavePolicies({ text }: Pick<PolicyText, 'text'>): boolean {
  return text.includes('trueup.dev/');
}

function patternsOf({ policies = [] }: Pick<Stack, 'policies'>): string[] {
  return policies.flatMap((source) => ('files' in source ? source.files : []));
}

async function idOf(at: GitContext, name: string): Promise<string> {
  const { code, out, message } = await runGit(['rev-parse', '--verify', '--end-of-options', name], at);
  if (code !== 0) throw new LedgerError(message);
  return out.toString().trim();
}

/** Bytes of a file, at most. */
const maxSize = 1024 * 1024;

/** Reads the wanted regular files. What a shallow or partial clone lacks of the commit is fetched. */
async function readCommit(from: BorrowedRepository, commit: string, wanted: Wanted): Promise<PolicyText[]> {
  const { at } = from;
  const isKnown = (await listCommit(at, commit, wanted))?.every(({ size }) => size !== undefined) === true;
  if (!isKnown) {
    const fetched = await fetchInto(from, { refs: [commit], depth: 1, content: 'files' });
    if (fetched.code !== 0) throw new LedgerError(fetched.message);
  }
  const entries = await listCommit(at, commit, wanted);
  if (entries === undefined) throw new LedgerError(`the commit ${commit} cannot be read`);
  const found: PolicyText[] = [];
  for (const { file, id, size } of entries) {
    if (size === undefined || size > maxSize) throw new LedgerError(`${quoted(file)} has more than 1 MB`);
    const { code, out, message } = await runGit(['cat-file', 'blob', id], at);
    if (code !== 0) throw new LedgerError(message);
    const text = decodeText(file, out);
    if (typeof text !== 'string') throw new LedgerError(text.message);
    found.push({ file, text });
  }
  return found;
}

interface Wanted extends StackPaths {
  /** if not set, links and submodules that may hold files are errors */
  readonly ignoresLinks?: boolean;
}

interface CommitFile {
  readonly file: string;
  readonly id: string;
  /** in bytes; unknown if the clone lacks the content */
  readonly size: number | undefined;
}

/** @returns undefined if the clone lacks the commit, or trees of it. @throws LedgerError for a link or a submodule */
async function listCommit(
  at: GitContext,
  commit: string,
  { isFile, isAncestor, ignoresLinks = false }: Wanted,
): Promise<readonly CommitFile[] | undefined> {
  const tree = await runGit(['ls-tree', '-r', '-l', '-z', '--full-tree', '--end-of-options', commit], at);
  if (tree.code !== 0) return undefined;
  return tree.out
    .toString()
    .split('\0')
    .filter(Boolean)
    .flatMap((entry) => {
      const tab = entry.indexOf('\t');
      const file = entry.slice(tab + 1);
      const [mode = '', , id = '', size = ''] = entry.slice(0, tab).split(/ +/);
      const isRegular = mode.startsWith('100');
      if (!isRegular && !ignoresLinks && (isFile(file) || isAncestor(file)))
        throw new LedgerError(
          `${quoted(file)} is a symbolic link or a submodule, and files of policies may be behind it`,
        );
      return isRegular && isFile(file)
        ? [{ file, id, size: /^\d+$/.test(size) ? Number(size) : undefined }]
        : [];
    });
}
