/** What every command gets: its host and its terminal. */
import type { CliHost } from './cli-host.ts';
import type { Terminal } from './terminal/terminal.ts';

export interface CommandContext {
  readonly host: CliHost;
  readonly terminal: Terminal;
}
