/**
 * Finds the stack file: the file of the given path, the one in the given directory, or without a path the nearest `trueup.yaml`
 * in the current directory or a parent. With `-` the manifests come from standard input, which may also hold the Stack.
 */
import { stat } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import type { Diagnostic } from '../../model/diagnostic.ts';

export const stackFileName = 'trueup.yaml';

/** Means standard input, both as a path and as the file of a place. */
export const standardInput = '-';

/** @returns the absolute path of the stack file, or why there is none */
export async function findStack(path: string | undefined, cwd: string): Promise<string | Diagnostic> {
  if (path === undefined || path === standardInput) return findUpwards(cwd);
  const absolute = resolve(cwd, path);
  const kind = await kindOf(absolute);
  if (kind === 'file') return absolute;
  if (kind === undefined) return noStack(`there is no file or directory "${path}"`, 'correct the path');
  if ((await kindOf(join(absolute, stackFileName))) === 'file') return join(absolute, stackFileName);
  const other = join(absolute, 'trueup.yml');
  return (await kindOf(other)) === 'file'
    ? noStack(`the stack file of "${path}" is called "trueup.yml"`, `rename it to "${stackFileName}"`)
    : noStack(
        `"${path}" holds no ${stackFileName}`,
        `create "${displayPath(join(absolute, stackFileName), cwd)}"`,
      );
}

/** A path as the user would type it in the working directory. */
export function displayPath(absolute: string, cwd: string): string {
  return relative(cwd, absolute) || '.';
}

async function findUpwards(cwd: string): Promise<string | Diagnostic> {
  for (let directory = resolve(cwd); ; directory = dirname(directory)) {
    const candidate = join(directory, stackFileName);
    if ((await kindOf(candidate)) === 'file') return candidate;
    if (directory === dirname(directory)) break;
  }
  return noStack(
    `there is no ${stackFileName} here or in a parent directory`,
    'go to the directory of a stack, or give its path',
  );
}

function noStack(message: string, fix: string): Diagnostic {
  return { code: 'no-stack', severity: 'error', class: 'failure', message, fix };
}

/** Undefined when the path does not exist or cannot be read. */
async function kindOf(path: string): Promise<'file' | 'directory' | undefined> {
  try {
    return (await stat(path)).isDirectory() ? 'directory' : 'file';
  } catch {
    return undefined;
  }
}
