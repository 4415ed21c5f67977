/**
 * Deletes on services without a safe delete, if the target sets `deletes: plain`: only the states show what a workspace holds,
 * and only the read just before the delete protects it.
 */
import { describe, expect, it } from 'vitest';
import { openBench } from '../../support/cli/bench.ts';
import type { Answer, RequestHandler } from '../../support/cli/faulty-proxy.ts';
import { removalRequest, workspace } from '../../support/cli/documents.ts';
import { saveState } from '../../support/cli/save-state.ts';
import { lacking } from '../../support/simulation/limited-service.ts';

const limited = lacking('safe-delete');

const counting =
  (count: number): RequestHandler =>
  async (request, pass) => {
    const answer = await limited(request, pass);
    return (
      answer && {
        ...answer,
        text: answer.text.replaceAll(/"resource-count":\d+/g, `"resource-count":${count}`),
      }
    );
  };

/** A stack that no longer declares `web`, on a service that counts no resources. */
async function openWithoutWeb(handler: RequestHandler = counting(0)) {
  const bench = await openBench();
  bench.wire.setHandler(handler);
  const stack = await bench.checkout({ workspaces: { deletes: 'plain' } });
  await stack.setUp(workspace('app'), workspace('web'));
  await stack.declare(workspace('app'));
  return { bench, stack, id: await bench.idOf('web') };
}

const flat = (text: string) => text.replace(/\s+/g, ' ');

describe('A workspace whose resources the service does not count', () => {
  it('is kept while its current state has resources, and the plan says why', async () => {
    const { bench, stack, id } = await openWithoutWeb();
    await saveState(bench.byHand, id, { instances: 2 });
    const { out } = await stack.run(['apply', '--yes'], 0);
    expect(flat(out)).toContain('to be deleted, but kept: its current state contains resources');
    expect(flat(out)).toContain('write a document for it with "metadata.remove: force"');
    expect(flat(out), 'the service would refuse nothing').not.toContain('refuse');
    expect(bench.written()).toEqual([]);
  });

  it('is kept if its newest state has resources, although it is not the current one', async () => {
    const { bench, stack, id } = await openWithoutWeb();
    await saveState(bench.byHand, id, { instances: 2, intermediate: true });
    expect(flat((await stack.run(['apply', '--yes'], 0)).out)).toContain(
      'its newest state contains resources',
    );
    expect(bench.written()).toEqual([]);
  });

  it('is kept if the state is written between plan and delete', async () => {
    const { bench, stack, id } = await openWithoutWeb();
    const count = counting(0);
    bench.wire.setHandler(async (request, pass) => {
      if (request.path.includes(`/workspaces/${id}?`)) await saveState(bench.byHand, id, { instances: 1 });
      return count(request, pass);
    });
    expect((await stack.run(['apply', '--yes'], 4)).out).toContain('its current state contains resources');
    expect(bench.written()).toEqual([]);
  });

  it.each([
    ['does not show what it holds', (text: string) => text.replace('"resources":[]', '"resources":null')],
    ['cannot be read', () => 'no'],
  ])('is kept if its state %s', async (_, change) => {
    const changedStates: RequestHandler = async (request, pass): Promise<Answer | undefined> => {
      const answer = await counting(0)(request, pass);
      const isState = /state-version/.test(request.path) && answer?.status === 200;
      return isState ? { ...answer, text: change(answer.text) } : answer;
    };
    const { bench, stack, id } = await openWithoutWeb(changedStates);
    await saveState(bench.byHand, id, { instances: 0 });
    await stack.run(['apply', '--yes'], 0);
    expect(bench.written()).toEqual([]);
  });

  it('is kept if the list of states is wrongly empty, and its document does not show the current one', async () => {
    const empty: RequestHandler = async (request, pass): Promise<Answer | undefined> => {
      const answer = await counting(0)(request, pass);
      if (answer?.status !== 200) return answer;
      if (!request.path.includes('/state-versions?'))
        return { ...answer, text: answer.text.replaceAll('"current-state-version"', '"other"') };
      return { ...answer, text: '{"data":[],"meta":{"pagination":{"total-count":0,"total-pages":1}}}' };
    };
    const { bench, stack, id } = await openWithoutWeb(empty);
    await saveState(bench.byHand, id, { instances: 2 });
    expect(flat((await stack.run(['apply', '--yes'], 0)).out)).toContain(
      'its current state contains resources',
    );
    expect(bench.written()).toEqual([]);
  });

  it('is deleted when its states hold nothing any more', async () => {
    const { bench, stack, id } = await openWithoutWeb();
    await saveState(bench.byHand, id, { instances: 2 });
    await saveState(bench.byHand, id, { serial: 2, instances: 0 });
    await stack.run(['apply', '--yes'], 0);
    expect(bench.written()).toEqual(['DELETE /api/v2/workspaces/ws-…']);
  });

  it('is deleted by force only if the loss of its state is acknowledged', async () => {
    const { bench, stack, id } = await openWithoutWeb();
    await saveState(bench.byHand, id, { instances: 2 });
    await stack.declare(workspace('app'), removalRequest('Workspace', 'web', 'force'));
    expect((await stack.run(['apply', '--yes'], 5)).out).toContain('and it loses its state');
    await bench.byHand.patch('/organizations/acme', {
      data: { type: 'organizations', attributes: { 'allow-force-delete-workspaces': true } },
    });
    await stack.applyAcknowledged();
    expect(await bench.idsOf('web')).toEqual([]);
  });
});

