/**
 * Runs the `git` of this machine. It never asks a question, runs no hook, takes no lock that it can do without, and
 * what it says is repeated without the user names and passwords of addresses.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import process from 'node:process';
import { LedgerError, WaitEnded } from '../../model/stack/ledger.ts';
import type { KnownSecrets } from '../../model/known-secrets.ts';
import { maskAddresses } from '../../model/mask-addresses.ts';

export interface GitContext {
  /** absolute, anywhere inside the repository */
  readonly directory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** variables of git's own, which the environment cannot set */
  readonly settings?: Readonly<Record<string, string>>;
  /** once aborted, what runs is ended */
  readonly signal?: AbortSignal;
  /** milliseconds that one command may take; five minutes when absent */
  readonly longest?: number;
  /** kept out of what git and its remotes say */
  readonly secrets?: KnownSecrets;
}

export interface GitAnswer {
  readonly code: number;
  readonly out: Buffer;
  /** its own words about a failure, on one line */
  readonly words: string;
}

/** Set while a hook runs: they would point git at another repository, or at the user's index. */
const inherited = [
  'GIT_DIR',
  'GIT_WORK_TREE',
  'GIT_INDEX_FILE',
  'GIT_OBJECT_DIRECTORY',
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_QUARANTINE_PATH',
  'GIT_PREFIX',
];

/** Whoever watches git has its words on stderr, where only the words about a failure belong. */
const watching = /^GIT_(TRACE|CURL_VERBOSE)/;

/** Milliseconds of one command: a remote that does not answer would otherwise be waited for without end. */
const longest = 300_000;

const quiet = ['-c', 'core.hooksPath=/dev/null', '-c', 'advice.detachedHead=false', '-c', 'gc.auto=0'];

/** What git leaves behind when it is told to end, such as a lock of the user's repository, it takes away itself: it gets this long. */
const farewell = 1_000;

/**
 * Git and all that it starts, such as a connection, are a group of processes of their own, so that they end together.
 * @throws LedgerError when there is no git on this machine, or when it does not end by itself; WaitEnded when it was told to
 */
export async function runGit(args: readonly string[], place: GitContext, input = ''): Promise<GitAnswer> {
  const late = AbortSignal.timeout(place.longest ?? longest);
  const signal = place.signal === undefined ? late : AbortSignal.any([place.signal, late]);
  const child = spawn('git', [...quiet, ...args], {
    cwd: place.directory,
    env: environment(place),
    stdio: 'pipe',
    detached: true,
  });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
  // A git that fails early closes its end; its exit code tells more than the broken pipe.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const code = await exitCode(child, signal);
  if (late.aborted && signal.reason === late.reason) throw new LedgerError(lateWords(args, place));
  if (signal.aborted) throw new WaitEnded(signal.reason instanceof Error ? signal.reason.message : undefined);
  return { code, out: Buffer.concat(out), words: wordsOf(Buffer.concat(err).toString(), place) };
}

function lateWords(args: readonly string[], place: GitContext): string {
  const seconds = (place.longest ?? longest) / 1000;
  return `"git ${args[0] ?? ''}" did not end within ${seconds} s; check that the remote answers this machine: "git ls-remote" shows it`;
}

/** @throws LedgerError when it could not begin */
async function exitCode(child: ChildProcessWithoutNullStreams, signal: AbortSignal): Promise<number> {
  let timer: NodeJS.Timeout | undefined;
  const end = () => {
    endGroup(child, 'SIGTERM');
    timer = setTimeout(() => endGroup(child, 'SIGKILL'), farewell);
    // Nothing more is heard, and what holds these open holds nobody up.
    for (const stream of [child.stdout, child.stderr]) stream.destroy();
  };
  if (signal.aborted) end();
  signal.addEventListener('abort', end);
  try {
    return await new Promise<number>((resolve, reject) => {
      child.on('error', (error) => reject(notRun(error)));
      child.on('close', (ended) => resolve(ended ?? 1));
    });
  } finally {
    signal.removeEventListener('abort', end);
    clearTimeout(timer);
    // Of those that it started one may not have heard it.
    if (signal.aborted) endGroup(child, 'SIGKILL');
  }
}

function endGroup({ pid }: { readonly pid?: number | undefined }, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // All of them have ended.
  }
}

function environment({ env, settings }: GitContext): Record<string, string> {
  const kept = Object.entries(env).flatMap(([name, value]) =>
    value === undefined || inherited.includes(name) || watching.test(name) ? [] : [[name, value] as const],
  );
  const tame = { LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0' };
  return { ...Object.fromEntries(kept), ...tame, ...settings };
}

function notRun(error: NodeJS.ErrnoException): LedgerError {
  const why = error.code === 'ENOENT' ? 'it is not installed, or not in PATH' : error.message;
  return new LedgerError(`git cannot be run: ${why}`, { cause: error });
}

/** The lines that say what is wrong: no hints, no progress, no credentials of an address, no secret that is known. */
function wordsOf(text: string, { secrets }: GitContext): string {
  const lines = text
    .split(/[\r\n]+/)
    .map((line) => line.replace(/^remote:\s*/, '').trim())
    .filter((line) => line !== '' && !/^(hint|To|warning):? /.test(line));
  const said = lines.join('; ');
  return maskAddresses(secrets?.redact(said) ?? said);
}
