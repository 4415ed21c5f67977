/** `trueup init [directory]`: writes a first stack, shows what it sees in its target, and offers to export it. */
import { type Command, Option } from 'commander';
import {
  addExamples,
  type CommandEnd,
  type CommonOptions,
  formatOption,
  timeoutOption,
  traceOption,
} from '../../run/command-options.ts';
import type { CliHost } from '../../run/host.ts';
import { init, type InitOptions } from './init.ts';
import { ciNames } from './pipelines.ts';

export function defineCommand(command: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  const several = (value: string, before: readonly string[]) => [...before, value];
  command
    .argument('[directory]', 'where the stack goes; it is created if needed (default: here)')
    .option('--embedded', 'a stack of the embedded service: no account and no token is needed')
    .addOption(
      new Option('--service <service>', 'what the stack manages').choices(['workspaces', 'cluster-auth']),
    )
    .option('--url <address>', 'address of the service')
    .option('--dialect <name>', 'which product the service is')
    .option('--organization <name>', 'with workspaces: the organization')
    .option('--mount <name>', 'with cluster-auth: the mount, below "auth/"')
    .option('--namespace <path>', 'with cluster-auth: the namespace')
    .option('--owns <pattern>', 'with cluster-auth: role names of the stack; may be repeated', several, [])
    .option('--token-env <name>', 'the variable that holds the token; never give the token itself')
    .option('--token-file <path>', 'the file that holds the token')
    .option('--ca-cert <path>', 'the CA of the service, as a PEM file')
    .option('--name <name>', 'name of the stack (default: that of the directory)')
    .option('--target <name>', 'name of the target (default: that of the organization or mount)')
    .addOption(
      new Option('--ci <platform>', 'for which CI to write the files that plan and apply').choices([
        ...ciNames,
      ]),
    )
    .addOption(new Option('--ledger <store>', 'where the ledger is kept').choices(['local', 'git']))
    .option('--export', 'export what no stack manages yet, without asking')
    .option('--no-connect', 'write the files only: send nothing, and use no token')
    .option('--dry-run', 'print the files, and neither write nor connect')
    .option('-y, --yes', 'do not ask: use the token that is found, and every default')
    .addOption(formatOption())
    .addOption(timeoutOption())
    .addOption(traceOption())
    .action(async (directory: string | undefined, options: InitOptions & CommonOptions) => {
      end(await init(directory, options, { host, terminal: terminalOf(options) }));
    });
  addExamples(
    command,
    ['trueup init', 'ask, write a first stack, and show what it sees'],
    ['trueup init --embedded', 'a stack to try, which needs no account'],
    [
      'trueup init --organization acme --ci github --yes',
      'without questions, with the token of the environment',
    ],
  );
}
