/** The arguments and flags of `trueup role check`. */
import { isIP } from 'node:net';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { CliHost } from '../cli-host.ts';
import {
  type CommonOptions,
  command,
  type CommandEnd,
  formatOption,
  stackHelp,
  timeoutOption,
} from '../command-options.ts';
import { checkRole, type CheckRoleOptions } from '../commands/check-role.ts';

export function defineCommand(role: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command(
    role,
    'check',
    'Tells whether a login with a JWT would succeed, check by check; exits with 2 when it would not',
  )
    .argument('<name>', 'the role')
    .argument('[path]', stackHelp)
    .requiredOption('--jwt <file>', 'the JWT of the service account; - reads it from standard input')
    .addOption(
      new Option('--against <what>', 'the role and config of the service, or those of the manifests, offline')
        .choices(['live', 'declared'])
        .default('live'),
    )
    .option('--target <name>', 'the target, where several may have the role')
    .option('--from <address>', 'the IP address that the login comes from', parseAddress)
    .option('--try', 'also log in, and revoke the token at once')
    .addOption(formatOption())
    .addOption(timeoutOption())
    .addHelpText('after', `\n${examples}`)
    .action(async (name: string, path: string | undefined, options: CommonOptions & CheckRoleOptions) => {
      end(await checkRole(name, path, { options, context: { host, terminal: terminalOf(options) } }));
    });
}

const examples = `Examples:
  trueup role check web --jwt ci.jwt
                                  against the role and config of the service
  trueup role check web --jwt ci.jwt --against declared --from 10.1.2.3
                                  offline, against the manifests, as from that address
  kubectl create token ci | trueup role check web --jwt - --try
                                  and log in as well`;

function parseAddress(text: string): string {
  if (isIP(text) === 0) throw new InvalidArgumentError('an IP address such as 10.1.2.3');
  return text;
}
