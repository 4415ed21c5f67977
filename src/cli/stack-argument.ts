/** How a command line names the stack, for the commands that trueup proposes: what was typed once is what works again. */
import { standardInput } from '../manifest/files/find-stack.ts';
import type { Stack } from '../model/stack/target.ts';
import { shellWord } from '../report/format/shell-word.ts';

/** @param path as it was typed. @returns `stacks/pay`, `-` or `- --complete`; undefined for the stack that is here */
export function stackWords(path: string | undefined, complete = false): string | undefined {
  if (path === standardInput && complete) return `${path} --complete`;
  return path === undefined ? undefined : shellWord(path);
}

/** The path for commands that need no manifests: where the stack has a file, nobody has to pipe anything in for it. */
export function pathOfStack(path: string | undefined, { file }: Stack): string | undefined {
  return path === standardInput && file !== standardInput ? undefined : path;
}
