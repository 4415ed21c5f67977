/** Everything a command may know of the outside: where it writes, what it reads, who is watching. Tests make their own. */
import type { Registry } from '../model/kind.ts';

export interface Output {
  write(text: string): void;
  readonly isTTY: boolean;
  /** columns of the terminal; undefined elsewhere */
  readonly columns: number | undefined;
}

export interface World {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly kinds: Registry;
  readonly version: string;
  readonly stdout: Output;
  readonly stderr: Output;
  /** both ends are a terminal: questions can be asked */
  readonly interactive: boolean;
  readStdin(): Promise<string>;
  /** Asks a yes-or-no question; false when the user walks away, or when it is to stop. Only when `interactive`. */
  confirm(question: string, stop: AbortSignal): Promise<boolean>;
  /** Asks for a line of text; undefined when the user walks away, or when it is to stop. Only when `interactive`. */
  ask(question: string, stop: AbortSignal): Promise<string | undefined>;
  /** Calls back for each SIGINT or SIGTERM until the returned function is called. */
  onStop(handler: () => void): () => void;
}
