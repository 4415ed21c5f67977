/**
 * A ledger in one local file, readable JSON. Every write goes to a new file that is synced and then renamed over the old
 * one, so a reader sees the old ledger or the new one, and never a half.
 */
import { createHash } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Ledger, LedgerRecord, LedgerStore } from '../model/ledger.ts';

/** The ledger file cannot be used as it is. The message says which and what to do. */
export class LedgerError extends Error {
  override readonly name = 'LedgerError';
}

interface Stored {
  readonly version: 1;
  readonly stack: string;
  readonly serial: number;
  /** over the records, so that an edit by hand or a torn file is noticed */
  readonly checksum: string;
  readonly records: Readonly<Record<string, LedgerRecord>>;
}

/** @param file absolute path; its directory is made when the first write needs it */
export function localLedger(file: string, stack: string): LedgerStore {
  return {
    read: () => readLedger(file, stack),
    write: (ledger) => writeLedger(file, stack, ledger),
  };
}

async function readLedger(file: string, stack: string): Promise<Ledger> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new LedgerError(`the ledger "${file}" cannot be read: ${error.message}`, { cause: error });
  });
  if (text === undefined) return { known: false, serial: 0, records: new Map() };
  const stored = parse(file, text);
  if (stored.stack !== stack) {
    throw new LedgerError(
      `the ledger "${file}" belongs to stack "${stored.stack}", not to "${stack}": move it away, or correct metadata.name`,
    );
  }
  return { known: true, serial: stored.serial, records: new Map(Object.entries(stored.records)) };
}

function parse(file: string, text: string): Stored {
  let stored: Stored;
  try {
    stored = JSON.parse(text);
  } catch (error) {
    throw new LedgerError(
      `the ledger "${file}" is damaged: it is no JSON; restore it from a backup, or move it away`,
      { cause: error },
    );
  }
  if (stored.version !== 1)
    throw new LedgerError(
      `the ledger "${file}" has version ${stored.version}, which this trueup does not know`,
    );
  if (stored.checksum !== checksum(stored.records)) {
    throw new LedgerError(
      `the ledger "${file}" is damaged or was edited: its checksum does not match; restore it from a backup, or move it away`,
    );
  }
  return stored;
}

async function writeLedger(file: string, stack: string, ledger: Ledger): Promise<Ledger> {
  const current = await readLedger(file, stack);
  if (current.serial !== ledger.serial) {
    throw new LedgerError(
      `the ledger "${file}" was written by another run meanwhile (serial ${current.serial}, expected ${ledger.serial})`,
    );
  }
  const records = Object.fromEntries([...ledger.records].sort(([a], [b]) => (a < b ? -1 : 1)));
  const serial = ledger.serial + 1;
  const stored: Stored = { version: 1, stack, serial, checksum: checksum(records), records };
  await replaceFile(file, `${JSON.stringify(stored, null, 2)}\n`);
  return { known: true, serial, records: ledger.records };
}

function checksum(records: Stored['records']): string {
  return createHash('sha256').update(JSON.stringify(records)).digest('hex');
}

async function replaceFile(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const fresh = `${file}.${Math.random().toString(36).slice(2)}.new`;
  try {
    const handle = await open(fresh, 'w', 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(fresh, file);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
}
