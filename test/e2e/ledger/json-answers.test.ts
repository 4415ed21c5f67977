/** `recover`, `unlock` and `history show --revert` print JSON for scripts, and do not ask in that case. */
import { writeFile } from 'node:fs/promises';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { revertSchema } from '../../../src/commands/history/schema.ts';
import { recoverySchema } from '../../../src/report/json/result-schemas.ts';
import { unlockSchema } from '../../../src/commands/unlock.ts';
import { type Checkout, openBench } from '../../support/cli/bench.ts';
import { role, workspace } from '../../support/cli/documents.ts';
import { holdLock, open } from '../../support/cli/locked-stack.ts';
import { openFaultyProxy } from '../../support/cli/faulty-proxy.ts';

const ajv = new Ajv2020({ strict: false, validateFormats: false });

async function answer(stack: Checkout, schema: object, args: readonly string[], code = 0) {
  const { out } = await stack.run([...args, '--format', 'json'], code);
  const value = JSON.parse(out);
  const isValid = ajv.compile(schema);
  expect(isValid(value), JSON.stringify(isValid.errors)).toBe(true);
  return value;
}

describe('trueup recover --format json', () => {
  it('shows what it would write and what the next plan would do, and writes only with --yes', async () => {
    const bench = await openBench();
    const stack = await bench.checkout({ clusterAuth: { owns: ['web', 'old*'] } });
    await stack.setUp(workspace('app', { autoApply: true }), role('web'), role('old-1'));
    const { records } = await stack.ledger();
    await stack.loseLedger();
    await stack.declare(workspace('app', { autoApply: true, description: 'ours' }), role('web'));
    const shown = await answer(stack, recoverySchema, ['recover'], 1);
    expect(shown).toMatchObject({ action: 'rebuild', written: false, stack: 'payments' });
    expect(shown.diagnostics).toEqual([expect.objectContaining({ code: 'nobody-to-ask' })]);
    await expect(stack.ledger()).rejects.toThrow('ENOENT');
    const written = await answer(stack, recoverySchema, ['recover', '--yes']);
    expect(written).toMatchObject({ action: 'rebuild', written: true });
    expect(written.records).toContainEqual({
      address: 'Workspace/acme/app',
      kind: 'Workspace',
      target: 'acme',
      name: 'app',
      origin: 'created',
      fields: 2,
    });
    expect(written.next).toContainEqual(
      expect.objectContaining({ address: 'Workspace/acme/app', action: 'update' }),
    );
    expect(written.releases).toContain('ClusterAuthRole/prod/web');
    const after = Object.keys((await stack.ledger()).records);
    expect(written.records.map(({ address }: { address: string }) => address)).toEqual(after);
    expect(Object.keys(records)).toEqual(expect.arrayContaining(after));
  });

  it('says where a damaged ledger was moved, and that an intact one needs nothing', async () => {
    const stack = await (await openBench()).checkout();
    await stack.setUp(workspace('app'));
    await writeFile(stack.ledgerFile, 'torn');
    expect((await answer(stack, recoverySchema, ['recover', '--yes'])).setAside).toMatch(/ledger\.json/);
    expect(await answer(stack, recoverySchema, ['recover'])).toMatchObject({
      action: 'none',
      written: false,
      records: [{ address: 'Workspace/acme/app' }],
    });
  });

  it('names the target that moved, and what is dropped', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app'), workspace('gone'));
    await bench.byHand.delete(`/workspaces/${await bench.idOf('gone')}`);
    const other = await openFaultyProxy(bench.wire.url);
    const moved = await stack.reconfigure({ workspaces: { url: other.url } });
    await moved.declare(workspace('app'));
    const found = await answer(moved, recoverySchema, ['recover', '--moved', 'acme', '--yes']);
    expect(found).toMatchObject({
      action: 'move-target',
      target: 'acme',
      written: true,
      records: [{ address: 'Workspace/acme/app' }],
      notRecorded: [{ address: 'Workspace/acme/gone' }],
    });
    expect(found.is).toContain(new URL(other.url).host);
  });
});

describe('trueup unlock --format json', () => {
  it('prints the lock that it removed', async () => {
    const { stack } = await open();
    await holdLock(stack);
    expect(await answer(stack, unlockSchema, ['unlock', '--id', 'lock-of-ann'])).toMatchObject({
      stack: 'payments',
      lock: { id: 'lock-of-ann', run: { who: 'ann', where: 'ci-runner-7' } },
    });
  });

  it('prints a problem if the id is another one, and removes nothing', async () => {
    const { stack } = await open();
    await holdLock(stack);
    const { out, err } = await stack.run(['unlock', '--id', 'other', '--format', 'json'], 1);
    expect(JSON.parse(out).diagnostics).toEqual([expect.objectContaining({ code: 'wrong-lock-id' })]);
    expect(err).toBe('');
    await stack.run(['unlock', '--id', 'lock-of-ann'], 0);
  });
});

describe('trueup history show --revert --format json', () => {
  it('has the manifests with the former values, and what has to be done manually', async () => {
    const stack = await (await openBench()).checkout();
    await stack.setUp(workspace('app', { autoApply: true }));
    await stack.declare(workspace('app', { autoApply: false }), workspace('new'));
    await stack.run(['apply', '--yes'], 0);
    const found = await answer(stack, revertSchema, ['history', 'show', 'latest', '--revert']);
    const [created, updated] = [...found.changes].sort((a, b) => (a.action < b.action ? -1 : 1));
    expect(updated).toMatchObject({
      address: 'Workspace/acme/app',
      action: 'update',
      certain: true,
      manifests: [{ kind: 'Workspace', metadata: { name: 'app' }, spec: { autoApply: true } }],
    });
    expect(created).toMatchObject({ address: 'Workspace/acme/new', action: 'create', manifests: [] });
    expect(created.remarks.join()).toContain('remove its document');
  });
});
