/** What `trueup __complete` offers: all of the program, and the names of the stack, without errors and requests. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { wholeProgram } from '../../../src/command-line.ts';
import { thisMachine } from '../../../src/run/host.ts';
import { kinds } from '../../../src/kinds/index.ts';
import { guardIds } from '../../../src/model/guard.ts';
import { embeddedStack } from '../../support/cli/embedded-stack.ts';
import { trueup } from '../../support/captured-host.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

/** The offered values, and which files the shell completes by itself. */
async function answer(words: readonly string[], cwd: string): Promise<{ values: string[]; files: string }> {
  const { code, out, err } = await trueup(['__complete', ...words], { cwd });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const lines = out.trimEnd().split('\n');
  return { values: lines.slice(0, -1).map((line) => line.split('\t')[0] ?? ''), files: lines.at(-1) ?? '' };
}

const silent = { write: () => {}, isTTY: false, columns: 80 };
const program = await wholeProgram({
  ...{ cwd: '/', env: {}, machine: thisMachine, now: () => 0, newId: () => '', kinds, version: '0' },
  ...{ stdout: silent, stderr: silent, interactive: false, onStop: () => () => {} },
  ...{ readStdin: async () => new Uint8Array(), confirm: async () => false, ask: async () => undefined },
});

interface Described {
  readonly path: readonly string[];
  readonly command: Command;
}

function commandsBelow(command: Command, path: readonly string[]): Described[] {
  return command.commands
    .filter((one) => command.createHelp().visibleCommands(command).includes(one))
    .flatMap((one) => [
      { path: [...path, one.name()], command: one },
      ...commandsBelow(one, [...path, one.name()]),
    ]);
}

const all = commandsBelow(program, []);

/** Values that take any text, so that there is nothing to offer. */
const freeTexts = [
  ...['age', 'commit'],
  ...['digest', 'duration', 'time', 'pattern', 'key=value', 'id', 'url', 'owner/name', 'number', 'sha'],
  ...['variable', 'who', 'what', 'action', 'name', 'host:port'],
];

/** Flags that take any text, although flags with the same name of a value offer something. */
const freeFlags = [
  'accept --field',
  'export --project',
  'role check --from',
  'fleet run --shard',
  'fleet serve --shard',
  'fleet work --shard',
  'init --url',
  'init --namespace',
];

describe('the program', () => {
  it('offers every command', async () => {
    const cwd = temporaryFolder();
    expect(all.length).toBeGreaterThan(20);
    for (const { path } of all) {
      const { values } = await answer([...path.slice(0, -1), ''], cwd);
      expect(values, path.join(' ')).toContain(path.at(-1));
    }
  });

  it('offers every flag of every command, and every choice of a flag', async () => {
    const cwd = temporaryFolder();
    for (const { path, command } of [{ path: [], command: program }, ...all]) {
      const options = command.createHelp().visibleOptions(command);
      const { values } = await answer([...path, '-'], cwd);
      expect(values, path.join(' ')).toEqual(options.map(({ long, short }) => long ?? short));
      for (const { long, argChoices } of options.filter((option) => option.argChoices !== undefined)) {
        expect((await answer([...path, long ?? '', ''], cwd)).values).toEqual(argChoices);
        const behind = argChoices?.map((choice) => `${long}=${choice}`);
        expect((await answer([...path, `${long}=`], cwd)).values).toEqual(behind);
      }
    }
  });

  const valued = all.flatMap(({ path, command }) =>
    command
      .createHelp()
      .visibleOptions(command)
      .map(({ flags, long }) => ({ path, flags, long: long ?? '', name: /<([^>.]+)/.exec(flags)?.[1] ?? '' }))
      .filter(({ name }) => name !== '' && !freeTexts.includes(name)),
  );

  it('offers something for every value that does not take any text', async () => {
    const cwd = embeddedStack();
    for (const { path, flags, long } of valued) {
      const flag = `${path.join(' ')} ${long}`;
      const { values, files } = await answer([...path, long, ''], cwd);
      const advice = `${flag} (${flags}): add it to src/commands/complete-words.ts, or to the free texts here`;
      expect(values.length > 0 || files !== ':none', advice).toBe(!freeFlags.includes(flag));
    }
    for (const { path } of all.filter(({ command }) => command.registeredArguments.length > 0)) {
      const { values, files } = await answer([...path, ''], cwd);
      expect(values.length > 0 || files !== ':none', path.join(' ')).toBe(true);
    }
  });

  it('offers no flags after "--", no flag twice, and commands after "help"', async () => {
    const cwd = temporaryFolder();
    expect(await answer(['plan', '--', '-'], cwd)).toEqual({ values: [], files: ':files' });
    expect((await answer(['plan', '--exit-code', '--exit'], cwd)).values).toEqual([]);
    expect((await answer(['help', 'pl'], cwd)).values).toEqual(['plan']);
    expect((await answer(['help', 'audit', 'arch'], cwd)).values).toEqual(['archive']);
  });
});

