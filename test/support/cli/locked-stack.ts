/** A stack with one workspace to apply, and another user who takes its lock. */
import { join } from 'node:path';
import { localLedger } from '../../../src/ledger/local-ledger.ts';
import type { LedgerLock, RunIdentity, StackStore } from '../../../src/model/ledger.ts';
import { type Bench, type Checkout, openBench } from './bench.ts';
import { workspace } from './documents.ts';

export function storeOf(stack: Checkout): StackStore {
  return localLedger(join(stack.directory, '.trueup', 'payments.ledger.json'), 'payments');
}

/** Takes the lock as another user. */
export async function holdLock(
  stack: Checkout,
  run: Partial<RunIdentity> = {},
  id = 'lock-of-ann',
): Promise<LedgerLock> {
  return storeOf(stack).lock({
    id,
    since: '2026-11-20T11:42:00.000Z',
    run: { id: 'github/acme/infra/771/apply', who: 'ann', where: 'ci-runner-7', pid: 4711, ...run },
  });
}

export async function open(): Promise<{ bench: Bench; stack: Checkout }> {
  const bench = await openBench();
  const stack = await bench.checkout();
  await stack.declare(workspace('app'));
  return { bench, stack };
}
