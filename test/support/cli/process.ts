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
  /** held open to the end of the test where it is `open` */
  readonly stdin?: string | Uint8Array | { readonly open: string };
  /** every write to a file fails, as on a full disk (EFBIG) */
  readonly fullDisk?: boolean;
}

export interface Exited {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Only what a process cannot do without: what the test runner's own environment says must not colour the outcome. */
function environment(env: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '/', ...env };
}

/** Runs one command to its end; `act` may send it signals meanwhile. */
export async function trueupProcess(
  args: readonly string[],
  options: ProcessOptions,
  act: (bystander: Bystander) => Promise<void> = async () => {},
): Promise<Exited> {
  const child = start(args, options);
  writeInput(child, options.stdin ?? '');
  const sees = watch([child.stderr], once(child, 'close'));
  const [end] = await Promise.all([exited(child), act({ signals: (name) => child.kill(name), sees })]);
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

/** Somebody who watches a process from outside. */
export interface Bystander {
  signals(name: NodeJS.Signals): void;
  /** resolves once this stands on stderr */
  sees(text: RegExp): Promise<RegExpExecArray>;
}

/** A function that resolves once the streams together have shown a text, and rejects when they end without. */
function watch(
  streams: readonly Readable[],
  ended: Promise<unknown>,
): (text: RegExp) => Promise<RegExpExecArray> {
  let shown = '';
  const looks = new Set<() => void>();
  for (const stream of streams)
    stream.on('data', (chunk) => {
      shown += String(chunk);
      for (const look of looks) look();
    });
  return (text) =>
    new Promise((resolve, reject) => {
      const look = () => {
        const found = text.exec(shown);
        if (found !== null) resolve(found);
      };
      looks.add(look);
      look();
      void ended.then(() => reject(new Error(`${text} was never shown: ${shown}`)));
    });
}

export interface Running {
  readonly pid: number;
  /** resolves with the match once stdout and stderr together match; rejects when the process ends before */
  says(what: RegExp): Promise<RegExpExecArray>;
  kill(signal: NodeJS.Signals): void;
  /** with the signal that has ended it, where it did not end by itself */
  readonly ended: Promise<Exited & { readonly signal: NodeJS.Signals | null }>;
}

/** A command that is watched while it runs, with an input that is empty; killed with the test at the latest. */
export function startTrueup(args: readonly string[], options: ProcessOptions): Running {
  const child = start(args, options);
  writeInput(child, options.stdin ?? '');
  endWithTest(child);
  return {
    pid: child.pid ?? 0,
    kill: (signal) => {
      child.kill(signal);
    },
    says: watch([child.stdout, child.stderr], once(child, 'close')),
    ended: exited(child).then((end) => ({ ...end, signal: child.signalCode })),
  };
}

function start(
  args: readonly string[],
  options: ProcessOptions,
): ChildProcessByStdio<Writable, Readable, Readable> {
  const child = spawnTrueup(args, options, 'pipe') as ChildProcessByStdio<Writable, Readable, Readable>;
  // A command may have seen enough before it has read all.
  child.stdin.on('error', () => {});
  return child;
}

/** The process as Node has it, for tests of what becomes of its streams. */
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
  /** resolves with all that it printed once that shows this text */
  sees(text: RegExp): Promise<string>;
  /** sends the signal and waits for the end */
  stop(signal?: NodeJS.Signals): Promise<Exited>;
}

export interface ServeProcessOptions extends ProcessOptions {
  /** each write is on the disk before it is answered, as for users, and not only by the time that the machine stops */
  readonly durable?: boolean;
}

/** `trueup serve` with these arguments, once it has said that it is ready; ended with the test at the latest. */
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
  const sees = (text: RegExp) => watched(text).then(() => shown);
  const ended = end.then(({ err }) => Promise.reject(new Error(err)));
  const [line = ''] = (await Promise.race([sees(/\n/), ended])).split('\n');
  return {
    pid: child.pid ?? 0,
    line,
    url: /http:\S+/.exec(line)?.[0] ?? '',
    sees,
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
  /** a file that is given the exit code, also when nobody is left to see it on the terminal */
  readonly codeInto?: string;
}

export interface TerminalRun {
  readonly code: number | null;
  /** everything that came to the screen, control sequences included */
  readonly screen: string;
}

/** The person in front of the terminal. */
export interface Person {
  /** resolves once the screen has shown this */
  sees(text: RegExp): Promise<RegExpExecArray>;
  types(text: string): void;
  /** closes the terminal, with all that runs in it left to itself */
  hangsUp(): void;
}

/** Runs one command on a pseudo terminal (util-linux `script`), with somebody in front of it. */
export async function onTerminal(
  args: readonly string[],
  { cwd, env, columns = 120, codeInto }: TerminalOptions,
  act: (person: Person) => Promise<void> = async () => {},
): Promise<TerminalRun> {
  const command = [process.execPath, mainFile, ...args].map((word) => `'${word}'`).join(' ');
  // The shell outlives its terminal, and what it runs is hung up on as ever: it has a handler of its own.
  const line = codeInto === undefined ? command : `trap '' HUP; ${command}; echo $? > '${codeInto}'`;
  const child = spawn('script', ['-qec', `stty cols ${columns} rows 50; ${line}`, '/dev/null'], {
    cwd,
    env: environment({ TERM: 'xterm-256color', ...env }),
    stdio: 'pipe',
  });
  endWithTest(child);
  const screen = text(child.stdout);
  const closed = once(child, 'close') as Promise<[number | null]>;
  const types = (typed: string) => {
    child.stdin.write(typed);
  };
  const hangsUp = () => void child.kill('SIGKILL');
  await act({ types, hangsUp, sees: watch([child.stdout], closed) });
  const [code] = await closed;
  return { code, screen: await screen };
}
