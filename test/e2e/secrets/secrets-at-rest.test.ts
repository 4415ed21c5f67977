/** No secret that a run knows is in the files that it writes: plan files, ledger, history, exported manifests. */
import { execFileSync } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import type { PlanJson } from '../../../src/report/json/plan-schema.ts';
import { trueup } from '../../support/captured-host.ts';
import { type Bench, type Checkout, openBench, secrets } from '../../support/cli/bench.ts';
import { clusterAuthConfig, workspace } from '../../support/cli/documents.ts';

function gitRepository(directory: string): void {
  const remote = `${directory}-remote.git`;
  const git = (...args: string[]) => execFileSync('git', args, { cwd: directory, stdio: 'ignore' });
  git('init', '-q', '--bare', remote);
  git('init', '-q');
  git('remote', 'add', 'origin', remote);
  git(
    '-c',
    'user.name=ci',
    '-c',
    'user.email=ci@acme.internal',
    'commit',
    '-q',
    '--allow-empty',
    '-m',
    'first',
  );
}

const pasted = `pasted ${secrets.API_TOKEN} by mistake`;

/** The content of all files of a stack. */
async function contentOfFiles({ directory }: Checkout): Promise<string> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return (
    await Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'utf8')))
  ).join('\n');
}

/** A stack with a workspace whose description somebody replaced by a text with the token. */
async function withPasted(bench: Bench, ...more: readonly object[]): Promise<Checkout> {
  const stack = await bench.checkout();
  const documents = [workspace('app', { description: 'first' }), ...more];
  await stack.setUp(...documents);
  await bench.byHand.update(await bench.idOf('app'), { description: pasted });
  return stack;
}

const fileOf = (stack: Checkout) => join(stack.directory, 'plan.json');

/** Shows a plan file without the variables of the tokens. */
const show = (stack: Checkout, file: string) =>
  trueup(['show', file], { cwd: stack.directory, env: {} }).then(({ code, out, err }) => {
    expect(err).toBe('');
    expect(code).toBe(0);
    return out;
  });

describe('A plan with a live value that contains a token', () => {
  it('is stored without the token, and can be shown from its file and from the printed JSON', async () => {
    const stack = await withPasted(await openBench());
    const { out } = await stack.run(['plan', '--format', 'json', '--out', 'plan.json'], 0);
    await writeFile(join(stack.directory, 'printed.json'), out);
    expect(await contentOfFiles(stack)).not.toContain(secrets.API_TOKEN);
    expect(await readFile(fileOf(stack), 'utf8')).toBe(out);
    for (const file of ['plan.json', 'printed.json'])
      expect(await show(stack, file)).toContain('[secret] -> first');
  });

  it('can be applied from the printed JSON as well', async () => {
    const bench = await openBench();
    const stack = await withPasted(bench);
    const { out } = await stack.run(['plan', '--format', 'json'], 0);
    expect(out).toContain('"before": "[secret]"');
    await writeFile(join(stack.directory, 'printed.json'), out);
    await stack.run(['apply', 'printed.json'], 0);
    expect(bench.written()).toEqual(['PATCH /api/v2/workspaces/ws-…']);
  });

  it('can be applied from its file as long as nothing changes', async () => {
    const bench = await openBench();
    const stack = await withPasted(bench);
    await stack.run(['plan', '--out', 'plan.json'], 0);
    await stack.run(['apply', 'plan.json'], 0);
    expect(bench.written()).toEqual(['PATCH /api/v2/workspaces/ws-…']);
  });

  it('can be applied by its digest as well', async () => {
    const bench = await openBench();
    const stack = await withPasted(bench);
    const { digest } = await stack.plan();
    await stack.run(['apply', '--approve', digest], 0);
    expect(bench.written()).toEqual(['PATCH /api/v2/workspaces/ws-…']);
  });

  it.each([
    ['another secret', `pasted ${secrets.SERVICE_TOKEN} by mistake`],
    ['the same placeholder', 'pasted [secret] by mistake'],
  ])('is stale if the live value now contains %s', async (_what, description) => {
    const bench = await openBench();
    const stack = await withPasted(bench);
    await stack.run(['plan', '--out', 'plan.json'], 0);
    await bench.byHand.update(await bench.idOf('app'), { description });
    const { out } = await stack.run(['apply', 'plan.json'], 4);
    expect(out).toMatch(/approved +\[secret\] -> first/);
    expect(bench.written()).toEqual([]);
  });

  it('is applied for the rest if the value is already as approved', async () => {
    const bench = await openBench();
    const stack = await withPasted(bench);
    await stack.declare(workspace('app', { description: 'first', autoApply: true }));
    await stack.run(['plan', '--out', 'plan.json'], 0);
    await bench.byHand.update(await bench.idOf('app'), { description: 'first' });
    await stack.run(['apply', 'plan.json'], 0);
    expect(bench.written()).toEqual(['PATCH /api/v2/workspaces/ws-…']);
  });

  it('differs from a plan with another secret, although neither file contains them', async () => {
    const bench = await openBench();
    const stack = await withPasted(bench);
    await stack.run(['plan', '--out', 'plan.json'], 0);
    await bench.byHand.update(await bench.idOf('app'), {
      description: pasted.replace(secrets.API_TOKEN, secrets.SERVICE_TOKEN),
    });
    await stack.run(['plan', '--out', 'other.json'], 0);
    const { out } = await stack.run(['diff', 'plan.json', 'other.json'], 2);
    expect(out).toMatch(/plan.json +\[secret\] -> first\n +other.json +\[secret\] -> first/);
    expect((await stack.run(['diff', 'plan.json', 'plan.json'], 0)).out).toContain('mean the same');
  });
});

