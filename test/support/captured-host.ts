/** A host for commands inside a test: it captures all output, and answers a question only if the test gives an answer. */
import { randomUUID } from 'node:crypto';
import type { ExitCode } from '../../src/run/exit-codes.ts';
import { run } from '../../src/command-line.ts';
import { type CliHost, thisMachine } from '../../src/run/host.ts';
import { kinds } from '../../src/kinds/index.ts';

export interface CommandResult {
  readonly code: ExitCode;
  readonly out: string;
  readonly err: string;
}

export interface HostOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string | Uint8Array;
  readonly kinds?: CliHost['kinds'];
  /** the clock of the command; the real one when absent */
  readonly now?: () => number;
  /** what the user types at the command's question; when absent, the command is not interactive */
  readonly answer?: string;
}

/** Runs one command line in this process and returns its exit code and all that it wrote. */
export async function trueup(args: readonly string[], options: HostOptions): Promise<CommandResult> {
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
    // The usual number of retries with short pauses: waiting changes nothing here.
    retryPolicy: { base: 5, longest: 40 },
  });
  return { code, ...written };
}
