/** Guards in the real CLI: a plan shows them completely, and apply refuses until they are acknowledged for this plan. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { PlanJson } from '../../../src/report/json/plan-schema.ts';
import { type Bench, type Checkout, openBench, secrets, type StackOptions } from '../../support/cli/bench.ts';
import { consumers, role, workspace } from '../../support/cli/documents.ts';
import { onTerminal } from '../../support/cli/process.ts';

const numbered = (count: number, spec: object = {}) =>
  Array.from({ length: count }, (_, index) => workspace(`app-${index}`, spec));

interface Begun {
  readonly bench: Bench;
  readonly stack: Checkout;
}

/** A stack of seven workspaces whose manifests now have three of them. */
async function fourDeletes(options: StackOptions = {}): Promise<Begun> {
  const bench = await openBench();
  const stack = await bench.checkout(options);
  await stack.setUp(...numbered(7));
  await stack.declare(...numbered(3));
  return { bench, stack };
}

function namesOf({ guards }: PlanJson): string[] {
  return guards.map(({ id, effect }) => `${id} ${effect}`);
}

describe('a plan with guards', () => {
  it('is shown completely, with its risks first and in the summary, and does not fail', async () => {
    const { stack } = await fourDeletes();
    const { out } = await stack.run(['plan'], 0);
    expect(out).toMatch(/^Risks\n {2}! blocks {2}deletes {2}4 of 7 Workspace in "acme" would be deleted/);
    expect(out).toContain('app-3, app-4, app-5, app-6');
    for (const name of ['app-3', 'app-6']) expect(out).toContain(`- delete  Workspace/acme/${name}`);
    expect(out).toContain('1 guard blocks applying until it is acknowledged: deletes\n');
    await stack.run(['plan', '--exit-code'], 2);
  });

  it('has their numbers, and what has to be acknowledged, in its JSON', async () => {
    const { stack } = await fourDeletes();
    const plan = await stack.plan();
    expect(plan.guards).toMatchObject([
      { id: 'deletes', effect: 'blocks', kind: 'Workspace', target: 'acme', counted: 4, of: 7, limit: 3 },
    ]);
    expect(plan.guards[0]?.concerns.map(({ address }) => address)).toContain('Workspace/acme/app-3');
    expect(plan.acknowledge).toEqual(['deletes']);
    expect(plan.summary).toMatchObject({ guards: 1, blocking: 1 });
  });
});

