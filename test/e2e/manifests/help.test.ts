// The help of every command: its group, its examples, and its width.
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { trueup } from '../../support/captured-host.ts';
import { mainFile, trueupProcess } from '../../support/cli/process.ts';

const nowhere = { cwd: tmpdir() };

const groups = ['Every day', 'Review', 'Recover', 'Services', 'Reference'];

async function help(words: readonly string[]): Promise<string> {
  const { code, out, err } = await trueup([...words, '--help'], { cwd: tmpdir() });
  expect({ code, err }, words.join(' ')).toEqual({ code: 0, err: '' });
  return out;
}

/** The names of commands by their heading. */
function commandsIn(text: string): ReadonlyMap<string, readonly string[]> {
  const sections = text.split('\n\n').map((section) => section.split('\n'));
  return new Map(
    sections
      .filter(([heading = '']) => [...groups, 'Commands'].includes(heading.replace(/:$/, '')))
      .map(([heading = '', ...lines]) => [
        heading.replace(/:$/, ''),
        lines.flatMap((line) => /^ {2}(?<name>[a-z-]+)/.exec(line)?.groups?.['name'] ?? []),
      ]),
  );
}

/** Every command that the help lists, and the commands below it: `['history', 'show']`. */
async function allCommands(): Promise<readonly (readonly string[])[]> {
  const top = [...commandsIn(await help([])).values()].flat().filter((name) => name !== 'help');
  const below = await Promise.all(
    top.map(async (name) =>
      (commandsIn(await help([name])).get('Commands') ?? []).map((other) => [name, other]),
    ),
  );
  return [...top.map((name) => [name]), ...below.flat().filter(([, name]) => name !== 'help')];
}

function examplesIn(text: string): readonly string[] {
  const [, examples = ''] = text.split('\nExamples:\n');
  return examples.split('\n').flatMap((line) => /^ {2}(?<line>\S.*?)(?: {2,}.*)?$/.exec(line)?.[1] ?? []);
}

const commands = await allCommands();

describe('the list of commands', () => {
  it('has each command in one of its groups, and the groups in their order', async () => {
    const listed = commandsIn(await help([]));
    expect([...listed.keys()]).toEqual(groups);
    for (const names of listed.values()) expect(names.length).toBeGreaterThan(0);
    const names = [...listed.values()].flat();
    expect(names.length).toBe(new Set(names).size);
    expect(names).toEqual(expect.arrayContaining(['validate', 'plan', 'apply', 'recover', 'serve', 'help']));
  });

  it('has subcommands, too', () => {
    expect(commands).toEqual(
      expect.arrayContaining([
        ['history', 'show'],
        ['role', 'check'],
        ['audit', 'list'],
      ]),
    );
  });
});

describe('the help of a command', () => {
  it.each(commands.map((words) => words.join(' ')))('%s ends with examples of it', async (name) => {
    const text = await help(name.split(' '));
    const examples = examplesIn(text);
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) expect(example).toMatch(new RegExp(`\\btrueup ${name}\\b`));
    expect(text.slice(text.lastIndexOf('\n\n') + 2)).toMatch(/^Examples:\n/);
  });

  it.each(commands.map((words) => words.join(' ')))(
    '%s uses only flags that exist in its examples',
    async (name) => {
      for (const example of examplesIn(await help(name.split(' ')))) {
        const [, ...words] = /trueup (.*)/.exec(example)?.[1]?.split(' ') ?? [];
        const below = commands.find(
          (known) => known.length === 2 && `${known[0]} ${known[1]}` === `${name} ${words[0]}`,
        );
        const text = await help(below ?? name.split(' '));
        for (const flag of words.filter((word) => word.startsWith('--')))
          expect(text, example).toMatch(new RegExp(`^ +(?:-\\w, )?${flag}\\b`, 'm'));
      }
    },
  );

  it('fits into 80 columns, as does the list of commands', async () => {
    for (const words of [[], ...commands])
      expect((await help(words)).split('\n').filter((line) => line.length > 80)).toEqual([]);
  });
});

/** The commit that the program under test was built from. */
function commitBuilt(): string {
  const { status, stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: import.meta.dirname });
  return mainFile.endsWith('.ts') || status !== 0 ? 'unknown' : String(stdout).trim();
}

describe('help and version', () => {
  it('says what each command does, what exit codes mean, and how to begin', async () => {
    const { code, out, err } = await trueupProcess(['--help'], nowhere);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    for (const command of ['validate', 'plan', 'apply', 'show', 'diff', 'schema', 'serve']) {
      expect(out).toMatch(new RegExp(`^  ${command} `, 'm'));
    }
    expect(out).toContain('Exit codes:');
    expect(out).toContain('trueup help plan');
  });

  it.each(['validate', 'plan', 'apply', 'show', 'diff', 'schema', 'serve'])(
    'of %s names every option',
    async (name) => {
      const { code, out } = await trueup([name, '--help'], nowhere);
      expect(code).toBe(0);
      expect(out).toContain(`Usage: trueup ${name} [options]`);
      expect(out).toContain('--color');
      expect(await trueup(['help', name], nowhere)).toMatchObject({ code: 0, out });
    },
  );

  it.each([
    ['ledger', 'move'],
    ['history', 'show'],
    ['policy', 'test'],
  ])('of %s %s is also under help', async (name, subcommand) => {
    const { code, out } = await trueup(['help', name, subcommand], nowhere);
    expect(code).toBe(0);
    expect(out).toContain(`Usage: trueup ${name} ${subcommand} [options]`);
  });

  it('names the dialects that can be served, and shows how to begin', async () => {
    const serve = (await trueup(['serve', '--help'], nowhere)).out.replace(/\s+/g, ' ');
    for (const name of ['hcp-terraform', 'vault', 'openbao']) expect(serve).toContain(name);
    expect(serve).toContain('Examples: trueup serve');
    const check = (await trueup(['role', 'check', '--help'], nowhere)).out;
    expect(check).toContain('trueup role check web --jwt ci.jwt');
  });

  it('is printed by "trueup" without a command, on stderr and as an error', async () => {
    const { code, out, err } = await trueup([], nowhere);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain('Usage: trueup [options] [command]');
  });

  it('reports the version', async () => {
    expect(await trueup(['--version'], nowhere)).toEqual({ code: 0, out: '0.0.0-test\n', err: '' });
  });

  it.each([[['--version', '--verbose']], [['--verbose', '-V']]])(
    '%j reports the version, the commit, Node and the platform',
    async (args) => {
      const { code, out, err } = await trueupProcess(args, nowhere);
      expect({ code, err }).toEqual({ code: 0, err: '' });
      expect(out.split('\n')).toEqual([
        expect.stringMatching(/^trueup \d+\.\d+\.\d+$/),
        expect.stringMatching(new RegExp(`^commit {4}${commitBuilt()}( with uncommitted changes)?$`)),
        `node      ${process.version}`,
        `platform  ${process.platform} ${process.arch}`,
        '',
      ]);
    },
  );

  it('accepts --verbose only with --version', async () => {
    expect(await trueup(['--verbose'], nowhere)).toMatchObject({ code: 1, out: '' });
    expect((await trueup(['plan', '--verbose'], nowhere)).err).toContain("unknown option '--verbose'");
  });
});
