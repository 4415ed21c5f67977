/** The process: makes a host from its arguments, streams and signals, and is the only place that exits. */
import { randomUUID } from 'node:crypto';
import { addAbortSignal } from 'node:stream';
import about from '../package.json' with { type: 'json' };
import { exitCodes } from './run/exit-codes.ts';
import { debounceSignal } from './run/stop-signals.ts';
import type { QuestionStreams } from './run/question.ts';
import type { Output } from './run/progress.ts';
import { run } from './command-line.ts';
import {
  isUnderActions,
  openSecrets,
  type ProcessHost,
  steadyClock,
  thisMachine,
  withoutCommands,
} from './run/host.ts';
import { fleetProcessOf } from './run/fleet-process.ts';
import { kinds } from './kinds/index.ts';

/** Streams that failed, with their errors, such as a closed pipe or a full disk. Such a failure does not end the run. */
const failedStreams = new Map<NodeJS.WriteStream, NodeJS.ErrnoException>();

function output(stream: NodeJS.WriteStream): Output {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (!failedStreams.has(stream)) failedStreams.set(stream, error);
  });
  return {
    write: (chunk) => {
      if (!failedStreams.has(stream)) stream.write(chunk);
    },
    isTTY: stream.isTTY === true,
    // It changes with the window. A pseudo terminal without a size has 0 columns.
    get columns() {
      return stream.columns || undefined;
    },
  };
}

const terminal: QuestionStreams = {
  input: process.stdin,
  output: process.stdout,
  // emitted, and not sent as a real signal, which would end the process at once on some systems
  interrupt: () => process.emit('SIGINT', 'SIGINT'),
  hangUp: () => process.emit('SIGHUP', 'SIGHUP'),
};

/** The secrets of the run, to redact what is printed outside of its command. */
const secrets = openSecrets();

/** Prints outside of the command, which redacts its own output. */
function writeError(text: string): void {
  (isUnderActions(process.env) ? withoutCommands(host.stderr) : host.stderr).write(secrets.redact(text));
}

/** Prints an error with its stack, or neither if a secret in them cannot be redacted. */
function writeBug(error: unknown): void {
  try {
    writeError(`${error instanceof Error ? error.stack : error}\n`);
  } catch {
    host.stderr.write('an internal error; it is not shown, because secrets in it could not be redacted\n');
  }
}

/** Reports that stdout failed. A closed pipe (such as by `head`) or a closed terminal is not an error. */
function reportFailedOutput(): boolean {
  const error = failedStreams.get(process.stdout);
  if (error === undefined || error.code === 'EPIPE' || error.code === 'EIO') return false;
  writeError(`error: the output of this command could not be written: ${error.message}\n`);
  return true;
}

/** The current folder. If it was deleted, the process ends, because no path can be resolved in it. */
function currentFolder(): string {
  try {
    return process.cwd();
  } catch {
    process.stderr.write('error: the current folder does not exist any more: change to another one\n');
    process.exit(exitCodes.error);
  }
}

const stops = new Set<() => void>();
let hasFailed = false;

// A bug is printed with its stack, and the run is stopped as by a signal, so that requests in flight end and the lock is released.
process.on('uncaughtException', (error) => {
  hasFailed = true;
  writeBug(error);
  if (stops.size === 0) process.exit(exitCodes.error);
  for (const stop of stops) stop();
});

async function readStdin(max: number, stop: AbortSignal): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // With the signal the stream is destroyed on abort; an open input would keep the process alive.
  for await (const chunk of addAbortSignal(stop, process.stdin)) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > max) break;
  }
  return Buffer.concat(chunks);
}

const now = steadyClock();

const host: ProcessHost = {
  cwd: currentFolder(),
  env: process.env,
  machine: thisMachine,
  now,
  newId: randomUUID,
  kinds,
  version: about.version,
  secrets,
  // The single executable has no script.
  program: process.argv[1] === process.execPath ? undefined : process.argv[1],
  fleet: fleetProcessOf(process, now),
  stdout: output(process.stdout),
  stderr: output(process.stderr),
  interactive: process.stdin.isTTY === true && process.stdout.isTTY === true,
  readStdin,
  confirm: async (question, stop) => {
    const { askYes } = await import('./run/question.ts');
    return askYes(question, terminal, stop);
  },
  ask: async (question, stop) => {
    const { askLine } = await import('./run/question.ts');
    return askLine(`${question}\n> `, terminal, stop);
  },
  onStop: (handler) => {
    const onSignal = debounceSignal(handler, () => performance.now());
    stops.add(handler);
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
    for (const signal of signals) process.on(signal, onSignal);
    return () => {
      stops.delete(handler);
      for (const signal of signals) process.off(signal, onSignal);
    };
  },
};

async function main(): Promise<void> {
  const code = await run(process.argv.slice(2), host);
  // A failed write is reported asynchronously; this waits for it.
  if (!failedStreams.has(process.stdout)) await new Promise((resolve) => process.stdout.write('', resolve));
  process.exitCode = reportFailedOutput() || hasFailed ? code || exitCodes.error : code;
}

// If the process ends before its command, it exits with 13, as Node does for a top-level await that never resolves.
process.exitCode = 13;
void main();
