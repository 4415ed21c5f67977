// What trueup accept does not write: it names the file, the line and what to do, and leaves the manifests as they are.
import {
  chmodSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { stackText, workspacesTarget } from '../../support/rig/stack-folder.ts';
import { role, workspace as workspaceDocument } from '../../support/cli/documents.ts';
import { type Bench, type Checkout, openBench, secrets } from '../../support/cli/bench.ts';
import { trueupProcess } from '../../support/cli/process.ts';

const file = 'manifests/all.yaml';
const workspace = (name: string, rest: string) =>
  `apiVersion: trueup.dev/v1\nkind: Workspace\nmetadata: { name: ${name} }\n${rest}`;

interface Applied {
  readonly bench: Bench;
  readonly stack: Checkout;
  readonly path: string;
  read(): string;
}

async function openApplied(text: string, spec: object = {}): Promise<Applied> {
  const bench = await openBench();
  const stack = await bench.checkout({ clusterAuth: { owns: ['*'] }, spec });
  await stack.write(file, text);
  await stack.run(['apply', '--yes'], 0);
  const path = join(stack.directory, file);
  return { bench, stack, path, read: () => readFileSync(path, 'utf8') };
}

const drift = async ({ bench }: Applied, name = 'app') =>
  bench.byHand.update(await bench.idOf(name), { 'auto-apply': true });

it('accept writes nothing without --yes if nobody can answer, and nothing with --dry-run', async () => {
  const one = await openApplied(workspace('app', 'spec: { autoApply: false } # so\n'));
  await drift(one);
  const before = one.read();
  const unasked = await one.stack.run(['accept', 'Workspace/acme/app'], 1);
  expect(unasked.err).toContain('pass --yes');
  const dry = await one.stack.run(['accept', 'Workspace/acme/app', '--dry-run'], 0);
  expect(dry.out).toContain('+spec: { autoApply: true } # so');
  expect(one.read()).toBe(before);
});

it.each([
  ['an alias', 'spec:\n  queueAllRuns: &on false\n  autoApply: *on\n', '"&on", by an alias', 'all.yaml:6:14'],
  ['a merge key', 'spec:\n  <<: { autoApply: false }\n', 'by a merge key', 'all.yaml:5:3'],
])('accept does not write a value from %s, and names its place', async (_, rest, message, place) => {
  const text = workspace('app', rest);
  const one = await openApplied(text);
  await drift(one);
  const ran = await one.stack.run(['accept', 'Workspace/acme/app', '--field', 'autoApply', '--yes'], 1);
  expect(ran.err).toContain(message);
  expect(ran.err).toContain(place);
  expect(one.read()).toBe(text);
});

it('accept suggests an address for one that is misspelled or has no target', async () => {
  const one = await openApplied(workspace('app', 'spec:\n  autoApply: false\n'));
  const fixOf = async (...words: string[]) => (await one.stack.run(['accept', ...words, '--yes'], 1)).err;
  expect(await fixOf('Workspace/app')).toContain('did you mean "Workspace/acme/app"?');
  expect(await fixOf('Workspace/acme/ap')).toContain('did you mean "Workspace/acme/app"?');
  expect(await fixOf('Workspace/acme/elsewhere')).toContain('write the address as the plan shows it');
});

it('accept says that a bare name is read as a path', async () => {
  const one = await openApplied(workspace('app', 'spec:\n  autoApply: false\n'));
  const { err } = await one.stack.run(['accept', 'app'], 1);
  expect(err).toContain('such as Workspace/acme/app, or pass --all; "app" is read as the path of the stack');
});

it('accept does not write a value that aliases repeat', async () => {
  const text = workspace('app', 'spec:\n  autoApply: &on false\n  queueAllRuns: *on\n');
  const one = await openApplied(text);
  await drift(one);
  const ran = await one.stack.run(['accept', 'Workspace/acme/app', '--yes'], 1);
  expect(ran.err).toContain('"&on", which aliases repeat');
  expect(one.read()).toBe(text);
});

it('accept does not write a value of the stack’s defaults, and writes the others', async () => {
  const text = workspace('app', 'spec: { queueAllRuns: false }\n');
  const one = await openApplied(text, { defaults: { Workspace: { autoApply: false } } });
  await drift(one);
  await one.bench.byHand.update(await one.bench.idOf('app'), { 'queue-all-runs': true });
  const ran = await one.stack.run(['accept', 'Workspace/acme/app', '--yes'], 6);
  expect(ran.err).toContain('error[value-from-defaults] trueup.yaml:1');
  expect(one.read()).toBe(text.replace('false', 'true'));
});

it('accept does not write to a document for several targets', async () => {
  const bench = await openBench({ others: ['other'] });
  const stack = await bench.checkout();
  const token = { env: 'API_TOKEN' };
  const targets = ['acme', 'other'].map((name) =>
    workspacesTarget(bench.wire.url, { name, organization: name, token }),
  );
  await stack.write('trueup.yaml', stackText({ manifests: ['manifests/*.yaml'], targets }));
  const text = `apiVersion: trueup.dev/v1\nkind: Workspace\nmetadata: { name: app, targets: [acme, other] }\nspec: { autoApply: false }\n`;
  await stack.write(file, text);
  await stack.run(['apply', '--yes'], 0);
  await bench.byHand.update(await bench.idOf('app'), { 'auto-apply': true });
  const ran = await stack.run(['accept', 'Workspace/acme/app', '--yes'], 1);
  expect(ran.err).toContain('error[value-for-targets] manifests/all.yaml:3:');
  expect(readFileSync(join(stack.directory, file), 'utf8')).toBe(text);
});

it('accept does not write to a manifest from standard input', async () => {
  const text = workspace('app', 'spec: { autoApply: false }\n');
  const one = await openApplied(text);
  await drift(one);
  const { trueup } = await import('../../support/captured-host.ts');
  const host = { cwd: one.stack.directory, env: secrets, stdin: text };
  const ran = await trueup(['accept', 'Workspace/acme/app', '--yes', '-'], host);
  expect([ran.code, ran.err]).toEqual([1, expect.stringContaining('error[value-from-input] -:4')]);
});

it('accept neither writes nor prints a secret', async () => {
  const one = await openApplied(workspace('app', `spec: { description: x }\n`));
  await one.bench.byHand.update(await one.bench.idOf('app'), { description: `see ${secrets.API_TOKEN}` });
  const ran = await one.stack.run(['accept', 'Workspace/acme/app', '--yes'], 1);
  expect(ran.err).toContain('value-secret');
  expect(ran.out + ran.err).not.toContain(secrets.API_TOKEN);
  expect(one.read()).not.toContain(secrets.API_TOKEN);
});

it('accept removes the manifest of a deleted resource only with --remove', async () => {
  const kept = workspace('kept', 'spec: {} # stays\n');
  const one = await openApplied(`# head\n${workspace('app', 'spec: { autoApply: false }\n')}---\n${kept}`);
  await one.bench.byHand.delete(`/workspaces/${await one.bench.idOf('app')}`);
  const refused = await one.stack.run(['accept', 'Workspace/acme/app', '--yes'], 1);
  expect(refused.err).toContain('resource-gone');
  await one.stack.run(['accept', 'Workspace/acme/app', '--remove', '--yes'], 0);
  expect(one.read()).toBe(`# head\n---\n${kept}`);
  expect((await one.stack.plan()).changes).toEqual([]);
});

it('accept removes a file whose only manifest was removed', async () => {
  const one = await openApplied(workspace('app', 'spec: {}\n'));
  await one.stack.write('manifests/other.yaml', workspace('other', 'spec: {}\n'));
  await one.stack.run(['apply', '--yes'], 0);
  await one.bench.byHand.delete(`/workspaces/${await one.bench.idOf('app')}`);
  await one.stack.run(['accept', 'Workspace/acme/app', '--remove', '--yes'], 0);
  expect(existsSync(one.path)).toBe(false);
  expect((await one.stack.plan()).changes).toEqual([]);
});

it('accept keeps the byte order mark, line ends, mode and symbolic link of a file', async () => {
  const text = `\uFEFF${workspace('app', 'spec:\n  autoApply: false # so\n  triggerPatterns:\n    - a\n').replaceAll('\n', '\r\n')}`;
  const one = await openApplied(text);
  const real = join(one.stack.directory, 'real.yaml');
  renameSync(one.path, real);
  symlinkSync('../real.yaml', one.path);
  chmodSync(real, 0o640);
  await one.bench.byHand.update(await one.bench.idOf('app'), {
    'auto-apply': true,
    'trigger-patterns': ['a', 'b'],
  });
  await one.stack.run(['accept', 'Workspace/acme/app', '--yes'], 0);
  expect(readFileSync(real, 'utf8')).toBe(
    text.replace('false', 'true').replace('    - a\r\n', '    - a\r\n    - b\r\n'),
  );
  expect([statSync(real).mode & 0o777, lstatSync(one.path).isSymbolicLink()]).toEqual([0o640, true]);
});

it('accept --all writes what changed in the targets, and keeps pending changes of the files', async () => {
  const text = `${workspace('app', 'spec: { autoApply: false, queueAllRuns: false }\n')}---\n${workspace('b', 'spec: { autoApply: false }\n')}`;
  const one = await openApplied(text);
  await drift(one);
  await drift(one, 'b');
  await one.stack.write(file, text.replace('queueAllRuns: false', 'queueAllRuns: true'));
  await one.stack.run(['accept', '--all', '--yes'], 0);
  expect(one.read()).toBe(
    text.replaceAll('autoApply: false', 'autoApply: true').replace('Runs: false', 'Runs: true'),
  );
});

it('accept reports as JSON what it wrote', async () => {
  const one = await openApplied(workspace('app', 'spec: { autoApply: false }\n'));
  await drift(one);
  const { out } = await one.stack.run(['accept', 'Workspace/acme/app', '--yes', '--format', 'json'], 0);
  expect(JSON.parse(out)).toMatchObject({
    written: true,
    files: [{ file, removed: false }],
    accepted: [{ address: 'Workspace/acme/app', path: '/autoApply', value: true, file, line: 4 }],
    refused: [],
  });
});

it('accept names an unknown address, an unknown field and a resource that was renamed', async () => {
  const one = await openApplied(workspace('app', 'spec: { autoApply: false }\n'));
  await drift(one);
  const odd = await one.stack.run(['accept', 'Workspace/acme/ap', '--yes'], 1);
  expect(odd.err).toContain('no manifest declares "Workspace/acme/ap"');
  const field = await one.stack.run(['accept', 'Workspace/acme/app', '--field', 'description', '--yes'], 1);
  expect(field.err).toContain('write one of those that do: autoApply');
  await one.bench.byHand.update(await one.bench.idOf('app'), { 'auto-apply': false, name: 'new' });
  const renamed = await one.stack.run(['accept', 'Workspace/acme/app', '--yes'], 1);
  expect(renamed.err).toContain('is called "new" in its target');
});

it('accept does not overwrite a file that changed while it asked for confirmation', async () => {
  const one = await openApplied(workspace('app', 'spec: { autoApply: false }\n'));
  await drift(one);
  const { run } = await import('../../../src/command-line.ts');
  const { kinds } = await import('../../../src/kinds/index.ts');
  const { thisMachine } = await import('../../../src/run/host.ts');
  const edited = one.read().replace('}', ', queueAllRuns: false }');
  const silent = { write: () => {}, isTTY: true, columns: 80 };
  const code = await run(['accept', 'Workspace/acme/app'], {
    ...{ cwd: one.stack.directory, env: one.stack.env, machine: thisMachine, now: () => Date.now() },
    ...{ newId: () => 'id', kinds, version: '0', stdout: silent, stderr: silent, interactive: true },
    readStdin: async () => Buffer.from(''),
    confirm: async () => {
      writeFileSync(one.path, edited);
      return true;
    },
    ask: async () => undefined,
    onStop: () => () => {},
  });
  expect([code, one.read()]).toEqual([4, edited]);
});

it('accept says that live is as declared only after a complete read with no change left', async () => {
  const bench = await openBench();
  const stack = await bench.checkout();
  await stack.setUp(workspaceDocument('app', { autoApply: true }), role('web', { tokenTtl: '1h' }));
  const all = ['accept', '--all', '--yes'];
  expect((await stack.run(all, 0)).out).toBe('nothing to accept: live is as declared\n');
  await stack.declare(workspaceDocument('app', { autoApply: false }), role('web', { tokenTtl: '2h' }));
  expect((await stack.run(all, 0)).out).toContain('nothing was changed in the targets since the last apply');
  const body = { errors: [{ status: '403', title: 'forbidden' }] };
  bench.wire.setHandler(async ({ path }, pass) =>
    path.startsWith('/api/v2') ? { status: 403, headers: {}, text: JSON.stringify(body) } : pass(),
  );
  expect((await stack.run(all, 1)).out).toContain('not everything could be read');
});

it('accept --all writes a second change in the target after it wrote the first', async () => {
  const one = await openApplied(workspace('app', 'spec: { workingDirectory: a }\n'));
  const id = await one.bench.idOf('app');
  for (const directory of ['b', 'c']) {
    await one.bench.byHand.update(id, { 'working-directory': directory });
    await one.stack.run(['accept', '--all', '--yes'], 0);
    expect(one.read()).toContain(`workingDirectory: ${directory} `);
  }
});

it('accept --field writes the one key that is named, and not keys that begin with it', async () => {
  const text = (a: string) => workspace('app', `spec:\n  tags:\n    a: ${a}\n    a.b: x\n`);
  const one = await openApplied(text('x'));
  const tag = (key: string) => ({ type: 'tag-bindings', attributes: { key, value: 'new' } });
  const path = `/workspaces/${await one.bench.idOf('app')}/tag-bindings`;
  const field = ['accept', 'TagBindings/acme/app', '--field', 'tags.a', '--yes'];
  await one.bench.byHand.patch(path, { data: [tag('a.b')] });
  await one.stack.run(field, 1);
  await one.bench.byHand.patch(path, { data: [tag('a')] });
  await one.stack.run(field, 0);
  expect(one.read()).toBe(text('new'));
  await one.stack.run(['accept', 'TagBindings/acme/app', '--field', 'tags', '--yes'], 0);
  expect(one.read()).toBe(text('new').replace('a.b: x', 'a.b: new'));
});

it('accept --remove does not remove all manifests if the token sees nothing, unless the guard is acknowledged', async () => {
  const bench = await openBench({ organization: { teams: [{ name: 'blind', token: 'blind-token' }] } });
  const stack = await bench.checkout({ workspaces: { token: { file: 'token' } } });
  await stack.write('token', secrets.API_TOKEN);
  await stack.setUp(workspaceDocument('app'), workspaceDocument('two'));
  await stack.write('token', 'blind-token');
  const removing = ['accept', '--all', '--remove', '--yes'];
  const { err } = await stack.run(removing, 5);
  expect(err).toContain('zero: 2 of 2 Workspace in "acme"');
  expect(err).toContain('pass "--ack zero"');
  const path = join(stack.directory, file);
  expect(existsSync(path)).toBe(true);
  expect((await stack.run([...removing, '--ack', 'zeros'], 1)).err).toContain('did you mean "zero"');
  await stack.run([...removing, '--ack', 'zero'], 0);
  expect(existsSync(path)).toBe(false);
});

it('accept writes no file if one of them cannot be written', async () => {
  const one = await openApplied(workspace('app', 'spec: { autoApply: false }\n'));
  // The name is too long for the suffix of a temporary file.
  const other = workspace('other', 'spec: { autoApply: false }\n');
  await one.stack.write(`manifests/${'z'.repeat(230)}.yaml`, other);
  await one.stack.run(['apply', '--yes'], 0);
  for (const name of ['app', 'other']) await drift(one, name);
  const before = one.read();
  const { out } = await one.stack.run(['accept', '--all', '--yes', '--format', 'json'], 1);
  expect(JSON.parse(out)).toMatchObject({ written: false, files: [{ file }, {}] });
  expect(one.read()).toBe(before);
  expect(readdirSync(join(one.stack.directory, 'manifests')).length).toBe(2);
});

it('accept names the files that were written before the system refused one', async () => {
  const one = await openApplied(workspace('app', 'spec: { autoApply: false }\n'));
  for (const name of ['next', 'last'])
    await one.stack.write(`manifests/${name}.yaml`, workspace(name, 'spec: { autoApply: false }\n'));
  await one.stack.run(['apply', '--yes'], 0);
  for (const name of ['app', 'next', 'last']) await drift(one, name);
  const preload = new URL('../../support/simulation/folder-at-rename.ts', import.meta.url).href;
  const env = { ...one.stack.env, NODE_OPTIONS: `--import ${preload}`, FOLDER_AT_RENAME: '2' };
  const args = ['accept', '--all', '--yes', '--format', 'json'];
  const { code, out, err } = await trueupProcess(args, { cwd: one.stack.directory, env });
  expect(code).toBe(6);
  const message = expect.stringMatching(
    /^only "manifests\/all.yaml" was written, and not "manifests\/last.yaml": .*directory/,
  );
  expect(JSON.parse(out), err).toMatchObject({
    written: true,
    files: [{ file }],
    accepted: [{ address: 'Workspace/acme/app' }],
    diagnostics: [{ code: 'files-partly-written', message }],
  });
  expect(one.read()).toContain('autoApply: true');
  // Files that were not written are unchanged, and no temporary file is left.
  const folder = join(one.stack.directory, 'manifests');
  expect(readdirSync(folder)).toEqual(['all.yaml', 'last.yaml', 'next.yaml']);
});
