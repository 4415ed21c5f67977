// What is not taken in: it is named with its place and the way out, and the manifests stay as they are.
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

interface Begun {
  readonly bench: Bench;
  readonly stack: Checkout;
  readonly path: string;
  read(): string;
}

async function begun(text: string, spec: object = {}): Promise<Begun> {
  const bench = await openBench();
  const stack = await bench.checkout({ clusterAuth: { owns: ['*'] }, spec });
  await stack.write(file, text);
  await stack.run(['apply', '--yes'], 0);
  const path = join(stack.directory, file);
  return { bench, stack, path, read: () => readFileSync(path, 'utf8') };
}

const drift = async ({ bench }: Begun, name = 'app') =>
  bench.byHand.update(await bench.idOf(name), { 'auto-apply': true });

it('asks first, and writes nothing where nobody can answer or only the patch is wanted', async () => {
  const one = await begun(workspace('app', 'spec: { autoApply: false } # so\n'));
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
])('leaves a value from %s, and names its place', async (_, rest, message, place) => {
  const text = workspace('app', rest);
  const one = await begun(text);
  await drift(one);
  const ran = await one.stack.run(['accept', 'Workspace/acme/app', '--field', 'autoApply', '--yes'], 1);
  expect(ran.err).toContain(message);
  expect(ran.err).toContain(place);
  expect(one.read()).toBe(text);
});

it('names the addresses that an address without a target may mean', async () => {
  const one = await begun(workspace('app', 'spec:\n  autoApply: false\n'));
  const fixOf = async (...words: string[]) => (await one.stack.run(['accept', ...words, '--yes'], 1)).err;
  expect(await fixOf('Workspace/app')).toContain('did you mean "Workspace/acme/app"?');
  expect(await fixOf('Workspace/acme/ap')).toContain('did you mean "Workspace/acme/app"?');
  expect(await fixOf('Workspace/acme/elsewhere')).toContain('write the address as the plan shows it');
});

it('says that a bare name is read as a path', async () => {
  const one = await begun(workspace('app', 'spec:\n  autoApply: false\n'));
  const { err } = await one.stack.run(['accept', 'app'], 1);
  expect(err).toContain('such as Workspace/acme/app, or pass --all; "app" is read as the path of the stack');
});

it('leaves a value that aliases repeat', async () => {
  const text = workspace('app', 'spec:\n  autoApply: &on false\n  queueAllRuns: *on\n');
  const one = await begun(text);
  await drift(one);
  const ran = await one.stack.run(['accept', 'Workspace/acme/app', '--yes'], 1);
  expect(ran.err).toContain('"&on", which aliases repeat');
  expect(one.read()).toBe(text);
});

it('leaves a value of the stack’s defaults, and takes in the others', async () => {
  const text = workspace('app', 'spec: { queueAllRuns: false }\n');
  const one = await begun(text, { defaults: { Workspace: { autoApply: false } } });
  await drift(one);
  await one.bench.byHand.update(await one.bench.idOf('app'), { 'queue-all-runs': true });
  const ran = await one.stack.run(['accept', 'Workspace/acme/app', '--yes'], 6);
  expect(ran.err).toContain('error[value-from-defaults] trueup.yaml:1');
  expect(one.read()).toBe(text.replace('false', 'true'));
});

