/** Nothing is deleted without evidence: workspaces that are not declared any more, and removal requests. */
import { describe, expect, it } from 'vitest';
import { bindings } from '../../support/server/serve-for-test.ts';
import { openBench } from '../../support/cli/bench.ts';
import { role, removalRequest, workspace } from '../../support/cli/documents.ts';

/** Something that stays declared: a stack without any manifest is an incomplete read, after which nothing is removed. */
const anchor = workspace('anchor');

describe('a workspace that is no longer declared', () => {
  it('is deleted, by safe delete only, when this stack created it', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'), workspace('old'));
    await stack.declare(workspace('app'));
    const { out } = await stack.run(['apply', '--yes'], 0);
    expect(out).toContain('no longer declared; this stack created it');
    expect(bench.written()).toEqual(['POST /api/v2/workspaces/ws-…/actions/safe-delete']);
    expect(await bench.idsOf('old')).toEqual([]);
    expect((await stack.ledger()).records).not.toHaveProperty('Workspace/acme/old');
  });

  it('is released when it was adopted: its ownership tag is removed, and it stays as it is', async () => {
    const bench = await openBench({
      organization: { workspaces: [{ name: 'old', 'tag-bindings': { team: 'payments' } }] },
    });
    const stack = await bench.checkout();
    await stack.setUp(workspace('old', { autoApply: true }, { adopt: true }), anchor);
    await stack.declare(anchor);
    const plan = await stack.plan();
    expect(plan.summary).toMatchObject({ release: 1, delete: 0 });
    await stack.run(['apply', '--yes'], 0);
    expect(await bench.tagsOf('old')).toEqual({ team: 'payments' });
    expect(await bench.byHand.attributes(await bench.idOf('old'))).toMatchObject({ 'auto-apply': true });
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('is released with its tags and consumers, which the plan names', async () => {
    const bench = await openBench({ organization: { workspaces: [{ name: 'old' }] } });
    const stack = await bench.checkout();
    const given = { remoteStateConsumers: ['reader', 'gone'], tags: { team: 'payments', cost: '7' } };
    const others = [workspace('reader'), workspace('gone')];
    await stack.setUp(workspace('old', given, { adopt: true }), ...others);
    const id = await bench.idOf('old');
    const gone = { data: [{ type: 'workspaces', id: await bench.idOf('gone') }] };
    await bench.byHand.delete(`/workspaces/${id}/relationships/remote-state-consumers`, gone);
    const ownershipTag = (await bench.tagsOf('old'))['trueup-stack'];
    await bench.byHand.update(
      id,
      {},
      bindings({ team: 'payments', cost: '8', 'trueup-stack': ownershipTag }),
    );
    await stack.declare(...others);
    const { changes } = await stack.plan();
    expect(changes).toMatchObject([{ action: 'release', address: 'Workspace/acme/old' }]);
    expect(changes[0]?.notes).toEqual(['its tag "team" stays', '"reader" keeps reading its state']);
    await stack.run(['apply', '--yes'], 0);
    expect(bench.wire.writes()).toHaveLength(1);
    expect(await bench.tagsOf('old')).toEqual({ team: 'payments', cost: '8' });
  });

  it('is released by the approved plan also when the apply before it was interrupted', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    const leaving = workspace('old', { tags: { env: 'dev' } }, { onRemove: 'release' });
    await stack.setUp(leaving, anchor);
    await stack.declare(workspace('anchor', { description: 'changed' }));
    await stack.run(['plan', '--out', 'approved.json'], 0);
    const path = new RegExp(`/workspaces/${await bench.idOf('old')}$`);
    bench.wire.add({ method: 'PATCH', path, fault: { answer: 422 } });
    await stack.run(['apply', 'approved.json'], 6);
    await stack.run(['apply', 'approved.json'], 0);
    expect(await bench.tagsOf('old')).toEqual({ env: 'dev' });
    expect(Object.keys((await stack.ledger()).records)).toEqual(['Workspace/acme/anchor']);
  });

  it('is kept when it was protected, and other changes are applied', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('vault', {}, { protect: true }));
    await stack.declare(workspace('new'));
    const { out } = await stack.run(['apply', '--yes'], 0);
    expect(out).toContain('no longer declared, and protected: it is kept');
    expect(await bench.idsOf('vault')).toHaveLength(1);
    expect(await bench.idsOf('new')).toHaveLength(1);
    expect((await stack.run(['plan', '--exit-code'], 0)).out).toContain('protected: it is kept');
  });

  it('is released when its manifest had "onRemove: release", although this stack created it', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('lent', {}, { onRemove: 'release' }), anchor);
    await stack.declare(anchor);
    await stack.run(['apply', '--yes'], 0);
    expect(await bench.tagsOf('lent')).toEqual({});
  });

  it('is deleted without a ledger only after an acknowledgement, and nothing is reset or revoked', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    const both = [workspace('reader'), role('web')];
    await stack.setUp(
      workspace('app', { autoApply: true, remoteStateConsumers: ['reader'], tags: { env: 'prod' } }),
      workspace('old'),
      role('old'),
      ...both,
    );
    await stack.loseLedger();
    await stack.declare(workspace('app', {}), ...both);
    const { out } = await stack.run(['apply', '--yes'], 5);
    expect(out.replace(/\s+/g, ' ')).toContain(
      'ledger none (first apply, or the ledger is lost): no field is reset, no access revoked',
    );
    expect(out).toContain('1 to adopt, 1 to delete, 2 unchanged');
    expect(out).toContain('! blocks  no-record');
    expect(bench.wire.writes()).toEqual([]);
    await stack.applyAcknowledged();
    expect(bench.written()).toEqual(['POST /api/v2/workspaces/ws-…/actions/safe-delete']);
  });

  it('is kept while somebody else has locked it, and the plan shows the reason', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('old'), anchor);
    await bench.byHand.post(`/workspaces/${await bench.idOf('old')}/actions/lock`, {
      reason: 'under repair',
    });
    await stack.declare(anchor);
    const { out } = await stack.run(['apply', '--yes'], 0);
    expect(out).toContain('it is locked ("under repair")');
    expect(bench.wire.writes()).toEqual([]);
  });

  it('is kept while it manages resources, and the plan says how many', async () => {
    const bench = await openBench({
      organization: {
        workspaces: [
          {
            name: 'busy',
            'resource-count': 3,
            'source-name': 'trueup/payments',
            'tag-bindings': { 'trueup-stack': 'payments' },
          },
        ],
      },
    });
    const stack = await bench.checkout();
    await stack.setUp(workspace('busy'), anchor);
    await stack.declare(anchor);
    const { out } = await stack.run(['apply', '--yes'], 0);
    expect(out.replace(/\s+/g, ' ')).toContain('it manages 3 resources');
    expect(bench.wire.writes()).toEqual([]);
    await stack.declare(removalRequest('Workspace', 'busy', 'safe'), anchor);
    expect((await stack.run(['apply', '--yes'], 0)).out).toContain('it manages 3 resources');
    expect(bench.wire.writes()).toEqual([]);
    await stack.declare(removalRequest('Workspace', 'busy', 'force'), anchor);
    await stack.applyAcknowledged();
    expect(bench.written()).toEqual(['DELETE /api/v2/workspaces/ws-…']);
    expect(await bench.idsOf('busy')).toEqual([]);
  });
});

