/** Moves that are taken back, repeated or restored: what came from another stack is not deleted or taken unasked. */
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
  await billing.begin(workspace('app'), role('web'));
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
  it('blocks a move and the deletion of what was moved, although the stack allows it', async () => {
    const { bench, billing, payments } = await moved({ spec: { guards: { allow: ['takeover'] } } });
    expect(await guardsOf(payments)).toEqual([
      `blocks: 1 ClusterAuthRole in "prod" ${taken}`,
      `blocks: 1 Workspace in "acme" ${taken}`,
    ]);
    await payments.insist();
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
    // What the message says gives both back.
    const mark = (kind: string, name: string) => ({
      ...{ apiVersion: 'trueup.dev/v1', kind },
      metadata: { name, movedTo: { stack: 'billing' } },
    });
    await payments.declare(workspace('own'), mark('Workspace', 'app'), mark('ClusterAuthRole', 'web'));
    const back = from('payments', payments, billing);
    await billing.declare(workspace('app', {}, back), role('web', {}, back));
    await billing.insist();
    expect(await bench.tagsOf('app')).toEqual({ 'trueup-stack': 'billing' });
    expect((await payments.plan()).guards).toEqual([]);
  });
});

describe('A resource that was moved on', () => {
  it('cannot be taken over again from the stack that had it first', async () => {
    const { bench, billing, payments } = await moved();
    await payments.insist();
    const third = await bench.checkout({ name: 'third' });
    await third.declare(role('web', {}, from('payments', payments, third)));
    await third.insist();
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
