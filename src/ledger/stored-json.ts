/** The JSON of a lock and of a history entry, the same in every store. Invalid JSON is an error and never ignored. */
import { type HistoryEntry, LedgerError, type LedgerLock } from '../model/stack/ledger.ts';

export function formatStored(value: LedgerLock | HistoryEntry): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** @param place where it is stored, for the message: `the lock "…/payments.ledger.json.lock"` */
export function parseLock(text: string, place: string): LedgerLock {
  const value = parse(text, place);
  const { id, since, run } = value as Partial<LedgerLock>;
  if (typeof id !== 'string' || typeof since !== 'string' || typeof run?.id !== 'string')
    throw unreadable(place);
  return value as unknown as LedgerLock;
}

export function parseEntry(text: string, place: string): HistoryEntry {
  const value = parse(text, place);
  const { version, id, began, run, changes } = value as Partial<HistoryEntry>;
  const isDated = typeof id === 'string' && typeof began === 'string' && typeof run?.id === 'string';
  if (version !== 1 || !isDated || !Array.isArray(changes)) throw unreadable(place);
  return value as unknown as HistoryEntry;
}

/** Returns the error of an entry that cannot be read, so that the other entries can still be shown. */
export function tryEntry(text: string, place: string): HistoryEntry | LedgerError {
  try {
    return parseEntry(text, place);
  } catch (error) {
    return onlyLedgerError(error);
  }
}

/** @throws the error when it is no LedgerError */
export function onlyLedgerError(error: unknown): LedgerError {
  if (error instanceof LedgerError) return error;
  throw error;
}

/** For callers that need all entries. @throws LedgerError of the first entry that cannot be read */
export function completeEntries(found: readonly (HistoryEntry | LedgerError)[]): readonly HistoryEntry[] {
  return found.map((entry) => {
    if (entry instanceof LedgerError) throw entry;
    return entry;
  });
}

function parse(text: string, place: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as Readonly<Record<string, unknown>>;
  } catch (error) {
    throw unreadable(place, error);
  }
  throw unreadable(place);
}

function unreadable(place: string, cause?: unknown): LedgerError {
  return new LedgerError(
    `${place} cannot be read: trueup did not write it like this; look at it, and remove it when no apply is running`,
    { cause },
  );
}
