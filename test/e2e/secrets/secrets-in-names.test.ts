/**
 * A name or a key that contains a secret of the run: a declared one is refused with its line, a live one gives a warning, and no
 * file stores it.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { trueup } from '../../support/captured-host.ts';
import { type Bench, type Checkout, openBench, secrets } from '../../support/cli/bench.ts';
import { role, workspace } from '../../support/cli/documents.ts';

const token = secrets.API_TOKEN;

/** The content of all files of a stack except its manifests. */
async function contentOfFiles({ directory }: Checkout): Promise<string> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && !entry.name.endsWith('.yaml'));
  const texts = files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'utf8'));
  return (await Promise.all(texts)).join('\n');
}

interface Diagnostic {
  readonly code: string;
  readonly severity: string;
  readonly message: string;
  readonly place?: { readonly file: string; readonly line: number; readonly column: number };
}

it.each([
  ['the name of a resource', role(`web-${token}`), 'the name of this ClusterAuthRole'],
  ['a key of its tags', workspace('app', { tags: { [token]: 'x' } }), 'a key of "tags"'],
  [
    'the name of a consumer',
    workspace('app', { remoteStateConsumers: [`of-${token}`] }),
    'a name in "consumers"',
  ],
  ['a former name', workspace('app', {}, { renamedFrom: `of-${token}` }), '"metadata.renamedFrom"'],
])('validate, plan and apply refuse %s that contains a token, with its line', async (_, document, what) => {
  const bench = await openBench();
  const stack = await bench.checkout({ clusterAuth: { owns: ['*'] } });
  await stack.declare(document);
  for (const args of [['validate'], ['plan', '--out', 'plan.json'], ['apply', '--yes'], ['drift']]) {
    const { out, err } = await stack.run([...args, '--format', 'json'], 7);
    const { diagnostics } = JSON.parse(out) as { diagnostics: Diagnostic[] };
    const found = diagnostics.filter(({ code }) => code === 'secret-in-name');
    expect(found).toMatchObject([
      {
        severity: 'error',
        message: `${what} contains the secret of the environment variable "API_TOKEN"`,
        place: { file: 'manifests/all.yaml' },
      },
    ]);
    expect(out + err).not.toContain(token);
  }
  expect(bench.written()).toEqual([]);
  expect(existsSync(join(stack.directory, 'plan.json'))).toBe(false);
  expect(await contentOfFiles(stack)).not.toContain(token);
});

async function withLiveKey(bench: Bench, stack: Checkout): Promise<Checkout> {
  await stack.setUp(workspace('app', { tags: { env: 'prod' } }));
  const bindings = [{ type: 'tag-bindings', attributes: { key: token, value: 'pasted' } }];
  await bench.byHand.patch(`/workspaces/${await bench.idOf('app')}/tag-bindings`, { data: bindings });
  return stack;
}

it('A live tag key with a token gives a warning, is removed, and is in no plan file, ledger or history', async () => {
  const bench = await openBench();
  const stack = await withLiveKey(bench, await bench.checkout());
  for (const format of ['text', 'json', 'markdown', 'html']) {
    const { out, err } = await stack.run(['plan', '--out', 'plan.json', '--format', format], 0);
    expect(out + err).not.toContain(token);
    expect(out + err).toContain('secret-in-name');
  }
  expect(await contentOfFiles(stack)).not.toContain(token);
  const plan = JSON.parse(await readFile(join(stack.directory, 'plan.json'), 'utf8'));
  expect(plan.problems).toMatchObject([
    {
      code: 'secret-in-name',
      severity: 'warning',
      message:
        'a key of "tags" of "TagBindings/acme/app", as it is live, contains the secret of the environment variable "API_TOKEN"',
    },
  ]);
  expect(plan.changes).toMatchObject([
    { fields: [{ path: '/tags', before: '[secret]', after: { env: 'prod' } }] },
  ]);
  const shown = await trueup(['show', 'plan.json'], { cwd: stack.directory, env: {} });
  expect(shown.code).toBe(0);
  bench.wire.reset();
  await stack.run(['apply', 'plan.json'], 0);
  expect(await bench.tagsOf('app')).toEqual({ env: 'prod', 'trueup-stack': 'payments' });
  expect(await contentOfFiles(stack)).not.toContain(token);
  expect((await stack.plan()).changes).toEqual([]);
});

it('A ledger in git contains no tag key with a token, also after an incomplete apply', async () => {
  const bench = await openBench();
  const stack = await bench.checkout({ spec: { ledger: 'git' } });
  const remote = `${stack.directory}-remote.git`;
  const git = (...args: string[]) => execFileSync('git', args, { cwd: stack.directory, encoding: 'utf8' });
  git('init', '-q', '--bare', remote);
  git('init', '-q');
  git('remote', 'add', 'origin', remote);
  git('-c', 'user.name=ci', '-c', 'user.email=ci@acme.internal', 'commit', '-q', '--allow-empty', '-m', 'x');
  await withLiveKey(bench, stack);
  bench.wire.add({ method: 'PATCH', path: /workspaces/, times: 9, fault: { answer: 422 } });
  const { digest } = await stack.plan();
  await stack.run(['apply', '--approve', digest], 1);
  bench.wire.reset();
  await stack.run(['apply', '--approve', digest], 0);
  const pushed = execFileSync('git', ['log', '-p', '--all'], { cwd: remote, encoding: 'utf8' });
  expect(pushed).toContain(digest);
  expect(pushed).not.toContain(token);
});

it('An undeclared role whose name contains a token is kept, and no plan file names it', async () => {
  const bench = await openBench();
  const stack = await bench.checkout({ clusterAuth: { owns: ['*'], exclusive: true } });
  await stack.setUp(role('web'));
  const body = {
    bound_service_account_names: ['a'],
    bound_service_account_namespaces: ['b'],
    token_ttl: 60,
  };
  await bench.byHandMount('POST', `role/old-${token}`, body);
  const { out, err } = await stack.run(['plan', '--out', 'plan.json'], 0);
  expect(out).toContain('kept: its name contains a secret of this run');
  expect(out).toContain('the name of "ClusterAuthRole/prod/old-[secret]", as it is live');
  expect(out + err + (await contentOfFiles(stack))).not.toContain(token);
});

it('An export writes no manifest for a resource whose name contains a token', async () => {
  const bench = await openBench();
  const stack = await bench.checkout({ spec: { manifests: ['manifests/**/*.yaml'] } });
  await bench.byHand.created({ name: `of-${token}` });
  await bench.byHand.created({ name: 'app' });
  const { err } = await stack.run(['export', '--out', 'manifests'], 1);
  expect(err).toContain('left out: Workspace/acme/of-[secret]: its name contains a secret of this run');
  const files = await readdir(stack.directory, { recursive: true });
  expect(files.some((file) => file.endsWith('app.yaml'))).toBe(true);
  expect(files.filter((file) => file.includes(token))).toEqual([]);
});
