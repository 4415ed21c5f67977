// drift --unmanaged: compares fields that no manifest declares with their values at the last apply.
import { readFile, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import type { DriftJson } from '../../../src/report/json/drift-schema.ts';
import { openBench } from '../../support/cli/bench.ts';
import { role, workspace } from '../../support/cli/documents.ts';

async function openApp() {
  const bench = await openBench();
  const stack = await bench.checkout();
  await stack.setUp(workspace('app', { autoApply: true }), role('web'));
  const drift = async (code: number) =>
    JSON.parse((await stack.run(['drift', '--unmanaged', '--format', 'json'], code)).out) as DriftJson;
  return { bench, stack, drift };
}

it('Right after the apply that created a resource, none of its undeclared fields counts as changed', async () => {
  const { stack, drift } = await openApp();
  expect((await drift(0)).unmanaged).toEqual({ resources: [], unseen: 0 });
  expect((await stack.run(['drift', '--unmanaged'], 0)).out).toMatch(/No drift, 0 with unmanaged changes/);
});

it('An undeclared field that somebody changed is reported, with its values before and after', async () => {
  const { bench, stack, drift } = await openApp();
  await bench.byHand.update(await bench.idOf('app'), { description: 'by hand', 'working-directory': 'x' });
  await bench.byHandMount('POST', 'role/web', { token_max_ttl: 7200 });
  const { unmanaged, drifted } = await drift(3);
  expect(drifted).toEqual([]);
  expect(unmanaged?.resources).toMatchObject([
    {
      address: 'ClusterAuthRole/prod/web',
      fields: [{ path: '/tokenMaxTtl', before: 0, after: 7200 }],
    },
    {
      address: 'Workspace/acme/app',
      fields: [
        { path: '/description', before: null, after: 'by hand' },
        { path: '/workingDirectory', before: null, after: 'x' },
      ],
    },
  ]);
  // Without the flag it is not reported, and a plan does nothing about it.
  expect((await stack.run(['drift'], 0)).out).toMatch(/No drift/);
  expect((await stack.plan()).changes).toEqual([]);
  // The next apply records the live values, and later reports compare with them.
  await stack.run(['apply', '--yes'], 0);
  expect((await drift(0)).unmanaged).toEqual({ resources: [], unseen: 0 });
  await bench.byHand.update(await bench.idOf('app'), { description: '' });
  expect((await drift(3)).unmanaged?.resources).toMatchObject([
    { fields: [{ path: '/description', before: 'by hand', after: null }] },
  ]);
});

it('The ledger stores no password of an undeclared URL, and a change of it is still reported', async () => {
  const { bench, stack, drift } = await openApp();
  const setDescription = async (password: string) =>
    bench.byHand.update(await bench.idOf('app'), { description: `https://root:${password}@db.example.com` });
  await setDescription('hunter2');
  await stack.run(['apply', '--yes'], 0);
  expect(await readFile(stack.ledgerFile, 'utf8')).toMatch(/https:\/\/\*\*\*@db\.example\.com/);
  expect(await readFile(stack.ledgerFile, 'utf8')).not.toContain('hunter2');
  await drift(0);
  await setDescription('hunter3');
  const { unmanaged } = await drift(3);
  expect(unmanaged?.resources).toMatchObject([{ fields: [{ path: '/description' }] }]);
  expect(JSON.stringify(unmanaged)).not.toContain('hunter');
});

it('The ledger stores no private key of an undeclared text', async () => {
  const { bench, stack, drift } = await openApp();
  const key = '-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA1\n-----END RSA PRIVATE KEY-----';
  const setDescription = async (text: string) =>
    bench.byHand.update(await bench.idOf('app'), { description: text });
  await setDescription(`the key: ${key}`);
  await stack.run(['apply', '--yes'], 0);
  expect(await readFile(stack.ledgerFile, 'utf8')).toMatch(/the key: \*\*\*/);
  expect(await readFile(stack.ledgerFile, 'utf8')).not.toContain('MIIE');
  await drift(0);
  await setDescription(`the key: ${key.replace('A1', 'A2')}`);
  expect(JSON.stringify((await drift(3)).unmanaged)).not.toContain('MIIE');
});

it('drift --unmanaged says for how many resources the ledger has no undeclared values', async () => {
  const { stack, bench } = await openApp();
  await bench.byHand.update(await bench.idOf('app'), { description: 'by hand' });
  const stored = JSON.parse(await readFile(stack.ledgerFile, 'utf8'));
  for (const record of Object.values<Record<string, unknown>>(stored.records)) delete record['seen'];
  const { version, stack: name, serial, checksum: _, ...content } = stored;
  const { createHash } = await import('node:crypto');
  const checksum = createHash('sha256').update(JSON.stringify(content)).digest('hex');
  await writeFile(stack.ledgerFile, JSON.stringify({ version, stack: name, serial, checksum, ...content }));
  const { out } = await stack.run(['drift', '--unmanaged'], 0);
  expect(out).toMatch(/for 1 resource, the ledger has no values of fields outside the manifests/);
});
