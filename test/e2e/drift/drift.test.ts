// trueup drift compares live with the ledger, and separately the files with the ledger.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { DriftJson } from '../../../src/report/json/drift-schema.ts';
import { type Checkout, openBench } from '../../support/cli/bench.ts';
import { activeIn } from '../../support/report/rendered-markdown.ts';
import { role, tagBindings, workspace } from '../../support/cli/documents.ts';

async function driftOf(stack: Checkout, code: number): Promise<DriftJson> {
  return JSON.parse((await stack.run(['drift', '--format', 'json'], code)).out) as DriftJson;
}

it('Right after an apply there is no drift, nothing is written, and no lock is taken', async () => {
  const bench = await openBench();
  const stack = await bench.checkout();
  await stack.setUp(workspace('app', { autoApply: true, tags: { env: 'prod' } }), role('web', {}));
  const { out } = await stack.run(['drift'], 0);
  expect(out).toMatch(/No drift, nothing pending, 3 as last applied/);
  expect(bench.wire.writes()).toEqual([]);
});

it('A change in the target is drift, and a change in the files is pending', async () => {
  const bench = await openBench();
  const stack = await bench.checkout();
  await stack.setUp(workspace('app', { autoApply: true, workingDirectory: 'a' }), workspace('other'));
  const id = await bench.idOf('app');
  await bench.byHand.patch(`/workspaces/${id}`, {
    data: { type: 'workspaces', attributes: { 'auto-apply': false, 'working-directory': 'b' } },
  });
  await stack.declare(
    workspace('app', { autoApply: true, workingDirectory: 'c', description: 'new' }),
    workspace('other'),
  );
  const drift = await driftOf(stack, 3);
  expect(drift.drifted).toMatchObject([
    {
      address: 'Workspace/acme/app',
      is: 'changed',
      fields: [
        { path: '/autoApply', before: true, after: false },
        { path: '/workingDirectory', before: 'a', after: 'b', both: true },
      ],
    },
  ]);
  expect(drift.pending).toMatchObject([
    {
      address: 'Workspace/acme/app',
      fields: [
        { path: '/description', after: 'new' },
        { path: '/workingDirectory', before: 'a', after: 'c', both: true },
      ],
    },
  ]);
});

it('drift --format html writes one page to stdout, which shows the drift', async () => {
  const bench = await openBench();
  const stack = await bench.checkout();
  await stack.setUp(workspace('app', { autoApply: true }));
  await bench.byHand.update(await bench.idOf('app'), { 'auto-apply': false });
  const { out } = await stack.run(['drift', '--format', 'html'], 3);
  expect(out).toMatch(/^<!doctype html>/);
  expect(out).toContain('<span class="action update">changed</span>');
  expect(out).toContain('<code>Workspace/acme/app</code>');
  expect(out.trimEnd()).toMatch(/<\/html>$/);
});

it('drift --format markdown reports the same, and writes nothing else to stdout', async () => {
  const bench = await openBench();
  const stack = await bench.checkout();
  await stack.setUp(workspace('app', { autoApply: true }));
  const id = await bench.idOf('app');
  await bench.byHand.patch(`/workspaces/${id}`, {
    data: { type: 'workspaces', attributes: { 'auto-apply': false, description: '@ann <b>' } },
  });
  const { out } = await stack.run(['drift', '--format', 'markdown', '--unmanaged'], 3);
  expect(out).toMatch(/^## Drift of `payments`\n\n\*\*1 drifted, 1 with unmanaged changes, nothing pending/);
  expect(out).toContain('| changed | `Workspace/acme/app` | `autoApply` |');
  expect(out).toContain('@@ autoApply @@\n- true\n+ false');
  expect(activeIn(out)).toEqual([]);
});

it('An undeclared field that conflicts with a declared one is drift, and apply resets it in the same write', async () => {
  const bench = await openBench();
  const stack = await bench.checkout();
  await stack.setUp(role('web', { tokenType: 'batch' }), role('other'));
  await bench.byHandMount('POST', 'role/web', { token_type: 'service', token_period: 3600 });
  const { drifted, unmanaged } = JSON.parse(
    (await stack.run(['drift', '--unmanaged', '--format', 'json'], 3)).out,
  ) as DriftJson;
  expect(drifted).toMatchObject([
    {
      address: 'ClusterAuthRole/prod/web',
      is: 'changed',
      fields: [
        { path: '/tokenPeriod', before: 0, after: 3600 },
        { path: '/tokenType', before: 'batch', after: 'service' },
      ],
    },
  ]);
  expect(unmanaged?.resources).toEqual([]);
  await stack.declare(role('web', { tokenType: 'batch' }), role('other', { tokenTtl: '2h' }));
  const { changes } = await stack.plan();
  expect(changes.map(({ address, fields }) => [address, fields.map(({ path }) => path)])).toEqual([
    ['ClusterAuthRole/prod/web', ['/tokenPeriod', '/tokenType']],
    ['ClusterAuthRole/prod/other', ['/tokenTtl']],
  ]);
  await stack.run(['apply', '--yes'], 0);
  expect(bench.written()).toEqual(['POST /v1/auth/cluster/role/web', 'POST /v1/auth/cluster/role/other']);
  expect(await bench.byHandMount('GET', 'role/web')).toMatchObject({ token_type: 'batch', token_period: 0 });
  await stack.run(['plan', '--exit-code'], 0);
});

it('A tag that the stack keeps for others is not drift', async () => {
  const bench = await openBench();
  const stack = await bench.checkout();
  await stack.setUp(workspace('app'), tagBindings('app', { tags: { env: 'prod' }, keep: ['cost-*'] }));
  await bench.byHand.patch(`/workspaces/${await bench.idOf('app')}/tag-bindings`, {
    data: [{ type: 'tag-bindings', attributes: { key: 'cost-centre', value: '9' } }],
  });
  const { out } = await stack.run(['drift'], 0);
  expect(out).toMatch(/No drift, nothing pending/);
});

it('Without its ledger, drift says how to rebuild it, and reports nothing as never applied', async () => {
  const bench = await openBench();
  const stack = await bench.checkout();
  await stack.setUp(workspace('app'));
  rmSync(join(stack.directory, '.trueup'), { recursive: true });
  const { out } = await stack.run(['drift'], 1);
  expect(out.replace(/\s+/g, ' ')).toContain('if it was lost, rebuild it with "trueup recover"');
  expect(out).not.toContain('never applied');
});
