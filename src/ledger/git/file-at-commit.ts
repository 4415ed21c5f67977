/** Reads a file of a commit as data, from the clone or from its remote. Nothing is checked out, and the clone is not changed. */
import { LedgerError } from '../../model/ledger.ts';
import { quoted } from '../../model/quoted.ts';
import { borrowRepository, fetchInto } from './borrowed-repository.ts';
import { type GitContext, runGit } from './git-command.ts';

/** Longer files are refused. */
const maxSize = 8 * 1024 * 1024;

/**
 * @param path from the root of the repository, with slashes
 * @returns undefined if the commit has no such file
 * @throws LedgerError when neither the clone nor its remote has the commit, or it is no regular file
 */
export async function fileAtCommit(
  at: GitContext,
  commit: string,
  path: string,
): Promise<string | undefined> {
  if (!/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(commit))
    throw new LedgerError('it is not the id of a git commit');
  const borrowed = await borrowRepository(at);
  try {
    const found = await readFile(borrowed.at, commit, path);
    if (found !== 'incomplete') return found?.text;
    const { code, message } = await fetchInto(borrowed, { refs: [commit], depth: 1, content: 'files' });
    const fetched = await readFile(borrowed.at, commit, path);
    if (fetched !== 'incomplete') return fetched?.text;
    throw new LedgerError(
      `commit ${commit} cannot be read${code === 0 ? '' : `: ${message}`}; fetch the whole history, such as with "fetch-depth: 0"`,
    );
  } finally {
    await borrowed.close();
  }
}

async function readFile(
  at: GitContext,
  commit: string,
  path: string,
): Promise<{ readonly text: string } | undefined | 'incomplete'> {
  const tree = await runGit(['ls-tree', '-z', '--full-tree', commit, '--', `:(literal)${path}`], at);
  if (tree.code !== 0) return 'incomplete';
  const [entry = ''] = tree.out.toString().split('\0');
  if (entry === '') return undefined;
  const [mode = '', , id = ''] = entry.split(/[ \t]/);
  if (mode !== '100644' && mode !== '100755')
    throw new LedgerError(`${quoted(path)} of commit ${commit} is no regular file`);
  const blob = await runGit(['cat-file', 'blob', id], at);
  if (blob.code !== 0) return 'incomplete';
  if (blob.out.length > maxSize) throw new LedgerError(`${quoted(path)} of commit ${commit} is too large`);
  return { text: blob.out.toString() };
}
