// How long a workspace's name may be: known before a service refuses it in the middle of an apply.
import { expect, it } from 'vitest';
import { openBench } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';

const document = (kind: string, name: string, spec: object) => ({
  apiVersion: 'trueup.dev/v1',
  kind,
  metadata: { name },
  spec,
});

it('a workspace may have a name of 90 characters, and no longer one', async () => {
  const stack = await (await openBench()).checkout();
  await stack.declare(workspace('w'.repeat(90)));
  await stack.run(['apply', '--yes'], 0);
  for (const command of ['validate', 'plan', 'apply']) {
    await stack.declare(workspace('w'.repeat(91)));
    const { out, err } = await stack.run([command], 7);
    expect(out).toBe('');
    expect(err).toContain('error[pattern] manifests/all.yaml:');
    expect(err).toContain('allowed: at most 90 letters, digits, "-" and "_"\n');
  }
});

it.each([
  ['TagBindings', { tags: {} }],
  ['RemoteStateConsumers', { consumers: [] }],
])('%s of a workspace are held to the same', async (kind, spec) => {
  const stack = await (await openBench()).checkout();
  await stack.declare(document(kind, 'w'.repeat(91), spec));
  const { err } = await stack.run(['validate'], 7);
  expect(err).toContain('allowed: the name of a workspace: at most 90 letters');
});