describe('The history of an apply', () => {
  it('contains no token of a live value, and reverts the other values', async () => {
    const bench = await openBench();
    const stack = await withPasted(bench);
    await stack.declare(workspace('app', { description: 'second', autoApply: true }));
    await stack.run(['apply', '--yes'], 0);
    expect(await contentOfFiles(stack)).not.toContain(secrets.API_TOKEN);
    const { out } = await stack.run(['history', '--format', 'json'], 0);
    const id = (JSON.parse(out) as { entries: { id: string }[] }).entries[0]?.id ?? '';
    expect((await stack.run(['history', 'show', id], 0)).out).toContain('pasted [secret] by mistake');
    const back = (await stack.run(['history', 'show', id, '--revert'], 0)).out;
    expect(back).toContain('# description cannot be taken back: its value held a secret, which is not kept');
    expect((load(back) as { spec: object }).spec).toEqual({ autoApply: false });
  });

  it('contains no token of a removed document either', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app', { description: pasted, autoApply: true }), workspace('web'));
    expect(await stack.ledger()).toMatchObject({
      records: { 'Workspace/acme/app': { fields: { description: 'pasted [secret] by mistake' } } },
    });
    await stack.declare(workspace('web'));
    await stack.applyAcknowledged();
    const { out } = await stack.run(['history', '--format', 'json'], 0);
    const id = (JSON.parse(out) as { entries: { id: string }[] }).entries[0]?.id ?? '';
    const back = (await stack.run(['history', 'show', id, '--revert'], 0)).out;
    expect(back).toContain('# description of Workspace/acme/app cannot be taken back');
    expect((load(back) as { spec: object }).spec).toEqual({ autoApply: true });
    await stack.write('manifests/all.yaml', '');
    expect(await contentOfFiles(stack)).not.toContain(secrets.API_TOKEN);
  });
});

