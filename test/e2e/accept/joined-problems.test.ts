/** A problem that several resources share is one message with their names. Accepting one of them does not make it a new problem. */
import { expect, it } from 'vitest';
import { openBench } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';

it('accept --remove drops a resource that is gone, although it shared a problem with other resources', async () => {
  const bench = await openBench();
  const stack = await bench.checkout({
    spec: { defaults: { Workspace: { remoteStateConsumers: ['reader'] } } },
  });
  await bench.byHand.create({ name: 'reader' });
  await stack.write('manifests/b.yaml', JSON.stringify(workspace('b')));
  await stack.write('manifests/c.yaml', JSON.stringify(workspace('c')));
  await stack.setUp(workspace('a'));
  await bench.byHand.delete(`/workspaces/${await bench.idOf('reader')}`);
  await bench.byHand.delete(`/workspaces/${await bench.idOf('a')}`);
  const { err } = await stack.run(['accept', 'Workspace/acme/a', '--remove', '--yes'], 6);
  expect(err).toContain('(and the same for ');
  expect(err).not.toContain('there would be an error');
  const { changes } = await stack.plan(7);
  expect(changes.map(({ address }) => address)).not.toContain('Workspace/acme/a');
});
