#!/usr/bin/env node
/** The process: its arguments, streams and signals put into a host, and the one place that exits it. */
import { addAbortSignal } from 'node:stream';
import about from '../package.json' with { type: 'json' };
import { exitCodes } from './cli/exit-codes.ts';
import { debounceSignal } from './cli/stop/debounce-signal.ts';
import type { QuestionStreams } from './cli/terminal/question.ts';
import { run } from './cli/command-line.ts';
import type { Output, ProcessHost } from './cli/cli-host.ts';
import { kinds } from './kinds/index.ts';

/** What cannot be written any more, by stream: nobody reads it, or the disk is full. It ends no run (rule 46). */
const lost = new Map<NodeJS.WriteStream, NodeJS.ErrnoException>();

function output(stream: NodeJS.WriteStream): Output {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (!lost.has(stream)) lost.set(stream, error);
  });
  return {
    write: (chunk) => {
      if (!lost.has(stream)) stream.write(chunk);
    },
    isTTY: stream.isTTY === true,
    // a pseudo terminal that nobody gave a size has 0 columns
    columns: stream.columns || undefined,
  };
}

const terminal: QuestionStreams = {
  input: process.stdin,
  output: process.stdout,
  // not a signal to ourselves, which ends a process at once on some systems
  interrupt: () => process.emit('SIGINT', 'SIGINT'),
  hangUp: () => process.emit('SIGHUP', 'SIGHUP'),
};

/** A reader that has seen enough, such as `head`, closes the pipe, and one that is gone closes the terminal: no error of ours. */
function tellLost(): boolean {
  const error = lost.get(process.stdout);
  if (error === undefined || error.code === 'EPIPE' || error.code === 'EIO') return false;
  outside.stderr.write(`error: what this command had to say could not be written: ${error.message}\n`);
  return true;
}

const stops = new Set<() => void>();
let hasFailed = false;

// A bug of ours is told whole; what runs is ended like by a signal, so that what is in flight ends and the lock goes back.
process.on('uncaughtException', (error) => {
  hasFailed = true;
  outside.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
  if (stops.size === 0) process.exit(exitCodes.error);
  for (const stop of stops) stop();
});

async function readStdin(most: number, stop: AbortSignal): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // An input that somebody holds open would keep the process alive, too.
  for await (const chunk of addAbortSignal(stop, process.stdin)) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > most) break;
  }
  return Buffer.concat(chunks);
}

const outside: ProcessHost = {
  cwd: process.cwd(),
  env: process.env,
  kinds,
  version: about.version,
  stdout: output(process.stdout),
  stderr: output(process.stderr),
  interactive: process.stdin.isTTY === true && process.stdout.isTTY === true,
  readStdin,
  confirm: async (question, stop) => {
    const { askYes } = await import('./cli/terminal/question.ts');
    return askYes(question, terminal, stop);
  },
  ask: async (question, stop) => {
    const { askLine } = await import('./cli/terminal/question.ts');
    return askLine(`${question}\n> `, terminal, stop);
  },
  onStop: (handler) => {
    const hear = debounceSignal(handler, () => performance.now());
    stops.add(handler);
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
    for (const signal of signals) process.on(signal, hear);
    return () => {
      stops.delete(handler);
      for (const signal of signals) process.off(signal, hear);
    };
  },
};

const code = await run(process.argv.slice(2), outside);
// A failure to write is told a moment later: without this wait it would come after the end.
if (!lost.has(process.stdout)) await new Promise((resolve) => process.stdout.write('', resolve));
process.exitCode = tellLost() || hasFailed ? code || exitCodes.error : code;
