#!/usr/bin/env node
/** The process: its arguments, streams and signals put into a world, and the one place that exits it. */
import { text } from 'node:stream/consumers';
import about from '../package.json' with { type: 'json' };
import { hearOnce } from './cli/hear-once.ts';
import type { Terminal } from './cli/question.ts';
import { run } from './cli/run.ts';
import type { Output, World } from './cli/world.ts';
import { kinds } from './kinds/index.ts';

function output(stream: NodeJS.WriteStream): Output {
  // A reader that has seen enough, such as `head`, closes the pipe: that is no error of ours.
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  return {
    write: (chunk) => {
      stream.write(chunk);
    },
    isTTY: stream.isTTY === true,
    // a pseudo terminal that nobody gave a size has 0 columns
    columns: stream.columns || undefined,
  };
}

const terminal: Terminal = {
  input: process.stdin,
  output: process.stdout,
  // not a signal to ourselves, which ends a process at once on some systems
  interrupt: () => process.emit('SIGINT', 'SIGINT'),
};

const world: World = {
  cwd: process.cwd(),
  env: process.env,
  kinds,
  version: about.version,
  stdout: output(process.stdout),
  stderr: output(process.stderr),
  interactive: process.stdin.isTTY === true && process.stdout.isTTY === true,
  readStdin: () => text(process.stdin),
  confirm: async (question, stop) => {
    const { askYes } = await import('./cli/question.ts');
    return askYes(question, terminal, stop);
  },
  ask: async (question, stop) => {
    const { askLine } = await import('./cli/question.ts');
    return askLine(`${question}\n> `, terminal, stop);
  },
  onStop: (handler) => {
    const hear = hearOnce(handler, () => performance.now());
    process.on('SIGINT', hear);
    process.on('SIGTERM', hear);
    return () => {
      process.off('SIGINT', hear);
      process.off('SIGTERM', hear);
    };
  },
};

process.exitCode = await run(process.argv.slice(2), world);