describe('apply of a plan with a guard that blocks', () => {
  it('exits with 5 with and without --yes, shows everything, and writes nothing', async () => {
    const { bench, stack } = await fourDeletes();
    const { digest } = await stack.plan();
    const { out, err } = await stack.run(['apply', '--yes'], 5);
    expect(out).toContain('- delete  Workspace/acme/app-6');
    expect(err).toContain('nothing was written: 1 guard blocks this plan: deletes');
    expect(err).toContain(`"trueup apply --approve ${digest} --ack deletes"`);
    await stack.run(['apply'], 5);
    expect(bench.wire.writes()).toEqual([]);
  });

  it('prints the plan when its format is JSON', async () => {
    const { stack } = await fourDeletes();
    const { out } = await stack.run(['apply', '--yes', '--format', 'json'], 5);
    expect(namesOf(JSON.parse(out))).toEqual(['deletes blocks']);
  });

  it('succeeds once the guard is acknowledged together with the digest', async () => {
    const { bench, stack } = await fourDeletes();
    const { digest } = await stack.plan();
    await stack.run(['apply', '--approve', digest], 5);
    expect(bench.wire.writes()).toEqual([]);
    const { out } = await stack.run(['apply', '--approve', digest, '--ack', 'deletes'], 0);
    expect(out).toContain('Planned again: nothing is left to do');
    expect(bench.written()).toHaveLength(4);
  });

  it('succeeds once the guard is acknowledged together with the plan file', async () => {
    const { bench, stack } = await fourDeletes();
    await stack.run(['plan', '--out', 'plan.json'], 0);
    const kept = JSON.parse(await readFile(join(stack.directory, 'plan.json'), 'utf8')) as PlanJson;
    expect(kept.acknowledge).toEqual(['deletes']);
    expect((await stack.run(['show', 'plan.json'], 0)).out).toMatch(/^Risks\n/);
    await stack.run(['apply', 'plan.json'], 5);
    expect(bench.wire.writes()).toEqual([]);
    await stack.run(['apply', 'plan.json', '--ack', 'deletes'], 0);
    expect(bench.written()).toHaveLength(4);
  });

  it('is refused with the digest of another plan, even if guards are acknowledged', async () => {
    const { bench, stack } = await fourDeletes();
    const { digest } = await stack.plan();
    await stack.declare(...numbered(2));
    await stack.run(['apply', '--approve', digest, '--ack', 'deletes,delete-percent'], 4);
    await stack.run(['apply', '--approve', '0'.repeat(32), '--ack', 'deletes'], 4);
    expect(bench.wire.writes()).toEqual([]);
  });

  it('says which of several guards are not acknowledged yet', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(...numbered(4), role('web'));
    await stack.declare(role('web', { boundServiceAccountNames: ['*'] }));
    const plan = await stack.plan();
    expect(plan.acknowledge).toEqual(['deletes', 'zero', 'wildcard']);
    const acknowledging = (ids: string) => ['apply', '--approve', plan.digest, '--ack', ids];
    const { err } = await stack.run(acknowledging('deletes,wildcard'), 5);
    expect(err).toContain('1 guard blocks this plan: zero');
    expect(bench.wire.writes()).toEqual([]);
    await stack.run(acknowledging('deletes, wildcard zero'), 0);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('continues after it was interrupted, even if the rest trips more guards', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(...numbered(20));
    const updated = numbered(6, { autoApply: true });
    await stack.declare(...updated, ...numbered(18).slice(6));
    const plan = await stack.plan();
    expect([plan.summary.update, plan.summary.delete, plan.guards.length]).toEqual([6, 2, 0]);
    bench.wire.add({ method: 'PATCH', path: /workspaces/, times: 6, fault: { answer: 422 } });
    await stack.run(['apply', '--approve', plan.digest], 6);
    expect(namesOf(await stack.plan())).toEqual(['update-percent blocks']);
    await stack.run(['apply', '--yes'], 5);
    await stack.run(['apply', '--approve', plan.digest], 0);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('succeeds when somebody at a terminal types the guard, but not after a "yes"', async () => {
    const { bench, stack } = await fourDeletes();
    const at = { cwd: stack.directory, env: secrets };
    const answering = (answer: string) =>
      onTerminal(['apply'], at, async ({ waitForText, typeText }) => {
        await waitForText(/type the guard that blocks: deletes/);
        typeText(`${answer}\r`);
      });
    expect((await answering('yes')).code).toBe(5);
    expect(bench.wire.writes()).toEqual([]);
    expect((await answering('deletes')).code).toBe(0);
    expect(bench.written()).toHaveLength(4);
  });
});

describe('--ack', () => {
  it('may be given several times, and each of them counts', async () => {
    const stack = await (await openBench()).checkout({ spec: { guards: { maxDeletes: 0 } } });
    await stack.setUp(workspace('app'), workspace('web'), workspace('kept'));
    await stack.declare(workspace('kept'));
    const { digest, acknowledge } = await stack.plan();
    expect(acknowledge).toEqual(['deletes']);
    await stack.run(['apply', '--approve', digest, '--ack', 'deletes', '--ack', 'rename'], 0);
  });

  it('is for one plan only: it needs its digest or its file', async () => {
    const { bench, stack } = await fourDeletes();
    const { err } = await stack.run(['apply', '--yes', '--ack', 'deletes'], 1);
    expect(err).toContain('--ack is for one plan only');
    expect(bench.wire.seen).toEqual([]);
  });

  it('of an unknown guard is an error that proposes the nearest one', async () => {
    const { stack } = await fourDeletes();
    const { digest } = await stack.plan();
    const { err } = await stack.run(['apply', '--approve', digest, '--ack', 'delete'], 1);
    expect(err).toContain('there is no guard "delete" to acknowledge: did you mean "deletes"?');
    const { err: other } = await stack.run(['apply', '--approve', digest, '--ack', 'everything'], 1);
    expect(other).toMatch(/there are loosened, older-commit, .*deletes, zero, delete-percent/);
  });

  it('of a guard that the plan does not trip is noted, and is not an error', async () => {
    const { stack } = await fourDeletes();
    const { digest } = await stack.plan();
    const { err } = await stack.run(['apply', '--approve', digest, '--ack', 'deletes,rename'], 0);
    expect(err).toContain('this plan does not trip rename');
  });
});

describe('a stack', () => {
  it('can allow a guard, which then only warns', async () => {
    const { stack } = await fourDeletes({ spec: { guards: { allow: ['deletes'] } } });
    const { out } = await stack.run(['apply', '--yes'], 0);
    expect(out).toContain('? warns   deletes');
    expect(out).toContain('warnings: deletes\n');
  });

  it('can set how much may change', async () => {
    const { stack } = await fourDeletes({ spec: { guards: { maxDeletes: 4 } } });
    expect((await stack.plan()).guards).toEqual([]);
  });

  it('can raise a warning to a blocking guard', async () => {
    const bench = await openBench();
    const stack = await bench.checkout({ spec: { guards: { raise: ['new-role'] } } });
    await stack.declare(role('web'));
    await stack.run(['apply', '--yes'], 5);
    await stack.applyAcknowledged();
    expect(bench.written()).toEqual(['POST /v1/auth/cluster/role/web']);
  });

  it('cannot name a guard that does not exist, nor raise and allow the same', async () => {
    const bench = await openBench();
    const misspelt = await bench.checkout({ spec: { guards: { raise: ['new-rol'] } } });
    await misspelt.declare(role('web'));
    expect((await misspelt.run(['validate'], 7)).err).toContain('did you mean "new-role"?');
    const both = await bench.checkout({ spec: { guards: { raise: ['widening'], allow: ['widening'] } } });
    await both.declare(role('web'));
    expect((await both.run(['validate'], 7)).err).toContain(
      'the guard "widening" is both raised and allowed',
    );
  });
});

describe('a guard blocks', () => {
  const api = (name: string, metadata: object = {}) =>
    workspace(name, { vcsRepo: { identifier: 'acme/api', oauthTokenId: 'ot-git' } }, metadata);

  it('a delete and a create that look alike, and proposes the line that renames in place', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(api('api'), workspace('stays'));
    const id = await bench.idOf('api');
    await stack.declare(api('api-prod'), workspace('stays'));
    const { out } = await stack.run(['apply', '--yes'], 5);
    expect(out.replace(/\s+/g, ' ')).toContain(
      'api-prod: looks like "api", which this plan deletes: to rename it in place, put "renamedFrom: api" into its metadata',
    );
    expect(bench.wire.writes()).toEqual([]);
    await stack.declare(api('api-prod', { renamedFrom: 'api' }), workspace('stays'));
    await stack.run(['apply', '--yes'], 0);
    expect(await bench.idsOf('api-prod')).toEqual([id]);
  });

  it.each([
    ['protected', { protect: true }, async () => {}],
    [
      'locked by somebody',
      {},
      (bench: Bench, id: string) => bench.byHand.post(`/workspaces/${id}/actions/lock`, { reason: 'mine' }),
    ],
  ] as const)(
    'a renamed manifest of a workspace that is kept because it is %s, without a repository',
    async (_, metadata, keep) => {
      const bench = await openBench();
      const stack = await bench.checkout({ spec: { defaults: { Workspace: { executionMode: 'local' } } } });
      const settings = { autoApply: true, tags: { team: 'pay' } };
      await stack.setUp(workspace('api', settings, metadata), workspace('stays'));
      await keep(bench, await bench.idOf('api'));
      await stack.declare(workspace('api-prod', settings, metadata), workspace('stays'), workspace('plain'));
      const { out } = await stack.run(['apply', '--yes'], 5);
      expect(out.replace(/\s+/g, ' ')).toContain(
        'api-prod: looks like "api", which this plan keeps: to rename',
      );
      expect(out).not.toContain('plain: looks like');
      expect(bench.wire.writes()).toEqual([]);
    },
  );

  it('a delete and a create that look alike only until they are acknowledged', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(api('api'), workspace('stays'));
    const id = await bench.idOf('api');
    await stack.declare(api('api-prod'), workspace('stays'));
    await stack.applyAcknowledged();
    expect(await bench.idsOf('api')).toEqual([]);
    expect(await bench.idsOf('api-prod')).not.toEqual([id]);
  });

  it('the new creation of resources that somebody deleted', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'), workspace('stays'), role('web'), role('stays'));
    await bench.byHand.delete(`/workspaces/${await bench.idOf('app')}`);
    await bench.byHandMount('DELETE', 'role/web');
    expect(namesOf(await stack.plan())).toEqual(['recreate blocks', 'recreate blocks', 'new-role warns']);
    await stack.run(['apply', '--yes'], 5);
    expect(bench.wire.writes()).toEqual([]);
    await stack.applyAcknowledged();
    expect(await bench.idsOf('app')).toHaveLength(1);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('each delete of a resource without a record in the ledger', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'), workspace('old'), role('old'), role('web'));
    await stack.loseLedger();
    await stack.declare(workspace('app'), role('web'));
    const { out } = await stack.run(['apply', '--yes'], 5);
    expect(out).toContain('! blocks  no-record  1 Workspace in "acme" would be deleted');
    expect(bench.wire.writes()).toEqual([]);
    await stack.applyAcknowledged();
    expect(bench.written()).toEqual(['POST /api/v2/workspaces/ws-…/actions/safe-delete']);
    expect(await bench.byHandMount('GET', 'role/old')).toHaveProperty('token_ttl');
  });

  it('the adoption of a role that was never ours', async () => {
    const bench = await openBench();
    const stack = await bench.checkout({ clusterAuth: { owns: ['web*'] } });
    await bench.byHandMount('POST', 'role/web', {
      bound_service_account_names: ['app'],
      bound_service_account_namespaces: ['payments'],
      token_policies: ['root-of-all'],
      audience: 'vault',
    });
    await stack.declare(role('web', { tokenPolicies: ['read'] }));
    const plan = await stack.plan();
    expect(plan.changes).toMatchObject([{ action: 'adopt' }]);
    expect(namesOf(plan)).toContain('adopt blocks');
    await stack.run(['apply', '--yes'], 5);
    await stack.applyAcknowledged();
    await stack.run(['plan', '--exit-code'], 0);
    expect((await stack.ledger()).records['ClusterAuthRole/prod/web']).toMatchObject({ origin: 'adopted' });
  });
});

