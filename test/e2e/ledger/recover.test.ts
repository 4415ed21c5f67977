/** A lost or damaged ledger is rebuilt from live and declared resources, and works as before. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Bench, type Checkout, openBench, secrets } from '../../support/cli/bench.ts';
import { clusterAuthConfig, role, workspace } from '../../support/cli/documents.ts';

const owned = { clusterAuth: { owns: ['web', 'old*'] } };
const ledgerName = 'payments.ledger.json';

async function withLostLedger(
  ...documents: readonly object[]
): Promise<{ bench: Bench; stack: Checkout; before: Awaited<ReturnType<Checkout['ledger']>> }> {
  const bench = await openBench();
  const stack = await bench.checkout(owned);
  await stack.setUp(...documents);
  const before = await stack.ledger();
  await stack.loseLedger();
  return { bench, stack, before };
}

/** Applies the present plan, also if it removes the last resource of a kind. */
async function applyRemovals(stack: Checkout): Promise<void> {
  const { digest } = await stack.plan();
  await stack.run(['apply', '--approve', digest, '--ack', 'zero'], 0);
}

const web = role('web');
const app = workspace('app', {
  autoApply: true,
  tags: { env: 'prod' },
  remoteStateConsumers: ['reader'],
});
const reader = workspace('reader');

