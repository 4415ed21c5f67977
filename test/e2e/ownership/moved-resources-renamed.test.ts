/** A workspace that was renamed in the service while it moves between stacks: it keeps its owner under any name. */
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { localLedger } from '../../../src/ledger/local-ledger.ts';
import { openBench } from '../../support/cli/bench.ts';
import { removalRequest, workspace } from '../../support/cli/documents.ts';

const mark = {
  apiVersion: 'trueup.dev/v1',
  kind: 'Workspace',
  metadata: { name: 'app', movedTo: { stack: 'payments' } },
};
const spec = { tags: { env: 'prod' } };

/** The stack `billing` has the workspace `app`, which is renamed in the service. */
async function renamed() {
  const bench = await openBench();
  const billing = await bench.checkout({ name: 'billing' });
  await billing.setUp(workspace('app', spec), workspace('other'));
  const payments = await bench.checkout({ name: 'payments' });
  const folder = relative(payments.directory, join(billing.directory, '.trueup'));
  await payments.declare(workspace('app', spec, { movedFrom: { stack: 'billing', folder } }));
  const rename = async () => {
    const id = await bench.idOf('app');
    const data = { type: 'workspaces', attributes: { name: 'app-ren' } };
    await bench.byHand.patch(`/workspaces/${id}`, { data });
    return id;
  };
  return { bench, billing, payments, rename };
}

describe('A workspace that was renamed in the service', () => {
  it('stays with its former stack until the other one takes it over', async () => {
    const { bench, billing, payments, rename } = await renamed();
    const id = await rename();
    await billing.declare(mark, workspace('other'));
    const { changes, mentions } = await billing.plan();
    expect(changes).toEqual([]);
    expect(mentions).toMatchObject([{ message: expect.stringContaining('until stack "payments" takes it') }]);
    await billing.run(['apply', '--yes'], 0);
    expect(bench.wire.writes()).toEqual([]);
    await payments.applyAcknowledged();
    expect(await bench.idsOf('app')).toEqual([id]);
    expect(await bench.tagsOf('app')).toEqual({ env: 'prod', 'trueup-stack': 'payments' });
  });

  it('is left alone by its former stack after the move, although the ownership tag is not written yet', async () => {
    const { bench, billing, payments, rename } = await renamed();
    await payments.applyAcknowledged();
    const binding = { type: 'tag-bindings', attributes: { key: 'trueup-stack', value: 'billing' } };
    const { stackId = '' } = await localLedger(billing.ledgerFile, 'billing').read();
    const value = `billing:id=${stackId}`;
    const id = await bench.idOf('app');
    const data = [{ ...binding, attributes: { ...binding.attributes, value } }];
    await bench.byHand.patch(`/workspaces/${id}/tag-bindings`, { data });
    await rename();
    bench.wire.reset();
    for (const documents of [[mark], [], [workspace('app', spec)]]) {
      await billing.declare(...documents, workspace('other'));
      const { out } = await billing.tryRun(['plan', '--format', 'json']);
      const { changes } = JSON.parse(out);
      expect(changes).toEqual([]);
    }
    expect(bench.wire.writes()).toEqual([]);
  });

  it('is not deleted if another workspace has its name now, not even by a removal request', async () => {
    const { bench, billing, rename } = await renamed();
    await rename();
    await bench.byHand.post('/organizations/acme/workspaces', {
      data: { type: 'workspaces', attributes: { name: 'app' } },
    });
    const request = removalRequest('Workspace', 'app-ren', 'safe');
    for (const documents of [[mark], [mark, request]]) {
      await billing.declare(...documents, workspace('other'));
      const { changes, mentions } = await billing.plan();
      expect(changes).toEqual([]);
      expect(mentions).toContainEqual(
        expect.objectContaining({ message: 'kept: it moves to stack "payments"' }),
      );
    }
    await billing.declare(mark, workspace('app-ren'), workspace('other'));
    expect((await billing.plan(9)).problems).toContainEqual(
      expect.objectContaining({ code: 'move-impossible' }),
    );
  });
});
