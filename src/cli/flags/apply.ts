/** The arguments and flags of `trueup apply`. */
import { type Command, InvalidArgumentError } from 'commander';
import type { CliHost } from '../cli-host.ts';
import {
  type CommonOptions,
  completeOption,
  type CommandEnd,
  formatOption,
  parseTimeout,
  pathHelp,
  timeoutOption,
} from '../command-options.ts';
import { apply, type ApplyOptions } from '../commands/apply.ts';

export function defineCommand(command: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command
    .argument('[path]', `${pathHelp}; or a plan file, which is applied if it still holds`)
    .argument(
      '[stack]',
      'the stack of the plan file, where it is not the one that is here; - for the selection that it was made for',
    )
    .addOption(formatOption('jsonl'))
    .addOption(completeOption())
    .option('--calls', 'show the exact requests in the plan')
    .option('--show-plan', 'show the plan also where it is not the one that was approved')
    .addOption(timeoutOption())
    .option('-y, --yes', 'do not ask; needed where nobody can answer, unless a plan was approved')
    .option('--approve <digest>', 'apply if the plan has this digest; do not ask', parseDigest)
    .option(
      '--ack <guards>',
      'with --approve or a plan file: guards of that plan that may pass, such as deletes,rename; may be repeated',
      (ids: string, before: string | undefined) => (before === undefined ? ids : `${before},${ids}`),
    )
    .option('--again', 'with --approve: the digest is approved again, after an apply of it has ended well')
    .option(
      '--lock-timeout <duration>',
      'how long to wait for the lock of the stack, such as 5m',
      parseTimeout,
    )
    .action(
      async (path: string | undefined, stack: string | undefined, options: CommonOptions & ApplyOptions) => {
        const paths = [path, stack].filter((given) => given !== undefined);
        end(await apply(paths, options, { host, terminal: terminalOf(options) }));
      },
    );
}

function parseDigest(text: string): string {
  if (!/^[0-9a-f]{32}$/i.test(text))
    throw new InvalidArgumentError('a digest is the 32 hexadecimal characters at the end of a plan');
  return text.toLowerCase();
}
