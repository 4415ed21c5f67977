/**
 * Completes a command line: the hidden command `__complete`, which the scripts of `trueup completion` call. Reads commands and flags
 * from the running program, so that none is missing.
 */
import type { Argument, Command, Option } from 'commander';
import { dialects } from '../api/dialects.ts';
import { standardInput } from '../manifest/files/find-stack.ts';
import { readManifests } from '../manifest/read-manifests.ts';
import { formatAddress } from '../model/address.ts';
import { guardIds } from '../model/guard.ts';
import { type Candidate, candidatesOf } from '../run/command-options.ts';
import type { CliHost } from '../run/host.ts';
import { selectorPrefixes } from '../run/selection/selectors.ts';

type Host = Pick<CliHost, 'cwd' | 'kinds' | 'machine' | 'stdout'>;

/**
 * Prints a line for each value, with its description after a tab, and a last line `:files`, `:directories` or `:none`. Never fails.
 * @param words after the name of the program; the last one is being typed
 */
export async function printCompletion(
  programOf: () => Promise<Command>,
  words: readonly string[],
  host: Host,
): Promise<void> {
  try {
    host.stdout.write(await complete(await programOf(), words, host));
  } catch {
    host.stdout.write(':none\n');
  }
}

async function complete(program: Command, words: readonly string[], host: Host): Promise<string> {
  const current = words.at(-1) ?? '';
  const state = readWords(program, words.slice(0, -1));
  const { candidates, files } = await findValues(state, current, host);
  const fitting = candidates.filter(({ value }) => value.startsWith(current));
  const lines = fitting.map(({ value, about = '' }) => {
    const [first = ''] = about.split('\n');
    return first === '' ? value : `${value}\t${first}`;
  });
  return [...new Set(lines), `:${files ?? 'none'}`, ''].join('\n');
}

/** The command line up to the word that is being typed. */
interface State {
  readonly command: Command;
  /** arguments of the command before the word that is being typed */
  readonly given: readonly string[];
  /** the option whose value comes next */
  readonly pending?: Option | undefined;
  /** whether `--` was typed, after which no word is a flag */
  readonly isPlain: boolean;
  /** whether `help` was typed, after which only commands follow */
  readonly isHelp: boolean;
  readonly used: readonly Option[];
}

function readWords(program: Command, words: readonly string[]): State {
  const start: State = { command: program, given: [], isPlain: false, isHelp: false, used: [] };
  return words.reduce(readWord, start);
}

function readWord({ pending, ...state }: State, word: string): State {
  const isFlag = !state.isPlain && word.startsWith('-') && word !== '-';
  // The word is the value of the option before it.
  if (pending !== undefined && !(isFlag && pending.optional)) return state;
  if (!state.isPlain && word === '--') return { ...state, isPlain: true };
  if (isFlag) return readFlag(state, word);
  const { command, given } = state;
  if (given.length > 0) return { ...state, given: [...given, word] };
  if (word === 'help' && command.commands.length > 0) return { ...state, isHelp: true };
  const next = command.commands.find((one) => one.name() === word);
  return next === undefined ? { ...state, given: [word] } : { ...state, command: next };
}

function readFlag(state: State, word: string): State {
  const option = optionIn(state.command, word);
  if (option === undefined) return state;
  const pending = takesValue(option) && !word.includes('=') ? option : undefined;
  return { ...state, pending, used: [...state.used, option] };
}

function optionIn(command: Command, word: string): Option | undefined {
  const [name] = word.split('=');
  const options = command.createHelp().visibleOptions(command);
  return options.find(({ long, short }) => long === name || short === name);
}

function takesValue({ required, optional }: Option): boolean {
  return required || optional;
}

