// Reverting an apply: the values before it are written into the current manifests.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openBench } from '../../support/cli/bench.ts';

it('history show --revert --write writes the values before an apply into the manifests', async () => {
  const stack = await (await openBench()).checkout();
  const file = 'manifests/all.yaml';
  const before = `apiVersion: trueup.dev/v1
kind: Workspace
metadata: { name: app }
spec:
  autoApply: false # by hand
  tags: # whose
    env: prod # where
`;
  await stack.write(file, before);
  await stack.run(['apply', '--yes'], 0);
  const after = before.replace('false', 'true').replace('env: prod # where', 'env: stage # there');
  await stack.write(file, after);
  await stack.run(['apply', '--yes'], 0);
  const { out } = await stack.run(['history', '--format', 'json'], 0);
  const [last, first] = JSON.parse(out).entries as { id: string }[];
  const revert = (entry = last) => ['history', 'show', entry?.id ?? '', '--revert', '--write'];
  expect((await stack.run(['history', 'show', last?.id ?? '', '--write'], 1)).err).toContain('pass both');
  expect((await stack.run(revert(), 1)).err).toContain('pass --yes');
  await stack.run([...revert(), '--dry-run'], 0);
  const text = () => readFileSync(join(stack.directory, file), 'utf8');
  expect(text()).toBe(after);
  await stack.run([...revert(), '--yes'], 0);
  expect(text()).toBe(before.replace('# where', '# there'));
  const { err } = await stack.run([...revert(first), '--yes'], 1);
  expect(err).toContain('"Workspace/acme/app" was created');
});
