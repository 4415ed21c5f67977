/** Opens what a stack keeps its ledger in. Nothing is read or written yet; addresses come from where the stack points. */
import { join } from 'node:path';
import { gitLedger } from '../ledger/git-ref.ts';
import { localLedger } from '../ledger/local-file.ts';
import { postgresLedger } from '../ledger/postgres.ts';
import type { StackStore } from '../model/ledger.ts';
import type { Stack } from '../model/target.ts';
import { readSecret } from './secrets.ts';
import type { World } from './world.ts';

/** To be closed. @throws SecretError when the address of the database cannot be read */
export async function openLedger(
  { ledger = { in: 'local' }, name, directory }: Pick<Stack, 'ledger' | 'name' | 'directory'>,
  world: Pick<World, 'env'>,
): Promise<StackStore> {
  switch (ledger.in) {
    case 'local':
      return localLedger(ledgerFile(directory, name), name);
    case 'git':
      return gitLedger({ directory, env: world.env }, { remote: ledger.remote, stack: name });
    case 'postgres':
      return postgresLedger(
        await readSecret(ledger.url, { env: world.env, directory }, "the address of the ledger's database"),
        name,
      );
  }
}

/** One ledger a stack, beside its file. */
export function ledgerFile(directory: string, stack: string): string {
  return join(directory, '.trueup', `${stack}.ledger.json`);
}
