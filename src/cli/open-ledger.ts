/** Opens what a stack keeps its ledger in. Nothing is read or written yet; addresses come from where the stack points. */
import { join } from 'node:path';
import { gitLedger } from '../ledger/git-ref.ts';
import { localLedger } from '../ledger/local-file.ts';
import { postgresLedger } from '../ledger/postgres.ts';
import { whyNoAddress } from '../ledger/postgres-address.ts';
import { systemClock } from '../http/clock.ts';
import { Waits } from '../http/waits.ts';
import { stateFolderName } from '../ledger/state-folder.ts';
import { LedgerAddressError, type StackStore } from '../model/ledger.ts';
import type { SecretSource, Stack } from '../model/target.ts';
import { readSecret } from './secrets.ts';
import type { World } from './world.ts';

/**
 * To be closed; says what it waits for.
 * @throws SecretError when the address of the database cannot be read, LedgerAddressError when it is none
 */
export async function openLedger(
  stack: Pick<Stack, 'ledger' | 'name' | 'directory'>,
  world: Pick<World, 'env' | 'secrets' | 'stderr'>,
): Promise<StackStore> {
  const store = await storeOf(stack, world);
  return toldWhenSlow(store, (says) => world.stderr.write(`${says}\n`));
}

/** Every question to the store, watched. */
function toldWhenSlow(store: StackStore, tell: (says: string) => void): StackStore {
  const waits = new Waits(store.place, { tell, clock: systemClock });
  return new Proxy(store, {
    get: (whole, name) => {
      const member: unknown = Reflect.get(whole, name);
      if (typeof member !== 'function') return member;
      return (...given: unknown[]) => {
        const result: unknown = member.apply(whole, given);
        if (!(result instanceof Promise)) return result;
        return result.finally(waits.begin(`its answer to "${String(name)}"`));
      };
    },
  });
}

async function storeOf(
  { ledger = { in: 'local' }, name, directory }: Pick<Stack, 'ledger' | 'name' | 'directory'>,
  world: Pick<World, 'env' | 'secrets'>,
): Promise<StackStore> {
  switch (ledger.in) {
    case 'local':
      return localLedger(join(directory, ledger.folder ?? stateFolderName, `${name}.ledger.json`), name);
    case 'git':
      return gitLedger({ directory, env: world.env }, { remote: ledger.remote, stack: name });
    case 'postgres':
      return postgresLedger(await readAddress(ledger.url, directory, world), name);
  }
}

async function readAddress(
  source: SecretSource,
  directory: string,
  { env, secrets }: Pick<World, 'env' | 'secrets'>,
): Promise<string> {
  const address = secrets.keep(
    await readSecret(source, { env, directory }, "the address of the ledger's database"),
  );
  if (URL.canParse(address)) secrets.keep(new URL(address).password);
  const why = whyNoAddress(address);
  if (why === undefined) return address;
  const from = 'env' in source ? `the environment variable "${source.env}"` : `the file "${source.file}"`;
  throw new LedgerAddressError(`${from} holds no address of a PostgreSQL database: ${why}`);
}
