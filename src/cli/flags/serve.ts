/** The arguments and flags of `trueup serve`; the command itself is loaded when it is called. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { CliHost } from '../cli-host.ts';
import { type CommonOptions, command, type CommandEnd } from '../command-options.ts';
import type { ServeOptions } from '../commands/serve.ts';

export function addServe(program: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command(program, 'serve', 'Runs the embedded service on loopback until it is told to stop')
    .option('--port <number>', 'port to listen on (default: any free one)', parsePort)
    .option('--data <file>', 'database file, or :memory: (default: .trueup/embedded.db)')
    .option('--seed <file>', 'YAML with the organizations, tokens, mounts and so on to start with')
    .option(
      '--relaxed-writes',
      'answers before a write is on the disk: faster, and a power cut may lose the newest',
    )
    .addOption(new Option('--dialect <name>', 'what it speaks').choices(['neutral']).default('neutral'))
    .action(async (options: CommonOptions & ServeOptions) => {
      const { serve } = await import('../commands/serve.ts');
      end(await serve(options, host, terminalOf(options)));
    });
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new InvalidArgumentError('a port is a number from 0 to 65535');
  return port;
}
