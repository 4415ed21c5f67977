/** Moves that are taken back, repeated or restored: resources of another stack are deleted or taken over only after an acknowledgement. */
import { cp, readdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { localLedger } from '../../../src/ledger/local-ledger.ts';
import { type Checkout, openBench, type StackOptions } from '../../support/cli/bench.ts';
import { role, workspace } from '../../support/cli/documents.ts';

/** Metadata that takes a resource over from the stack with this name. */
function from(stack: string, source: Checkout, receiver: Checkout) {
  const folder = relative(receiver.directory, join(source.directory, '.trueup'));
  return { movedFrom: { stack, folder } };
}

/** The stack `payments` takes `app` and `web` over from `billing`. */
async function moved(options: StackOptions = {}) {
  const bench = await openBench();
  const billing = await bench.checkout({ name: 'billing' });
  await billing.setUp(workspace('app'), role('web'));
  const payments = await bench.checkout({ name: 'payments', ...options });
  const metadata = from('billing', billing, payments);
  await payments.declare(workspace('app', {}, metadata), role('web', {}, metadata));
  return { bench, billing, payments };
}

const guardsOf = async (stack: Checkout) => {
  const { guards } = await stack.plan();
  return guards.filter(({ id }) => id === 'takeover').map(({ effect, message }) => `${effect}: ${message}`);
};

const taken = 'would be taken over from another stack, or from the former name of this one';
const deleted = 'would be deleted, although this stack took it over from another one';

describe('The guard "takeover"', () => {
  it('blocks a move and the deletion of a moved resource, even if the stack allows the guard', async () => {
    const { bench, billing, payments } = await moved({ spec: { guards: { allow: ['takeover'] } } });
    expect(await guardsOf(payments)).toEqual([
      `blocks: 1 ClusterAuthRole in "prod" ${taken}`,
      `blocks: 1 Workspace in "acme" ${taken}`,
    ]);
    await payments.applyAcknowledged();
    // Both manifests are as they were before the move.
    await payments.declare(workspace('own'));
    bench.wire.reset();
    expect(await guardsOf(payments)).toEqual([
      `blocks: 1 ClusterAuthRole in "prod" ${deleted}`,
      `blocks: 1 Workspace in "acme" ${deleted}`,
    ]);
    const { err, out } = await payments.run(['apply', '--yes'], 5);
    expect(out + err).toContain('it came from stack "billing"; to give it back, declare it here with');
    expect(bench.wire.writes()).toEqual([]);
    // The fix in the message gives both back.
    const mark = (kind: string, name: string) => ({
      ...{ apiVersion: 'trueup.dev/v1', kind },
      metadata: { name, movedTo: { stack: 'billing' } },
    });
    await payments.declare(workspace('own'), mark('Workspace', 'app'), mark('ClusterAuthRole', 'web'));
    const back = from('payments', payments, billing);
    await billing.declare(workspace('app', {}, back), role('web', {}, back));
    await billing.applyAcknowledged();
    expect(await bench.tagsOf('app')).toEqual({ 'trueup-stack': 'billing' });
    expect((await payments.plan()).guards).toEqual([]);
  });
});

describe('A resource that was moved on', () => {
  it('cannot be taken over again from the stack that had it first', async () => {
    const { bench, billing, payments } = await moved();
    await payments.applyAcknowledged();
    const third = await bench.checkout({ name: 'third' });
    await third.declare(role('web', {}, from('payments', payments, third)));
    await third.applyAcknowledged();
    await payments.declare(workspace('app'), role('web', {}, from('billing', billing, payments)));
    bench.wire.reset();
    const { problems } = await payments.plan(9);
    expect(problems.map(({ message }) => message)).toContainEqual(
      expect.stringContaining('this stack gave it to stack "third" at'),
    );
    await payments.run(['apply', '--yes'], 9);
    expect(bench.wire.writes()).toEqual([]);
    const { records } = await localLedger(payments.ledgerFile, 'payments').read();
    expect([...records.keys()]).not.toContain('ClusterAuthRole/prod/web');
  });
});

describe('The ledger of the former stack', () => {
  it('is part of the approval, so that an apply never takes the record from a copy in another folder', async () => {
    const { bench, billing, payments } = await moved();
    const [folder, copy] = [join(billing.directory, '.trueup'), join(billing.directory, 'copy')];
    await cp(folder, copy, { recursive: true });
    const first = await payments.plan();
    const shown = first.changes.flatMap(({ fields }) => fields.filter(({ path }) => path === '/movedFrom'));
    expect(shown.map(({ after }) => after)).toMatchObject([
      /^ledger of stack "billing" in "/,
      /, id [0-9a-f]{8}$/,
    ]);
    const metadata = { movedFrom: { stack: 'billing', folder: relative(payments.directory, copy) } };
    await payments.declare(workspace('app', {}, metadata), role('web', {}, metadata));
    expect((await payments.plan()).digest).not.toBe(first.digest);
    bench.wire.reset();
    const { code } = await payments.tryRun(['apply', '--approve', first.digest, '--ack', 'takeover']);
    expect(code).not.toBe(0);
    expect(bench.wire.writes()).toEqual([]);
    expect((await localLedger(billing.ledgerFile, 'billing').read()).records.size).toBe(2);
  });

  it('gives nothing away while an entry of its history is damaged', async () => {
    const { billing, payments } = await moved();
    const history = join(billing.directory, '.trueup', 'billing.history');
    const [entry = ''] = await readdir(history);
    await writeFile(join(history, entry), '{');
    const { digest } = await payments.plan();
    const { code, err } = await payments.tryRun(['apply', '--approve', digest, '--ack', 'takeover']);
    expect([code === 0, err]).toEqual([false, expect.stringContaining(entry)]);
    const { records } = await localLedger(billing.ledgerFile, 'billing').read();
    expect([...records.keys()]).toHaveLength(2);
    expect((await localLedger(payments.ledgerFile, 'payments').read()).incoming).toBeUndefined();
  });
});
