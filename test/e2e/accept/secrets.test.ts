// trueup accept writes nothing that its patch hides: no credentials of a URL, no secret that the run or its stack knows.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { clusterAuthConfig, tagBindings, workspace } from '../../support/cli/documents.ts';
import { type Bench, type Checkout, openBench, secrets } from '../../support/cli/bench.ts';

const hidden = [
  'https://root:hunter2@db.internal/x',
  'https://h/x?key=hunter2',
  'password: hunter2',
  '-----BEGIN PRIVATE KEY-----\nMIIhunter2\n-----END PRIVATE KEY-----',
];

const manifestsOf = ({ directory }: Checkout) => readFileSync(join(directory, 'manifests/all.yaml'), 'utf8');

const setDescription = async (bench: Bench, description: string) =>
  bench.byHand.update(await bench.idOf('app'), { description });

it('accept does not write a value that the patch hides in part, and prints nothing of it', async () => {
  const bench = await openBench();
  const stack = await bench.checkout();
  await stack.setUp(workspace('app', { autoApply: true, description: 'x' }));
  const before = manifestsOf(stack);
  for (const description of hidden) {
    await setDescription(bench, description);
    const asJson = ['--format', 'json'];
    for (const format of [[], asJson]) {
      const ran = await stack.run(['accept', '--all', '--yes', ...format], 1);
      expect(ran.out + ran.err).toContain('value-secret');
      expect(ran.out + ran.err).not.toContain('hunter2');
    }
    expect(manifestsOf(stack)).toBe(before);
  }
});

it('accept writes other values beside a refused one, also if the file already has a hidden value', async () => {
  const bench = await openBench();
  const stack = await bench.checkout();
  const text = (autoApply: boolean) =>
    `apiVersion: trueup.dev/v1\nkind: Workspace\nmetadata: { name: app }\nspec:\n  autoApply: ${autoApply}\n  description: https://me:old@h/ # kept\n`;
  await stack.write('manifests/all.yaml', text(true));
  await stack.run(['apply', '--yes'], 0);
  const id = await bench.idOf('app');
  await bench.byHand.update(id, { 'auto-apply': false, description: 'https://me:hunter2@h/' });
  const ran = await stack.run(['accept', '--all', '--yes'], 6);
  expect(ran.err).toContain('"description" of "Workspace/acme/app" is a secret, or holds one');
  expect(manifestsOf(stack)).toBe(text(false));
});

it('history show --revert does not write earlier values that the patch hides', async () => {
  const bench = await openBench();
  const stack = await bench.checkout();
  await stack.setUp(workspace('app', { autoApply: true }));
  await setDescription(bench, hidden[0] ?? '');
  await stack.declare(workspace('app', { autoApply: true, description: 'mine' }));
  await stack.run(['apply', '--yes'], 0);
  const [last] = JSON.parse((await stack.run(['history', '--format', 'json'], 0)).out).entries;
  const ran = await stack.run(['history', 'show', last.id, '--revert', '--write', '--yes'], 1);
  expect(ran.err).toContain('value-secret');
  expect(manifestsOf(stack)).not.toContain('hunter2');
});

it('accept writes no key that is a secret, and no secret that the stack only names', async () => {
  const bench = await openBench();
  const stack = await bench.checkout({ workspaces: { auditToken: { file: 'audit-token' } } });
  await stack.write('audit-token', 'planted-audit-token-77e0');
  const app = workspace('app', { autoApply: true, description: 'x' });
  const config = clusterAuthConfig({ tokenReviewerJwt: { env: 'REVIEWER_JWT' } });
  await stack.setUp(app, tagBindings('app', { tags: { env: 'prod' } }), config);
  const before = manifestsOf(stack);
  const tag = { type: 'tag-bindings', attributes: { key: secrets.API_TOKEN, value: 'v' } };
  await bench.byHand.patch(`/workspaces/${await bench.idOf('app')}/tag-bindings`, { data: [tag] });
  for (const secret of [secrets.REVIEWER_JWT, 'planted-audit-token-77e0']) {
    await setDescription(bench, `it is ${secret}`);
    const parts = ['Workspace/acme/app', 'TagBindings/acme/app'];
    const ran = await stack.run(['accept', ...parts, '--yes'], 1);
    expect(ran.err).toContain('"description" of "Workspace/acme/app" is a secret');
    expect(ran.err).toContain('"tags.[secret]" of "TagBindings/acme/app" is a secret');
    expect(ran.out + ran.err).not.toContain(secret);
    expect(manifestsOf(stack)).toBe(before);
  }
});
