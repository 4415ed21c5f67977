/** A host for `run` inside a test: everything that a command writes is kept, nobody answers questions unless an answer is named. */
import { randomUUID } from 'node:crypto';
import type { ExitCode } from '../../src/run/exit-codes.ts';
import { run } from '../../src/command-line.ts';
import { type CliHost, thisMachine } from '../../src/run/host.ts';
import { kinds } from '../../src/kinds/index.ts';

export interface Ran {
  readonly code: ExitCode;
  readonly out: string;
  readonly err: string;
}

export interface HostOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string | Uint8Array;
  readonly kinds?: CliHost['kinds'];
  /** the clock of the command; the real one where none is named */
  readonly now?: () => number;
  /** what somebody types at the question of the command; nobody is there where none is named */
  readonly answer?: string;
}

/** Runs one command line in this process and returns its exit code and all that it wrote. */
export async function trueup(args: readonly string[], options: HostOptions): Promise<Ran> {
  const written = { out: '', err: '' };
  const capture = (stream: 'out' | 'err') => ({
    write: (text: string) => {
      written[stream] += text;
    },
    isTTY: false,
    columns: undefined,
  });
  const code = await run(args, {
    cwd: options.cwd,
    env: options.env ?? {},
    machine: thisMachine,
    now: options.now ?? (() => Date.now()),
    newId: randomUUID,
    kinds: options.kinds ?? kinds,
    version: '0.0.0-test',
    stdout: capture('out'),
    stderr: capture('err'),
    interactive: options.answer !== undefined,
    readStdin: async () => Buffer.from(options.stdin ?? ''),
    confirm: async () => false,
    ask: async () => options.answer,
    onStop: () => () => {},
    // as often as ever, but sooner: nothing here gets well by waiting
    retryPolicy: { base: 5, longest: 40 },
  });
  return { code, ...written };
}
