/** An apply that is killed right after a write, before its ledger has it. */
import { localLedger } from '../../../src/ledger/local-ledger.ts';
import { type Bench, type Checkout, secrets } from './bench.ts';
import { startTrueup } from './process.ts';

/** Kills an apply at its first POST or PATCH to this path, which the service carries out, and removes its lock. */
export async function killApply(
  bench: Bench,
  stack: Checkout,
  path: RegExp,
  name = 'payments',
): Promise<void> {
  let applying = startTrueup(['--version'], { cwd: stack.directory, env: secrets });
  bench.wire.setHandler(async (request, pass) => {
    const answer = await pass();
    if (!['POST', 'PATCH'].includes(request.method) || !path.test(request.path)) return answer;
    applying.kill('SIGKILL');
    await applying.ended;
    return undefined;
  });
  applying = startTrueup(['apply', '--yes'], { cwd: stack.directory, env: secrets });
  await applying.ended;
  bench.wire.setHandler(undefined);
  const lock = await localLedger(stack.ledgerFile, name).readLock();
  await stack.run(['unlock', '--id', lock?.id ?? ''], 0);
}