async function findValues(state: State, current: string, host: Host): Promise<Values> {
  const { command, pending, isPlain, isHelp } = state;
  if (isHelp) return { candidates: commandsOf(command) };
  if (pending !== undefined) return valuesOfOption(pending, current, { state, host });
  const equals = current.indexOf('=');
  if (!isPlain && current.startsWith('--') && equals !== -1) {
    const lead = current.slice(0, equals + 1);
    const option = optionIn(command, current);
    if (option === undefined || !takesValue(option)) return { candidates: [] };
    const { candidates, files } = await valuesOfOption(option, current.slice(lead.length), { state, host });
    return { candidates: candidates.map((one) => ({ ...one, value: lead + one.value })), files };
  }
  const flags = isPlain ? [] : flagsOf(state);
  if (current.startsWith('-') && !isPlain) return { candidates: flags };
  const names = state.given.length === 0 ? commandsOf(command) : [];
  const argument = argumentAt(command, state.given.length);
  const values =
    argument === undefined ? { candidates: [] } : await valuesOfArgument(argument, current, { state, host });
  const candidates = [...names, ...values.candidates];
  return candidates.length === 0 && values.files === undefined
    ? { candidates: flags }
    : { candidates, files: values.files };
}

function flagsOf({ command, used }: State): Candidate[] {
  return command
    .createHelp()
    .visibleOptions(command)
    .filter((option) => takesValue(option) || !used.includes(option))
    .flatMap(({ long, short, description }) => {
      const value = long ?? short;
      return value === undefined || value === null ? [] : [{ value, about: description }];
    });
}

function commandsOf(command: Command): Candidate[] {
  const commands = command.createHelp().visibleCommands(command);
  return commands.map((one) => ({ value: one.name(), about: one.description() }));
}

/** A variadic argument takes all words that follow. */
function argumentAt({ registeredArguments }: Command, index: number): Argument | undefined {
  const last = registeredArguments.at(-1);
  return registeredArguments[index] ?? (last?.variadic === true ? last : undefined);
}

interface ValuesContext {
  readonly state: State;
  readonly host: Host;
}

function valuesOfOption(option: Option, current: string, { state, host }: ValuesContext): Promise<Values> {
  const value = /<([^>.]+)|\[([^\].]+)/.exec(option.flags)?.slice(1).find(Boolean) ?? '';
  const about = { flag: option.long ?? '', name: value, choices: option.argChoices, current };
  return valuesFor({ ...about, command: pathOf(state.command), given: state.given }, host);
}

function valuesOfArgument(
  argument: Argument,
  current: string,
  { state, host }: ValuesContext,
): Promise<Values> {
  const { command, given } = state;
  const offered = candidatesOf(argument)?.(current);
  if (offered !== undefined) return Promise.resolve({ candidates: offered });
  const about = { name: argument.name(), choices: argument.argChoices, current };
  return valuesFor({ ...about, command: pathOf(command), given }, host);
}

/** `role check` */
function pathOf(command: Command): string {
  const above = command.parent?.parent ? `${pathOf(command.parent)} ` : '';
  return above + command.name();
}

// The values that a flag or an argument takes: fixed ones, and names of the stack, which are read from its manifests offline.

/** What the shell completes by itself, where there is no other value. */
type Files = 'files' | 'directories';

interface Wanted {
  /** `--target`; absent for an argument */
  readonly flag?: string;
  /** of the value or argument in the help, without brackets: `file` */
  readonly name: string;
  readonly choices?: readonly string[] | undefined;
  /** the part of the value that was typed */
  readonly current: string;
  /** `role check` */
  readonly command: string;
  /** the arguments before the value; one of them may be the path of the stack */
  readonly given: readonly string[];
}

interface Values {
  readonly candidates: readonly Candidate[];
  readonly files?: Files | undefined;
}

type NamesHost = Pick<CliHost, 'cwd' | 'kinds' | 'machine'>;

type Source = (wanted: Wanted, host: NamesHost) => Values | Promise<Values>;

const files: Source = () => ({ candidates: [], files: 'files' });
const directories: Source = () => ({ candidates: [], files: 'directories' });
const none: Source = () => ({ candidates: [] });

const names = (values: Iterable<string>): Source => {
  const candidates = [...values].map((value) => ({ value }));
  return () => ({ candidates });
};

