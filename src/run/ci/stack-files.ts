/** The files that a stack names besides its manifests: certificates, tokens, seeds, keys of people who may approve. */
import { posix } from 'node:path';
import { uncommittedPaths } from '../../ledger/git/checkout.ts';
import type { GitContext } from '../../ledger/git/git-command.ts';
import { matchStackFiles } from '../../manifest/files/match-files.ts';
import type { SecretSource, Stack, Target } from '../../model/stack.ts';
import { secretBehind } from '../read-secret.ts';

/**
 * @param file of the stack, from the top of its repository
 * @returns the files that can be in the repository, from its top
 */
export function filesOf(stack: Stack, file: string): string[] {
  const { embedded, approvals, targets } = stack;
  const named = [
    ...targets.flatMap(filesOfTarget),
    ...(embedded === undefined ? [] : [embedded.seed]),
    ...filesOfSigners({ approvals }),
  ];
  return inRepository(named, file);
}

/** The files of signers, as the stack names them. */
export function filesOfSigners({
  approvals,
}: {
  readonly approvals?: Stack['approvals'] | undefined;
}): string[] {
  return (approvals?.from ?? []).flatMap((one) => ('signers' in one ? [one.signers] : []));
}

/** The files that decide where the secrets of a stack go, from the top of the repository. @param file of the stack */
export function filesOfTargets({ targets }: Pick<Stack, 'targets'>, file: string): string[] {
  return inRepository(targets.flatMap(filesOfTarget), file);
}

export function inRepository(named: readonly string[], file: string): string[] {
  return named
    .filter((path) => !posix.isAbsolute(path))
    .map((path) => posix.join(posix.dirname(file), path))
    .filter((path) => path !== '..' && !path.startsWith('../'));
}

/** The paths with uncommitted changes in the stack's folder, relative to it: files of the stack, and folders that may hold some. */
export async function changedFiles(stack: Stack, at: GitContext): Promise<string[]> {
  const { isFile, isAncestor } = matchStackFiles(stack, false);
  const changed = await uncommittedPaths(at);
  return changed.flatMap(({ path, hadFiles }) =>
    isFile(path) || (hadFiles && isAncestor(path)) ? [path] : [],
  );
}

function filesOfTarget({ caCert, token, auditToken }: Target): string[] {
  return [
    ...(caCert === undefined ? [] : [caCert.file]),
    ...(token === undefined ? [] : fileOf(secretBehind(token))),
    ...(auditToken === undefined ? [] : fileOf(auditToken)),
  ];
}

function fileOf(source: SecretSource): string[] {
  return 'file' in source ? [source.file] : [];
}
