/** A plan that was approved by its digest, and the same job run again after it failed or was killed. */
import { describe, expect, it } from 'vitest';
import { openBench, secrets } from '../../support/cli/bench.ts';
import { clusterAuthConfig, role, workspace } from '../../support/cli/documents.ts';
import { trueupProcess } from '../../support/cli/process.ts';
import { first, planInto, second, setByHand, twoClones } from '../../support/cli/two-clones.ts';

describe('apply --approve', () => {
  it('applies the plan with that digest without asking', async () => {
    const { planning, applying } = await twoClones();
    const { digest } = await planInto(planning);
    const { out } = await applying.run(['apply', '--approve', digest.toUpperCase()], 0);
    expect(out).toContain('Planned again: nothing is left to do');
  });

  it('refuses a plan that is partly applied by now, because its digest differs', async () => {
    const { bench, planning } = await twoClones();
    await planning.run(['apply', '--yes'], 0);
    await planning.declare(workspace('first', { autoApply: false, description: 'two' }), second);
    const { digest } = await planInto(planning);
    await setByHand(bench, 'first', { description: 'two' });
    bench.wire.reset();
    const { err } = await planning.run(['apply', '--approve', digest], 4);
    expect(err).toContain(`"${digest}" was approved`);
    expect(bench.wire.writes()).toEqual([]);
    const json = await planning.run(['apply', '--approve', digest, '--format', 'json'], 4);
    expect(JSON.parse(json.out).digest).not.toBe(digest);
  });

  it('with a digest that is not that of the plan file is refused', async () => {
    const { bench, planning } = await twoClones();
    const { digest } = await planInto(planning);
    const other = '0123456789abcdef0123456789abcdef';
    expect((await planning.run(['apply', 'plan.json', '--approve', other], 4)).err).toContain(other);
    expect(bench.wire.seen.filter(({ method }) => method !== 'GET' && method !== 'LIST')).toEqual([]);
    await planning.run(['apply', 'plan.json', '--approve', digest], 0);
  });

  it.each(['', 'abc', `${'0'.repeat(31)}g`])('refuses %j, which is not a digest', async (digest) => {
    const { planning } = await twoClones();
    const { err } = await planning.run(['apply', '--approve', digest], 1);
    expect(err).toContain('32 hexadecimal characters');
  });
});

