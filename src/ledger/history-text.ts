/** The JSON of a lock and of a history entry, the same in every store. Invalid JSON is an error and never ignored. */
import { type HistoryEntry, historyVersion, LedgerError, type LedgerLock } from '../model/ledger.ts';

export function formatLock(lock: LedgerLock): string {
  return `${JSON.stringify(lock, null, 2)}\n`;
}

export function formatEntry(entry: HistoryEntry): string {
  return [...entryPieces(entry)].join('');
}

/** Characters of a piece, about. */
const pieceLength = 65_536;

/** The text of an entry in pieces, with one line for each change: with thousands of changes, the whole text takes too much memory. */
export function* entryPieces({ changes, ...others }: HistoryEntry): Generator<string, void> {
  let piece = JSON.stringify(others, null, 2).replace(/\n}$/, ',\n  "changes": [');
  for (const [index, change] of changes.entries()) {
    piece += `${index === 0 ? '' : ','}\n    ${JSON.stringify(change)}`;
    if (piece.length < pieceLength) continue;
    yield piece;
    piece = '';
  }
  yield `${piece}${changes.length === 0 ? '' : '\n  '}]\n}\n`;
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
  if (version !== historyVersion || !isDated || !Array.isArray(changes)) throw unreadable(place);
  if (namesResources(value as unknown as HistoryEntry)) return value as unknown as HistoryEntry;
  throw unreadable(place);
}

/** Whether all that the entry says about resources has an address, and fields with a path. */
function namesResources({ changes, openCreations = [], begunFields = [] }: HistoryEntry): boolean {
  if (!Array.isArray(openCreations) || !Array.isArray(begunFields)) return false;
  const about = [...changes, ...begunFields];
  const hasFields = about.every(
    ({ fields }) => Array.isArray(fields) && fields.every((field) => Array.isArray(field?.path)),
  );
  const addresses = [...about.map(({ address }) => address), ...openCreations];
  return hasFields && addresses.every((text) => /^[^/]+\/[^/]+\//.test(text));
}

/** Returns the error of an entry that cannot be read, so that the other entries can still be shown. */
export function tryEntry(text: string, place: string): HistoryEntry | LedgerError {
  try {
    return parseEntry(text, place);
  } catch (error) {
    return onlyLedgerError(error);
  }
}

/** @throws the error when it is not a LedgerError */
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
    `${place} cannot be read: trueup did not write it in this form; check it, and remove it when no apply is running`,
    { cause },
  );
}
