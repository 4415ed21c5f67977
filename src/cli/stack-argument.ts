/** The stack's argument in the commands that trueup suggests: the same as the user typed. */
import { standardInput } from '../manifest/files/find-stack.ts';
import type { Stack } from '../model/stack/target.ts';
import { shellWord } from '../report/format/shell-word.ts';

/** @param path as typed. @returns `stacks/pay`, `-` or `- --complete`; undefined for the stack of the current directory */
export function stackArgument(path: string | undefined, complete = false): string | undefined {
  if (path === standardInput && complete) return `${path} --complete`;
  return path === undefined ? undefined : shellWord(path);
}

/** The path for commands that need no manifests: a stack with a file needs nothing from standard input. */
export function pathOfStack(path: string | undefined, { file }: Stack): string | undefined {
  return path === standardInput && file !== standardInput ? undefined : path;
}
