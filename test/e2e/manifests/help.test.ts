// The help of every command: its group, its examples, and its width.
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { trueup } from '../../support/captured-host.ts';

const groups = ['Every day', 'Review', 'Recover', 'Services', 'Reference'];

async function help(words: readonly string[]): Promise<string> {
  const { code, out, err } = await trueup([...words, '--help'], { cwd: tmpdir() });
  expect({ code, err }, words.join(' ')).toEqual({ code: 0, err: '' });
  return out;
}

/** The names of commands by the heading that they stand under. */
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

  it('has the commands below a command, too', () => {
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
