/** A forced delete overrides what stops a safe delete, but only what was shown and acknowledged. */
import { describe, expect, it } from 'vitest';
import { openBench } from '../../support/cli/bench.ts';
import { removalRequest, workspace } from '../../support/cli/documents.ts';

const anchor = workspace('anchor');
const oneLine = (out: string) => out.replace(/\s+/g, ' ');

/** A stack that asks for the workspace `app` to be deleted by force; it manages this many resources. */
async function withForcedDelete(resources = 0) {
  const app = { name: 'app', 'resource-count': resources };
  const bench = await openBench({ organization: { workspaces: [app] } });
  const stack = await bench.checkout();
  await stack.setUp(workspace('app', {}, { adopt: true }), anchor);
  const id = await bench.idOf('app');
  await stack.declare(removalRequest('Workspace', 'app', 'force'), anchor);
  const lock = (reason: string) => bench.byHand.post(`/workspaces/${id}/actions/lock`, { reason });
  const unlock = () => bench.byHand.post(`/workspaces/${id}/actions/force-unlock`);
  return { bench, stack, lock, unlock, deletion: `DELETE /api/v2/workspaces/ws-…` };
}

describe('a forced deletion', () => {
  it('that overrides nothing needs no acknowledgement', async () => {
    const { bench, stack, deletion } = await withForcedDelete();
    const { changes, guards } = await stack.plan();
    expect(changes).toMatchObject([{ action: 'delete', fields: [{ path: '/remove' }] }]);
    expect(guards.map(({ id }) => id)).not.toContain('forced-delete');
    await stack.run(['apply', '--yes'], 0);
    expect(bench.written()).toEqual([deletion]);
  });

  it('of a workspace that manages resources says how many lose their state, and needs an acknowledgement', async () => {
    const { bench, stack, deletion } = await withForcedDelete(5);
    const { out } = await stack.run(['apply', '--yes'], 5);
    expect(oneLine(out)).toContain('note: it manages 5 resources, and loses their state');
    expect(oneLine(out)).toMatch(/blocks forced-delete 1 Workspace .* app: it manages 5 resources/);
    expect(bench.wire.writes()).toEqual([]);
    await stack.applyAcknowledged();
    expect(bench.written()).toEqual([deletion]);
  });

  it('of a workspace that somebody else has locked says so, and needs an acknowledgement', async () => {
    const { bench, stack, lock, deletion } = await withForcedDelete();
    await lock('bob works');
    const { out } = await stack.run(['apply', '--yes'], 5);
    expect(oneLine(out)).toContain('note: it is locked ("bob works"), and not by this stack');
    expect(oneLine(out)).toMatch(/overrides\.lock users user-\w+, bob works/);
    expect(bench.wire.writes()).toEqual([]);
    await stack.applyAcknowledged();
    expect(bench.written()).toEqual([deletion]);
  });

  it('is approved only for what it overrides: with another lock or other resources it is another plan', async () => {
    const digests: string[] = [];
    const { stack, lock, unlock, bench } = await withForcedDelete();
    const digest = async () => digests.push((await stack.plan()).digest);
    await digest();
    await lock('bob works');
    await digest();
    await unlock();
    await lock('ann works');
    await digest();
    await unlock();
    const grown = {
      rewrite: (body: unknown) =>
        JSON.parse(JSON.stringify(body).replaceAll('"resource-count":0', '"resource-count":7')),
    };
    bench.wire.add({ method: 'GET', path: /\/workspaces\?/, fault: grown });
    await digest();
    expect(new Set(digests).size).toBe(4);
    bench.wire.reset();
    const approved = digests[1] ?? '';
    await stack.run(['apply', '--approve', approved, '--ack', 'forced-delete'], 4);
    expect(bench.wire.writes()).toEqual([]);
  });

  it('is not sent when somebody locks the workspace while it is applied', async () => {
    const { bench, stack, lock } = await withForcedDelete();
    const path = /\/(workspaces\/ws-\w+|organizations\/acme\/workspaces\/app)(\?|$)/;
    bench.wire.add({ method: 'GET', path, fault: { first: () => lock('bob works') } });
    const { out } = await stack.run(['apply', '--yes'], 4);
    expect(oneLine(out)).toContain('it is locked ("bob works"), and not by this stack');
    expect(bench.wire.writes()).toEqual([]);
    expect(await bench.idsOf('app')).toHaveLength(1);
  });
});
