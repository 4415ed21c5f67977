/**
 * Reads manifests with the kinds and dialects of this program and with standard input, and repeats the argument of the stack in
 * commands that trueup suggests. Environment variables that the manifests name as secrets are redacted from then on, also in
 * messages about the manifests.
 */
import { dialects } from '../api/dialects.ts';
import { readIgnored, readIndex } from '../ledger/git/checkout.ts';
import { standardInput } from '../manifest/files/find-stack.ts';
import type { FileDrafts } from '../manifest/load-documents.ts';
import { type Manifests, readManifests } from '../manifest/read-manifests.ts';
import { hasErrors } from '../model/diagnostic.ts';
import type { Plan } from '../model/plan.ts';
import type { Stack } from '../model/stack.ts';
import type { LoosenedSetting } from '../model/guard.ts';
import { selectArguments } from '../report/view/plan-summary.ts';
import { shellWord } from '../report/view/printable.ts';
import { CommandStop } from './command-stop.ts';
import type { CliHost } from './host.ts';
import { sourceToShow } from './read-secret.ts';
import { systemClock, Waits } from '../api/transport/clock.ts';
import { untilAborted } from '../model/http.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import {
  beginRun,
  DeadlineError,
  listenForEnd,
  openDeadline,
  type ReadSignals,
  type RunTime,
} from './stop-signals.ts';

export interface LoadOptions extends InputEnds {
  /** the manifests on standard input are the whole stack, even when the stack has files of its own */
  readonly complete?: boolean | undefined;
  /** contents to read in place of those of the files */
  readonly drafts?: FileDrafts | undefined;
  /** adjusts the settings of the stack for this run, compared with an earlier commit */
  readonly adjust?: ((stack: Stack) => AdjustedStack) | undefined;
}

/** A stack with the settings that hold for a run. */
export interface AdjustedStack {
  readonly stack: Stack;
  /** settings that are looser in the stack file than for this run */
  readonly loosened: readonly LoosenedSetting[];
}

export interface LoadedManifests extends Manifests {
  /** milliseconds since 1970: when the run began to read standard input; absent when it did not */
  readonly began?: number;
  /** settings that are looser in the stack file than those that hold for this run */
  readonly loosened: readonly LoosenedSetting[];
}

/** @throws CommandStop when standard input did not end before the run did */
export async function loadManifests(
  path: string | undefined,
  host: CliHost,
  { complete = false, timeout, runEnded, drafts, adjust }: LoadOptions = {},
): Promise<LoadedManifests> {
  let began: number | undefined;
  let loosened: readonly LoosenedSetting[] = [];
  const gitAt = (directory: string) => ({
    directory,
    env: host.env,
    ...(runEnded && { signal: runEnded }),
  });
  const manifests = await readManifests({
    ...(path === undefined ? {} : { path }),
    cwd: host.cwd,
    userId: host.machine().userId,
    stdin: (max) => {
      began = host.now();
      return readInput(host, max, { timeout, runEnded });
    },
    inputIsWhole: complete,
    drafts,
    ...(adjust && {
      adjust: (stack: Stack) => {
        const adjusted = adjust(stack);
        ({ loosened } = adjusted);
        return adjusted.stack;
      },
    }),
    onSecretVariables: (names) => keepVariables(names, host),
    readIndex: (directory) => readIndex(gitAt(directory)),
    readIgnored: (directory, paths) => readIgnored(gitAt(directory), paths),
    kinds: host.kinds,
    dialects,
    now: host.now(),
  });
  const { stack } = manifests;
  return {
    ...manifests,
    loosened,
    ...(began === undefined ? {} : { began }),
    ...(stack === undefined || timeout === undefined ? {} : { stack: { ...stack, timeout } }),
  };
}

interface LoadedStack extends LoadedManifests {
  readonly stack: Stack;
}

/**
 * Like `loadManifests`, for commands that need a stack.
 * @param options.ignoresMistakes mistakes in manifests do not matter, only those in the stack
 * @throws CommandStop with the problems
 */
export async function loadStack(
  path: string | undefined,
  host: CliHost,
  { ignoresMistakes = false, ...options }: LoadOptions & { readonly ignoresMistakes?: boolean } = {},
): Promise<LoadedStack> {
  const manifests = await loadManifests(path, host, options);
  const { stack, diagnostics } = manifests;
  if (stack === undefined || (!ignoresMistakes && hasErrors(diagnostics)))
    throw CommandStop.ofProblems(diagnostics);
  return { ...manifests, stack };
}