describe('A forced removal request without "deletes: plain" in the target', () => {
  const openForced = async (target: object = {}) => {
    const bench = await openBench();
    bench.wire.setHandler(limited);
    const stack = await bench.checkout({ workspaces: target });
    await stack.setUp(workspace('app'), workspace('web'));
    await stack.declare(workspace('app'), removalRequest('Workspace', 'web', 'force'));
    return { bench, stack };
  };

  it('deletes only after the guard is acknowledged', async () => {
    const { bench, stack } = await openForced();
    const { out } = await stack.run(['apply', '--yes'], 5);
    expect(flat(out)).toMatch(/forced-delete.*the target does not set "deletes: plain"/);
    expect(bench.written()).toEqual([]);
    await stack.applyAcknowledged();
    expect(await bench.idsOf('web')).toEqual([]);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('is not covered by an approval from when the target allowed it', async () => {
    const { bench, stack } = await openForced({ deletes: 'plain' });
    const { digest, guards } = await stack.plan();
    expect(guards).toEqual([]);
    const strict = await stack.reconfigure({ workspaces: {} });
    await strict.run(['apply', '--approve', digest], 4);
    expect(bench.written()).toEqual([]);
  });

  it('does not require a right that such a service does not have', async () => {
    const { stack } = await openForced();
    const { out } = await stack.run(['plan', '--calls'], 0);
    expect(out).toMatch(/DELETE .*\/workspaces\/ws-/);
    expect(out).not.toContain('can-force-delete');
  });
});

describe('A plain delete', () => {
  it.each([429, 503])('that is answered %i is not sent again without another read', async (status) => {
    let answered = false;
    const busy: RequestHandler = async (request, pass) => {
      if (request.method === 'DELETE' && !answered) {
        answered = true;
        return {
          status,
          headers: { 'content-type': 'application/vnd.api+json', 'retry-after': '1' },
          text: '{"errors":[]}',
        };
      }
      return counting(answered ? 4 : 0)(request, pass);
    };
    const { bench, stack } = await openWithoutWeb(busy);
    const { code } = await stack.tryRun(['apply', '--yes']);
    expect(code).not.toBe(0);
    expect(bench.written()).toEqual(['DELETE /api/v2/workspaces/ws-…']);
    expect(await bench.idsOf('web')).toHaveLength(1);
  });

  it('is sent again after a wait if nothing has changed', async () => {
    let answered = false;
    const { bench, stack } = await openWithoutWeb(async (request, pass) => {
      if (request.method !== 'DELETE' || answered) return counting(0)(request, pass);
      answered = true;
      return { status: 429, headers: { 'retry-after': '1' }, text: '' };
    });
    await stack.run(['apply', '--yes'], 0);
    expect(await bench.idsOf('web')).toEqual([]);
  });

  it('reads the workspace again after our own lock was removed', async () => {
    const bench = await openBench();
    let unlocked = false;
    bench.wire.setHandler((request, pass) => {
      unlocked ||= request.path.endsWith('/actions/unlock');
      return counting(unlocked ? 4 : 0)(request, pass);
    });
    const stack = await bench.checkout({ workspaces: { deletes: 'plain' } });
    await stack.setUp(
      workspace('app'),
      workspace('web', { lock: { reason: 'r' } }),
      workspace('db', { lock: { reason: 'r' } }),
    );
    await stack.declare(workspace('app'), workspace('db', { lock: { reason: 'r' } }));
    expect((await stack.run(['apply', '--yes'], 6)).out).toContain('it manages 4 resources');
    expect(await bench.idsOf('web')).toHaveLength(1);
    bench.wire.setHandler(counting(0));
    await stack.declare(workspace('app'));
    await stack.applyAcknowledged();
    expect(await bench.idsOf('db')).toEqual([]);
  });

  it('needs its own approval if a safe delete was approved', async () => {
    const bench = await openBench();
    const stack = await bench.checkout({ workspaces: { deletes: 'plain' } });
    await stack.setUp(workspace('app'), workspace('web'));
    await stack.declare(workspace('app'));
    const { digest } = await stack.plan();
    await stack.run(['plan', '--out', 'p.json'], 0);
    bench.wire.setHandler(limited);
    await stack.run(['apply', '--approve', digest], 4);
    await stack.run(['apply', 'p.json'], 4);
    expect(bench.written()).toEqual([]);
    expect((await stack.run(['plan'], 0)).out).toMatch(/remove +plain/);
    await stack.run(['apply', '--yes'], 0);
    expect(await bench.idsOf('web')).toEqual([]);
  });
});