describe('The ledger', () => {
  it('contains no token of an incomplete approved plan, and the same approval can continue', async () => {
    const bench = await openBench();
    const stack = await withPasted(bench);
    await stack.declare(workspace('app', { description: 'first' }), workspace('web'));
    await stack.run(['plan', '--out', 'plan.json'], 0);
    const { digest } = JSON.parse(await readFile(fileOf(stack), 'utf8')) as PlanJson;
    bench.wire.add({ method: 'POST', path: /workspaces/, times: 9, fault: { answer: 422 } });
    await stack.run(['apply', '--approve', digest], 6);
    expect(await stack.ledger()).toMatchObject({ approved: { digest } });
    expect(await contentOfFiles(stack)).not.toContain(secrets.API_TOKEN);
    bench.wire.reset();
    const { out } = await stack.run(['apply', '--approve', digest], 0);
    expect(out).toContain('Of 2 approved changes, 1 is done already; 1 is left to apply');
    expect(bench.written()).toEqual(['POST /api/v2/organizations/acme/workspaces']);
  });
});

describe('A ledger', () => {
  it('with a redacted value shows drift only if the text around the secret was changed', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    const tags = { note: `a.${secrets.API_TOKEN}.b` };
    await stack.setUp(workspace('app', { description: pasted, tags }), workspace('web'));
    await bench.byHand.update(await bench.idOf('web'), { description: pasted });
    await stack.declare(
      workspace('app', { description: pasted, tags }),
      workspace('web', { autoApply: true }),
    );
    await stack.run(['apply', '--yes'], 0);
    expect((await stack.run(['drift', '--unmanaged'], 0)).out).not.toContain('[secret]');
    await bench.byHand.update(await bench.idOf('app'), { description: `${pasted}!` });
    expect((await stack.run(['drift'], 3)).out).toContain('[secret] by mistake!');
  });

  it('stays redacted if a later apply, which has not read the secret, changes nothing in the record', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    const env = { ...secrets, LATER: 'planted-later-token' };
    const audited = await stack.reconfigure({ workspaces: { auditToken: { env: 'LATER' } } });
    await audited.declare(workspace('app', { description: 'saw planted-later-token' }));
    const cwd = stack.directory;
    expect((await trueup(['apply', '--yes'], { cwd, env })).code).toBe(0);
    await stack.reconfigure({});
    await stack.declare(workspace('app', { description: 'saw planted-later-token' }), workspace('web'));
    await stack.run(['apply', '--yes'], 0);
    expect(await stack.ledger()).toMatchObject({
      records: {
        'Workspace/acme/app': { fields: { description: 'saw [secret]' } },
        'Workspace/acme/web': {},
      },
    });
    expect((await stack.run(['drift'], 0)).out).not.toContain('planted-later-token');
  });

  it('contains no token of an undeclared field', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'));
    await bench.byHand.update(await bench.idOf('app'), { description: pasted });
    await stack.declare(workspace('app', { autoApply: true }));
    await stack.run(['apply', '--yes'], 0);
    expect(await stack.ledger()).toMatchObject({
      records: { 'Workspace/acme/app': { seen: { description: 'pasted [secret] by mistake' } } },
    });
    expect(await contentOfFiles(stack)).not.toContain(secrets.API_TOKEN);
  });

  it.each([
    ['in a file', {}, ''],
    ['in git', { ledger: 'git' }, '; older commits of the ref still contain it'],
  ])(
    '%s that contains a secret of this run is reported with the record and the source',
    async (_, spec, older) => {
      const bench = await openBench();
      const stack = await bench.checkout({ spec });
      if (older !== '') gitRepository(stack.directory);
      await stack.setUp(workspace('app', { description: 'saw planted-later-token' }));
      await (await stack.reconfigure({ workspaces: { auditToken: { env: 'LATER' } } })).declare(
        workspace('app', { description: 'saw nothing' }),
      );
      const env = { ...secrets, LATER: 'planted-later-token' };
      const { out, err } = await trueup(['plan'], { cwd: stack.directory, env });
      expect(err).toContain('warning[secret-in-ledger]');
      expect(err).toContain(
        `contains the secret of the environment variable "LATER", in "fields" of the record Workspace/acme/app${older}`,
      );
      expect(err).toContain('fix: revoke it');
      expect(out + err).not.toContain('planted-later-token');
      const json = await trueup(['plan', '--format', 'json'], { cwd: stack.directory, env });
      expect(JSON.parse(json.out)).toMatchObject({ diagnostics: [{ code: 'secret-in-ledger' }] });
      await trueup(['apply', '--yes'], { cwd: stack.directory, env });
      const after = await trueup(['plan'], { cwd: stack.directory, env });
      expect(after.err).not.toContain('secret-in-ledger');
    },
  );
});

