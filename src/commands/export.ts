/** `trueup export [path]`: writes manifests, ready to be adopted, for live resources without an owner. Changes no service. */
import { type Command, Option } from 'commander';
import {
  addExamples,
  type CommandEnd,
  selectOption,
  timeoutOption,
  traceOption,
} from '../run/command-options.ts';
import { exportLive, type ExportOptions } from '../run/export/export-live.ts';
import type { CliHost } from '../run/host.ts';

export function defineCommand(command: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  const collect = (value: string, before: readonly string[]) => [...before, value];
  command
    .argument(
      '[path]',
      'a directory with a trueup.yaml, or a stack file (default: trueup.yaml here or in a parent)',
    )
    .option('--out <directory>', 'where the files go; - prints them', '-')
    .addOption(
      new Option('--group <how>', 'how manifests share files')
        .choices(['per-resource', 'per-kind', 'one-file'])
        .default('per-resource'),
    )
    .option('--target <name>', 'this target only; may be repeated', collect, [])
    .option(
      '--kind <kind>',
      'this kind only, a Workspace with its tags and consumers; may be repeated',
      collect,
      [],
    )
    .option('--name <pattern>', 'names that match; "*" matches any characters; may be repeated', collect, [])
    .option(
      '--tag <key=value>',
      'workspaces with this tag, or with the key or flat tag; may be repeated',
      collect,
      [],
    )
    .option('--project <project>', 'workspaces of this project, by its name or id')
    .addOption(
      selectOption(
        'what these select: an address, a pattern such as "Workspace/acme/net-*", tag:KEY=VALUE or project:NAME; !… excludes; may be repeated. The flags above narrow it down',
      ),
    )
    .addOption(timeoutOption())
    .addOption(traceOption())
    .option('--all', 'also what this stack or another one manages already')
    .option('--force', 'write over files that exist')
    .action(async (path: string | undefined, options: ExportOptions) => {
      end(await exportLive(path, options, { host, terminal: terminalOf(options) }));
    });
  addExamples(
    command,
    ['trueup export', 'print manifests for what no stack manages yet'],
    ['trueup export --out manifests', 'write them into files'],
    ['trueup export --kind Workspace --name "web-*"', 'only workspaces whose names begin with web-'],
  );
}
