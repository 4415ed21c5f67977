/** A ledger of an earlier trueup is read, and rewritten by the first apply; its approvals have to be given again. */
import { describe, expect, it } from 'vitest';
import { openBench, toVersion1 } from '../../support/cli/bench.ts';
import { role, workspace } from '../../support/cli/documents.ts';

async function applied() {
  const bench = await openBench();
  const stack = await bench.checkout();
  await stack.setUp(workspace('app', { tags: { env: 'prod' } }), workspace('old'), role('web'));
  return { bench, stack };
}

const note =
  'from an earlier version: its records are assumed to be of the current addresses of the targets, which the next apply records';

describe('a ledger of version 1', () => {
  it('counts as a ledger of the current targets, and the plan says so until an apply has rewritten it', async () => {
    const { bench, stack } = await applied();
    await toVersion1(stack);
    const plan = await stack.plan();
    expect(plan.changes).toEqual([]);
    expect(plan.coverage.ledgerNotes).toEqual([note]);
    await stack.run(['apply', '--yes'], 0);
    expect(bench.wire.writes()).toEqual([]);
    expect(await stack.ledger()).toMatchObject({
      version: 3,
      serial: 8,
      targets: {
        acme: expect.stringMatching(/^workspaces acme at http/),
        prod: expect.stringMatching(/^cluster-auth auth\/cluster at http/),
      },
    });
    expect((await stack.plan()).coverage.ledgerNotes).toEqual([]);
    await stack.declare(workspace('app', { tags: { env: 'prod' } }), role('web'));
    await stack.run(['apply', '--yes'], 0);
    expect(bench.written()).toEqual(['POST /api/v2/workspaces/ws-…/actions/safe-delete']);
  });

  it('does not keep its approval: the new digest has to be approved', async () => {
    const { bench, stack } = await applied();
    await stack.declare(
      workspace('app', { autoApply: true, tags: { env: 'prod' } }),
      workspace('old'),
      role('web'),
    );
    const digest = '00112233445566778899aabbccddeeff';
    await toVersion1(stack, { digest, atoms: [], createdAt: '2026-11-20T11:42:00.000Z' });
    const { err } = await stack.run(['apply', '--approve', digest], 4);
    const { digest: today } = await stack.plan();
    expect(err).toContain(`plan again, and approve again "${today}"`);
    expect(bench.wire.writes()).toEqual([]);
    await stack.run(['apply', '--approve', today], 0);
    expect(await stack.ledger()).not.toHaveProperty('approved');
  });
});
