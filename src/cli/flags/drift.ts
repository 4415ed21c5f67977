/** The arguments and flags of `trueup drift`; the command itself is loaded when it is called. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../../model/kind/duration.ts';
import { parseTimestamp } from '../../audit/trail/parse-event.ts';
import type { CliHost } from '../cli-host.ts';
import {
  type CommonOptions,
  command,
  completeOption,
  type CommandEnd,
  formatOption,
  pathHelp,
  timeoutOption,
} from '../command-options.ts';
import type { DriftOptions } from '../commands/drift.ts';

export function addDrift(program: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command(
    program,
    'drift',
    'Tells what somebody changed in the targets since the last apply; exits with 3 when there is something',
  )
    .argument('[path]', pathHelp)
    .addOption(formatOption())
    .addOption(completeOption())
    .addOption(timeoutOption())
    .option(
      '--unmanaged',
      'also fields that no manifest mentions and that somebody changed since the last apply',
    )
    .addOption(
      new Option(
        '--since <time>',
        'read the audit trail no further back: 7d, or a time such as 2026-11-20T08:00:00Z (default: to the last apply)',
      ).argParser((text) => parseSince(text, host.now())),
    )
    .action(async (path: string | undefined, options: CommonOptions & DriftOptions) => {
      const { drift } = await import('../commands/drift.ts');
      end(await drift(path, options, { host, terminal: terminalOf(options) }));
    });
}

/** A time ago, or a moment. @returns milliseconds since 1970 */
function parseSince(text: string, now: number): number {
  const seconds = /^\d+$/.test(text.trim()) ? undefined : parseDuration(text);
  const since = seconds === undefined ? parseTimestamp(text) : now - seconds * 1000;
  if (since === undefined || since > now)
    throw new InvalidArgumentError(
      'a time ago is written like 7d or 12h, a moment like 2026-11-20T08:00:00Z',
    );
  return since;
}
