/** The arguments and flags of `trueup show` and `trueup diff`; the commands themselves are loaded when they are called. */
import type { Command } from 'commander';
import type { CliHost } from '../cli-host.ts';
import { type CommonOptions, command, type CommandEnd, formatOption } from '../command-options.ts';

export function addPlanFiles(program: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command(program, 'show', 'Prints a plan that "plan --out" kept')
    .argument('<plan>', 'a plan file')
    .addOption(formatOption('markdown', 'html'))
    .option('--calls', 'show the exact requests in the plan')
    .action(async (file: string, options: CommonOptions & { calls?: boolean }) => {
      const { show } = await import('../commands/show.ts');
      end(await show(file, options, { host, terminal: terminalOf(options) }));
    });
  command(program, 'diff', 'Tells how two plans differ in what they would do; exits with 2 when they do')
    .argument('<plan>', 'a plan file')
    .argument('<other>', 'another one')
    .addOption(formatOption())
    .action(async (one: string, other: string, options: CommonOptions) => {
      const { diff } = await import('../commands/diff.ts');
      end(await diff({ one, other }, { host, terminal: terminalOf(options) }));
    });
}
