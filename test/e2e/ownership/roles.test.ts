/** Roles and the config of a mount have no ownership tag: the ledger and the target's patterns decide who owns them. */
import { describe, expect, it } from 'vitest';
import { openBench } from '../../support/cli/bench.ts';
import { clusterAuthConfig, role, removalRequest } from '../../support/cli/documents.ts';

const anchor = role('payments-anchor');

describe('roles', () => {
  it('outside of what the target owns cannot be declared', async () => {
    const bench = await openBench();
    const stack = await bench.checkout({ clusterAuth: { owns: ['payments-*'] } });
    await stack.declare(role('billing-api'));
    const { err } = await stack.run(['plan'], 7);
    expect(err).toContain('payments-*');
    expect(bench.wire.seen).toEqual([]);
  });

  it('that exist exactly as declared are recorded, and nothing is written', async () => {
    const bench = await openBench();
    const stack = await bench.checkout({ clusterAuth: { owns: ['payments-*'] } });
    await bench.byHandMount('POST', 'role/payments-api', {
      bound_service_account_names: ['app'],
      bound_service_account_namespaces: ['payments'],
      token_ttl: 3600,
      audience: 'vault',
    });
    await stack.declare(role('payments-api'));
    await stack.run(['apply', '--yes'], 0);
    expect(bench.wire.writes()).toEqual([]);
    expect((await stack.ledger()).records).toHaveProperty('ClusterAuthRole/prod/payments-api');
  });

  it('that exist and differ are adopted only with "adopt: true", and the plan shows all differences', async () => {
    const bench = await openBench();
    const stack = await bench.checkout({ clusterAuth: { owns: ['payments-*'] } });
    await bench.byHandMount('POST', 'role/payments-api', {
      bound_service_account_names: ['somebody'],
      bound_service_account_namespaces: ['payments'],
      token_policies: ['root-of-all'],
      audience: 'vault',
    });
    await stack.declare(role('payments-api', { tokenPolicies: ['read'] }));
    const refused = await stack.run(['apply', '--yes'], 5);
    expect(refused.out).toContain('! blocks  adopt');
    expect(refused.out).toContain('- root-of-all');
    expect(bench.wire.writes()).toEqual([]);
    await stack.declare(role('payments-api', { tokenPolicies: ['read'] }, { adopt: true }));
    const plan = await stack.plan();
    expect(plan.changes).toMatchObject([{ address: 'ClusterAuthRole/prod/payments-api', action: 'adopt' }]);
    expect(plan.changes[0]?.fields.map(({ path }) => path).toSorted()).toEqual([
      '/boundServiceAccountNames',
      '/tokenPolicies',
      '/tokenTtl',
    ]);
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('that are no longer declared are deleted when they are as we last wrote them', async () => {
    const bench = await openBench();
    const stack = await bench.checkout({ clusterAuth: { owns: ['payments-*'] } });
    await stack.setUp(role('payments-api'), role('payments-old', { tokenMaxTtl: '2h' }));
    await stack.declare(role('payments-api'));
    await stack.run(['apply', '--yes'], 0);
    expect(bench.written()).toEqual(['DELETE /v1/auth/cluster/role/payments-old']);
  });

  it('that somebody changed since our last write are kept, unless a removal request deletes them', async () => {
    const bench = await openBench();
    const stack = await bench.checkout({ clusterAuth: { owns: ['payments-*'] } });
    await stack.setUp(role('payments-old'), anchor);
    await bench.byHandMount('POST', 'role/payments-old', { token_policies: ['by-hand'] });
    await stack.declare(anchor);
    const { out } = await stack.run(['apply', '--yes'], 0);
    expect(out).toContain('changed since this stack last wrote it: it is kept');
    expect(bench.wire.writes()).toEqual([]);
    await stack.declare(removalRequest('ClusterAuthRole', 'payments-old', 'safe'), anchor);
    await stack.run(['apply', '--yes'], 0);
    expect(bench.written()).toEqual(['DELETE /v1/auth/cluster/role/payments-old']);
  });

  it.each([['payments-*'], ['Payments-*']])(
    'that we never wrote are deleted only if the target is exclusive to the stack, which owns %s',
    async (pattern) => {
      const bench = await openBench();
      const theirs = { bound_service_account_names: ['x'], bound_service_account_namespaces: ['y'] };
      await bench.byHandMount('POST', 'role/payments-theirs', theirs);
      await bench.byHandMount('POST', 'role/billing-theirs', theirs);
      const owns = [pattern];
      const polite = await bench.checkout({ clusterAuth: { owns } });
      await polite.setUp(role('payments-api'));
      expect((await polite.run(['apply', '--yes'], 0)).out).toContain(
        'never written by this stack: it is kept',
      );
      expect(bench.wire.writes()).toEqual([]);
      const strict = await bench.checkout({ clusterAuth: { owns, exclusive: true } });
      await strict.declare(role('payments-api'));
      const { out } = await strict.run(['apply', '--yes'], 5);
      expect(out).toContain('! blocks  no-record');
      await strict.applyAcknowledged();
      expect(bench.written()).toEqual(['DELETE /v1/auth/cluster/role/payments-theirs']);
    },
  );
});

describe('the config of a mount', () => {
  it('is released when its document is gone: it stays, and its record is removed', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(clusterAuthConfig(), role('web'));
    await stack.declare(role('web'));
    expect((await stack.plan()).summary).toMatchObject({ release: 1 });
    await stack.applyAcknowledged();
    expect(bench.wire.writes()).toEqual([]);
    expect(await bench.byHandMount('GET', 'config')).toMatchObject({
      cluster_host: 'https://cluster.internal:6443',
    });
    expect((await stack.ledger()).records).not.toHaveProperty('ClusterAuthConfig/prod/config');
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('is not written when that would wipe a stored reviewer JWT', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(clusterAuthConfig({ tokenReviewerJwt: { env: 'REVIEWER_JWT' } }));
    const moved = { clusterHost: 'https://other.internal:6443' };
    await stack.declare(clusterAuthConfig(moved));
    const { out } = await stack.run(['apply', '--yes'], 7);
    expect(out).toContain('this one would wipe it');
    expect(out).toContain('tokenReviewerJwt: null');
    expect(bench.wire.writes()).toEqual([]);
    await stack.declare(clusterAuthConfig({ ...moved, tokenReviewerJwt: { env: 'REVIEWER_JWT' } }));
    await stack.run(['apply', '--yes'], 0);
    await stack.declare(clusterAuthConfig({ tokenReviewerJwt: null }));
    await stack.run(['apply', '--yes'], 0);
    expect(await bench.byHandMount('GET', 'config')).toMatchObject({ token_reviewer_jwt_set: false });
    await stack.run(['plan', '--exit-code'], 0);
  });
});
