/** What every command is run with: the process around it, and how it writes. */
import type { CliHost } from './cli-host.ts';
import type { Terminal } from './terminal/terminal.ts';

export interface CommandContext {
  readonly host: CliHost;
  readonly terminal: Terminal;
}
