/**
 * The text of a ledger, of its lock and of a history entry, the same in every store: readable JSON, the ledger with a version
 * and a checksum. Manual edits and incomplete writes are detected before a plan uses them.
 */
import { createHash } from 'node:crypto';
import { type AddressText, readAddress } from '../model/address.ts';
import type { ApprovedPlan, OfferedPlan } from '../model/approval.ts';
import { messageOf } from '../model/error-message.ts';
import {
  DamagedLedger,
  type HistoryEntry,
  historyVersion,
  type Ledger,
  LedgerError,
  type LedgerLock,
  type LedgerRecord,
  ledgerVersion,
  type MovedAway,
  movedLedgerVersion,
} from '../model/ledger.ts';
import { quoted } from '../model/quoted.ts';
import type { IdentityText } from '../model/stack.ts';

/** Which ledger a text is and where it is stored, for messages. */
export interface LedgerLocation {
  /** `the ledger "…/payments.ledger.json"` */
  readonly place: string;
  readonly stack: string;
}

/** The part of a stored ledger that the checksum covers. */
type Content = Pick<
  Ledger,
  | 'stackId'
  | 'takenIds'
  | 'repository'
  | 'commit'
  | 'otherCommits'
  | 'closedFor'
  | 'movedTo'
  | 'copiedFrom'
  | 'incoming'
> & {
  readonly movedAway?: Readonly<Record<string, MovedAway>>;
  readonly targets?: Readonly<Record<string, IdentityText>>;
  readonly approved?: ApprovedPlan;
  readonly endedApprovals?: Readonly<Record<string, string>>;
  readonly offered?: readonly OfferedPlan[];
  readonly records: Readonly<Record<string, LedgerRecord>>;
};

interface Stored extends Content {
  /** 3 since stacks have an id, which earlier versions would drop */
  readonly version: 2 | typeof ledgerVersion | typeof movedLedgerVersion;
  readonly stack: string;
  readonly serial: number;
  readonly checksum: string;
}

/** Version 1, written before targets had identities. Its approved plan has a digest of version 1. */
type FormerStored = Omit<
  Stored,
  | 'version'
  | 'targets'
  | 'commit'
  | 'closedFor'
  | 'movedTo'
  | 'copiedFrom'
  | 'incoming'
  | 'movedAway'
  | 'approved'
  | 'endedApprovals'
  | 'offered'
> & {
  readonly version: 1;
  readonly approved?: Omit<ApprovedPlan, 'version'>;
};

export const noLedger: Ledger = { known: false, serial: 0, records: new Map() };

/** The text of the ledger, with its own serial. */
export function formatLedger(stack: string, ledger: Ledger): string {
  const {
    serial,
    records,
    targets,
    stackId,
    takenIds = [],
    repository,
    commit,
    otherCommits = [],
    closedFor,
    movedTo,
    copiedFrom,
    incoming = [],
    movedAway = new Map(),
    approved,
    endedApprovals,
  } = ledger;
  const content: Content = {
    ...(closedFor === undefined ? {} : { closedFor }),
    ...(movedTo === undefined ? {} : { movedTo }),
    ...(copiedFrom === undefined ? {} : { copiedFrom }),
    ...(targets === undefined ? {} : { targets: sorted(targets) }),
    ...(stackId === undefined ? {} : { stackId }),
    ...(takenIds.length === 0 ? {} : { takenIds }),
    ...(repository === undefined ? {} : { repository }),
    ...(commit === undefined ? {} : { commit }),
    ...(otherCommits.length === 0 ? {} : { otherCommits }),
    ...(incoming.length === 0 ? {} : { incoming }),
    ...(movedAway.size === 0 ? {} : { movedAway: sorted(movedAway) }),
    ...(approved === undefined ? {} : { approved }),
    ...(endedApprovals === undefined ? {} : { endedApprovals: sorted(endedApprovals) }),
    ...offeredMember(ledger),
    records: sorted(records),
  };
  const isMoved = movedTo !== undefined || copiedFrom !== undefined || incoming.length + movedAway.size > 0;
  const version = isMoved ? movedLedgerVersion : ledgerVersion;
  const stored: Stored = { version, stack, serial, checksum: hash(content), ...content };
  return `${JSON.stringify(stored, null, 2)}\n`;
}

function offeredMember({ offered = [] }: Pick<Ledger, 'offered'>): Pick<Ledger, 'offered'> {
  return offered.length === 0 ? {} : { offered };
}

/** The content that a move copies to another place. Ledgers with equal texts differ at most in their place and serial. */
export function contentText(stack: string, { movedTo: _, copiedFrom: __, ...content }: Ledger): string {
  return formatLedger(stack, { ...content, serial: 0 });
}

function sorted<T>(map: ReadonlyMap<string, T>): Readonly<Record<string, T>> {
  const members: Record<string, T> = {};
  // Sorting the keys alone takes half the time.
  for (const key of [...map.keys()].sort()) members[key] = map.get(key) as T;
  return members;
}