/** Sources by the name of the value in the help: a name means the same in every command. */
const byName: Readonly<Record<string, Source>> = {
  path: files,
  stack: files,
  plan: files,
  other: files,
  files,
  file: files,
  archive: files,
  place: names(['git', 'postgres', 'local']),
  directory: directories,
  folder: directories,
  address: async ({ given }, host) => ({
    candidates: (await readStack(given, host)).addresses,
    files: 'files',
  }),
  target: async ({ given }, host) => ({ candidates: (await readStack(given, host)).targets }),
  selector: async ({ current, given }, host) => {
    const mark = current.startsWith('!') ? '!' : '';
    const { addresses } = await readStack(given, host);
    const prefixes = selectorPrefixes.map((value) => ({ value }));
    return { candidates: [...addresses, ...prefixes].map(({ value }) => ({ value: mark + value })) };
  },
  kind: (_, { kinds }) => ({
    candidates: [...kinds.values()].map(({ name, summary }) => ({ value: name, about: summary })),
  }),
  guards: ({ current }) => {
    // Several guards are separated by commas.
    const before = current.slice(0, current.lastIndexOf(',') + 1);
    const taken = before.split(',');
    const left = guardIds.filter((id) => !taken.includes(id));
    return { candidates: left.map((id) => ({ value: before + id })) };
  },
};

/** Sources for values whose name is not enough: by command and flag, by flag, or by command and argument. */
const byContext: Readonly<Record<string, Source>> = {
  '--target': (wanted, host) => byName['target']?.(wanted, host) ?? { candidates: [] },
  '--dialect': names([...dialects.keys()]),
  '--edition': names(['all', 'hosted', 'self-hosted']),
  'role check --from': none,
  'accept --field': none,
  // Values for a new stack, which nothing can suggest.
  'init --target': none,
  'init --url': none,
  'init --namespace': none,
  'role check name': async ({ given }, host) => ({ candidates: (await readStack(given, host)).roles }),
  'history show id': names(['latest']),
  'explain name': async ({ given }, host) => ({ candidates: (await readStack(given, host)).addresses }),
};

async function valuesFor(wanted: Wanted, host: NamesHost): Promise<Values> {
  const { flag, name, choices, command } = wanted;
  if (choices !== undefined) return { candidates: choices.map((value) => ({ value })) };
  const own = byContext[`${command} ${flag ?? name}`];
  const source = own ?? (flag === undefined ? undefined : byContext[flag]) ?? byName[name] ?? none;
  return source(wanted, host);
}

interface StackNames {
  readonly addresses: readonly Candidate[];
  readonly targets: readonly Candidate[];
  readonly roles: readonly Candidate[];
}

/** Reads only files, and never standard input. Invalid manifests have addresses, too. */
async function readStack(given: readonly string[], { cwd, kinds, machine }: NamesHost): Promise<StackNames> {
  const isPath = (word: string) => word !== standardInput && !kinds.has(word.split('/', 1)[0] ?? '');
  for (const path of [given.findLast(isPath), undefined]) {
    const about = { ...(path === undefined ? {} : { path }), cwd, userId: machine().userId };
    const { stack, entries } = await readManifests({ ...about, kinds, dialects });
    if (stack === undefined && path !== undefined) continue;
    const isRole = (kind: string) => {
      const ownership = kinds.get(kind)?.ownership;
      return ownership?.by === 'ledger' && ownership.limitedByOwns;
    };
    const roles = entries.filter(({ address }) => isRole(address.kind));
    return {
      addresses: shellSafe(entries.map(({ address }) => formatAddress(address))),
      targets: shellSafe(stack?.targets.map(({ name }) => name) ?? []),
      roles: shellSafe(roles.map(({ address }) => address.name)),
    };
  }
  return { addresses: [], targets: [], roles: [] };
}

/** Leaves out names with characters that are special to a shell, because it inserts names without quotes. */
function shellSafe(texts: readonly string[]): Candidate[] {
  return texts.filter((text) => /^[\w.,:=@%+/-]+$/.test(text)).map((value) => ({ value }));
}
