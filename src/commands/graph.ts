/** `trueup graph [path]`: draws the dependencies between the changes of a plan, as Mermaid. Plans a stack first, like `plan`. */
import type { Command } from 'commander';
import {
  addExamples,
  type CommandEnd,
  type CommonOptions,
  completeOption,
  pathHelp,
  timeoutOption,
  traceOption,
} from '../run/command-options.ts';
import type { ExitCode } from '../run/exit-codes.ts';
import type { CliHost } from '../run/host.ts';
import { meansPlanFile } from '../run/plan-file.ts';
import type { CommandContext } from '../run/terminal.ts';
import { plan } from './plan.ts';
import { show } from './show.ts';

export function defineCommand(command: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command
    .argument('[path]', `${pathHelp}; or a plan file`)
    .addOption(completeOption())
    .addOption(timeoutOption())
    .addOption(traceOption())
    .action(async (path: string | undefined, options: CommonOptions) => {
      end(await graph(path, options, { host, terminal: terminalOf({ ...options, format: 'mermaid' }) }));
    });
  addExamples(
    command,
    ['trueup graph > plan.mmd', 'draw the plan of the stack in this directory'],
    ['trueup graph plan.json', 'draw a plan file'],
  );
}

/** @param context with a terminal of the format `mermaid` */
async function graph(
  path: string | undefined,
  options: CommonOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const isFile = path !== undefined && (await meansPlanFile(path, context.host.cwd));
  return isFile ? show(path, {}, context) : plan(path, options, context);
}