/** @throws LedgerError when the text is not a ledger of this stack, or was changed after trueup wrote it */
export function parseLedger(text: string, { place, stack }: LedgerLocation): Ledger {
  const stored = parseStored(place, text);
  if (stored.stack !== stack) {
    throw new LedgerError(
      `${place} belongs to stack ${quoted(stored.stack)}, not to ${quoted(stack)}: move it away, or correct metadata.name`,
    );
  }
  const { serial, records } = stored;
  const known = { known: true, serial, records: addressed(place, records) };
  if (stored.version === 1)
    return {
      ...known,
      ...(stored.approved === undefined ? {} : { approved: { version: 1, ...stored.approved } }),
    };
  const {
    targets,
    stackId,
    takenIds,
    repository,
    commit,
    otherCommits,
    closedFor,
    movedTo,
    copiedFrom,
    approved,
    endedApprovals,
  } = stored;
  return {
    ...known,
    ...(targets === undefined ? {} : { targets: new Map(Object.entries(targets)) }),
    ...(stackId === undefined ? {} : { stackId }),
    ...(takenIds === undefined ? {} : { takenIds }),
    ...(repository === undefined ? {} : { repository }),
    ...(commit === undefined ? {} : { commit }),
    ...(otherCommits === undefined ? {} : { otherCommits }),
    ...(closedFor === undefined ? {} : { closedFor }),
    ...(movedTo === undefined ? {} : { movedTo }),
    ...(copiedFrom === undefined ? {} : { copiedFrom }),
    ...movesIn(place, stored),
    ...(approved === undefined ? {} : { approved }),
    ...(endedApprovals === undefined ? {} : { endedApprovals: new Map(Object.entries(endedApprovals)) }),
    ...offeredMember(stored),
  };
}

/** The members about moves of resources between stacks. */
function movesIn(place: string, { incoming, movedAway }: Stored): Pick<Ledger, 'incoming' | 'movedAway'> {
  return {
    ...(incoming === undefined ? {} : { incoming }),
    ...(movedAway === undefined ? {} : { movedAway: addressed(place, movedAway) }),
  };
}

/** Checks the addresses although the checksum matched, because another program may have written the text. */
function addressed<T>(place: string, members: Readonly<Record<string, T>>): ReadonlyMap<AddressText, T> {
  try {
    return new Map(Object.entries(members).map(([text, member]) => [readAddress(text), member] as const));
  } catch (error) {
    throw damaged(place, `one of its records has no valid address, ${messageOf(error)}`, error);
  }
}

function parseStored(place: string, text: string): Stored | FormerStored {
  const stored = asObject(place, text);
  const { version } = stored;
  if (typeof version === 'number' && ![1, 2, ledgerVersion, movedLedgerVersion].includes(version)) {
    throw new LedgerError(
      `${place} has version ${version}, which this version of trueup does not support: use the version that wrote it, or a newer one`,
    );
  }
  if (!isStored(stored)) throw damaged(place, 'it is not a ledger');
  if (stored.checksum !== checksumOf(stored))
    throw damaged(place, 'its checksum does not match, so it was edited or is incomplete');
  return stored;
}

function asObject(place: string, text: string): Partial<Record<keyof Stored, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch (error) {
    throw damaged(place, 'it is not JSON', error);
  }
}

function isStored(value: Partial<Record<keyof Stored, unknown>>): value is Stored | FormerStored {
  const { version, stack, serial, checksum: sum, records } = value;
  const isText = typeof stack === 'string' && typeof sum === 'string';
  const isKnown = typeof version === 'number' && [1, 2, ledgerVersion, movedLedgerVersion].includes(version);
  return isKnown && isText && Number.isInteger(serial) && typeof records === 'object' && records !== null;
}

function damaged(place: string, reason: string, cause?: unknown): DamagedLedger {
  const fix = 'restore it from a backup, or rebuild it with "trueup recover"';
  return new DamagedLedger(`${place} is damaged: ${reason}; ${fix}`, { cause });
}

/** The checksum over the content of each version, with members in the order in which they were written. */
function checksumOf(stored: Stored | FormerStored): string {
  if (stored.version === 1) {
    const { records, approved } = stored;
    return hash(approved === undefined ? records : [records, approved]);
  }
  const { version: _, stack: __, serial: ___, checksum: ____, ...content } = stored;
  return hash(content);
}

function hash(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}

// The JSON of a lock and of a history entry, the same in every store. Invalid JSON is an error and never ignored.

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

// The name of a damaged ledger that was moved away. It contains the time, so that the next one does not overwrite it.

/** `damaged-2026-11-20T12-07-41-006Z`: valid in a file name, a git path and a key. */
export function backupFileName(): string {
  return `damaged-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;
}
