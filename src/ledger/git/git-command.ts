/**
 * Runs the `git` of this machine. It never prompts, runs no hook and takes no optional lock. The secrets that its settings send
 * to remotes (`git-place.ts`) are redacted in its messages.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import process from 'node:process';
import { LedgerError, WaitEnded } from '../../model/ledger.ts';
import { quoted } from '../../model/quoted.ts';
import type { KnownSecrets } from '../../redaction/known-secrets.ts';
import { maskUrls } from '../../redaction/mask-text.ts';

export interface GitContext {
  /** absolute, anywhere inside the repository */
  readonly directory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** environment variables for git that override `env` */
  readonly settings?: Readonly<Record<string, string>>;
  /** aborting it ends the running command */
  readonly signal?: AbortSignal;
  /** milliseconds that one command may take; five minutes when absent */
  readonly timeout?: number;
  /** bytes that one command may print; no limit when absent */
  readonly maxOutput?: number;
  /** removed from messages of git and its remotes */
  readonly secrets?: KnownSecrets;
}

export interface GitAnswer {
  /** the exit code; above 128 if a signal ended the command */
  readonly code: number;
  readonly out: Buffer;
  /** git's message about a failure, on one line */
  readonly message: string;
}

/** Variables that git sets while a hook runs. They would make our git use another repository, its settings, or the user's index. */
const hookVariables = [
  'GIT_DIR',
  'GIT_COMMON_DIR',
  'GIT_CONFIG',
  'GIT_GRAFT_FILE',
  'GIT_SHALLOW_FILE',
  'GIT_WORK_TREE',
  'GIT_INDEX_FILE',
  'GIT_OBJECT_DIRECTORY',
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_QUARANTINE_PATH',
  'GIT_PREFIX',
];

/** Variables that make git write a trace to stderr, where we expect only messages about failures. */
const tracing = /^GIT_(TRACE|CURL_VERBOSE)/;

/** Default timeout of one command, in milliseconds, because a remote may never answer. */
const defaultTimeout = 300_000;

const quiet = [
  'core.hooksPath=/dev/null',
  'advice.detachedHead=false',
  'gc.auto=0',
  // Maintenance has nothing to do without gc, but would start a process after each fetch.
  'maintenance.auto=false',
].flatMap((setting) => ['-c', setting]);

/** The exit code of a command that a signal ended. Git never exits with it, while 1 can be a normal result, such as "no ancestor". */
const killedCode = 137;

/** Milliseconds between SIGTERM and SIGKILL, so that git can clean up, for example remove a lock of the user's repository. */
const killDelay = 1_000;

/**
 * Runs one command. Git and the processes that it starts are one process group, so that all of them can be ended together.
 * @throws LedgerError when there is no git on this machine, on a timeout, or when it prints too much; WaitEnded when `place.signal`
 * was aborted
 */
export async function runGit(args: readonly string[], place: GitContext, input = ''): Promise<GitAnswer> {
  const timeout = AbortSignal.timeout(place.timeout ?? defaultTimeout);
  const tooMuch = new AbortController();
  const reasons = [timeout, tooMuch.signal, ...(place.signal === undefined ? [] : [place.signal])];
  const signal = AbortSignal.any(reasons);
  const child = spawn('git', [...quiet, ...args], {
    cwd: place.directory,
    env: environment(place),
    stdio: 'pipe',
    detached: true,
  });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  let printed = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.length;
    if (printed > (place.maxOutput ?? Number.POSITIVE_INFINITY)) tooMuch.abort(new Error('too much output'));
    else out.push(chunk);
  });
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
  // When git fails early, the pipe breaks. The exit code says more than the error of the pipe.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const code = await exitCode(child, signal);
  if (timeout.aborted && signal.reason === timeout.reason) throw new LedgerError(timeoutMessage(args, place));
  if (tooMuch.signal.aborted && signal.reason === tooMuch.signal.reason)
    throw new LedgerError(`${quoted(`git ${args[0] ?? ''}`)} printed more than ${place.maxOutput} bytes`);
  if (signal.aborted) throw new WaitEnded(signal.reason instanceof Error ? signal.reason.message : undefined);
  const message = failureMessage(Buffer.concat(err).toString(), place);
  const why = message === '' && code === killedCode ? 'it was killed' : message;
  return { code, out: Buffer.concat(out), message: why };
}

function timeoutMessage(args: readonly string[], place: GitContext): string {
  const seconds = (place.timeout ?? defaultTimeout) / 1000;
  return `${quoted(`git ${args[0] ?? ''}`)} did not end within ${seconds} s; check that the remote answers this machine: "git ls-remote" shows it`;
}

/** @throws LedgerError when the process could not be started */
async function exitCode(child: ChildProcessWithoutNullStreams, signal: AbortSignal): Promise<number> {
  let timer: NodeJS.Timeout | undefined;
  const end = () => {
    endGroup(child, 'SIGTERM');
    timer = setTimeout(() => endGroup(child, 'SIGKILL'), killDelay);
    // Processes that keep these streams open must not delay the "close" event.
    for (const stream of [child.stdout, child.stderr]) stream.destroy();
  };
  if (signal.aborted) end();
  signal.addEventListener('abort', end);
  try {
    return await new Promise<number>((resolve, reject) => {
      child.on('error', (error) => reject(notRun(error)));
      child.on('close', (ended) => resolve(ended ?? killedCode));
    });
  } finally {
    signal.removeEventListener('abort', end);
    clearTimeout(timer);
    // Processes that git started may have ignored SIGTERM.
    if (signal.aborted) endGroup(child, 'SIGKILL');
  }
}

function endGroup({ pid }: { readonly pid?: number | undefined }, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // All processes of the group have ended.
  }
}

function environment({ env, settings }: GitContext): Record<string, string> {
  const kept = Object.entries(env).flatMap(([name, value]) =>
    value === undefined || hookVariables.includes(name) || tracing.test(name) ? [] : [[name, value] as const],
  );
  const nonInteractive = { LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0' };
  // Otherwise anybody who can push a ref could replace the content of a commit.
  const noReplacements = { GIT_NO_REPLACE_OBJECTS: '1' };
  return { ...Object.fromEntries(kept), ...nonInteractive, ...noReplacements, ...settings };
}

function notRun(error: NodeJS.ErrnoException): LedgerError {
  const why = error.code === 'ENOENT' ? 'it is not installed, or not in PATH' : error.message;
  return new LedgerError(`git cannot be run: ${why}`, { cause: error });
}

/** The lines of the error: without hints, progress, credentials in addresses and known secrets. */
function failureMessage(text: string, { secrets }: GitContext): string {
  const lines = text
    .split(/[\r\n]+/)
    .map((line) => line.replace(/^remote:\s*/, '').trim())
    .filter((line) => line !== '' && !/^(hint|To|warning):? /.test(line));
  const message = lines.join('; ');
  return maskUrls(secrets?.redact(message) ?? message);
}
