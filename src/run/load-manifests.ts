/**
 * Reads manifests with the kinds and dialects of this program and with standard input, and repeats the argument of the stack in
 * commands that trueup suggests.
 */
import { dialects } from '../api/dialects.ts';
import { readIndex } from '../ledger/git/checkout.ts';
import { standardInput } from '../manifest/files/find-stack.ts';
import type { FileDrafts } from '../manifest/load-documents.ts';
import { type Manifests, readManifests } from '../manifest/read-manifests.ts';
import type { Stack } from '../model/stack.ts';
import { shellWord } from '../report/view/printable.ts';
import type { CliHost } from './host.ts';
import { type InputEnds, readInput } from './read-input.ts';

export interface LoadOptions extends InputEnds {
  /** the manifests on standard input are the whole stack, even when the stack has files of its own */
  readonly complete?: boolean | undefined;
  /** what files would hold, in place of what they do */
  readonly drafts?: FileDrafts | undefined;
}

export interface LoadedManifests extends Manifests {
  /** milliseconds since 1970: when the run began to read standard input; absent when it did not */
  readonly began?: number;
}

/** @throws InputWaitEnded when standard input did not end before the run did */
export async function loadManifests(
  path: string | undefined,
  host: CliHost,
  { complete = false, timeout, over, drafts }: LoadOptions = {},
): Promise<LoadedManifests> {
  let began: number | undefined;
  const manifests = await readManifests({
    ...(path === undefined ? {} : { path }),
    cwd: host.cwd,
    userId: host.machine().userId,
    stdin: (max) => {
      began = host.now();
      return readInput(host, max, { timeout, over });
    },
    inputIsWhole: complete,
    drafts,
    readIndex: (directory) => readIndex({ directory, env: host.env, ...(over && { signal: over }) }),
    kinds: host.kinds,
    dialects,
    now: host.now(),
  });
  const { stack } = manifests;
  return {
    ...manifests,
    ...(began === undefined ? {} : { began }),
    ...(stack === undefined || timeout === undefined ? {} : { stack: { ...stack, timeout } }),
  };
}

// The stack's argument in the commands that trueup suggests: the same as the user typed.

/** @param path as typed. @returns `stacks/pay`, `-` or `- --complete`; undefined for the stack of the current directory */
export function stackArgument(path: string | undefined, complete = false): string | undefined {
  if (path === standardInput && complete) return `${path} --complete`;
  return path === undefined ? undefined : shellWord(path);
}

/** The path for commands that need no manifests: a stack with a file needs nothing from standard input. */
export function pathOfStack(path: string | undefined, { file }: Stack): string | undefined {
  return path === standardInput && file !== standardInput ? undefined : path;
}
