/** docs/reference/commands.md: the help of every command, from commander's own definitions. */
import type { Command } from 'commander';
import { wholeProgram } from '../../src/command-line.ts';
import { kinds } from '../../src/kinds/index.ts';
import type { ProcessHost } from '../../src/run/host.ts';
import { anchor, blocks, header, table } from './page.ts';

export async function commandsPage(): Promise<string> {
  const written: string[] = [];
  const program = await wholeProgram(helpHost((text) => written.push(text)));
  const helpOf = (command: Command) => {
    written.length = 0;
    command.outputHelp();
    return `\`\`\`text\n${written.join('').trimEnd()}\n\`\`\``;
  };
  const listed = program.createHelp().visibleCommands(program).filter(isOwn);
  return blocks(
    header('the definitions of the commands in src/commands'),
    '# Commands',
    'The help of every command, as `trueup COMMAND --help` prints it. [Exit codes](exit-codes.md) and [environment variables](environment.md) have pages of their own.',
    groupsOf(listed).flatMap(([title, commands]) => [
      ...(title === '' ? [] : [`**${title.replace(/:$/, '')}**`]),
      table(
        ['command', 'what it does'],
        commands.map((command) => [
          `[\`${pathOf(command)}\`](#${anchor(pathOf(command))})`,
          command.description(),
        ]),
      ),
    ]),
    '## trueup',
    helpOf(program),
    listed.flatMap((command) => sections(command, helpOf)),
  );
}

function sections(command: Command, helpOf: (command: Command) => string): string[] {
  const below = command.createHelp().visibleCommands(command).filter(isOwn);
  const isSubcommand = command.parent?.parent !== null && command.parent?.parent !== undefined;
  return [
    `${isSubcommand ? '###' : '##'} ${pathOf(command)}`,
    helpOf(command),
    ...below.flatMap((one) => sections(one, helpOf)),
  ];
}

/** Commander adds a `help` to each command that has others. */
function isOwn(command: Command): boolean {
  return command.name() !== 'help';
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

/** In the order of the help. */
function groupsOf(commands: readonly Command[]): (readonly [string, readonly Command[]])[] {
  return [...Map.groupBy(commands, (command) => command.helpGroup())];
}

/** A host that only receives printed text: no command is run. */
export function helpHost(write: (text: string) => void): ProcessHost {
  const output = { write, isTTY: false, columns: 80 };
  const never = () => Promise.reject(new Error('no command is run'));
  return {
    cwd: '/',
    env: {},
    machine: () => {
      throw new Error('no command is run');
    },
    now: () => 0,
    newId: () => '',
    kinds,
    version: '',
    stdout: output,
    stderr: output,
    interactive: false,
    readStdin: never,
    confirm: never,
    ask: never,
    onStop: () => () => {},
  };
}
