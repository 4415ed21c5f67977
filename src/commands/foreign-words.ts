/** What users type out of habit from other tools: the error says what to type instead, or the words are understood. */
import { Command, type ErrorOptions } from 'commander';

/** The option of trueup that does the same, by the option of another tool. */
const sameOptions: Readonly<Record<string, string>> = {
  'detailed-exitcode': '--exit-code',
  'auto-approve': '--yes',
  json: '--format json',
};

/** Options of other tools that trueup does not have. */
const otherWays: Readonly<Record<string, string>> = {
  target: '"--select" of plan, apply, drift and export takes addresses: a part of the stack',
  'refresh-only': '"trueup drift" shows what was changed outside of trueup',
  upgrade: 'trueup has no providers to upgrade: "trueup init" only writes a first stack',
};

/** Commands of other tools that trueup does not have. */
const otherCommands: Readonly<Record<string, string>> = {
  import: '"trueup export" writes manifests for live resources, and the next apply takes them over',
};

/** A command whose errors about its usage say what to type instead. */
export class HintingCommand extends Command {
  override createCommand(name?: string): Command {
    return new HintingCommand(name);
  }

  override error(message: string, options?: ErrorOptions): never {
    const hint = hintFor(message, this);
    // Replaces the suggestion of commander, which only compares spellings.
    const shown = hint === undefined ? message : `${message.replace(/\n\(Did you mean .*$/s, '')}\n(${hint})`;
    return super.error(shown, options);
  }
}

function hintFor(message: string, { options, registeredArguments }: Command): string | undefined {
  const missing = /^error: missing required argument '([^']+)'/.exec(message)?.[1];
  const choices = registeredArguments.find((argument) => argument.name() === missing)?.argChoices;
  if (choices !== undefined) return `one of ${choices.join(', ')}`;
  const command = /^error: unknown command '([^']+)'/.exec(message)?.[1];
  if (command !== undefined) return otherCommands[command];
  const [, dashes, word = ''] = /^error: unknown option '(--?)([a-z-]+)/.exec(message) ?? [];
  const has = (long: string) => options.some((option) => option.long === long.split(' ')[0]);
  const same = sameOptions[word] ?? (dashes === '-' ? `--${word}` : undefined);
  if (same !== undefined && has(same)) return `Did you mean ${same}?`;
  return otherWays[word];
}

/** `help ledger move` prints the help of the subcommand; commander itself reads only one name after `help`. */
export function helpArguments(args: readonly string[]): string[] {
  const [help, command = '', ...subcommands] = args;
  return help === 'help' && subcommands.length > 0 ? [command, ...subcommands, '--help'] : [...args];
}
