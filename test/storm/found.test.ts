/** What crashes and storms have found, each as the small case that it comes down to. */
import { describe, expect, it } from 'vitest';
import { openBench } from '../support/cli/bench.ts';
import { workspace } from '../support/cli/documents.ts';

describe('A lock that somebody else takes while an apply runs', () => {
  it('is not recorded as ours, so that dropping "lock" from the manifest leaves it alone', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.begin(workspace('app'));
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

describe('A part of a workspace that this stack created', () => {
  it('is of our making also when the ledger hears of it only later', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.begin(workspace('app'));
    await stack.declare(workspace('app', { tags: { env: 'prod' } }));
    await stack.run(['apply', '--yes'], 0);
    expect((await stack.ledger()).records['TagBindings/acme/app']).toMatchObject({ origin: 'created' });
  });
});
