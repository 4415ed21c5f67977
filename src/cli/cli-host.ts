/** Everything that a command uses of its process and machine: streams, environment, clock, signals. Tests provide their own. */
import type { RetryPolicy } from '../http/transport/retry.ts';
import type { Registry } from '../model/kind/kind.ts';
import { KnownSecrets } from '../model/redaction/known-secrets.ts';
import { isUnderActions, withoutCommands } from './terminal/workflow-commands.ts';

export interface Output {
  write(text: string): void;
  readonly isTTY: boolean;
  /** columns of the terminal; undefined elsewhere */
  readonly columns: number | undefined;
}

/** The machine that this process runs on, as locks and the history record it. */
export interface Machine {
  readonly hostname: string;
  readonly pid: number;
  /** undefined for a user without a name, as in some containers */
  readonly userName: string | undefined;
  /** the effective id of the user; undefined on Windows */
  readonly userId: number | undefined;
  /** the namespace in which `pid` is valid; undefined when it cannot be found out */
  readonly pidNamespace: string | undefined;
  /** whether several systems may have this host name; then only the namespace proves that two runs were on the same one */
  readonly mayBeContainer: boolean;
  /** Whether there is no process with this number in this namespace. */
  isGone(pid: number): boolean;
}

export interface ProcessHost {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** computed on request */
  readonly machine: () => Machine;
  /** milliseconds since 1970 */
  readonly now: () => number;
  /** a UUID, new with each call */
  readonly newId: () => string;
  readonly kinds: Registry;
  readonly version: string;
  /** the secrets that the run learns; a new collection when absent */
  readonly secrets?: KnownSecrets;
  readonly stdout: Output;
  readonly stderr: Output;
  /** whether input and output are a terminal, so that questions can be asked */
  readonly interactive: boolean;
  /**
   * Reads standard input to its end, or at least one byte more than `max` when it is longer. Rejects when `stop` is aborted.
   */
  readStdin(max: number, stop: AbortSignal): Promise<Uint8Array>;
  /** Asks a yes-or-no question; false when there is no answer or `stop` is aborted. Only when `interactive`. */
  confirm(question: string, stop: AbortSignal): Promise<boolean>;
  /** Asks for a line of text; undefined when there is no answer or `stop` is aborted. Only when `interactive`. */
  ask(question: string, stop: AbortSignal): Promise<string | undefined>;
  /** Calls the handler for each SIGINT, SIGTERM or SIGHUP until the returned function is called. */
  onStop(handler: () => void): () => void;
  /** how failed requests are repeated; the default of src/http when absent */
  readonly retryPolicy?: Partial<RetryPolicy>;
}

/**
 * The host as commands use it: known secrets are removed from everything that they write (rule 42), and under GitHub Actions what they
 * write is no command by accident.
 */
export interface CliHost extends ProcessHost {
  readonly secrets: KnownSecrets;
  /** removes known secrets from each text of a value that is stored */
  readonly clean: <T extends object>(value: T) => T;
  /** writes a line that is a workflow command on purpose */
  writeCommand(line: string): void;
}

/** The secrets that a run will learn, for a process that also prints past its run. */
export function openSecrets(): KnownSecrets {
  return new KnownSecrets();
}

export function cliHostOf(processHost: ProcessHost): CliHost {
  const { secrets = openSecrets() } = processHost;
  const redacting = (output: Output): Output => ({
    ...output,
    write: (text) => output.write(secrets.redactPrinted(text)),
  });
  const guarding = isUnderActions(processHost.env) ? withoutCommands : (output: Output) => output;
  const stdout = redacting(processHost.stdout);
  return {
    ...processHost,
    stdout: redacting(guarding(processHost.stdout)),
    stderr: redacting(guarding(processHost.stderr)),
    writeCommand: (line) => stdout.write(`${line}\n`),
    secrets,
    clean: (value) => secrets.redactKept(value),
  };
}
