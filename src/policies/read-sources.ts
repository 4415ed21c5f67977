/** The texts of policies: from files of the work tree, from a ref of a remote, or from an earlier commit. */
import { posix, relative } from 'node:path';
import { borrowRepository, fetchInto } from '../ledger/git/borrowed-repository.ts';
import { type GitContext, runGit } from '../ledger/git/git-command.ts';
import { displayPath, findRepository, slashes } from '../manifest/files/find-stack.ts';
import { isYaml, listFiles } from '../manifest/files/list-files.ts';
import { matchFiles } from '../manifest/files/match-files.ts';
import { decodeText, readText } from '../manifest/files/read-text.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { LedgerError } from '../model/ledger.ts';
import type { ReadSource } from '../model/policy.ts';
import type { PolicyRef, PolicySource, PolicyText } from '../model/policy-source.ts';
import { quoted } from '../model/quoted.ts';
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
    return failed(`the policies of ${refText(source.git)} cannot be read: ${error.message}`);
  }
}

function refText({ remote, ref, path }: PolicyRef): string {
  return `${quoted(path)} in ${quoted(ref)} of the remote ${quoted(remote)}`;
}

function failed(message: string): SourceTexts {
  const problem = { code: 'policies-unreadable', severity: 'error', class: 'failure', message } as const;
  return { read: {}, texts: [], diagnostics: [problem] };
}

async function readWorkTree(
  patterns: readonly string[],
  { directory }: StackPlace,
  { cwd }: ReadContext,
): Promise<SourceTexts> {
  const wanted = patterns.map((pattern) => ({ pattern, optional: false, path: [] }));
  const listed = await listFiles(wanted, directory);
  const repository = await findRepository(directory);
  const diagnostics: Diagnostic[] = listed.flatMap(({ problem }) =>
    problem === undefined
      ? []
      : [
          {
            code: 'policies-unreadable',
            severity: 'error',
            class: 'invalid',
            message: `${problem.message}, which "spec.policies" names`,
            fix: 'correct the pattern, or remove it from "spec.policies"',
          },
        ],
  );
  const paths = [...new Set(listed.flatMap(({ files }) => files))];
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

// Of a commit, files are read as git objects: neither the work tree nor a link in it matters.

async function readRef({ remote, ref, path }: PolicyRef, at: GitContext): Promise<SourceTexts> {
  const borrowed = await borrowRepository(at);
  try {
    const names = ref.startsWith('refs/') ? [ref] : [`refs/heads/${ref}`, `refs/tags/${ref}`];
    let why = '';
    for (const name of names) {
      const refs = [`+${name}:refs/trueup/policies`];
      const fetched = await fetchInto({ ...borrowed, remote }, { refs, depth: 1, content: 'files' });
      why ||= fetched.code === 0 ? '' : fetched.message;
      if (fetched.code !== 0) continue;
      const commit = await idOf(borrowed.at, 'refs/trueup/policies^{commit}');
      const root = path.replace(/^\.?\/+|\/+$/g, '');
      const isWanted = (file: string) =>
        file === root || (isYaml(file) && (root === '' || root === '.' || file.startsWith(`${root}/`)));
      const found = await readCommit(borrowed.at, commit, isWanted);
      if (found.length === 0)
        return failed(`${refText({ remote, ref, path })} has no file of policies (commit ${commit})`);
      const texts = found.map((one) => ({ ...one, file: `${remote}/${ref}:${one.file}` }));
      return { read: { remote, ref, path, commit }, texts, diagnostics: [] };
    }
    throw new LedgerError(why);
  } finally {
    await borrowed.close();
  }
}

/** A stack at a commit. */
interface StackAtCommit {
  readonly stack: Pick<Stack, 'policies' | 'directory'>;
  readonly commit: string;
  /** of the stack file, from the root of the repository */
  readonly path: string;
}

/**
 * The files of policies that a stack named at a commit.
 * @throws LedgerError when the commit cannot be read
 */
export async function policyTextsAt(
  { stack, commit, path }: StackAtCommit,
  at: GitContext,
): Promise<readonly PolicyText[]> {
  const patterns = patternsOf(stack);
  if (patterns.length === 0) return [];
  const borrowed = await borrowRepository(at);
  try {
    const known = await runGit(['cat-file', '-e', `${commit}^{tree}`], borrowed.at);
    if (known.code !== 0) {
      const fetched = await fetchInto(borrowed, { refs: [commit], depth: 1, content: 'files' });
      if (fetched.code !== 0) throw new LedgerError(fetched.message);
    }
    const folder = posix.dirname(`/${path}`);
    const { isFile } = matchFiles(patterns, stack.directory);
    const found = await readCommit(borrowed.at, commit, (file) => isFile(posix.relative(folder, `/${file}`)));
    return found.map((one) => ({ ...one, file: `${commit.slice(0, 12)}:${one.file}` }));
  } finally {
    await borrowed.close();
  }
}

/** The same in a work tree, or in a folder with the files of a commit. What is missing there counts as not there. */
export async function policyTextsIn(
  stack: Pick<Stack, 'policies' | 'directory' | 'file'>,
  context: ReadContext,
): Promise<readonly PolicyText[]> {
  const patterns = patternsOf(stack);
  return patterns.length === 0 ? [] : (await readWorkTree(patterns, stack, context)).texts;
}

function patternsOf({ policies = [] }: Pick<Stack, 'policies'>): string[] {
  return policies.flatMap((source) => ('files' in source ? source.files : []));
}

async function idOf(at: GitContext, name: string): Promise<string> {
  const { code, out, message } = await runGit(['rev-parse', '--verify', '--end-of-options', name], at);
  if (code !== 0) throw new LedgerError(message);
  return out.toString().trim();
}

/** Longer files are refused, in bytes. */
const maxSize = 1024 * 1024;

async function readCommit(
  at: GitContext,
  commit: string,
  isWanted: (file: string) => boolean,
): Promise<PolicyText[]> {
  const tree = await runGit(['ls-tree', '-r', '-l', '-z', '--full-tree', '--end-of-options', commit], at);
  if (tree.code !== 0) throw new LedgerError(tree.message);
  const found: PolicyText[] = [];
  for (const entry of tree.out.toString().split('\0').filter(Boolean)) {
    const tab = entry.indexOf('\t');
    const file = entry.slice(tab + 1);
    if (!isWanted(file)) continue;
    const [mode = '', , id = '', size = ''] = entry.slice(0, tab).split(/ +/);
    if (!mode.startsWith('100')) throw new LedgerError(`${quoted(file)} is no regular file`);
    if (!(Number(size) <= maxSize)) throw new LedgerError(`${quoted(file)} has more than 1 MB`);
    const { code, out, message } = await runGit(['cat-file', 'blob', id], at);
    if (code !== 0) throw new LedgerError(message);
    const text = decodeText(file, out);
    if (typeof text !== 'string') throw new LedgerError(text.message);
    found.push({ file, text });
  }
  return found;
}
