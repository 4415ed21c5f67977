/** The arguments and flags of `trueup serve`. */
import { type Command, InvalidArgumentError } from 'commander';
import { dialectNames } from '../../http/dialects.ts';
import type { CliHost } from '../cli-host.ts';
import type { CommonOptions, CommandEnd } from '../command-options.ts';
import { serve, type ServeOptions } from '../commands/serve.ts';

export function defineCommand(command: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command
    .option('--port <number>', 'port to listen on (default: any free one)', parsePort)
    .option('--data <file>', 'database file, or :memory: (default: .trueup/embedded.db)')
    .option('--seed <file>', 'YAML with the organizations, tokens, mounts and so on to start with')
    .option(
      '--relaxed-writes',
      'answers before a write is on the disk: faster, and a power cut may lose the newest',
    )
    .option('--in-pod <folder>', 'takes itself to be in a pod whose "ca.crt" and "token" lie there')
    .option(
      '--dialect <name...>',
      `what it speaks, at most one for each of the two APIs: ${dialectWords()} (default: neutral)`,
    )
    .option(
      '--edition <name>',
      'which edition of the workspaces API: all, hosted or self-hosted (default: the first that the dialect has)',
    )
    .option(
      '--rate-limit <number>',
      'requests a second that each user may send to the workspaces API (default: any number)',
      parseRate,
    )
    .option('--tls-cert <file>', 'speaks TLS with this certificate, in PEM; needs --tls-key')
    .option('--tls-key <file>', "the certificate's key, in PEM")
    .option('--admin', 'serves /admin/ too: faults, and a clock that can be moved, for tests')
    .option(
      '--admin-token-file <file>',
      'where --admin writes the token of /admin/ (default: beside the data file)',
    )
    .addHelpText('after', `\n${examples}`)
    .action(async (options: CommonOptions & ServeOptions) => {
      end(await serve(options, host, terminalOf(options)));
    });
}

/** The names of real services, by API. */
function dialectWords(): string {
  return (['workspaces', 'cluster-auth'] as const)
    .map(
      (service) =>
        `${dialectNames(service)
          .filter((name) => name !== 'neutral')
          .join(' or ')} for ${service}`,
    )
    .join(', ');
}

const examples = `Examples:
  trueup serve                    both APIs on a free port, with data in .trueup/embedded.db
  trueup serve --data :memory: --seed seed.yaml --port 8200
                                  for tests: everything is gone when it stops`;

function parseRate(text: string): number {
  const rate = Number(text);
  if (!Number.isInteger(rate) || rate < 1 || rate > 1_000_000)
    throw new InvalidArgumentError('a rate is a number from 1 to 1000000');
  return rate;
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new InvalidArgumentError('a port is a number from 0 to 65535');
  return port;
}