describe('a deletion by which others lose access to a state', () => {
  const readers = ['keeps', 'goes'].map((name) => workspace(name));

  it('shows in the plan which remaining workspaces lose it, also those that somebody else added', async () => {
    const bench = await openBench({ organization: { workspaces: [{ name: 'stranger' }] } });
    const stack = await bench.checkout();
    await stack.setUp(workspace('app', { remoteStateConsumers: ['keeps', 'goes'] }), ...readers);
    await bench.byHand.post(`/workspaces/${await bench.idOf('app')}/relationships/remote-state-consumers`, {
      data: [{ type: 'workspaces', id: await bench.idOf('stranger') }],
    });
    await stack.declare(workspace('keeps'));
    const plan = await stack.plan();
    const deletion = plan.changes.find(({ address }) => address === 'Workspace/acme/app');
    expect(deletion).toMatchObject({
      action: 'delete',
      notes: ['workspaces that stay lose access to its state: "keeps", "stranger"'],
    });
    expect((await stack.run(['plan'], 0)).out.replace(/\s+/g, ' ')).toContain(
      'workspaces that stay lose access to its state: "keeps", "stranger"',
    );
  });

  it('shows them without a ledger and for a removal request, too', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app', { remoteStateConsumers: ['keeps'] }), ...readers);
    await stack.loseLedger();
    await stack.declare(removalRequest('Workspace', 'app', 'safe'), ...readers);
    expect((await stack.plan()).changes).toMatchObject([
      { action: 'delete', notes: ['workspaces that stay lose access to its state: "keeps"'] },
    ]);
  });

  it('says that they are unknown when the state is shared with the whole organization', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app', { globalRemoteState: true }), ...readers);
    await stack.applyAcknowledged();
    bench.wire.reset();
    await stack.declare(...readers);
    const [deletion] = (await stack.plan()).changes;
    expect(deletion?.notes).toEqual([
      'its state is shared with the whole organization: workspaces that read it lose access',
    ]);
    expect(bench.wire.seen.filter(({ path }) => path.includes('remote-state-consumers'))).toEqual([]);
  });

  it('of a list of consumers names in the plan who loses access', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app', { remoteStateConsumers: ['keeps', 'goes'] }), ...readers);
    await stack.declare(workspace('app'), ...readers);
    const plan = await stack.plan();
    expect(plan.changes).toMatchObject([
      {
        address: 'RemoteStateConsumers/acme/app',
        action: 'delete',
        risks: [{ effect: 'narrows', says: '"goes", "keeps" lose access to the state' }],
      },
    ]);
    await stack.applyAcknowledged();
    expect(bench.written()).toEqual(['DELETE /api/v2/workspaces/ws-…/relationships/remote-state-consumers']);
  });

  it('of a list of consumers revokes access also if the workspace is renamed in the same plan', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app', { remoteStateConsumers: ['keeps', 'goes'] }), ...readers);
    await stack.declare(workspace('shop', {}, { renamedFrom: 'app' }), ...readers);
    const plan = await stack.plan();
    expect(plan.changes).toMatchObject([
      { address: 'Workspace/acme/shop', action: 'update' },
      { address: 'RemoteStateConsumers/acme/shop', action: 'delete' },
    ]);
    await stack.applyAcknowledged();

    const readersOfShop = `/workspaces/${await bench.idOf('shop')}/relationships/remote-state-consumers`;
    expect((await bench.byHand.get(readersOfShop)).resources).toEqual([]);
    await stack.run(['plan', '--exit-code'], 0);
  });
});