describe('A reviewer JWT', () => {
  it('from an environment variable is redacted by a plan that does not send it', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    const config = clusterAuthConfig({ tokenReviewerJwt: { env: 'REVIEWER_JWT' } });
    await stack.setUp(workspace('app', { description: 'first' }), config);
    await bench.byHand.update(await bench.idOf('app'), { description: `saw ${secrets.REVIEWER_JWT}` });
    for (const format of ['text', 'json', 'markdown', 'html']) {
      const { out, err } = await stack.run(['plan', '--format', format], 0);
      expect(out).toContain('[secret]');
      expect(out + err).not.toContain(secrets.REVIEWER_JWT);
    }
  });

  it('from a file is not read by a plan', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    const config = clusterAuthConfig({ tokenReviewerJwt: { file: 'reviewer.jwt' } });
    await writeFile(join(stack.directory, 'reviewer.jwt'), 'planted.jwt.of-a-file');
    await stack.setUp(workspace('app', { description: 'first' }), config);
    await bench.byHand.update(await bench.idOf('app'), { description: 'saw planted.jwt.of-a-file' });
    expect((await stack.run(['plan'], 0)).out).toContain('saw planted.jwt.of-a-file');
  });
});

it('The beginning of a token is redacted in an error of a service, but not in a live value', async () => {
  const bench = await openBench();
  const stack = await bench.checkout();
  await stack.setUp(workspace('app', { description: 'first' }));
  const beginning = secrets.API_TOKEN.slice(0, 16);
  await bench.byHand.update(await bench.idOf('app'), { description: `saw ${beginning}` });
  const body = { errors: [{ status: '422', title: `token ${beginning}... may not` }] };
  bench.wire.add({ method: 'PATCH', path: /workspaces/, fault: { answer: 422, body } });
  const { out } = await stack.run(['apply', '--yes'], 1);
  expect(out).toContain(`saw ${beginning}`);
  expect(out).toContain('token [secret]... may not');
});

describe('An export', () => {
  it.each([
    ['--out', 'manifests'],
    ['--out', '-'],
  ])('omits a field whose value contains a token, and says so (%s %s)', async (...out) => {
    const bench = await openBench();
    const stack = await bench.checkout({ spec: { manifests: ['manifests/**/*.yaml'] } });
    await bench.byHand.created({ name: 'app' });
    await bench.byHand.update(await bench.idOf('app'), { description: pasted, 'auto-apply': true });
    const ran = await stack.run(['export', ...out], 0);
    const text =
      ran.out || (await readFile(join(stack.directory, 'manifests/acme/workspace/app.yaml'), 'utf8'));
    expect(text).toContain('# description is left out: its value holds a secret that this run knows');
    const { spec } = load(text) as { spec: object };
    expect(spec).toMatchObject({ autoApply: true });
    expect(spec).not.toHaveProperty('description');
    expect(text).not.toContain('[secret]');
    expect(await contentOfFiles(stack)).not.toContain(secrets.API_TOKEN);
  });
});

it('An apply reads the secrets that it will send before it prints its plan', async () => {
  const bench = await openBench();
  const stack = await withPasted(bench, clusterAuthConfig());
  await writeFile(join(stack.directory, 'reviewer.jwt'), 'planted.jwt.of-a-file');
  await stack.declare(
    workspace('app', { description: 'first' }),
    clusterAuthConfig({ tokenReviewerJwt: { file: 'reviewer.jwt' } }),
  );
  await bench.byHand.update(await bench.idOf('app'), { description: 'saw planted.jwt.of-a-file' });
  const { out, err } = await stack.run(['apply', '--yes'], 0);
  expect(out).toContain('saw [secret] -> first');
  expect(out + err).not.toContain('planted.jwt.of-a-file');
});
