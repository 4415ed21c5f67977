/** Bugs that crashes and storms have found, each as a minimal case. */
import { describe, expect, it } from 'vitest';
import { openBench } from '../support/cli/bench.ts';
import { workspace } from '../support/cli/documents.ts';

describe('A lock that another user takes during an apply', () => {
  it('is not recorded as ours, so that removing "lock" from the manifest does not release it', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'));
    const id = await bench.idOf('app');
    const first = () => bench.byHand.post(`/workspaces/${id}/actions/lock`, { reason: 'theirs' });
    bench.wire.add({ method: 'GET', path: new RegExp(`/workspaces/${id}\\b`), fault: { first } });
    await stack.declare(workspace('app', { lock: { reason: 'ours' } }));
    const { out } = await stack.run(['apply', '--yes'], 0);
    expect(out).toMatch(/unchanged +~ Workspace\/acme\/app/);
    expect((await stack.ledger()).records['Workspace/acme/app']?.marks).toBeUndefined();
    await stack.declare(workspace('app'));
    await stack.run(['apply', '--yes'], 0);
    expect(await bench.byHand.attributes(id)).toMatchObject({ locked: true });
  });
});

describe('A child of a workspace that this stack created', () => {
  it('is recorded as created by us, even if the ledger records it later', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'));
    await stack.declare(workspace('app', { tags: { env: 'prod' } }));
    await stack.run(['apply', '--yes'], 0);
    expect((await stack.ledger()).records['TagBindings/acme/app']).toMatchObject({ origin: 'created' });
  });
});
