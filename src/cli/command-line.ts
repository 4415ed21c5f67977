/** What the commands of the command line have in common: how one is made, where its end is told, the help they share. */
import { type Command, Option } from 'commander';
import type { ExitCode } from './exit-codes.ts';
import type { ColorChoice, Format, Screen } from './screen.ts';

export interface CommonOptions {
  readonly format?: Format;
  readonly color?: ColorChoice;
}

export interface Ends {
  end(code: ExitCode): void;
  screenOf(options: CommonOptions): Screen;
}

export const pathHelp =
  "a directory with a trueup.yaml, a stack file, or - for manifests on standard input in place of the stack's own files (default: trueup.yaml here or in a parent)";

/** A command below `program`, with the options that every command takes. */
export function command(program: Command, name: string, description: string): Command {
  return program
    .command(name)
    .description(description)
    .addOption(
      new Option('--color <when>', 'whether to use colours')
        .choices(['auto', 'always', 'never'])
        .default('auto'),
    )
    .addOption(new Option('--no-color', 'the same as --color never').implies({ color: 'never' }).hideHelp());
}

export function formatOption(): Option {
  return new Option('--format <format>', 'how the result is printed')
    .choices(['text', 'json'])
    .default('text');
}
