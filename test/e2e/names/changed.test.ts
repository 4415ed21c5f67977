/** A name that refers to another object than before: trueup does not follow it until somebody acknowledges that. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { PlanJson } from '../../../src/report/json/plan-schema.ts';
import { checksumOf } from '../../../src/report/json/plan.ts';
import { workspace } from '../../support/cli/documents.ts';
import { byName, openNames } from '../../support/cli/names-scene.ts';

const dialects = ['neutral', 'hcp-terraform'];

type Scene = Awaited<ReturnType<typeof openNames>>;

/** Exchanges the names of the projects `payments` and `network`. */
async function swap({ rename }: Scene): Promise<void> {
  await rename('prj-payments', 'meanwhile');
  await rename('prj-network', 'payments');
  await rename('prj-payments', 'network');
}

describe.each(dialects)('In the dialect %s, names that were exchanged', (dialect) => {
  it('after an apply fire a guard, which blocks until somebody acknowledges it', async () => {
    const scene = await openNames(dialect);
    const { bench, stack, projectOf } = scene;
    await stack.setUp(workspace('app', { project: 'payments' }));
    await swap(scene);
    const { guards, digest, acknowledge, changes } = await stack.plan(0);
    expect(guards).toMatchObject([
      {
        id: 'reference-changed',
        effect: 'blocks',
        counted: 1,
        concerns: [
          {
            address: 'Workspace/acme/app',
            says: ['"payments" (projectId) was "prj-payments" when it was applied, and is "prj-network" now'],
          },
        ],
      },
    ]);
    expect(acknowledge).toEqual(['reference-changed']);
    expect(changes[0]?.fields[0]).toMatchObject({
      before: 'prj-payments',
      after: 'prj-network',
      names: [{ at: '', before: 'network', after: 'payments' }],
    });
    await stack.run(['apply', '--approve', digest], 5);
    expect(bench.written()).toEqual([]);
    await stack.run(['apply', '--approve', digest, '--ack', 'reference-changed'], 0);
    expect(await projectOf('app')).toMatchObject({ data: { id: 'prj-network' } });
    const after = await stack.plan(0);
    expect([after.guards, after.changes]).toEqual([[], []]);
    expect((await stack.ledger()).records['Workspace/acme/app']?.names).toEqual({
      projectId: { name: 'payments', id: 'prj-network' },
    });
  });

  it('between plan and apply make the approval stale', async () => {
    const scene = await openNames(dialect);
    const { bench, stack } = scene;
    await stack.declare(workspace('app', { project: 'payments' }));
    const { digest } = await stack.plan();
    await stack.run(['plan', '--out', 'plan.json'], 0);
    await swap(scene);
    await stack.run(['apply', 'plan.json', '--approve', digest], 4);
    await stack.run(['apply', '--approve', digest], 4);
    expect(bench.written()).toEqual([]);
  });

  it('during an apply do not change what is sent, and the next plan is not empty', async () => {
    const scene = await openNames(dialect);
    const { bench, stack, projectOf } = scene;
    await stack.declare(workspace('app', { project: 'payments' }));
    const { digest } = await stack.plan();
    bench.wire.add({ method: 'POST', path: /\/workspaces$/, fault: { first: () => swap(scene) } });
    const { out, err } = await stack.run(['apply', '--approve', digest], 6);
    expect(await projectOf('app')).toMatchObject({ data: { id: 'prj-payments' } });
    expect(`${out}${err}`).toContain('declared payments (prj-network), live network (prj-payments)');
    expect((await stack.plan()).acknowledge).toEqual(['reference-changed']);
  });
});

