/** No secret that a run knows is in what it writes: plan files, ledger, history, exported manifests (rules 42). */
import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { canonicalText, type Json } from '../../../src/model/json/json.ts';
import type { PlanJson } from '../../../src/report/json/plan-schema.ts';
import { trueup } from '../../support/captured-host.ts';
import { type Bench, type Checkout, openBench, secrets } from '../../support/cli/bench.ts';
import { clusterAuthConfig, workspace } from '../../support/cli/documents.ts';

const pasted = `pasted ${secrets.API_TOKEN} by mistake`;

/** Every file of a stack, and what is in them. */
async function written({ directory }: Checkout): Promise<string> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return (
    await Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'utf8')))
  ).join('\n');
}

/** A workspace of the stack, into whose description somebody has pasted the token. */
async function withPasted(bench: Bench, ...more: readonly object[]): Promise<Checkout> {
  const stack = await bench.checkout();
  const documents = [workspace('app', { description: 'first' }), ...more];
  await stack.begin(...documents);
  await bench.byHand.update(await bench.idOf('app'), { description: pasted });
  return stack;
}

const fileOf = (stack: Checkout) => join(stack.directory, 'plan.json');

/** Without the variables that hold the tokens. */
const show = (stack: Checkout, file: string) =>
  trueup(['show', file], { cwd: stack.directory, env: {} }).then(({ code, out, err }) => {
    expect(err).toBe('');
    expect(code).toBe(0);
    return out;
  });

describe('a plan with a live value that repeats a token', () => {
  it('is kept without it, and shown from its file and from what was printed as JSON', async () => {
    const stack = await withPasted(await openBench());
    const { out } = await stack.run(['plan', '--format', 'json', '--out', 'plan.json'], 0);
    await writeFile(join(stack.directory, 'printed.json'), out);
    expect(await written(stack)).not.toContain(secrets.API_TOKEN);
    expect(await readFile(fileOf(stack), 'utf8')).toBe(out);
    for (const file of ['plan.json', 'printed.json'])
      expect(await show(stack, file)).toContain('pasted [secret] by mistake -> first');
  });

  it('is applied by what was printed as JSON, too', async () => {
    const bench = await openBench();
    const stack = await withPasted(bench);
    const { out } = await stack.run(['plan', '--format', 'json'], 0);
    expect(out).toContain('pasted [secret]');
    await writeFile(join(stack.directory, 'printed.json'), out);
    await stack.run(['apply', 'printed.json'], 0);
    expect(bench.written()).toEqual(['PATCH /api/v2/workspaces/ws-…']);
  });

  it('is applied by its file as long as nothing changes', async () => {
    const bench = await openBench();
    const stack = await withPasted(bench);
    await stack.run(['plan', '--out', 'plan.json'], 0);
    await stack.run(['apply', 'plan.json'], 0);
    expect(bench.written()).toEqual(['PATCH /api/v2/workspaces/ws-…']);
  });

  it('is applied by its digest, too', async () => {
    const bench = await openBench();
    const stack = await withPasted(bench);
    const { digest } = await stack.plan();
    await stack.run(['apply', '--approve', digest], 0);
    expect(bench.written()).toEqual(['PATCH /api/v2/workspaces/ws-…']);
  });

  it.each([
    ['another secret', `pasted ${secrets.SERVICE_TOKEN} by mistake`],
    ['the very words that stand for it', 'pasted [secret] by mistake'],
  ])('is not what was approved once live says %s', async (_what, description) => {
    const bench = await openBench();
    const stack = await withPasted(bench);
    await stack.run(['plan', '--out', 'plan.json'], 0);
    await bench.byHand.update(await bench.idOf('app'), { description });
    const { out } = await stack.run(['apply', 'plan.json'], 4);
    expect(out).toContain('pasted [secret, not kept] by mistake');
    expect(bench.written()).toEqual([]);
  });

  it('goes on with the rest where the value is as approved by now', async () => {
    const bench = await openBench();
    const stack = await withPasted(bench);
    await stack.declare(workspace('app', { description: 'first', autoApply: true }));
    await stack.run(['plan', '--out', 'plan.json'], 0);
    await bench.byHand.update(await bench.idOf('app'), { description: 'first' });
    await stack.run(['apply', 'plan.json'], 0);
    expect(bench.written()).toEqual(['PATCH /api/v2/workspaces/ws-…']);
  });

  it('that was forged around the gap is not applied by the digest of another one', async () => {
    const bench = await openBench();
    const stack = await withPasted(bench);
    await stack.run(['plan', '--out', 'plan.json'], 0);
    const { checksum: _, ...plan }: PlanJson = JSON.parse(await readFile(fileOf(stack), 'utf8'));
    const text = JSON.stringify(plan).replaceAll('"first"', '"harmless"');
    const checksum = createHash('sha256')
      .update(canonicalText(JSON.parse(text) as Json))
      .digest('hex');
    await writeFile(fileOf(stack), JSON.stringify({ ...JSON.parse(text), checksum }));
    expect(await show(stack, 'plan.json')).toContain('-> harmless');
    await stack.run(['apply', 'plan.json'], 4);
    expect(bench.written()).toEqual([]);
  });

  it('differs from one with another secret there, although neither file keeps it', async () => {
    const bench = await openBench();
    const stack = await withPasted(bench);
    await stack.run(['plan', '--out', 'plan.json'], 0);
    await bench.byHand.update(await bench.idOf('app'), {
      description: pasted.replace(secrets.API_TOKEN, secrets.SERVICE_TOKEN),
    });
    await stack.run(['plan', '--out', 'other.json'], 0);
    const { out } = await stack.run(['diff', 'plan.json', 'other.json'], 2);
    expect(out).toContain('The two plans differ in values that hold secrets, which no plan file keeps');
    expect((await stack.run(['diff', 'plan.json', 'plan.json'], 0)).out).toContain('mean the same');
  });
});