describe('a removal request', () => {
  it('deletes an adopted workspace safely, and the next plan says that the request can be deleted', async () => {
    const bench = await openBench({ organization: { workspaces: [{ name: 'app' }] } });
    const stack = await bench.checkout();
    await stack.setUp(workspace('app', {}, { adopt: true }), anchor);
    await stack.declare(removalRequest('Workspace', 'app', 'safe'), anchor);
    await stack.run(['apply', '--yes'], 0);
    expect(bench.written()).toEqual(['POST /api/v2/workspaces/ws-…/actions/safe-delete']);
    const { out } = await stack.run(['plan', '--exit-code'], 0);
    expect(out).toContain('its removal request can be deleted');
  });

  it('leaves the records of a workspace that has another name in the service now', async () => {
    const bench = await openBench({ organization: { workspaces: [{ name: 'app' }, { name: 'reader' }] } });
    const stack = await bench.checkout();
    await stack.setUp(
      workspace('app', { remoteStateConsumers: ['reader'], globalRemoteState: false }, { adopt: true }),
      anchor,
    );
    const path = `/workspaces/${await bench.idOf('app')}`;
    await bench.byHand.patch(path, { data: { type: 'workspaces', attributes: { name: 'renamed' } } });
    await stack.declare(removalRequest('Workspace', 'app', 'force'), anchor);
    const { out } = await stack.run(['plan'], 0);
    expect(out.replace(/\s+/g, ' ')).toContain(
      'its name in the service is "renamed" now: it is released as no longer declared, see the change of "Workspace/acme/renamed"',
    );
    await stack.applyAcknowledged();
    const readers = await bench.byHand.get(`${path}/relationships/remote-state-consumers`);
    expect(readers.resources).toHaveLength(1);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it.each([
    ['safe', 'it is removed as no longer declared, see the change of "Workspace/acme/renamed"'],
    [
      'force',
      'it is removed as no longer declared, and not by force, see the change of "Workspace/acme/renamed"',
    ],
  ] as const)(
    'for the former name of a workspace that this stack created (%s) says that it is deleted under its present name',
    async (remove, says) => {
      const bench = await openBench();
      const stack = await bench.checkout();
      await stack.setUp(workspace('app'), anchor);
      const id = await bench.idOf('app');
      await bench.byHand.update(id, { name: 'renamed' });
      await stack.declare(removalRequest('Workspace', 'app', remove), anchor);
      const { changes, mentions, guards } = await stack.plan();
      expect(changes.map(({ action, address }) => `${action} ${address}`)).toEqual([
        'delete Workspace/acme/renamed',
      ]);
      expect(mentions.map(({ address, message }) => [address, message])).toEqual([
        ['Workspace/acme/app', `its name in the service is "renamed" now: ${says}`],
      ]);
      expect(guards.map(({ id: guard, message, concerns }) => [guard, message, concerns[0]?.says])).toEqual([
        [
          'reference-changed',
          '1 Workspace in "acme" would be removed under another name than before: names were changed in the service',
          [
            `the ledger has "${id}" as "Workspace/acme/app"; this plan deletes "${id}": to keep it, declare it as "renamed"`,
          ],
        ],
      ]);
      await stack.applyAcknowledged();
      expect(bench.written()).toEqual(['POST /api/v2/workspaces/ws-…/actions/safe-delete']);
      expect((await stack.run(['plan', '--exit-code'], 0)).out).toContain(
        'its removal request can be deleted',
      );
    },
  );

  it('for the former name of a workspace is superfluous beside one for its present name', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'), anchor);
    await bench.byHand.update(await bench.idOf('app'), { name: 'renamed' });
    const requests = ['app', 'renamed'].map((name) => removalRequest('Workspace', name, 'safe'));
    await stack.declare(...requests, anchor);
    const { out } = await stack.run(['plan'], 0);
    expect(out.replace(/\s+/g, ' ')).toContain(
      'its name in the service is "renamed" now: the removal request for "renamed" removes it fix: delete this removal request',
    );
    await stack.applyAcknowledged();
    expect(await bench.idsOf('renamed')).toEqual([]);
  });

  it('for the former name of a workspace that is declared with a new one does not remove it', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'), anchor);
    await stack.declare(
      workspace('moved', {}, { renamedFrom: 'app' }),
      removalRequest('Workspace', 'app', 'safe'),
      anchor,
    );
    expect((await stack.run(['plan'], 0)).out).toContain('it is declared as "moved"');
    await stack.applyAcknowledged();
    expect(await bench.idsOf('moved')).toHaveLength(1);
    expect(Object.keys((await stack.ledger()).records)).not.toContain('Workspace/acme/app');
    await stack.run(['plan', '--exit-code'], 0);
  });

  it("removes nothing that is not this stack's, and nothing that is protected", async () => {
    const bench = await openBench({ organization: { workspaces: [{ name: 'stranger' }] } });
    const stack = await bench.checkout();
    await stack.setUp(workspace('vault', {}, { protect: true }));
    await stack.declare(
      removalRequest('Workspace', 'stranger', 'force'),
      removalRequest('Workspace', 'vault', 'force'),
    );
    const { out } = await stack.run(['apply', '--yes'], 9);
    expect(out).toContain('"Workspace/acme/stranger" does not belong to this stack');
    expect(out).toContain('"Workspace/acme/vault" is protected');
    expect(bench.wire.writes()).toEqual([]);
  });
});