describe('the same job, run again', () => {
  const refused = { method: 'POST', path: /workspaces$/, fault: { answer: 403 } } as const;

  it.each(['plan file', 'digest'])('with the same %s continues after a partial apply', async (by) => {
    const { bench, planning } = await twoClones();
    const { digest } = await planInto(planning);
    const job = by === 'digest' ? ['apply', '--approve', digest] : ['apply', 'plan.json'];
    bench.wire.add(
      { ...refused, times: 0 },
      { method: 'POST', path: /workspaces$/, fault: { first: async () => {} } },
      refused,
    );
    await planning.run(job, 6);
    expect(await planning.ledger()).toMatchObject({ approved: { digest } });
    bench.wire.reset();
    const { out } = await planning.run(job, 0);
    expect(out).toContain('Of 2 approved changes, 1 is done already; 1 is left to apply');
    expect(bench.written()).toEqual(['POST /api/v2/organizations/acme/workspaces']);
    expect(await planning.ledger()).not.toHaveProperty('approved');
  });

  it('is refused once the manifests declare more than was approved', async () => {
    const { bench, planning } = await twoClones();
    const { digest } = await planInto(planning);
    bench.wire.add({ method: 'POST', path: /workspaces$/, fault: { first: async () => {} } }, refused);
    await planning.run(['apply', '--approve', digest], 6);
    await planning.declare(first, second, workspace('third'));
    bench.wire.reset();
    await planning.run(['apply', '--approve', digest], 4);
    expect(bench.wire.writes()).toEqual([]);
  });

  it('finds nothing to do when a newer approval was applied since', async () => {
    const { bench, planning } = await twoClones();
    const { digest } = await planInto(planning);
    bench.wire.add(refused, refused);
    await planning.run(['apply', '--approve', digest], 1);
    await planning.declare(first);
    const { digest: anew } = await planInto(planning);
    expect(anew).not.toBe(digest);
    await planning.run(['apply', '--approve', anew], 0);
    bench.wire.reset();
    const { out } = await planning.run(['apply', '--approve', digest], 0);
    expect(out).toMatch(/The approval of the plan "\w+" ended at \S+; nothing is left to do/);
    expect(bench.wire.writes()).toEqual([]);
  });

  it.each(['plan file', 'digest'])(
    'with the same %s continues after it was killed in the middle',
    async (by) => {
      const { bench, planning } = await twoClones();
      await planning.declare(
        workspace('first', { autoApply: true, tags: { env: 'prod' }, sshKeyId: 'sshkey-deploy' }),
        workspace('second', { remoteStateConsumers: ['first'] }),
        clusterAuthConfig(),
        role('web'),
      );
      const { digest } = await planInto(planning);
      const job = by === 'digest' ? ['apply', '--approve', digest] : ['apply', 'plan.json'];
      const env = { ...secrets, TRUEUP_RUN_ID: '771' };
      const killed = await trueupProcess(job, { cwd: planning.directory, env }, async ({ sendSignal }) => {
        await new Promise<void>((reached) => {
          bench.wire.add({
            path: /relationships\/ssh-key/,
            fault: {
              first: async () => {
                sendSignal('SIGKILL');
                reached();
              },
            },
          });
        });
      });
      expect(killed.code).toBeNull();
      expect(await planning.ledger()).toMatchObject({ approved: { digest } });
      bench.wire.reset();
      const again = await trueupProcess(job, { cwd: planning.directory, env });
      expect(again, again.out + again.err).toMatchObject({ code: 0 });
      expect(again.out).toContain('Planned again: nothing is left to do');
      expect(await bench.idsOf('first')).toHaveLength(1);
      expect(await bench.tagsOf('first')).toEqual({ env: 'prod', 'trueup-stack': 'payments' });
      expect(await planning.ledger()).not.toHaveProperty('approved');
    },
  );
});

