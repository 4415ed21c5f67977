/** The CLI as a process of its own, the way a user starts it: arguments, environment and streams in, exit code out. */
import { type ChildProcess, type ChildProcessByStdio, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

/** The program as it was built for this run (`build-once.ts`), as users have it. */
export const mainFile =
  process.env['TRUEUP_BUILT_MAIN'] ?? fileURLToPath(new URL('../../../src/main.ts', import.meta.url));

export interface ProcessOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** with `open`, stdin stays open until the end of the test */
  readonly stdin?: string | Uint8Array | { readonly open: string };
  /** every write to a file fails, as on a full disk (EFBIG) */
  readonly fullDisk?: boolean;
}

export interface Exited {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Only what a process needs: the environment of the test runner must not influence the result. */
function environment(env: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '/', ...env };
}

/** Runs one command to its end; `act` can send it signals while it runs. */
export async function trueupProcess(
  args: readonly string[],
  options: ProcessOptions,
  act: (observer: ProcessObserver) => Promise<void> = async () => {},
): Promise<Exited> {
  const child = start(args, options);
  writeInput(child, options.stdin ?? '');
  const waitForText = watch([child.stderr], once(child, 'close'));
  const sendSignal = (name: NodeJS.Signals) => void child.kill(name);
  const [end] = await Promise.all([exited(child), act({ sendSignal, waitForText })]);
  return end;
}

function writeInput(
  child: ChildProcessByStdio<Writable, Readable, Readable>,
  input: NonNullable<ProcessOptions['stdin']>,
): void {
  if (typeof input === 'string' || input instanceof Uint8Array) child.stdin.end(input);
  else {
    endWithTest(child);
    child.stdin.write(input.open);
  }
}

/** Observes a running process from outside. */
export interface ProcessObserver {
  sendSignal(name: NodeJS.Signals): void;
  /** resolves once stderr matches */
  waitForText(text: RegExp): Promise<RegExpExecArray>;
}

/** A function that resolves once the output of the streams matches, and rejects when they end without a match. */
function watch(
  streams: readonly Readable[],
  ended: Promise<unknown>,
): (text: RegExp) => Promise<RegExpExecArray> {
  let shown = '';
  const checks = new Set<() => void>();
  for (const stream of streams)
    stream.on('data', (chunk) => {
      shown += String(chunk);
      for (const check of checks) check();
    });
  return (text) =>
    new Promise((resolve, reject) => {
      const check = () => {
        const found = text.exec(shown);
        if (found !== null) resolve(found);
      };
      checks.add(check);
      check();
      void ended.then(() => reject(new Error(`${text} was never shown: ${shown}`)));
    });
}

export interface Running {
  readonly pid: number;
  /** resolves with the match once stdout and stderr together match; rejects when the process ends before */
  waitForText(text: RegExp): Promise<RegExpExecArray>;
  kill(signal: NodeJS.Signals): void;
  /** with the signal that ended it, if one did */
  readonly ended: Promise<Exited & { readonly signal: NodeJS.Signals | null }>;
}

/** Starts a command that a test observes while it runs; it is killed at the end of the test at the latest. */
export function startTrueup(args: readonly string[], options: ProcessOptions): Running {
  const child = start(args, options);
  writeInput(child, options.stdin ?? '');
  endWithTest(child);
  return {
    pid: child.pid ?? 0,
    kill: (signal) => {
      child.kill(signal);
    },
    waitForText: watch([child.stdout, child.stderr], once(child, 'close')),
    ended: exited(child).then((end) => ({ ...end, signal: child.signalCode })),
  };
}

function start(
  args: readonly string[],
  options: ProcessOptions,
): ChildProcessByStdio<Writable, Readable, Readable> {
  const child = spawnTrueup(args, options, 'pipe') as ChildProcessByStdio<Writable, Readable, Readable>;
  // A command can end before it has read all of its input.
  child.stdin.on('error', () => {});
  return child;
}

