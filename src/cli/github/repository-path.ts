/** What a file is called in the repository that a CI job has checked out: platforms find lines of a pull request by it. */
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { standardInput } from '../../manifest/files/find-stack.ts';
import type { CliHost } from '../cli-host.ts';

/** @returns undefined for standard input, and for a file outside of the repository */
export function repositoryPath(file: string, { cwd, env }: Pick<CliHost, 'cwd' | 'env'>): string | undefined {
  if (file === standardInput) return undefined;
  const root = env['GITHUB_WORKSPACE'] || env['CI_PROJECT_DIR'] || cwd;
  const path = relative(root, resolve(cwd, file)).split(sep).join('/');
  return path === '' || path.startsWith('../') || path === '..' || isAbsolute(path) ? undefined : path;
}
