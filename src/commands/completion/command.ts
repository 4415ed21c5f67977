/** `trueup completion <shell>`: prints a script that makes a shell complete commands, flags and the names of a stack. */
import { type Command, Argument } from 'commander';
import { addExamples, type CommandEnd, type CommonOptions } from '../../run/command-options.ts';
import { exitCodes } from '../../run/exit-codes.ts';
import type { CliHost } from '../../run/host.ts';
import { scripts, shells } from './scripts.ts';

export function defineCommand(command: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command
    .addArgument(new Argument('<shell>', 'which shell').choices(shells))
    .action((shell: keyof typeof scripts, options: CommonOptions) => {
      terminalOf(options);
      host.stdout.write(scripts[shell]);
      end(exitCodes.done);
    });
  addExamples(
    command,
    ['source <(trueup completion bash)', 'for bash; put the line into ~/.bashrc'],
    ['source <(trueup completion zsh)', 'for zsh; put the line into ~/.zshrc'],
    ['trueup completion fish | source', 'for fish; put the line into ~/.config/fish/config.fish'],
  );
}