/** The child process of Node, for tests of its streams. */
export function spawnTrueup(
  args: readonly string[],
  { cwd, env, fullDisk = false }: Pick<ProcessOptions, 'cwd' | 'env' | 'fullDisk'>,
  stdio: StdioOptions,
): ChildProcess {
  const limited = ['bash', '-c', 'trap "" XFSZ; ulimit -f 0; exec "$0" "$@"'];
  const [command = '', ...before] = [...(fullDisk ? limited : []), process.execPath, mainFile];
  return spawn(command, [...before, ...args], { cwd, env: environment(env), stdio });
}

async function exited(child: ChildProcessByStdio<Writable, Readable, Readable>): Promise<Exited> {
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  return { code, out, err };
}

export interface Serving {
  readonly pid: number;
  /** the first line that it printed */
  readonly line: string;
  readonly url: string;
  /** resolves with all output so far once it matches */
  waitForText(text: RegExp): Promise<string>;
  /** sends the signal and waits for the end */
  stop(signal?: NodeJS.Signals): Promise<Exited>;
}

export interface ServeProcessOptions extends ProcessOptions {
  /** each write is on the disk before its response, as for users; by default without, which is faster */
  readonly durable?: boolean;
}

/** Starts `trueup serve`, and waits until it is ready; it is killed at the end of the test at the latest. */
export async function serveProcess(
  args: readonly string[],
  { durable = false, ...options }: ServeProcessOptions,
): Promise<Serving> {
  const child = start(['serve', ...(durable ? [] : ['--relaxed-writes']), ...args], options);
  endWithTest(child);
  const end = exited(child);
  let shown = '';
  child.stdout.on('data', (chunk) => {
    shown += String(chunk);
  });
  const watched = watch([child.stdout], once(child, 'close'));
  const waitForText = (text: RegExp) => watched(text).then(() => shown);
  const ended = end.then(({ err }) => Promise.reject(new Error(err)));
  const [line = ''] = (await Promise.race([waitForText(/\n/), ended])).split('\n');
  return {
    pid: child.pid ?? 0,
    line,
    url: /http:\S+/.exec(line)?.[0] ?? '',
    waitForText,
    stop: (signal = 'SIGTERM') => {
      child.kill(signal);
      return end;
    },
  };
}

function endWithTest(child: ChildProcess): void {
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
}

export interface TerminalOptions extends Pick<ProcessOptions, 'cwd' | 'env'> {
  readonly columns?: number;
  /** a file for the exit code, which is written even if the terminal was closed */
  readonly exitCodeFile?: string;
}

export interface TerminalRun {
  readonly code: number | null;
  /** all output on the screen, control sequences included */
  readonly screen: string;
}

/** The user of a terminal. */
export interface TerminalUser {
  /** resolves once the output on the screen matches */
  waitForText(text: RegExp): Promise<RegExpExecArray>;
  typeText(text: string): void;
  /** closes the terminal, whose processes get SIGHUP */
  closeTerminal(): void;
}

/** Runs one command on a pseudo terminal (util-linux `script`); `act` is what its user does. */
export async function onTerminal(
  args: readonly string[],
  { cwd, env, columns = 120, exitCodeFile }: TerminalOptions,
  act: (user: TerminalUser) => Promise<void> = async () => {},
): Promise<TerminalRun> {
  const command = [process.execPath, mainFile, ...args].map((word) => `'${word}'`).join(' ');
  // The shell ignores SIGHUP, so that it can write the exit code. trueup gets it, because it has its own handler.
  const line = exitCodeFile === undefined ? command : `trap '' HUP; ${command}; echo $? > '${exitCodeFile}'`;
  const child = spawn('script', ['-qec', `stty cols ${columns} rows 50; ${line}`, '/dev/null'], {
    cwd,
    env: environment({ TERM: 'xterm-256color', ...env }),
    stdio: 'pipe',
  });
  endWithTest(child);
  const screen = text(child.stdout);
  const closed = once(child, 'close') as Promise<[number | null]>;
  const typeText = (typed: string) => {
    child.stdin.write(typed);
  };
  const closeTerminal = () => void child.kill('SIGKILL');
  await act({ typeText, closeTerminal, waitForText: watch([child.stdout], closed) });
  const [code] = await closed;
  return { code, screen: await screen };
}