describe('The guard "reference-changed"', () => {
  it('fires for an object that was deleted and created again with its name', async () => {
    const { bench, stack } = await openNames();
    await stack.setUp(workspace('app', { sshKey: 'modules' }));
    await bench.byHand.delete('/ssh-keys/sshkey-modules');
    const attributes = { name: 'modules', value: 'not kept' };
    await bench.byHand.post('/organizations/acme/ssh-keys', { data: { type: 'ssh-keys', attributes } });
    const { guards, changes } = await stack.plan();
    expect(guards.map(({ id }) => id)).toEqual(['reference-changed']);
    expect(changes).toMatchObject([{ action: 'update' }]);
  });

  it('fires although the workspace already has the other object, and one apply records that', async () => {
    const scene = await openNames();
    const { bench, stack } = scene;
    await stack.setUp(workspace('app', { project: 'payments' }));
    await swap(scene);
    const relationships = { project: { data: { type: 'projects', id: 'prj-network' } } };
    const id = await bench.idOf('app');
    await bench.byHand.patch(`/workspaces/${id}`, { data: { type: 'workspaces', relationships } });
    const { changes, acknowledge, digest } = await stack.plan();
    expect([changes, acknowledge]).toEqual([[], ['reference-changed']]);
    await stack.run(['apply', '--yes'], 5);
    await stack.run(['apply', '--approve', digest, '--ack', 'reference-changed'], 0);
    expect((await stack.plan()).acknowledge).toEqual([]);
  });

  it('fires for a new workspace, if this name referred to another object in other workspaces', async () => {
    const scene = await openNames();
    const { stack } = scene;
    await stack.setUp(workspace('app', { project: 'payments' }));
    await swap(scene);
    await stack.declare(workspace('app', { project: 'network' }), workspace('two', { project: 'payments' }));
    const { guards } = await stack.plan();
    expect(guards.flatMap(({ id, concerns }) => concerns.map(({ name }) => [id, name]))).toEqual([
      ['reference-changed', 'two'],
    ]);
    await stack.applyAcknowledged();
    await stack.declare(
      workspace('app', { project: 'network' }),
      workspace('two', { project: 'payments' }),
      workspace('three', { project: 'payments' }),
    );
    expect((await stack.plan()).guards).toEqual([]);
  });

  it('does not fire for another name, for an id, or for another spelling of the same object', async () => {
    const { stack } = await openNames();
    await stack.setUp(workspace('app', { project: 'payments' }));
    for (const spec of [
      { project: 'network' },
      { projectId: 'prj-network' },
      { projectId: 'prj-payments' },
    ]) {
      await stack.declare(workspace('app', spec));
      expect((await stack.plan()).guards).toEqual([]);
    }
  });

  it('can be allowed by the stack, or acknowledged for a plan file', async () => {
    const scene = await openNames();
    const { stack } = scene;
    await stack.setUp(workspace('app', { project: 'payments' }));
    await swap(scene);
    await stack.run(['plan', '--out', 'plan.json'], 0);
    await stack.run(['apply', 'plan.json'], 5);
    const lenient = await stack.reconfigure({ spec: { guards: { allow: ['reference-changed'] } } });
    expect((await lenient.plan()).guards).toMatchObject([{ id: 'reference-changed', effect: 'warns' }]);
    await stack.reconfigure({});
    await stack.run(['apply', join('.', 'plan.json'), '--ack', 'reference-changed'], 0);
  });

  it('is not reached by a plan file with other names than the service has, which is stale', async () => {
    const { bench, stack } = await openNames();
    await stack.declare(workspace('app', { project: 'payments' }));
    await stack.run(['plan', '--out', 'plan.json'], 0);
    const file = join(stack.directory, 'plan.json');
    const { checksum: _, ...plan } = JSON.parse(await readFile(file, 'utf8')) as PlanJson;
    const forged = {
      ...plan,
      changes: plan.changes.map((change) => ({
        ...change,
        fields: change.fields.map((field) => ({
          ...field,
          ...(field.names === undefined ? {} : { names: [{ at: '', after: 'network' }] }),
        })),
      })),
    };
    await writeFile(file, JSON.stringify({ ...forged, checksum: checksumOf(forged) }));
    const { err } = await stack.run(['apply', 'plan.json'], 4);
    expect(err).toContain('the names in "projectId"');
    expect(bench.written()).toEqual([]);
  });

  it('still fires after a failed write, because the ledger keeps the id that was applied', async () => {
    const scene = await openNames();
    const { bench, stack } = scene;
    await stack.setUp(workspace('app', { project: 'payments', sshKey: 'modules' }));
    await swap(scene);
    await stack.declare(workspace('app', { project: 'payments', sshKey: 'old' }));
    const { digest } = await stack.plan();
    bench.wire.add({ method: 'PATCH', path: /\/workspaces\/[^/]+$/, times: 99, fault: { answer: 422 } });
    await stack.run(['apply', '--approve', digest, '--ack', 'reference-changed'], 6);
    bench.wire.reset();
    expect((await stack.ledger()).records['Workspace/acme/app']?.names).toMatchObject({
      projectId: { name: 'payments', id: 'prj-payments' },
    });
    expect((await stack.plan()).acknowledge).toEqual(['reference-changed']);
  });

  it('does not fire after recover, which records the current ids', async () => {
    const { stack } = await openNames();
    await stack.setUp(workspace('app', byName));
    await stack.loseLedger();
    await stack.run(['recover', '--yes'], 0);
    expect((await stack.ledger()).records['Workspace/acme/app']?.names).toMatchObject({
      projectId: { name: 'payments', id: 'prj-payments' },
    });
    await stack.run(['plan', '--exit-code'], 0);
  });
});

describe('A name that no object has', () => {
  it('makes recover leave out its workspace, and say so', async () => {
    const { stack } = await openNames();
    await stack.setUp(workspace('app', { project: 'payments' }), workspace('two'));
    await stack.loseLedger();
    await stack.declare(workspace('app', { project: 'nowhere' }), workspace('two'));
    const { out } = await stack.run(['recover', '--yes'], 0);
    expect(out.replace(/\s+/g, ' ')).toContain('refers to the project "nowhere"');
    expect(Object.keys((await stack.ledger()).records)).toEqual(['Workspace/acme/two']);
  });

  it('is reported by doctor if the list cannot be read', async () => {
    const { bench, stack } = await openNames();
    await stack.declare(workspace('app', { sshKey: 'modules' }));
    bench.wire.add({ path: /\/ssh-keys/, times: 99, fault: { answer: 403 } });
    const { out } = await stack.run(['doctor'], 1);
    expect(out.replace(/\s+/g, ' ')).toContain(
      'manifests give SSH keys by name, and their list could not be read',
    );
  });

  it('is not drift, and does not hide drift of other workspaces', async () => {
    const { bench, stack } = await openNames();
    await stack.setUp(workspace('app', { project: 'payments' }), workspace('two', { autoApply: false }));
    await bench.byHand.update(await bench.idOf('two'), { 'auto-apply': true });
    await stack.declare(workspace('app', { project: 'nowhere' }), workspace('two', { autoApply: false }));
    const { out, code } = await stack.tryRun(['drift', '--format', 'json']);
    const drift = JSON.parse(out) as { drifted: { name: string }[]; pending: unknown[]; complete: boolean };
    expect(drift.drifted.map(({ name }) => name)).toEqual(['two']);
    expect([drift.pending, drift.complete, code === 0]).toEqual([[], false, false]);
  });
});