describe('recover', () => {
  it('writes nothing but the ledger, and the next plan is as empty as it was', async () => {
    const { bench, stack, before } = await withLostLedger(app, reader, web);
    const { out } = await stack.run(['recover', '--yes'], 0);
    expect(bench.wire.writes()).toEqual([]);
    expect(out).toContain('5 records will be written');
    expect(out).toContain('Workspace/acme/app  created by this stack, 1 field');
    expect(out).toContain('The ledger was rebuilt with 5 records');
    const { records } = await stack.ledger();
    expect(Object.keys(records)).toEqual(Object.keys(before.records));
    for (const [address, record] of Object.entries(before.records)) {
      const { origin: _, ...known } = record ?? { origin: 'created' };
      expect(records[address]).toMatchObject(known);
    }
    const plan = await stack.run(['plan', '--exit-code'], 0);
    expect(plan.out).toContain('ledger     found');
  });

  it('allows our workspace to be deleted again when its manifest is removed', async () => {
    const { bench, stack } = await withLostLedger(app, reader);
    await stack.run(['recover', '--yes'], 0);
    await stack.declare(workspace('app', { autoApply: true, tags: { env: 'prod' } }));
    await applyRemovals(stack);
    expect(await bench.idsOf('reader')).toEqual([]);
    expect(await bench.idsOf('app')).toHaveLength(1);
  });

  it('allows resets of fields and removals of access, and says that roles will be released', async () => {
    const { bench, stack } = await withLostLedger(app, reader, web, role('old'));
    const { out } = await stack.run(['recover', '--yes'], 0);
    expect(out).toMatch(
      /Nothing proves who created these[\s\S]*removal request ends it\.\n {2}ClusterAuthRole\/prod\/old\n {2}ClusterAuthRole\/prod\/web\n/,
    );
    await stack.declare(workspace('app', { tags: { env: 'prod' } }), reader, web);
    const plan = await stack.plan();
    expect(plan.changes.map(({ action, address }) => `${action} ${address}`).sort()).toEqual([
      'delete RemoteStateConsumers/acme/app',
      'release ClusterAuthRole/prod/old',
      'update Workspace/acme/app',
    ]);
    await applyRemovals(stack);
    expect(await bench.byHand.attributes(await bench.idOf('app'))).toMatchObject({ 'auto-apply': false });
  });

  it('records a config with the JWT of its manifest, because no read returns it', async () => {
    const config = clusterAuthConfig({ tokenReviewerJwt: { env: 'REVIEWER_JWT', version: 3 } });
    const { stack, before } = await withLostLedger(config);
    const { out } = await stack.run(['recover', '--yes'], 0);
    expect(out).not.toContain(secrets.REVIEWER_JWT);
    const text = 'ClusterAuthConfig/prod/config';
    expect((await stack.ledger()).records[text]?.fields).toEqual(before.records[text]?.fields);
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('asks, and writes nothing if there is no terminal', async () => {
    const { stack } = await withLostLedger(app, reader);
    const { err } = await stack.run(['recover'], 1);
    expect(err).toContain('nothing was written: recover asks before it writes');
    expect(await readdir(join(stack.directory, '.trueup'))).not.toContain(ledgerName);
  });

  it('has nothing to do if the ledger is complete', async () => {
    const bench = await openBench();
    const stack = await bench.checkout(owned);
    await stack.setUp(app, reader);
    const before = await stack.ledger();
    expect((await stack.run(['recover', '--yes'], 0)).out).toContain('there is nothing to recover');
    expect(await stack.ledger()).toEqual(before);
  });

  it('stops after an incomplete read, because the new ledger would lack what was not read', async () => {
    const { bench, stack } = await withLostLedger(app, reader, web);
    bench.wire.add({ path: /\/role\/web/, fault: { answer: 403, body: { errors: ['no'] } } });
    expect((await stack.run(['recover', '--yes'], 1)).err).toMatch(
      /not everything could be read, .*: target "prod": role "web" was not read: .*answered 403: no; check that it is valid/m,
    );
    expect(await readdir(join(stack.directory, '.trueup'))).not.toContain(ledgerName);
  });

  it('names a target that cannot be read at all, and why', async () => {
    const { bench, stack } = await withLostLedger(app, reader, web);
    bench.wire.add({ path: /organizations/, times: 99, fault: { answer: 403, body: { errors: [] } } });
    const { err } = await stack.run(['recover', '--yes'], 1);
    expect(err).toMatch(/would lack what was not: target "acme" could not be read: .*answered 403/);
    expect(err.match(/could not be read/g)).toHaveLength(1);
  });
});

it('a ledger that was repaired during the reads of recover is not replaced', async () => {
  const { bench, stack } = await withLostLedger(app, reader, web);
  bench.wire.setHandler(async ({ path }, pass) => {
    if (path.endsWith('/role/web')) {
      bench.wire.setHandler(undefined);
      await stack.run(['recover', '--yes'], 0);
      await stack.declare(app, reader, web, workspace('more'));
      await stack.run(['apply', '--yes'], 0);
    }
    return pass();
  });
  const { err } = await stack.run(['recover', '--yes'], 1);
  expect(err).toContain('was written by another run meanwhile, and is whole');
  expect((await stack.ledger()).records).toHaveProperty('Workspace/acme/more');
});

describe('a damaged ledger', () => {
  const damages: Record<string, (text: string) => string> = {
    'was edited by hand': (text) => text.replace('"autoApply": true', '"autoApply": false'),
    'is torn': (text) => text.slice(0, text.length / 2),
    'is empty': () => '',
  };
  for (const [how, damage] of Object.entries(damages))
    it(`that ${how} is moved aside, and never deleted`, async () => {
      const bench = await openBench();
      const stack = await bench.checkout(owned);
      await stack.setUp(app, reader);
      const file = join(stack.directory, '.trueup', ledgerName);
      const damaged = damage(await readFile(file, 'utf8'));
      await writeFile(file, damaged);
      expect((await stack.run(['plan'], 1)).err).toContain('rebuild it with "trueup recover"');
      expect((await stack.run(['recover', '--yes'], 0)).out).toContain('The damaged ledger was moved: it is');
      const aside = (await readdir(join(stack.directory, '.trueup'))).filter((name) =>
        name.startsWith(`${ledgerName}.damaged-`),
      );
      expect(aside).toHaveLength(1);
      expect(await readFile(join(stack.directory, '.trueup', aside[0] ?? ''), 'utf8')).toBe(damaged);
      await stack.run(['plan', '--exit-code'], 0);
    });

  it('of another stack is not replaced', async () => {
    const bench = await openBench();
    const stack = await bench.checkout(owned);
    await stack.setUp(app, reader);
    const file = join(stack.directory, '.trueup', ledgerName);
    await writeFile(
      file,
      (await readFile(file, 'utf8')).replace('"stack": "payments"', '"stack": "network"'),
    );
    expect((await stack.run(['recover', '--yes'], 1)).err).toContain('belongs to stack "network"');
  });
});

describe('recover reports for a decision', () => {
  it('owned but undeclared workspaces, and whether this stack created them', async () => {
    const ownershipTag = { 'trueup-stack': 'payments' };
    const bench = await openBench({
      organization: {
        workspaces: [
          { name: 'born', 'source-name': 'trueup/payments', 'tag-bindings': ownershipTag },
          { name: 'cloned', 'tag-bindings': ownershipTag },
          { name: 'theirs', 'tag-bindings': { 'trueup-stack': 'network' } },
        ],
      },
    });
    const stack = await bench.checkout();
    await stack.declare(workspace('app'));
    const { out } = await stack.run(['recover', '--yes'], 0);
    expect(out).toMatch(/blocks +no-record +1 Workspace/);
    expect(out).toContain('1 to delete');
    const words = out.replace(/\s+/g, ' ');
    expect(words).toContain('Workspace/acme/cloned');
    expect(words).toContain('nothing proves that this stack created it');
    expect(words).toContain('Workspace/acme/app: declared, but not live');
    expect((await stack.ledger()).records).toEqual({});
    await stack.run(['apply', '--yes'], 5);
    expect((await stack.plan()).changes.map(({ action, address }) => `${action} ${address}`).sort()).toEqual([
      'create Workspace/acme/app',
      'delete Workspace/acme/born',
    ]);
  });

  it('an undeclared role with an owned name, and a role that differs from its manifest', async () => {
    const { bench, stack } = await withLostLedger(web, role('old'));
    await bench.byHandMount('POST', 'role/web', { token_ttl: 60 });
    await stack.declare(web);
    const { out } = await stack.run(['recover', '--yes'], 0);
    const words = out.replace(/\s+/g, ' ');
    expect(words).toContain(
      'ClusterAuthRole/prod/web: live differs from its manifest (tokenTtl), so nothing proves that this stack wrote it',
    );
    expect(words).toContain('ClusterAuthRole/prod/old');
    expect(words).toContain('not declared, and never written by this stack: it is kept');
    expect((await stack.ledger()).records).toEqual({});
  });

  it('a workspace that changed since, which is recorded, and which the next plan would change', async () => {
    const { bench, stack } = await withLostLedger(app, reader);
    await bench.byHand.update(await bench.idOf('app'), { 'auto-apply': false });
    const { out } = await stack.run(['recover', '--yes'], 0);
    expect(out).toContain('1 to update');
    expect((await stack.plan()).changes).toMatchObject([{ action: 'update', address: 'Workspace/acme/app' }]);
  });

  it('a workspace that was never adopted, which the next plan adopts', async () => {
    const bench = await openBench({ organization: { workspaces: [{ name: 'legacy' }] } });
    const stack = await bench.checkout();
    await stack.declare(workspace('legacy', { tags: { env: 'old' } }, { adopt: true }));
    const { out } = await stack.run(['recover', '--yes'], 0);
    expect(out.replace(/\s+/g, ' ')).toContain(
      'Workspace/acme/legacy: nothing proves that this stack owns it',
    );
    expect((await stack.ledger()).records).toEqual({});
    expect((await stack.plan()).summary).toMatchObject({ adopt: 1 });
  });
});
