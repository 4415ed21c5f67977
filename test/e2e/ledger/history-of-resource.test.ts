/** `trueup history --resource ADDRESS`: which applies changed a resource, and how. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { historySchema } from '../../../src/commands/history/schema.ts';
import { type Checkout, openBench } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';

const app = ['--resource', 'Workspace/acme/app'];

/** Three applies; the second one is about another workspace only. */
async function withHistory(): Promise<Checkout> {
  const stack = await (await openBench()).checkout();
  await stack.setUp(workspace('app'));
  await stack.setUp(workspace('app'), workspace('web'));
  await stack.setUp(workspace('app', { autoApply: true }), workspace('web', { autoApply: true }));
  return stack;
}

const json = async (stack: Checkout, ...args: readonly string[]) => {
  const answer = JSON.parse((await stack.run(['history', ...args, '--format', 'json'], 0)).out);
  const isValid = new Ajv2020({ strict: false, validateFormats: false }).compile(historySchema);
  expect(isValid(answer), JSON.stringify(isValid.errors)).toBe(true);
  return answer;
};

describe('trueup history --resource', () => {
  it('lists only the applies that changed it, with the fields', async () => {
    const { out } = await (await withHistory()).run(['history', ...app], 0);
    const lines = out.trim().split('\n');
    expect(lines).toHaveLength(3);
    expect(lines[1]).toContain('update applied: autoApply');
    expect(lines[2]).toContain('create applied');
  });

  it('has the values before and after in JSON, and --limit counts what is listed', async () => {
    const stack = await withHistory();
    const { entries } = await json(stack, ...app);
    expect(entries).toHaveLength(2);
    expect(entries[0]).toMatchObject({
      summary: { changes: 1, applied: 1 },
      changes: [
        { address: 'Workspace/acme/app', fields: [{ path: ['autoApply'], before: false, after: true }] },
      ],
    });
    expect((await json(stack, '--limit', '1', '--resource', 'Workspace/acme/web')).entries).toHaveLength(1);
    expect((await json(stack)).entries[0]).not.toHaveProperty('changes');
  });

  it('follows a resource to the names that it had before', async () => {
    const stack = await (await openBench()).checkout();
    await stack.setUp(workspace('app'));
    const renamed = workspace('shop');
    await stack.declare({ ...renamed, metadata: { ...renamed.metadata, renamedFrom: 'app' } });
    await stack.applyAcknowledged();
    const { entries } = await json(stack, '--resource', 'Workspace/acme/shop');
    expect(entries.map(({ changes }: { changes: { action: string }[] }) => changes[0]?.action)).toEqual([
      'update',
      'create',
    ]);
  });

  it('also limits "show" and "--revert" to what one apply did to it', async () => {
    const stack = await withHistory();
    const shown = await stack.run(['history', 'show', 'latest', ...app], 0);
    expect(shown.out).toContain('Workspace/acme/app');
    expect(shown.out).not.toContain('Workspace/acme/web');
    const { out } = await stack.run(['history', 'show', 'latest', '--revert', ...app], 0);
    expect(out).toContain('name: app');
    expect(out).not.toContain('name: web');
    const other = ['--resource', 'Workspace/acme/none'];
    expect((await stack.run(['history', 'show', 'latest', ...other], 1)).err).toContain('did not change');
  });

  it('says that no apply changed it, and what an address looks like', async () => {
    const stack = await withHistory();
    const none = await stack.run(['history', '--resource', 'Workspace/acme/none'], 0);
    expect(none.out).toBe('No apply in the history changed Workspace/acme/none\n');
    const { err } = await stack.run(['history', '--resource', 'app'], 1);
    expect(err).toContain('an address has a kind, a target and a name: Workspace/acme/app');
  });
});
