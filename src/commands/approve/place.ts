/** Where a stack and its approvals are: repository, stack file, remote, and who may sign at HEAD. */
import { posix } from 'node:path';
import { readAllowedSigners } from '../../approvals/allowed-signers.ts';
import { addressesOfRemote, stackRepository } from '../../ledger/git/checkout.ts';
import { type GitContext, runGit } from '../../ledger/git/git-command.ts';
import { findRepository, standardInput } from '../../manifest/files/find-stack.ts';
import type { Approver } from '../../model/approval.ts';
import { quoted } from '../../model/quoted.ts';
import type { Stack } from '../../model/stack.ts';
import { CommandStop } from '../../run/command-stop.ts';
import type { CliHost } from '../../run/host.ts';

export interface ApprovalPlace {
  readonly git: GitContext;
  readonly remote: string;
  /** all forms of its address, without scheme and login; at least one */
  readonly remotes: readonly string[];
  /** of the stack file, below the root of the repository */
  readonly path: string;
  /** text of the allowed signers at HEAD; empty if the stack names none */
  readonly allowed: string;
}

/** @throws CommandStop without a repository or the remote, ApprovalsError when the signers cannot be read */
export async function findPlace(
  { directory, file, approvals }: Stack,
  remote: string,
  { env, secrets }: CliHost,
  signal: AbortSignal,
): Promise<ApprovalPlace> {
  if (file === standardInput)
    throw new CommandStop('stack-file-needed', 'an approval is for a stack in a file: give its path');
  const git = { directory, env, secrets, signal };
  const { root, isGit } = await findRepository(directory);
  const repository = isGit ? await stackRepository(git, root, file) : undefined;
  if (repository === undefined)
    throw new CommandStop(
      'approval-place',
      'an approval is for a stack in a git repository, and this one is in none',
    );
  const remotes = await addressesOfRemote(git, remote);
  if (remotes.length === 0)
    throw new CommandStop(
      'approval-place',
      `this repository has no remote ${quoted(remote)}, which would keep the approval: name one with --remote`,
    );
  const { path } = repository.applied;
  const paths = signersOf(approvals?.from, path);
  const allowed = paths.length === 0 ? '' : await readAllowedSigners(git, { commit: 'HEAD', paths });
  return { git, remote, remotes, path, allowed };
}

/** The files of signers, below the root. @param stackFile below the root */
function signersOf(from: readonly Approver[] = [], stackFile: string): string[] {
  const files = from.flatMap((one) => ('signers' in one ? [one.signers] : []));
  return files.map((file) => posix.join(posix.dirname(stackFile), file));
}

/** The full id of a commit. A commit that the clone does not have must be given by its full id. @throws CommandStop */
export async function fullCommitId(git: GitContext, name: string): Promise<string> {
  const { code, out } = await runGit(
    ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`],
    git,
  );
  const found = code === 0 ? out.toString().trim() : name.toLowerCase();
  if (/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(found)) return found;
  throw new CommandStop(
    'approval-place',
    `there is no commit ${quoted(name)} in this clone: fetch it, or name its whole id`,
  );
}
