/**
 * Deletes on services without a safe delete, where the target says `deletes: plain`: nobody but the states themselves
 * tells what a workspace holds, and nobody guards it but the look just before.
 */
import { describe, expect, it } from 'vitest';
import { openBench } from '../../support/cli/bench.ts';
import type { Answer, Warden } from '../../support/cli/faulty-proxy.ts';
import { removalRequest, workspace } from '../../support/cli/documents.ts';
import { saveState } from '../../support/cli/save-state.ts';
import { lacking } from '../../support/simulation/limited-service.ts';

const limited = lacking('safe-delete');

const counting =
  (count: number): Warden =>
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
async function dropsWeb(warden: Warden = counting(0)) {
  const bench = await openBench();
  bench.wire.guardBy(warden);
  const stack = await bench.checkout({ workspaces: { deletes: 'plain' } });
  await stack.begin(workspace('app'), workspace('web'));
  await stack.declare(workspace('app'));
  return { bench, stack, id: await bench.idOf('web') };
}

const said = (text: string) => text.replace(/\s+/g, ' ');

describe('A workspace whose resources the service does not count', () => {
  it('is kept while its current state holds some, and the plan says why', async () => {
    const { bench, stack, id } = await dropsWeb();
    await saveState(bench.byHand, id, { instances: 2 });
    const { out } = await stack.run(['apply', '--yes'], 0);
    expect(said(out)).toContain('to be deleted, but kept: its current state contains resources');
    expect(said(out)).toContain('write a document for it with "metadata.remove: force"');
    expect(said(out), 'the service would refuse nothing').not.toContain('refuse');
    expect(bench.written()).toEqual([]);
  });

  it('is kept for a state that is not the current one', async () => {
    const { bench, stack, id } = await dropsWeb();
    await saveState(bench.byHand, id, { instances: 2, intermediate: true });
    expect(said((await stack.run(['apply', '--yes'], 0)).out)).toContain(
      'its newest state contains resources',
    );
    expect(bench.written()).toEqual([]);
  });

  it('is kept when the state comes between plan and delete', async () => {
    const { bench, stack, id } = await dropsWeb();
    const count = counting(0);
    bench.wire.guardBy(async (request, pass) => {
      if (request.path.includes(`/workspaces/${id}?`)) await saveState(bench.byHand, id, { instances: 1 });
      return count(request, pass);
    });
    expect((await stack.run(['apply', '--yes'], 4)).out).toContain('its current state contains resources');
    expect(bench.written()).toEqual([]);
  });

  it.each([
    ['does not tell what it holds', (text: string) => text.replace('"resources":[]', '"resources":null')],
    ['cannot be asked', () => 'no'],
  ])('is kept where its state %s', async (_, change) => {
    const tells: Warden = async (request, pass): Promise<Answer | undefined> => {
      const answer = await counting(0)(request, pass);
      const isState = /state-version/.test(request.path) && answer?.status === 200;
      return isState ? { ...answer, text: change(answer.text) } : answer;
    };
    const { bench, stack, id } = await dropsWeb(tells);
    await saveState(bench.byHand, id, { instances: 0 });
    await stack.run(['apply', '--yes'], 0);
    expect(bench.written()).toEqual([]);
  });

  it('is kept where the list of states is wrongly empty, and its document does not show the current one', async () => {
    const empty: Warden = async (request, pass): Promise<Answer | undefined> => {
      const answer = await counting(0)(request, pass);
      if (answer?.status !== 200) return answer;
      if (!request.path.includes('/state-versions?'))
        return { ...answer, text: answer.text.replaceAll('"current-state-version"', '"other"') };
      return { ...answer, text: '{"data":[],"meta":{"pagination":{"total-count":0,"total-pages":1}}}' };
    };
    const { bench, stack, id } = await dropsWeb(empty);
    await saveState(bench.byHand, id, { instances: 2 });
    expect(said((await stack.run(['apply', '--yes'], 0)).out)).toContain(
      'its current state contains resources',
    );
    expect(bench.written()).toEqual([]);
  });

  it('is deleted once its states hold nothing any more', async () => {
    const { bench, stack, id } = await dropsWeb();
    await saveState(bench.byHand, id, { instances: 2 });
    await saveState(bench.byHand, id, { serial: 2, instances: 0 });
    await stack.run(['apply', '--yes'], 0);
    expect(bench.written()).toEqual(['DELETE /api/v2/workspaces/ws-…']);
  });

  it('is deleted by force only once somebody agreed to lose its state', async () => {
    const { bench, stack, id } = await dropsWeb();
    await saveState(bench.byHand, id, { instances: 2 });
    await stack.declare(workspace('app'), removalRequest('Workspace', 'web', 'force'));
    expect((await stack.run(['apply', '--yes'], 5)).out).toContain('and it loses its state');
    await bench.byHand.patch('/organizations/acme', {
      data: { type: 'organizations', attributes: { 'allow-force-delete-workspaces': true } },
    });
    await stack.insist();
    expect(await bench.idsOf('web')).toEqual([]);
  });
});