it('leaves a document that means several targets', async () => {
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

it('leaves what comes from standard input', async () => {
  const text = workspace('app', 'spec: { autoApply: false }\n');
  const one = await begun(text);
  await drift(one);
  const { trueup } = await import('../../support/captured-host.ts');
  const host = { cwd: one.stack.directory, env: secrets, stdin: text };
  const ran = await trueup(['accept', 'Workspace/acme/app', '--yes', '-'], host);
  expect([ran.code, ran.err]).toEqual([1, expect.stringContaining('error[value-from-input] -:4')]);
});

it('leaves a secret, and prints none', async () => {
  const one = await begun(workspace('app', `spec: { description: x }\n`));
  await one.bench.byHand.update(await one.bench.idOf('app'), { description: `see ${secrets.API_TOKEN}` });
  const ran = await one.stack.run(['accept', 'Workspace/acme/app', '--yes'], 1);
  expect(ran.err).toContain('value-secret');
  expect(ran.out + ran.err).not.toContain(secrets.API_TOKEN);
  expect(one.read()).not.toContain(secrets.API_TOKEN);
});

it('drops the manifest of what is gone only when asked', async () => {
  const kept = workspace('kept', 'spec: {} # stays\n');
  const one = await begun(`# head\n${workspace('app', 'spec: { autoApply: false }\n')}---\n${kept}`);
  await one.bench.byHand.delete(`/workspaces/${await one.bench.idOf('app')}`);
  const refused = await one.stack.run(['accept', 'Workspace/acme/app', '--yes'], 1);
  expect(refused.err).toContain('resource-gone');
  await one.stack.run(['accept', 'Workspace/acme/app', '--remove', '--yes'], 0);
  expect(one.read()).toBe(`# head\n---\n${kept}`);
  expect((await one.stack.plan()).changes).toEqual([]);
});

it('removes the file of a manifest that stood alone in it', async () => {
  const one = await begun(workspace('app', 'spec: {}\n'));
  await one.stack.write('manifests/other.yaml', workspace('other', 'spec: {}\n'));
  await one.stack.run(['apply', '--yes'], 0);
  await one.bench.byHand.delete(`/workspaces/${await one.bench.idOf('app')}`);
  await one.stack.run(['accept', 'Workspace/acme/app', '--remove', '--yes'], 0);
  expect(existsSync(one.path)).toBe(false);
  expect((await one.stack.plan()).changes).toEqual([]);
});

it('keeps the mark, the line ends, the mode and the link of a file', async () => {
  const text = `\uFEFF${workspace('app', 'spec:\n  autoApply: false # so\n  triggerPatterns:\n    - a\n').replaceAll('\n', '\r\n')}`;
  const one = await begun(text);
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

it('takes in, with --all, what was changed in the targets, and no change of the files', async () => {
  const text = `${workspace('app', 'spec: { autoApply: false, queueAllRuns: false }\n')}---\n${workspace('b', 'spec: { autoApply: false }\n')}`;
  const one = await begun(text);
  await drift(one);
  await drift(one, 'b');
  await one.stack.write(file, text.replace('queueAllRuns: false', 'queueAllRuns: true'));
  await one.stack.run(['accept', '--all', '--yes'], 0);
  expect(one.read()).toBe(
    text.replaceAll('autoApply: false', 'autoApply: true').replace('Runs: false', 'Runs: true'),
  );
});

it('says what it did as JSON', async () => {
  const one = await begun(workspace('app', 'spec: { autoApply: false }\n'));
  await drift(one);
  const { out } = await one.stack.run(['accept', 'Workspace/acme/app', '--yes', '--format', 'json'], 0);
  expect(JSON.parse(out)).toMatchObject({
    written: true,
    files: [{ file, removed: false }],
    accepted: [{ address: 'Workspace/acme/app', path: '/autoApply', value: true, file, line: 4 }],
    refused: [],
  });
});

it('names an address and a field that it does not know, and a resource that was renamed', async () => {
  const one = await begun(workspace('app', 'spec: { autoApply: false }\n'));
  await drift(one);
  const odd = await one.stack.run(['accept', 'Workspace/acme/ap', '--yes'], 1);
  expect(odd.err).toContain('no manifest declares "Workspace/acme/ap"');
  const field = await one.stack.run(['accept', 'Workspace/acme/app', '--field', 'description', '--yes'], 1);
  expect(field.err).toContain('write one of those that do: autoApply');
  await one.bench.byHand.update(await one.bench.idOf('app'), { 'auto-apply': false, name: 'new' });
  const renamed = await one.stack.run(['accept', 'Workspace/acme/app', '--yes'], 1);
  expect(renamed.err).toContain('is called "new" in its target');
});

it('writes nothing over a file that changed meanwhile', async () => {
  const one = await begun(workspace('app', 'spec: { autoApply: false }\n'));
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

it('says that live is as declared only after a complete read with no change left', async () => {
  const bench = await openBench();
  const stack = await bench.checkout();
  await stack.begin(workspaceDocument('app', { autoApply: true }), role('web', { tokenTtl: '1h' }));
  const all = ['accept', '--all', '--yes'];
  expect((await stack.run(all, 0)).out).toBe('nothing to accept: live is as declared\n');
  await stack.declare(workspaceDocument('app', { autoApply: false }), role('web', { tokenTtl: '2h' }));
  expect((await stack.run(all, 0)).out).toContain('nothing was changed in the targets since the last apply');
  const body = { errors: [{ status: '403', title: 'forbidden' }] };
  bench.wire.guardBy(async ({ path }, pass) =>
    path.startsWith('/api/v2') ? { status: 403, headers: {}, text: JSON.stringify(body) } : pass(),
  );
  expect((await stack.run(all, 1)).out).toContain('not everything could be read');
});

it('takes in, with --all, a second change in the target after the first was taken in', async () => {
  const one = await begun(workspace('app', 'spec: { workingDirectory: a }\n'));
  const id = await one.bench.idOf('app');
  for (const directory of ['b', 'c']) {
    await one.bench.byHand.update(id, { 'working-directory': directory });
    await one.stack.run(['accept', '--all', '--yes'], 0);
    expect(one.read()).toContain(`workingDirectory: ${directory} `);
  }
});

it('takes in the one key that is named, and not those that begin with it', async () => {
  const text = (a: string) => workspace('app', `spec:\n  tags:\n    a: ${a}\n    a.b: x\n`);
  const one = await begun(text('x'));
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

it('drops not all manifests where a token sees nothing, unless the guard is acknowledged', async () => {
  const bench = await openBench({ organization: { teams: [{ name: 'blind', token: 'blind-token' }] } });
  const stack = await bench.checkout({ workspaces: { token: { file: 'token' } } });
  await stack.write('token', secrets.API_TOKEN);
  await stack.begin(workspaceDocument('app'), workspaceDocument('two'));
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

it('writes no file where one of them cannot be written', async () => {
  const one = await begun(workspace('app', 'spec: { autoApply: false }\n'));
  // No room is left in this name for what stands behind the name of a new file.
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

it('names the files that are written when the system refuses one after them', async () => {
  const one = await begun(workspace('app', 'spec: { autoApply: false }\n'));
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
  // What was not written stands as it was, and no new file is left beside it.
  const folder = join(one.stack.directory, 'manifests');
  expect(readdirSync(folder)).toEqual(['all.yaml', 'last.yaml', 'next.yaml']);
});
