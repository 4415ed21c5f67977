// The maximum length of a workspace name is checked before a service refuses a name in the middle of an apply.
import { expect, it } from 'vitest';
import { openBench } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';

const document = (kind: string, name: string, spec: object) => ({
  apiVersion: 'trueup.dev/v1',
  kind,
  metadata: { name },
  spec,
});

it('The name of a workspace can have at most 90 characters', async () => {
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
])('%s of a workspace have the same limit', async (kind, spec) => {
  const stack = await (await openBench()).checkout();
  await stack.declare(document(kind, 'w'.repeat(91), spec));
  const { err } = await stack.run(['validate'], 7);
  expect(err).toContain('allowed: the name of a workspace: at most 90 letters');
});