/** A run on a stack. */
export interface StackRun extends LoadedStack {
  readonly time: RunTime;
  /** aborted by the first signal */
  readonly stop: AbortSignal;
}

export interface StackRunOptions extends Pick<LoadOptions, 'timeout'> {
  readonly host: CliHost;
  /** the signals of the run, which are disposed of at its end */
  readonly stops: ReadSignals;
  readonly ignoresMistakes?: boolean;
}

/** Runs `work` with the stack, within its time. @throws CommandStop without a valid stack */
export async function withStack(
  path: string | undefined,
  { host, stops, ...options }: StackRunOptions,
  work: (run: StackRun) => Promise<ExitCode>,
): Promise<ExitCode> {
  let time: RunTime | undefined;
  try {
    const loaded = await loadStack(path, host, { ...options, runEnded: stops.runEnded });
    time = beginRun(loaded, stops, host);
    return await work({ ...loaded, time, stop: stops.stopStarting });
  } finally {
    time?.deadline.clear();
    stops.dispose();
  }
}

/** Keeps the values as secrets, and the password of an address, which may be printed without the rest of the address. */
function keepVariables(names: ReadonlySet<string>, { env, secrets }: CliHost): void {
  for (const name of names) {
    const value = env[name]?.trim() ?? '';
    secrets.keep(value, sourceToShow({ env: name }));
    if (URL.canParse(value)) secrets.keep(new URL(value).password, sourceToShow({ env: name }));
  }
}

// The stack's argument in the commands that trueup suggests: the same as the user typed.

/**
 * @param path as typed
 * @returns `stacks/pay`, `- --complete` or `--select tag:env=prod`; undefined for the whole stack of the current directory
 */
export function stackArgument(
  path: string | undefined,
  {
    complete = false,
    select = [],
  }: { readonly complete?: boolean; readonly select?: readonly string[] } = {},
): string | undefined {
  const words = [
    path === undefined ? '' : shellWord(path),
    path === standardInput && complete ? '--complete' : '',
    selectArguments([...new Set(select)].sort()),
  ].filter(Boolean);
  return words.length === 0 ? undefined : words.join(' ');
}

/** The argument for a plan that was made before: the path of its stack is not known. */
export function argumentOfPlan({ selection, part }: Pick<Plan, 'selection' | 'part'>): string | undefined {
  if (part !== undefined) return selectArguments(part.selectors);
  return selection === undefined ? undefined : standardInput;
}

/** The path for commands that need no manifests: a stack with a file needs nothing from standard input. */
export function pathOfStack(path: string | undefined, { file }: Stack): string | undefined {
  return path === standardInput && file !== standardInput ? undefined : path;
}

// Reads standard input as a part of the run: it counts for the run's deadline, a long wait is reported, and the run's signals stop
// it, because the writing program may never end.

interface InputEnds {
  /** seconds that the run may take; an hour when absent */
  readonly timeout?: number | undefined;
  /** aborted when the run ends; without it, the first signal ends the reading */
  readonly runEnded?: AbortSignal | undefined;
}

/**
 * @param max in bytes; of a longer input at least one byte more is returned
 * @throws CommandStop when standard input did not end before the run did
 */
export async function readInput(
  host: CliHost,
  max: number,
  { timeout, runEnded }: InputEnds,
): Promise<Uint8Array> {
  const stops = runEnded === undefined ? listenForEnd(host) : undefined;
  const deadline = openDeadline(timeout, host);
  const signals = [runEnded, stops?.runEnded].filter((signal) => signal !== undefined);
  const end = AbortSignal.any([deadline.passed, ...signals]);
  const waits = new Waits('standard input', {
    report: (message) => host.stderr.write(`${message}\n`),
    clock: systemClock,
  });
  const answered = waits.begin('it has not ended');
  try {
    return await untilAborted(host.readStdin(max, end), end);
  } catch (error) {
    throw end.aborted ? inputStop(end.reason) : error;
  } finally {
    answered();
    deadline.clear();
    stops?.dispose();
  }
}

function inputStop(reason: unknown): CommandStop {
  const what = 'standard input did not end, and nothing was done';
  return reason instanceof DeadlineError
    ? new CommandStop('deadline', `${what}: ${reason.message}`)
    : new CommandStop('interrupted', `${what}: interrupted`, { exit: exitCodes.interrupted });
}