describe('A removal request with force where the target does not say "deletes: plain"', () => {
  const asksForForce = async (target: object = {}) => {
    const bench = await openBench();
    bench.wire.guardBy(limited);
    const stack = await bench.checkout({ workspaces: target });
    await stack.begin(workspace('app'), workspace('web'));
    await stack.declare(workspace('app'), removalRequest('Workspace', 'web', 'force'));
    return { bench, stack };
  };

  it('deletes only once somebody agreed to that', async () => {
    const { bench, stack } = await asksForForce();
    const { out } = await stack.run(['apply', '--yes'], 5);
    expect(said(out)).toMatch(/forced-delete.*the target does not set "deletes: plain"/);
    expect(bench.written()).toEqual([]);
    await stack.insist();
    expect(await bench.idsOf('web')).toEqual([]);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('is not approved by who approved it where the target allowed it', async () => {
    const { bench, stack } = await asksForForce({ deletes: 'plain' });
    const { digest, guards } = await stack.plan();
    expect(guards).toEqual([]);
    const strict = await stack.become({ workspaces: {} });
    await strict.run(['apply', '--approve', digest], 4);
    expect(bench.written()).toEqual([]);
  });

  it('needs no right that such a service does not have', async () => {
    const { stack } = await asksForForce();
    const { out } = await stack.run(['plan', '--calls'], 0);
    expect(out).toMatch(/DELETE .*\/workspaces\/ws-/);
    expect(out).not.toContain('can-force-delete');
  });
});

describe('A plain delete', () => {
  it.each([429, 503])('that is answered %i is not sent again without another read', async (status) => {
    let answered = false;
    const busy: Warden = async (request, pass) => {
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
    const { bench, stack } = await dropsWeb(busy);
    const { code } = await stack.tryRun(['apply', '--yes']);
    expect(code).not.toBe(0);
    expect(bench.written()).toEqual(['DELETE /api/v2/workspaces/ws-…']);
    expect(await bench.idsOf('web')).toHaveLength(1);
  });

  it('that waits for a moment goes on where nothing changed meanwhile', async () => {
    let answered = false;
    const { bench, stack } = await dropsWeb(async (request, pass) => {
      if (request.method !== 'DELETE' || answered) return counting(0)(request, pass);
      answered = true;
      return { status: 429, headers: { 'retry-after': '1' }, text: '' };
    });
    await stack.run(['apply', '--yes'], 0);
    expect(await bench.idsOf('web')).toEqual([]);
  });

  it('is read once more after our own lock was taken off', async () => {
    const bench = await openBench();
    let unlocked = false;
    bench.wire.guardBy((request, pass) => {
      unlocked ||= request.path.endsWith('/actions/unlock');
      return counting(unlocked ? 4 : 0)(request, pass);
    });
    const stack = await bench.checkout({ workspaces: { deletes: 'plain' } });
    await stack.begin(
      workspace('app'),
      workspace('web', { lock: { reason: 'r' } }),
      workspace('db', { lock: { reason: 'r' } }),
    );
    await stack.declare(workspace('app'), workspace('db', { lock: { reason: 'r' } }));
    expect((await stack.run(['apply', '--yes'], 6)).out).toContain('it manages 4 resources');
    expect(await bench.idsOf('web')).toHaveLength(1);
    bench.wire.guardBy(counting(0));
    await stack.declare(workspace('app'));
    await stack.insist();
    expect(await bench.idsOf('db')).toEqual([]);
  });

  it('is approved as such: what was approved was a safe one', async () => {
    const bench = await openBench();
    const stack = await bench.checkout({ workspaces: { deletes: 'plain' } });
    await stack.begin(workspace('app'), workspace('web'));
    await stack.declare(workspace('app'));
    const { digest } = await stack.plan();
    await stack.run(['plan', '--out', 'p.json'], 0);
    bench.wire.guardBy(limited);
    await stack.run(['apply', '--approve', digest], 4);
    await stack.run(['apply', 'p.json'], 4);
    expect(bench.written()).toEqual([]);
    expect((await stack.run(['plan'], 0)).out).toMatch(/remove +plain/);
    await stack.run(['apply', '--yes'], 0);
    expect(await bench.idsOf('web')).toEqual([]);
  });
});