describe('an approved removal', () => {
  const stays = [workspace('one'), workspace('two')];

  it.each([
    ['deletion', {}, 'POST /api/v2/workspaces/ws-…/actions/safe-delete'],
    ['release', { onRemove: 'release' }, undefined],
  ])(
    'by a %s covers only the same workspace, not another one with its name',
    async (_, metadata, expected) => {
      const bench = await openBench();
      const stack = await bench.checkout();
      await stack.setUp(...stays, workspace('old', {}, metadata));
      await stack.declare(...stays);
      const [id, approved] = [await bench.idOf('old'), await stack.plan()];
      await stack.run(['plan', '--out', 'plan.json'], 0);
      // The same name, ownership tag and creator mark, applied by the same stack: another workspace.
      await stack.declare(...stays, workspace('old', {}, metadata));
      await bench.byHand.delete(`/workspaces/${id}`);
      await stack.applyAcknowledged();
      await stack.declare(...stays);
      const fresh = await stack.plan();
      expect(fresh.changes.map(({ action, address }) => [action, address])).toEqual(
        approved.changes.map(({ action, address }) => [action, address]),
      );
      expect(fresh.digest).not.toBe(approved.digest);
      bench.wire.reset();
      await stack.run(['apply', '--approve', approved.digest], 4);
      await stack.run(['apply', 'plan.json'], 4);
      expect(bench.wire.writes()).toEqual([]);
      await stack.run(['apply', '--approve', fresh.digest], 0);
      expect(bench.written()).toHaveLength(1);
      if (expected !== undefined) expect(bench.written()).toEqual([expected]);
    },
  );

  /** A role that somebody creates outside of trueup: there is no record of it. */
  const handmade = (name: string) => ({
    bound_service_account_names: name,
    bound_service_account_namespaces: name,
    audience: 'vault',
  });

  it('covers only the same role, although roles have no ids: a new one with its name is another plan', async () => {
    const bench = await openBench();
    const stack = await bench.checkout({ clusterAuth: { owns: ['*'], exclusive: true } });
    await stack.setUp(role('web'));
    await bench.byHandMount('POST', 'role/stray', handmade('tmp'));
    const approved = await stack.plan();
    const { out: text } = await stack.run(['plan', '--out', 'plan.json'], 0);
    expect(text).toContain(approved.digest);
    await bench.byHandMount('DELETE', 'role/stray');
    await bench.byHandMount('POST', 'role/stray', { ...handmade('prod'), token_policies: 'admin' });
    const ack = ['--ack', 'no-record'];
    const byDigest = ['apply', '--approve', approved.digest, ...ack];
    expect((await stack.run([...byDigest, '--show-plan'], 4)).out).toContain('stray');
    const { out } = await stack.run(['apply', 'plan.json', ...ack], 4);
    const [was, is] = [approved, await stack.plan()].map((plan) => plan.changes[0]?.fingerprint ?? 'none');
    expect(is).not.toBe(was);
    expect(out).toMatch(new RegExp(`fingerprint\\s+approved +${was}\\s+now +${is}`));
    expect(bench.wire.writes()).toEqual([]);
    // With the same content as when it was approved, it counts as the same role.
    await bench.byHandMount('DELETE', 'role/stray');
    await bench.byHandMount('POST', 'role/stray', handmade('tmp'));
    expect((await stack.plan()).digest).toBe(approved.digest);
    await stack.run(['apply', 'plan.json', ...ack], 0);
    expect(bench.written()).toEqual(['DELETE /v1/auth/cluster/role/stray']);
  });

  it('covers only the same role also if the role is released', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(role('web'), role('old', {}, { onRemove: 'release' }));
    await stack.declare(role('web'));
    const { digest } = await stack.plan();
    await bench.byHandMount('POST', 'role/old', handmade('prod'));
    await stack.run(['apply', '--approve', digest], 4);
    expect((await stack.ledger()).records).toHaveProperty(['ClusterAuthRole/prod/old']);
  });

  it('covers only the same role also when the same job runs again after a partial failure', async () => {
    const bench = await openBench();
    const stack = await bench.checkout({ clusterAuth: { owns: ['*'], exclusive: true } });
    await stack.setUp(role('web'));
    for (const name of ['first', 'second']) await bench.byHandMount('POST', `role/${name}`, handmade(name));
    const { digest } = await stack.plan();
    const again = ['apply', '--approve', digest, '--ack', 'no-record'];
    bench.wire.add({ method: 'DELETE', path: /role\/second/, fault: { answer: 403 } });
    await stack.run(again, 6);
    // The digest items in the ledger identify the approved role.
    await bench.byHandMount('POST', 'role/second', handmade('other'));
    await stack.run(again, 4);
    await bench.byHandMount('POST', 'role/second', handmade('second'));
    await stack.run(again, 0);
    expect((await stack.run(['plan'], 0)).out).not.toContain('second');
  });
});

describe('the address of a target', () => {
  it('is part of an approval: the same role in two namespaces has two digests, headings and plan files', async () => {
    const bench = await openBench();
    const here = await bench.checkout({ clusterAuth: { namespace: 'team-a' } });
    await here.declare(role('web'));
    const there = await here.reconfigure({ clusterAuth: { namespace: 'team-b' } });
    await there.run(['plan', '--out', 'b.json'], 0);
    const other = await there.plan();
    const back = await here.reconfigure({});
    const plan = await back.plan();
    expect(plan.changes).toEqual(other.changes.map((change) => ({ ...change, calls: expect.anything() })));
    expect(plan.digest).not.toBe(other.digest);
    expect(plan.targets[1]).toMatchObject({ place: 'team-a/auth/cluster' });
    expect((await back.run(['plan'], 0)).out).toContain('prod  cluster-auth team-a/auth/cluster at http');
    expect((await back.run(['apply', 'b.json'], 4)).err).toContain(
      'was made for other targets than this stack has',
    );
    await back.run(['apply', '--approve', other.digest], 4);
    expect(bench.wire.writes()).toEqual([]);
  });
});
