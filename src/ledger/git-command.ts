/**
 * Runs the `git` of this machine. It never asks a question, runs no hook, takes no lock that it can do without, and
 * what it says is repeated without the user names and passwords of addresses.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { LedgerError } from '../model/ledger.ts';

export interface GitPlace {
  /** absolute, anywhere inside the repository */
  readonly directory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** variables of git's own, which the environment cannot set */
  readonly settings?: Readonly<Record<string, string>>;
  /** once aborted, what runs is ended */
  readonly signal?: AbortSignal;
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

const quiet = ['-c', 'core.hooksPath=/dev/null', '-c', 'advice.detachedHead=false', '-c', 'gc.auto=0'];

/** @throws LedgerError when there is no git on this machine, or when it was told to end */
export async function runGit(args: readonly string[], place: GitPlace, input = ''): Promise<GitAnswer> {
  const child = spawn('git', [...quiet, ...args], {
    cwd: place.directory,
    env: environment(place),
    stdio: 'pipe',
    ...(place.signal === undefined ? {} : { signal: place.signal }),
  });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
  // A git that fails early closes its end; its exit code tells more than the broken pipe.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const code = await exitCode(child, place.signal);
  return { code, out: Buffer.concat(out), words: wordsOf(Buffer.concat(err).toString()) };
}

/** @throws LedgerError when it could not begin, or was told to end */
async function exitCode(
  child: ChildProcessWithoutNullStreams,
  signal: AbortSignal | undefined,
): Promise<number> {
  // What git has started itself, such as a connection, may outlive it, and would hold these open.
  const letGo = () => [child.stdout, child.stderr].forEach((stream) => void stream.destroy());
  signal?.addEventListener('abort', letGo);
  const code = await new Promise<number>((resolve, reject) => {
    child.on('error', (error) => {
      // Whoever is told to end still has to do it.
      if (error.name !== 'AbortError') reject(notRun(error));
    });
    child.on('close', (ended) => resolve(ended ?? 1));
  });
  signal?.removeEventListener('abort', letGo);
  if (signal?.aborted) throw new LedgerError('git was told to end before it was done');
  return code;
}

function environment({ env, settings }: GitPlace): Record<string, string> {
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

/** The lines that say what is wrong: no hints, no progress, and no credentials of an address. */
function wordsOf(text: string): string {
  const lines = text
    .split(/[\r\n]+/)
    .map((line) => line.replace(/^remote:\s*/, '').trim())
    .filter((line) => line !== '' && !/^(hint|To|warning):? /.test(line));
  return withoutCredentials(lines.join('; '));
}

/** The text, with `***` in place of the user names and passwords of its addresses. */
export function withoutCredentials(text: string): string {
  return text.replace(/\/\/[^\s/@]+@/g, '//***@');
}