describe('the history of an apply', () => {
  it('keeps no token that a live value repeated, and takes back what it can', async () => {
    const bench = await openBench();
    const stack = await withPasted(bench);
    await stack.declare(workspace('app', { description: 'second', autoApply: true }));
    await stack.run(['apply', '--yes'], 0);
    expect(await written(stack)).not.toContain(secrets.API_TOKEN);
    const { out } = await stack.run(['history', '--format', 'json'], 0);
    const id = (JSON.parse(out) as { entries: { id: string }[] }).entries[0]?.id ?? '';
    expect((await stack.run(['history', 'show', id], 0)).out).toContain('pasted [secret] by mistake');
    const back = (await stack.run(['history', 'show', id, '--revert'], 0)).out;
    expect(back).toContain('# description cannot be taken back: its value held a secret, which is not kept');
    expect((load(back) as { spec: object }).spec).toEqual({ autoApply: false });
  });

  it('keeps none of a document that was removed either', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.begin(workspace('app', { description: pasted, autoApply: true }), workspace('web'));
    expect(await stack.ledger()).toMatchObject({
      records: { 'Workspace/acme/app': { fields: { description: 'pasted [secret] by mistake' } } },
    });
    await stack.declare(workspace('web'));
    await stack.insist();
    const { out } = await stack.run(['history', '--format', 'json'], 0);
    const id = (JSON.parse(out) as { entries: { id: string }[] }).entries[0]?.id ?? '';
    const back = (await stack.run(['history', 'show', id, '--revert'], 0)).out;
    expect(back).toContain('# description of Workspace/acme/app cannot be taken back');
    expect((load(back) as { spec: object }).spec).toEqual({ autoApply: true });
    await stack.write('manifests/all.yaml', '');
    expect(await written(stack)).not.toContain(secrets.API_TOKEN);
  });
});

describe('the ledger', () => {
  it('keeps no token of an approved plan that was cut short, and its file goes on', async () => {
    const bench = await openBench();
    const stack = await withPasted(bench);
    await stack.declare(workspace('app', { description: 'first' }), workspace('web'));
    await stack.run(['plan', '--out', 'plan.json'], 0);
    const { digest } = JSON.parse(await readFile(fileOf(stack), 'utf8')) as PlanJson;
    bench.wire.add({ method: 'POST', path: /workspaces/, times: 9, fault: { answer: 422 } });
    await stack.run(['apply', '--approve', digest], 6);
    expect(await stack.ledger()).toMatchObject({ approved: { digest } });
    expect(await written(stack)).not.toContain(secrets.API_TOKEN);
    bench.wire.reset();
    const { err } = await stack.run(['apply', '--approve', digest], 4);
    expect(err).toContain('or apply the plan file that was approved to see how they differ');
    await stack.run(['apply', 'plan.json'], 0);
    expect(bench.written()).toEqual(['POST /api/v2/organizations/acme/workspaces']);
  });
});

describe('an export', () => {
  it.each([
    ['--out', 'manifests'],
    ['--out', '-'],
  ])('leaves a field out whose value repeats a token, and says so (%s %s)', async (...out) => {
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
    expect(await written(stack)).not.toContain(secrets.API_TOKEN);
  });
});

it('apply knows the secrets that it is going to send before it prints its plan', async () => {
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
