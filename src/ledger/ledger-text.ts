/**
 * The text of a ledger, the same in every store: readable JSON with a version and a checksum. Manual edits and incomplete writes are
 * detected before a plan uses them.
 */
import { createHash } from 'node:crypto';
import { type AddressText, readAddress } from '../model/address.ts';
import type { ApprovedPlan, OfferedPlan } from '../model/approval.ts';
import { messageOf } from '../model/error-message.ts';
import {
  DamagedLedger,
  type Ledger,
  LedgerError,
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
  const head: Omit<Content, 'records'> = {
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
  };
  const isMoved = movedTo !== undefined || copiedFrom !== undefined || incoming.length + movedAway.size > 0;
  const version = isMoved ? movedLedgerVersion : ledgerVersion;
  const texts = textsOf(records);
  const checksum = hashOf(withLastMember(JSON.stringify(head), `"records":{${texts.compact}}`));
  const stored: Omit<Stored, 'records'> = { version, stack, serial, checksum, ...head };
  return `${withLastMember(JSON.stringify(stored, null, 2), `\n  "records": {${texts.indented}}\n`)}\n`;
}

/** @param json of an object */
function withLastMember(json: string, member: string): string {
  const others = json.replace(/\n?}$/, '');
  return `${others}${others === '{' ? '' : ','}${member}}`;
}

/** Records as the checksum covers them, and as they are stored. */
interface RecordTexts {
  readonly compact: string;
  readonly indented: string;
}

/** Cached, because an apply writes its ledger many times, and few of the records differ from those of the write before. */
const known = new WeakMap<LedgerRecord, RecordTexts & { readonly address: string }>();

function textsOf(records: Ledger['records']): RecordTexts {
  const texts = [...records.keys()].sort().map((address) => {
    const record = records.get(address) as LedgerRecord;
    const found = known.get(record);
    if (found?.address === address) return found;
    const made = { address, ...textsOfRecord(address, record) };
    known.set(record, made);
    return made;
  });
  return {
    compact: texts.map(({ compact }) => compact).join(','),
    indented: texts.length === 0 ? '' : `${texts.map(({ indented }) => indented).join(',')}\n  `,
  };
}

/** Cut out of the text of a ledger: to indent the text of a record by replacing its line breaks takes more time. */
function textsOfRecord(address: string, record: LedgerRecord): RecordTexts {
  const records = { [address]: record };
  return {
    compact: JSON.stringify(records).slice('{'.length, -'}'.length),
    indented: JSON.stringify({ records }, null, 2).slice('{\n  "records": {'.length, -'\n  }\n}'.length),
  };
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
  return hashOf(JSON.stringify(value));
}

/** @returns the SHA-256 in hexadecimal */
export function hashOf(text: string | Buffer): string {
  return createHash('sha256').update(text).digest('hex');
}

// The name of a damaged ledger that was moved away. It contains the time, so that the next one does not overwrite it.

/** `damaged-2026-11-20T12-07-41-006Z`: valid in a file name, a git path and a key. */
export function backupFileName(): string {
  return `damaged-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;
}
