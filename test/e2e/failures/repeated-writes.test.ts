/**
 * trueup reads a resource again before it repeats a write, because anybody may have changed the resource during the wait.
 */
import { describe, expect, it } from 'vitest';
import { type Bench, openBench } from '../../support/cli/bench.ts';
import { role, workspace } from '../../support/cli/documents.ts';
import { isRead, fakeAnswer } from '../../support/cli/faulty-proxy.ts';

const anchor = role('anchor');

const byAdministrator = {
  bound_service_account_names: ['app'],
  bound_service_account_namespaces: ['payments'],
  token_ttl: 3600,
  audience: 'vault',
};

/** Refuses the first write of this path, and lets something happen before the next one. The first one does not reach the service. */
function refuseFirst(bench: Bench, path: RegExp, status: number | 'lost', meanwhile: () => Promise<unknown>) {
  let isFirst = true;
  bench.wire.setHandler(async (request, pass) => {
    if (isRead(request) || !path.test(request.path) || !isFirst) return pass();
    isFirst = false;
    await meanwhile();
    return status === 'lost' ? undefined : fakeAnswer({ answer: status, headers: { 'retry-after': '0' } });
  });
}

const reads = (bench: Bench, path: RegExp) =>
  bench.wire.seen.filter((request) => isRead(request) && path.test(request.path));

describe.each([429, 503, 'lost'] as const)('During the wait after a write that ended with %s', (status) => {
  it('a role that somebody rewrites is not deleted', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(anchor, role('web'));
    await stack.declare(anchor);
    const rewrite = { ...byAdministrator, token_policies: ['by-hand'] };
    refuseFirst(bench, /role\/web$/, status, () => bench.byHandMount('POST', 'role/web', rewrite));
    const { out } = await stack.tryRun(['apply', '--yes']);
    expect(out.replace(/\s+/g, ' ')).toContain('it changed since this stack last wrote it');
    expect(bench.written()).toEqual(['DELETE /v1/auth/cluster/role/web']);
    expect(await bench.byHandMount('GET', 'role/web')).toMatchObject({ token_policies: ['by-hand'] });
    expect((await stack.plan()).changes).toEqual([]);
  });

  it('a role that somebody creates with other values is neither overwritten nor recorded', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(anchor);
    await stack.declare(anchor, role('web'));
    const other = { ...byAdministrator, token_ttl: 60 };
    refuseFirst(bench, /role\/web$/, status, () => bench.byHandMount('POST', 'role/web', other));
    const { out } = await stack.tryRun(['apply', '--yes']);
    expect(out.replace(/\s+/g, ' ')).toContain('a resource with this name appeared since the plan was made');
    expect(bench.written()).toEqual(['POST /v1/auth/cluster/role/web']);
    expect(await bench.byHandMount('GET', 'role/web')).toMatchObject({ token_ttl: 60 });
    expect((await stack.ledger()).records['ClusterAuthRole/prod/web']).toBeUndefined();
    expect((await stack.plan()).changes).toMatchObject([{ action: 'adopt' }]);
  });

  it('a role that somebody creates with the same values is adopted, and released later', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(anchor);
    await stack.declare(anchor, role('web'));
    refuseFirst(bench, /role\/web$/, status, () => bench.byHandMount('POST', 'role/web', byAdministrator));
    await stack.run(['apply', '--yes'], 0);
    expect(bench.written()).toEqual(['POST /v1/auth/cluster/role/web']);
    expect((await stack.ledger()).records['ClusterAuthRole/prod/web']?.origin).toBe('adopted');
    await stack.declare(anchor);
    bench.wire.reset();
    await stack.run(['apply', '--yes'], 0);
    expect(bench.written()).toEqual([]);
  });

  it('a role that is still absent is created, and recorded as created', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(anchor);
    await stack.declare(anchor, role('web'));
    refuseFirst(bench, /role\/web$/, status, async () => bench.wire.seen.length);
    await stack.run(['apply', '--yes'], 0);
    expect(bench.written()).toHaveLength(2);
    expect((await stack.ledger()).records['ClusterAuthRole/prod/web']?.origin).toBe('created');
    const requests = bench.wire.seen.map(({ method, path }) => `${method} ${path.split('/').at(-1)}`);
    const [first, second] = requests.flatMap((line, at) => (line === 'POST web' ? [at] : []));
    expect(requests.slice((first ?? 0) + 1, second)).toContain('GET web');
  });

  it('a workspace that another stack takes over is not written', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'));
    await stack.declare(workspace('app', { autoApply: true }));
    const id = await bench.idOf('app');
    refuseFirst(bench, /workspaces\/ws-\w+$/, status, () =>
      bench.byHand.send('PATCH', `/workspaces/${id}/tag-bindings`, {
        data: [{ type: 'tag-bindings', attributes: { key: 'trueup-stack', value: 'another' } }],
      }),
    );
    const { out } = await stack.tryRun(['apply', '--yes']);
    expect(out.replace(/\s+/g, ' ')).toContain('its ownership tag changed since the plan was made');
    expect(bench.written()).toEqual(['PATCH /api/v2/workspaces/ws-…']);
    const { resource } = await bench.byHand.get(`/workspaces/${id}`);
    expect(resource.attributes['auto-apply']).toBe(false);
  });

  it('a workspace that somebody creates with the same name is found, and left alone', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('stays'));
    await stack.declare(workspace('stays'), workspace('app'));
    refuseFirst(bench, /organizations\/acme\/workspaces$/, status, () =>
      bench.byHand.created({ name: 'app' }),
    );
    const { out } = await stack.tryRun(['apply', '--yes']);
    expect(out.replace(/\s+/g, ' ')).toContain(
      '"Workspace/acme/app" exists, and does not belong to this stack',
    );
    expect(bench.written()).toEqual(['POST /api/v2/organizations/acme/workspaces']);
  });
});

describe('The second call of a change', () => {
  const both = { autoApply: true, sshKeyId: 'sshkey-deploy' };

  /** The update and the SSH key are two calls; something happens before the answer to the first one. */
  async function applyBoth(meanwhile: (bench: Bench, id: string) => Promise<unknown>) {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'));
    await stack.declare(workspace('app', both));
    const id = await bench.idOf('app');
    bench.wire.setHandler(async (request, pass) => {
      const answer = await pass();
      if (request.method === 'PATCH' && request.path.endsWith(id)) await meanwhile(bench, id);
      return answer;
    });
    const ran = await stack.tryRun(['apply', '--yes']);
    return { bench, stack, id, ran };
  }

  it('relies on the answer to the first one, without another request', async () => {
    const { bench, ran, id } = await applyBoth(async () => undefined);
    expect(ran.code).toBe(0);
    expect(bench.written()).toHaveLength(2);
    expect(reads(bench, new RegExp(`workspaces/${id}(\\?|$)`)).length).toBe(1);
  });

  it('is not repeated if another stack took the workspace over during the wait', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'));
    await stack.declare(workspace('app', both));
    const id = await bench.idOf('app');
    refuseFirst(bench, /ssh-key$/, 429, () =>
      bench.byHand.send('PATCH', `/workspaces/${id}/tag-bindings`, {
        data: [{ type: 'tag-bindings', attributes: { key: 'trueup-stack', value: 'another' } }],
      }),
    );
    const { out } = await stack.tryRun(['apply', '--yes']);
    expect(out.replace(/\s+/g, ' ')).toContain('its ownership tag changed since the plan was made');
    expect(bench.written().filter((line) => line.endsWith('ssh-key'))).toHaveLength(1);
  });
});
