/** An apply that is killed right after a write, before its ledger has it. */
import { localLedger } from '../../../src/ledger/local-ledger.ts';
import { type Bench, type Checkout, secrets } from './bench.ts';
import { startTrueup } from './process.ts';

interface KilledApply {
  readonly options?: readonly string[];
  /** the service does not carry out the request */
  readonly isBefore?: true;
}

/** Kills an apply of the stack `payments` at its first POST or PATCH to this path, and removes its lock. */
export async function killApply(
  bench: Bench,
  stack: Checkout,
  path: RegExp,
  { options = ['--yes'], isBefore }: KilledApply = {},
): Promise<void> {
  let applying = startTrueup(['--version'], { cwd: stack.directory, env: secrets });
  bench.wire.setHandler(async (request, pass) => {
    if (!['POST', 'PATCH'].includes(request.method) || !path.test(request.path)) return pass();
    if (isBefore !== true) await pass();
    applying.kill('SIGKILL');
    await applying.ended;
    return undefined;
  });
  applying = startTrueup(['apply', ...options], { cwd: stack.directory, env: secrets });
  await applying.ended;
  bench.wire.setHandler(undefined);
  const lock = await localLedger(stack.ledgerFile, 'payments').readLock();
  await stack.run(['unlock', '--id', lock?.id ?? ''], 0);
}