describe('the names of a stack', () => {
  it('are addresses, targets and roles, also of a stack at another path', async () => {
    const cwd = embeddedStack();
    const elsewhere = temporaryFolder();
    const addresses = ['Workspace/acme/app', 'TagBindings/acme/app', 'ClusterAuthRole/prod/web'];
    expect((await answer(['accept', ''], cwd)).values.sort()).toEqual(addresses.sort());
    expect((await answer(['explain', 'Workspace/'], cwd)).values).toEqual(['Workspace/acme/app']);
    expect((await answer(['history', '--resource', 'Cl'], cwd)).values).toEqual(['ClusterAuthRole/prod/web']);
    expect((await answer(['export', '--target', ''], cwd)).values).toEqual(['acme', 'prod']);
    expect((await answer(['role', 'check', ''], cwd)).values).toEqual(['web']);
    expect((await answer(['recover', cwd, '--moved', 'a'], elsewhere)).values).toEqual(['acme']);
    expect((await answer(['recover', '--moved', 'a'], elsewhere)).values).toEqual([]);
  });

  it('are offered in selectors: addresses, prefixes of selectors, and the same after "!"', async () => {
    const cwd = embeddedStack();
    const addresses = ['Workspace/acme/app', 'TagBindings/acme/app', 'ClusterAuthRole/prod/web'];
    const all = [...addresses, 'tag:', 'project:', 'file:', 'changed-since:'];
    for (const command of ['plan', 'apply', 'drift', 'export'])
      expect((await answer([command, '--select', ''], cwd)).values.sort()).toEqual(all.sort());
    expect((await answer(['plan', '--select', '!Wo'], cwd)).values).toEqual(['!Workspace/acme/app']);
    expect((await answer(['plan', '--select=t'], cwd)).values).toEqual(['--select=tag:']);
  });

  it('are kinds, guards, codes, fields and schemas', async () => {
    const cwd = temporaryFolder();
    expect((await answer(['export', '--kind', ''], cwd)).values).toEqual([...kinds.keys()]);
    expect((await answer(['apply', '--ack', ''], cwd)).values).toEqual(guardIds);
    expect((await answer(['apply', '--ack', 'zero,ta'], cwd)).values).toEqual(['zero,takeover']);
    expect((await answer(['apply', '--ack', 'zero,ze'], cwd)).values).toEqual([]);
    expect((await answer(['explain', 'unknown-f'], cwd)).values).toEqual(['unknown-field']);
    expect((await answer(['explain', 'Workspace.autoApp'], cwd)).values).toContain('Workspace.autoApply');
    expect((await answer(['schema', 'Sta'], cwd)).values).toEqual(['Stack']);
  });

  it('are left out if a shell could run them', async () => {
    const cwd = embeddedStack();
    const target = 'metadata: { name: prod }\nspec: {}\n';
    writeFileSync(
      join(cwd, 'manifests/odd.yaml'),
      ['$(reboot)', '`reboot`', 'a;b', "a'b", 'a b', 'a\u001b[2J']
        .map(
          (name) =>
            `apiVersion: trueup.dev/v1\nkind: ClusterAuthRole\n${target.replace('prod', JSON.stringify(name))}`,
        )
        .join('---\n'),
    );
    const { values } = await answer(['accept', 'ClusterAuthRole/'], cwd);
    expect(values).toEqual(['ClusterAuthRole/prod/web']);
  });

  it('are those that can be read if a manifest or the stack is broken, without an error', async () => {
    const cwd = embeddedStack();
    writeFileSync(join(cwd, 'manifests/broken.yaml'), 'a: [');
    expect((await answer(['accept', 'Work'], cwd)).values).toEqual(['Workspace/acme/app']);
    writeFileSync(join(cwd, 'trueup.yaml'), 'a: [');
    expect((await answer(['accept', 'Work'], cwd)).values).toEqual([]);
    expect((await answer(['no-such-command', '--odd', ''], cwd)).files).toBe(':none');
    expect((await answer([], cwd)).values).toContain('plan');
  });
});
