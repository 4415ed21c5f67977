/** Force gets past what a safe delete is refused for, and past nothing that nobody has read. */
import { describe, expect, it } from 'vitest';
import { openBench } from '../../support/cli/bench.ts';
import { removalRequest, workspace } from '../../support/cli/documents.ts';

const anchor = workspace('anchor');
const words = (out: string) => out.replace(/\s+/g, ' ');

/** A stack that asks for the workspace `app` to be deleted by force; it manages this many resources. */
async function asked(resources = 0) {
  const app = { name: 'app', 'resource-count': resources };
  const bench = await openBench({ organization: { workspaces: [app] } });
  const stack = await bench.checkout();
  await stack.begin(workspace('app', {}, { adopt: true }), anchor);
  const id = await bench.idOf('app');
  await stack.declare(removalRequest('Workspace', 'app', 'force'), anchor);
  const lock = (reason: string) => bench.byHand.post(`/workspaces/${id}/actions/lock`, { reason });
  const unlock = () => bench.byHand.post(`/workspaces/${id}/actions/force-unlock`);
  return { bench, stack, lock, unlock, deletion: `DELETE /api/v2/workspaces/ws-…` };
}

describe('a forced deletion', () => {
  it('that overrides nothing needs no more than a safe one', async () => {
    const { bench, stack, deletion } = await asked();
    const { changes, guards } = await stack.plan();
    expect(changes).toMatchObject([{ action: 'delete', fields: [{ path: '/remove' }] }]);
    expect(guards.map(({ id }) => id)).not.toContain('forced-delete');
    await stack.run(['apply', '--yes'], 0);
    expect(bench.written()).toEqual([deletion]);
  });

  it('of a workspace that manages resources says how many lose their state, and waits for somebody to have read it', async () => {
    const { bench, stack, deletion } = await asked(5);
    const { out } = await stack.run(['apply', '--yes'], 5);
    expect(words(out)).toContain('note: it manages 5 resources, and loses their state');
    expect(words(out)).toMatch(/blocks forced-delete 1 Workspace .* app: it manages 5 resources/);
    expect(bench.wire.writes()).toEqual([]);
    await stack.insist();
    expect(bench.written()).toEqual([deletion]);
  });

  it('of a workspace that somebody else has locked says so, and waits for somebody to have read it', async () => {
    const { bench, stack, lock, deletion } = await asked();
    await lock('bob works');
    const { out } = await stack.run(['apply', '--yes'], 5);
    expect(words(out)).toContain('note: it is locked ("bob works"), and not by this stack');
    expect(words(out)).toMatch(/overrides\.lock users user-\w+, bob works/);
    expect(bench.wire.writes()).toEqual([]);
    await stack.insist();
    expect(bench.written()).toEqual([deletion]);
  });

  it('is approved for what it overrides: another lock, or other resources, are another plan', async () => {
    const digests: string[] = [];
    const { stack, lock, unlock, bench } = await asked();
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
    const { bench, stack, lock } = await asked();
    const path = /\/(workspaces\/ws-\w+|organizations\/acme\/workspaces\/app)(\?|$)/;
    bench.wire.add({ method: 'GET', path, fault: { first: () => lock('bob works') } });
    const { out } = await stack.run(['apply', '--yes'], 4);
    expect(words(out)).toContain('it is locked ("bob works"), and not by this stack');
    expect(bench.wire.writes()).toEqual([]);
    expect(await bench.idsOf('app')).toHaveLength(1);
  });
});