describe('wider access is reported in words', () => {
  it('of roles: who gains and who loses what', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(
      role('web', {
        tokenPolicies: ['read'],
        boundServiceAccountNames: ['app', 'job'],
        tokenMaxTtl: '8h',
        audience: 'vault',
      }),
    );
    await stack.declare(
      role('web', {
        tokenPolicies: ['write'],
        boundServiceAccountNames: ['app', 'ci'],
        tokenMaxTtl: 0,
        audience: null,
      }),
    );
    const { out } = await stack.run(['apply', '--yes'], 5);
    const words = out.replace(/\s+/g, ' ');
    expect(words).toContain('"ci" in "payments" can log in and gets the policies "write", "default"');
    expect(words).toContain(
      '"job" in "payments" can no longer log in, and loses the policies "read", "default"',
    );
    expect(words).toContain('"app", "ci" in "payments" gains the policy "write"');
    expect(words).toContain('"app", "ci" in "payments" loses the policy "read"');
    expect(words).toContain('no longer only with one for "vault"');
    expect(words).toContain(
      'tokenMaxTtl of tokens of "app", "ci" in "payments" was 8h and is now limited only by the mount',
    );
    expect(namesOf(await stack.plan())).toEqual([
      'cleared-audience blocks',
      'unlimited-lifetime blocks',
      'widening warns',
    ]);
  });

  it('of roles: two lists that are opened to everyone are one sentence, in the guard and in the change', async () => {
    const stack = await (await openBench()).checkout();
    await stack.setUp(role('web', { tokenPolicies: ['read'] }));
    const all = { boundServiceAccountNames: ['*'], boundServiceAccountNamespaces: ['*'] };
    await stack.declare(role('web', { tokenPolicies: ['read'], ...all }));
    const { out } = await stack.run(['plan'], 0);
    expect(out.match(/every service account in every namespace can log in/g)).toHaveLength(2);
  });

  it('of roles: a lifetime of 0 is the default of the mount, not an unlimited lifetime', async () => {
    const stack = await (await openBench()).checkout();
    await stack.setUp(role('web', { tokenTtl: '1h' }));
    await stack.declare(role('web', { tokenTtl: undefined }));
    const { out } = await stack.run(['plan'], 0);
    const words = out.replace(/\s+/g, ' ');
    expect(words).toContain('tokenTtl 1h -> 0s (no longer declared: what the mount gives)');
    expect(words).toContain(
      'tokenTtl of tokens of "app" in "payments" was 1h and becomes what the mount gives, which may be longer',
    );
    expect(namesOf(await stack.plan())).toEqual(['widening warns']);
  });

  it('of state: who may read it, and who loses it with a removed document', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    const both = [workspace('net'), workspace('db'), workspace('reader'), workspace('other')];
    await stack.setUp(
      ...both,
      consumers('net', { consumers: ['reader'] }),
      consumers('db', { consumers: ['reader'] }),
    );
    await stack.declare(...both, consumers('db', { consumers: ['reader', 'other'] }));
    const { out } = await stack.run(['apply', '--yes'], 0);
    expect(out).toContain('widens: "other" may read the state');
    expect(out).toContain('narrows: "reader" loses access to the state');
    expect(out).toContain('warnings: widening\n');
  });

  it('of state that everyone may read, also of a new workspace', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('net', { globalRemoteState: true }));
    const { out } = await stack.run(['apply', '--yes'], 5);
    expect(out).toContain('net: every workspace of the organization may read the state');
    await stack.applyAcknowledged();
    await stack.run(['plan', '--exit-code'], 0);
    // A change back to a list of consumers widens no access.
    await stack.declare(
      workspace('net', { globalRemoteState: false, remoteStateConsumers: ['app'] }),
      workspace('app'),
    );
    const narrowed = await stack.plan();
    expect(narrowed.guards).toEqual([]);
    await stack.run(['apply', '--yes'], 0);
  });
});
