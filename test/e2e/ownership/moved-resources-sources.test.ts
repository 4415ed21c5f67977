/** Where an apply finds the ledger of the stack that it takes resources over from, and what both stacks report afterwards. */
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { git, makeRemote } from '../../support/ledger/git-remote.ts';
import { role, workspace } from '../../support/cli/documents.ts';
import { aboutToMove, twoStacks } from '../../support/cli/moving-resources.ts';

const local = { from: 'local', to: 'local' } as const;
const spec = { autoApply: true, tags: { env: 'prod' } };

describe('The ledger of the former owner', () => {
  it('is locked once, also if its folder is written in two ways', async () => {
    const { bench, payments, origin, storeOf } = await twoStacks(local);
    const other = { stack: 'billing', folder: `./${origin.folder ?? ''}/` };
    await payments.declare(
      workspace('app', spec, { movedFrom: origin }),
      role('web', {}, { movedFrom: other }),
    );
    await payments.applyAcknowledged();
    expect((await storeOf('billing').read()).records.size).toBe(0);
    expect((await storeOf('payments').read()).records.size).toBe(3);
    expect(await storeOf('billing').readLock()).toBeUndefined();
    expect(await bench.tagsOf('app')).toMatchObject({ 'trueup-stack': 'payments' });
    await payments.run(['plan', '--exit-code'], 0);
  });

  it('is named with its stack if it was moved, and with the command for the receiving stack', async () => {
    const { bench, billing, payments, origin } = await twoStacks(local);
    git(billing.directory, 'init', '--quiet');
    git(billing.directory, 'remote', 'add', 'origin', makeRemote().directory);
    await billing.run(['ledger', 'move', '--to', 'git', '--yes'], 0);
    expect((await billing.run(['plan'], 1)).err).toContain(
      'write "ledger: git" into the "spec" of the stack file of stack "billing"',
    );
    await payments.declare(workspace('app', spec, { movedFrom: origin }));
    const { err } = await payments.run(['apply', '--yes'], 1);
    expect(err).toContain('stack "payments" takes resources over from stack "billing"');
    expect(err).toContain('move that of stack "payments" there, too, with "trueup ledger move --to git"');
    expect(err).not.toContain('into the "spec"');
    expect(bench.wire.writes()).toEqual([]);
  });
});

describe('The former owner', () => {
  it('is warned when a stack that its document does not name took the resource over', async () => {
    const { billing, payments, job } = await aboutToMove();
    const document = (stack: string) => ({
      apiVersion: 'trueup.dev/v1',
      kind: 'Workspace',
      metadata: { name: 'app', movedTo: { stack } },
    });
    await billing.declare(document('third'), role('web'));
    await payments.run(job, 0);
    await billing.declare(document('third'));
    expect((await billing.plan()).mentions).toMatchObject([
      {
        message: expect.stringMatching(
          /^stack "payments" took it over at .*, but this document names stack "third"$/,
        ),
        fix: expect.stringContaining('movedFrom: { stack: payments }'),
      },
    ]);
    await billing.declare(document('payments'));
    expect((await billing.plan()).mentions).toMatchObject([
      { message: expect.stringContaining('this document can be deleted') },
    ]);
  });

  it('that takes the resource back has each of its own applies once in its history', async () => {
    const { billing, payments, job } = await aboutToMove();
    await payments.run(job, 0);
    const folder = relative(billing.directory, join(payments.directory, '.trueup'));
    const back = { movedFrom: { stack: 'payments', folder } };
    await billing.declare(workspace('app', spec, back), role('web', { tokenTtl: '2h' }, back));
    await billing.applyAcknowledged();
    const { entries } = JSON.parse((await billing.run(['history', '--format', 'json'], 0)).out);
    expect(entries.map(({ stack }: { stack: string }) => stack)).toEqual(['billing', 'payments', 'billing']);
    const { out } = await billing.run(['history', '--resource', 'Workspace/acme/app', '--format', 'json'], 0);
    const ids: string[] = JSON.parse(out).entries.map(({ id }: { id: string }) => id);
    expect(ids).toHaveLength(3);
    expect(ids.filter((id) => id.endsWith('-billing'))).toEqual([]);
  });
});
