/** A role that moves between stacks while a target has another name in one of them: the address decides who owns it, not the name. */
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Checkout, openBench } from '../../support/cli/bench.ts';
import { role } from '../../support/cli/documents.ts';

const exclusive = { exclusive: true };

/** The stack `billing` has the roles `web` and `own` in a target of its own. */
async function scene() {
  const bench = await openBench();
  const billing = await bench.checkout({ name: 'billing', clusterAuth: exclusive });
  await billing.setUp(role('web'), role('own'));
  const payments = await bench.checkout({ name: 'payments' });
  const folder = relative(payments.directory, join(billing.directory, '.trueup'));
  await payments.declare(role('web', {}, { movedFrom: { stack: 'billing', folder } }));
  const rename = (name: string): Promise<Checkout> =>
    billing.reconfigure({ clusterAuth: { ...exclusive, name } });
  return { payments, rename };
}

describe('A role that moved to another stack', () => {
  it('is neither deleted nor adopted again by its former stack after a target there got another name', async () => {
    const { payments, rename } = await scene();
    await payments.applyAcknowledged();
    const renamed = await rename('main');
    await renamed.declare(role('own'));
    const { changes, mentions } = await renamed.plan();
    expect(changes.map(({ name, action }) => `${action} ${name}`)).toEqual(['adopt own']);
    expect(mentions).toContainEqual(
      expect.objectContaining({ message: 'it moved to stack "payments": it is left alone' }),
    );
    await renamed.declare(role('own'), role('web'));
    const { problems } = await renamed.plan(9);
    expect(problems.map(({ code }) => code)).toEqual(['moved-away']);
  });

  it('leaves no record in its former stack, which had it under two names of one target', async () => {
    const { payments, rename } = await scene();
    // The records under the former name stay, too.
    const renamed = await rename('zeta');
    await renamed.applyAcknowledged();
    await payments.applyAcknowledged();
    await renamed.declare(role('own'));
    expect((await renamed.plan()).changes).toEqual([]);
    const { records } = await renamed.ledger();
    expect(Object.keys(records)).toEqual(['ClusterAuthRole/prod/own', 'ClusterAuthRole/zeta/own']);
    // As the plan advises, the target gets its former name back.
    expect((await (await rename('prod')).plan()).changes).toEqual([]);
  });
});
