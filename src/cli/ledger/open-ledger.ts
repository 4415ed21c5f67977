/** Opens what a stack keeps its ledger in. Nothing is read or written yet; addresses come from where the stack points. */
import { join } from 'node:path';
import { systemClock } from '../../http/transport/clock.ts';
import { Waits } from '../../http/transport/waits.ts';
import type { EndableStore, QuestionEnds, Question } from '../../ledger/endable-store.ts';
import { gitLedger } from '../../ledger/git/git-ledger.ts';
import { localLedger } from '../../ledger/local/local-ledger.ts';
import { postgresLedger } from '../../ledger/postgres/postgres-ledger.ts';
import { whyNoAddress } from '../../ledger/postgres/postgres-address.ts';
import { stateFolderName } from '../../ledger/local/state-folder.ts';
import { LedgerAddressError, type StackStore } from '../../model/stack/ledger.ts';
import type { SecretSource, Stack } from '../../model/stack/target.ts';
import { guardedStore } from '../guarded-store.ts';
import { LedgerPatience, phraseOf, type RunOver } from './ledger-waits.ts';
import { readSecret } from '../run/read-secret.ts';
import type { CliHost } from '../cli-host.ts';

/**
 * To be closed; says what it waits for, and waits no longer than the run.
 * @throws SecretError when the address of the database cannot be read, LedgerAddressError when it is none
 */
export async function openLedger(
  stack: Pick<Stack, 'ledger' | 'name' | 'directory'>,
  host: Pick<CliHost, 'clean' | 'env' | 'secrets' | 'stderr'>,
  run: RunOver,
): Promise<StackStore> {
  const store = await storeOf(stack, host);
  return guardedStore(
    watched(store, run, (says) => host.stderr.write(`${says}\n`)),
    host.clean,
  );
}

/** Every question to the store, with an end, and told when it takes long. */
function watched(store: EndableStore, run: RunOver, tell: (says: string) => void): StackStore {
  const waits = new Waits(store.place, { tell, clock: systemClock });
  const patience = new LedgerPatience(store.place, run);
  const ask = <T>(question: Question, work: (ends: QuestionEnds) => Promise<T>): Promise<T> =>
    patience.ask(question, work).finally(waits.begin(phraseOf(question)));
  return {
    place: store.place,
    read: () => ask('read', (ends) => store.read(ends)),
    write: (ledger) => ask('write', (ends) => store.write(ledger, ends)),
    setAside: () => ask('setAside', (ends) => store.setAside(ends)),
    readLock: () => ask('readLock', (ends) => store.readLock(ends)),
    lock: (wanted, instead) => ask('lock', (ends) => store.lock(wanted, instead, ends)),
    unlock: (id) => ask('unlock', (ends) => store.unlock(id, ends)),
    keepEntries: (entries) => ask('keepEntries', (ends) => store.keepEntries(entries, ends)),
    listEntries: (limit) => ask('listEntries', (ends) => store.listEntries(limit, ends)),
    readEntries: (limit) => ask('readEntries', (ends) => store.readEntries(limit, ends)),
    showEntry: (id) => ask('showEntry', (ends) => store.showEntry(id, ends)),
    close: () => store.close(),
  };
}

async function storeOf(
  { ledger = { in: 'local' }, name, directory }: Pick<Stack, 'ledger' | 'name' | 'directory'>,
  host: Pick<CliHost, 'env' | 'secrets'>,
): Promise<EndableStore> {
  switch (ledger.in) {
    case 'local':
      return localLedger(join(directory, ledger.folder ?? stateFolderName, `${name}.ledger.json`), name);
    case 'git':
      return gitLedger(
        { directory, env: host.env, secrets: host.secrets },
        { remote: ledger.remote, stack: name },
      );
    case 'postgres':
      return postgresLedger(await readAddress(ledger.url, directory, host), name);
  }
}

async function readAddress(
  source: SecretSource,
  directory: string,
  { env, secrets }: Pick<CliHost, 'env' | 'secrets'>,
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
