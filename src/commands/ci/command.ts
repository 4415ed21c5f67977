/** `trueup ci`: whole jobs of a CI pipeline. */
import type { Command } from 'commander';
import { command, type CommandEnd } from '../../run/command-options.ts';
import type { CliHost } from '../../run/host.ts';
import { defineApply } from './apply.ts';

export function defineCommand(ci: Command, host: CliHost, ends: CommandEnd): void {
  defineApply(
    command(ci, 'apply', 'On the protected branch: applies what was approved since the last apply'),
    host,
    ends,
  );
}
