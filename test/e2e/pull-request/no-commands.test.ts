/** In GitHub Actions a line of output can be a workflow command. No text from outside turns a line of trueup into one. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { trueup } from '../../support/captured-host.ts';
import { openBench, secrets } from '../../support/cli/bench.ts';
import { role, workspace } from '../../support/cli/documents.ts';
import { trueupProcess } from '../../support/cli/process.ts';

const attack = '::error::x\n::add-mask::y\r\n  ::stop-commands::z\n##[error]w\n::set-output name=a::b';
/** the same for values that have only one line */
const word = '::error::x ##[error]y';

/** Finds workflow commands in the output of a step, as the runner of GitHub Actions does. */
function commandsIn(text: string): string[] {
  return text.split(/\r\n|\n|\r/).filter((line) => line.trimStart().startsWith('::') || line.includes('##['));
}

const env = {
  ...secrets,
  GITHUB_ACTIONS: 'true',
  GITHUB_WORKFLOW: word,
  GITHUB_ACTOR: word,
  TRUEUP_ACTOR: word,
};

/** A stack whose live values, files, keys and authors look like commands. */
async function openScene() {
  const bench = await openBench();
  const stack = await bench.checkout();
  const run = (args: readonly string[], stdin = '') => trueup(args, { cwd: stack.directory, env, stdin });
  await stack.declare(workspace('app', { description: attack, tags: { env: 'prod' } }), role('web', {}));
  return { bench, stack, run };
}

it('A successful trueup command prints no line that is a workflow command', async () => {
  const { bench, run } = await openScene();
  const runs = [
    ...['text', 'json', 'markdown'].map((format) => ['plan', '--format', format, '--calls']),
    ['plan', '--out', 'plan.json'],
    ['show', 'plan.json', '--calls'],
    ['graph', 'plan.json'],
    ['comment', '--plan', 'plan.json', '--dry-run'],
    ['apply', '--yes', '--format', 'jsonl'],
    ['history'],
    ['history', '--format', 'json'],
  ];
  for (const args of runs) {
    const { code, out, err } = await run(args);
    expect([args, code, err]).toEqual([args, 0, expect.any(String)]);
    expect(commandsIn(`${out}\n${err}`), args.join(' ')).toEqual([]);
  }
  await bench.byHand.patch(`/workspaces/${await bench.idOf('app')}`, {
    data: { type: 'workspaces', attributes: { description: `${attack}!`, 'source-name': word } },
  });
  await bench.byHand.post('/organizations/acme/workspaces', {
    data: { type: 'workspaces', attributes: { name: 'stray', description: attack } },
  });
  const [last] = JSON.parse((await run(['history', '--format', 'json'])).out).entries;
  const after = [
    ...['text', 'json', 'markdown'].map((format) => ['drift', '--unmanaged', '--format', format]),
    ['history', 'show', last.id],
    ['history', 'show', last.id, '--revert'],
    ['accept', 'Workspace/acme/app', '--dry-run'],
    ['export'],
    ['recover', '--yes'],
    ['plan'],
  ];
  for (const args of after) {
    const { out, err } = await run(args);
    expect(commandsIn(`${out}\n${err}`), args.join(' ')).toEqual([]);
    expect(`${out}${err}`.length, args.join(' ')).toBeGreaterThan(40);
  }
  expect((await run(['drift'])).out).toContain('set-output');
});

it('A failing trueup command prints no line that is a workflow command', async () => {
  const { stack, run } = await openScene();
  const folder = join(stack.directory, 'manifests');
  await mkdir(folder, { recursive: true });
  await writeFile(
    join(folder, '::error::file.yaml'),
    JSON.stringify({ ...workspace('bad'), spec: { [word]: attack, executionMode: attack } }),
  );
  await writeFile(join(folder, '##[error]syntax.yaml'), '::error::x\n::error::y: [\n##[error]z: : :\n');
  await writeFile(join(stack.directory, '::x.json'), `{"version":"${word}","digest":"","changes":[]}`);
  const runs = [
    ...['text', 'json', 'markdown', 'sarif'].map((format) => ['validate', '--format', format]),
    ...['text', 'json', 'markdown'].map((format) => ['plan', '--format', format]),
    ['apply', '--yes', '--format', 'jsonl'],
    ['show', '::x.json'],
    ['show', word],
    [word],
    ['plan', `--${word}`],
    ['plan', word],
    ['plan', '--format', word],
    ['schema', word],
    ['history', 'show', word],
    ['audit', 'list', '--actor', word],
    ['role', 'check', word, '--jwt', word],
    ['comment', '--plan', word],
    ['comment', '--plan', '::x.json', '--url', word],
    ['unlock', '--id', word],
  ];
  for (const args of runs) {
    const { code, out, err } = await run(args);
    expect([args, code]).not.toEqual([args, 0]);
    expect(commandsIn(`${out}\n${err}`), args.join(' ')).toEqual([]);
    expect(`${out}${err}`).not.toBe('');
  }
});

it('A failing "trueup serve" prints no line that is a workflow command', async () => {
  const { stack } = await openScene();
  await writeFile(
    join(stack.directory, 'seed.yaml'),
    `organizations:\n  - name: "${word}"\n    "::error::k": 1\n`,
  );
  for (const args of [
    ['serve', '--data', ':memory:', '--seed', 'seed.yaml'],
    ['serve', '--data', ':memory:', '--dialect', '::error::x'],
    ['serve', '--data', ':memory:', '--seed', '::error::x'],
  ]) {
    const { code, out, err } = await trueupProcess(args, { cwd: stack.directory, env });
    expect([args, code]).not.toEqual([args, 0]);
    expect(commandsIn(`${out}\n${err}`), args.join(' ')).toEqual([]);
  }
});
