/** Everything a command may know of the outside: where it writes, what it reads, who is watching. Tests make their own. */
import type { RetryPolicy } from '../http/transport/retry.ts';
import type { Registry } from '../model/kind/kind.ts';
import { KnownSecrets } from '../model/known-secrets.ts';

export interface Output {
  write(text: string): void;
  readonly isTTY: boolean;
  /** columns of the terminal; undefined elsewhere */
  readonly columns: number | undefined;
}

export interface ProcessHost {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly kinds: Registry;
  readonly version: string;
  readonly stdout: Output;
  readonly stderr: Output;
  /** both ends are a terminal: questions can be asked */
  readonly interactive: boolean;
  /**
   * What comes from there to its end; of what is longer than `most` bytes at least one byte more than that. Once `stop` is
   * aborted nothing more is read, and it rejects.
   */
  readStdin(most: number, stop: AbortSignal): Promise<Uint8Array>;
  /** Asks a yes-or-no question; false when the user walks away, or when it is to stop. Only when `interactive`. */
  confirm(question: string, stop: AbortSignal): Promise<boolean>;
  /** Asks for a line of text; undefined when the user walks away, or when it is to stop. Only when `interactive`. */
  ask(question: string, stop: AbortSignal): Promise<string | undefined>;
  /** Calls back for each SIGINT, SIGTERM or SIGHUP until the returned function is called. */
  onStop(handler: () => void): () => void;
  /** how faults of services are met; as the wire does by itself when absent */
  readonly retryPolicy?: Partial<RetryPolicy>;
}

/** The outside as commands see it: whatever they write, no secret that the run knows gets out (rule 42). */
export interface CliHost extends ProcessHost {
  readonly secrets: KnownSecrets;
  /** the same for what is written to be kept, text by text */
  readonly clean: <T extends object>(value: T) => T;
}

export function cliHostOf(outside: ProcessHost): CliHost {
  const secrets = new KnownSecrets();
  const guarded = (output: Output): Output => ({
    ...output,
    write: (text) => output.write(secrets.redactPrinted(text)),
  });
  return {
    ...outside,
    stdout: guarded(outside.stdout),
    stderr: guarded(outside.stderr),
    secrets,
    clean: (value) => secrets.redactKept(value),
  };
}
