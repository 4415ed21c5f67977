/**
 * The text of a ledger, the same in every store: readable JSON with a version and a checksum. Edits by hand, incomplete writes and
 * ledgers of another version of trueup are detected before anything is planned from them.
 */
import { createHash } from 'node:crypto';
import {
  type ApprovedPlan,
  DamagedLedger,
  type Ledger,
  LedgerError,
  type LedgerRecord,
} from '../model/stack/ledger.ts';
import { messageOf } from '../model/message-of.ts';
import { readAddress } from '../model/resource/address.ts';
import type { IdentityText } from '../model/stack/target-identity.ts';
import { quoted } from '../model/quoted.ts';

/** Which ledger a text is and where it is stored, for messages. */
export interface LedgerLocation {
  /** `the ledger "…/payments.ledger.json"` */
  readonly place: string;
  readonly stack: string;
}

/** The part of a stored ledger that the checksum covers. */
type Content = Pick<Ledger, 'stackId' | 'takenIds' | 'repository' | 'commit' | 'closedFor'> & {
  readonly targets?: Readonly<Record<string, IdentityText>>;
  readonly approved?: ApprovedPlan;
  readonly endedApprovals?: Readonly<Record<string, string>>;
  readonly records: Readonly<Record<string, LedgerRecord>>;
};

interface Stored extends Content {
  /** 3 since stacks have an id: an earlier trueup would drop it */
  readonly version: 2 | 3;
  readonly stack: string;
  readonly serial: number;
  readonly checksum: string;
}

/** Version 1, from before targets had identities. Its approved plan has a digest of the former sort. */
type FormerStored = Omit<
  Stored,
  'version' | 'targets' | 'commit' | 'closedFor' | 'approved' | 'endedApprovals'
> & {
  readonly version: 1;
  readonly approved?: Omit<ApprovedPlan, 'version'>;
};

export const noLedger: Ledger = { known: false, serial: 0, records: new Map() };

/** The text of the ledger, with the serial that it has. */
export function formatLedger(stack: string, ledger: Ledger): string {
  const {
    serial,
    records,
    targets,
    stackId,
    takenIds = [],
    repository,
    commit,
    closedFor,
    approved,
    endedApprovals,
  } = ledger;
  const content: Content = {
    ...(closedFor === undefined ? {} : { closedFor }),
    ...(targets === undefined ? {} : { targets: sorted(targets) }),
    ...(stackId === undefined ? {} : { stackId }),
    ...(takenIds.length === 0 ? {} : { takenIds }),
    ...(repository === undefined ? {} : { repository }),
    ...(commit === undefined ? {} : { commit }),
    ...(approved === undefined ? {} : { approved }),
    ...(endedApprovals === undefined ? {} : { endedApprovals: sorted(endedApprovals) }),
    records: sorted(records),
  };
  const stored: Stored = { version: 3, stack, serial, checksum: hash(content), ...content };
  return `${JSON.stringify(stored, null, 2)}\n`;
}

function sorted<T>(map: ReadonlyMap<string, T>): Readonly<Record<string, T>> {
  return Object.fromEntries([...map].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** @throws LedgerError when the text is no ledger of this stack, or was changed after trueup wrote it */
export function parseLedger(text: string, { place, stack }: LedgerLocation): Ledger {
  const stored = parseStored(place, text);
  if (stored.stack !== stack) {
    throw new LedgerError(
      `${place} belongs to stack ${quoted(stored.stack)}, not to ${quoted(stack)}: move it away, or correct metadata.name`,
    );
  }
  const { serial, records } = stored;
  const known = { known: true, serial, records: recordsOf(place, records) };
  if (stored.version === 1)
    return {
      ...known,
      ...(stored.approved === undefined ? {} : { approved: { version: 1, ...stored.approved } }),
    };
  const { targets, stackId, takenIds, repository, commit, closedFor, approved, endedApprovals } = stored;
  return {
    ...known,
    ...(targets === undefined ? {} : { targets: new Map(Object.entries(targets)) }),
    ...(stackId === undefined ? {} : { stackId }),
    ...(takenIds === undefined ? {} : { takenIds }),
    ...(repository === undefined ? {} : { repository }),
    ...(commit === undefined ? {} : { commit }),
    ...(closedFor === undefined ? {} : { closedFor }),
    ...(approved === undefined ? {} : { approved }),
    ...(endedApprovals === undefined ? {} : { endedApprovals: new Map(Object.entries(endedApprovals)) }),
  };
}

/** Checks the addresses although the checksum matched, because another program may have written the text. */
function recordsOf(place: string, records: Stored['records']): Ledger['records'] {
  try {
    return new Map(Object.entries(records).map(([text, record]) => [readAddress(text), record] as const));
  } catch (error) {
    throw damaged(place, `one of its records has no valid address, ${messageOf(error)}`, error);
  }
}

function parseStored(place: string, text: string): Stored | FormerStored {
  const stored = asObject(place, text);
  const { version } = stored;
  if (typeof version === 'number' && ![1, 2, 3].includes(version)) {
    throw new LedgerError(
      `${place} has version ${version}, which this trueup does not know: use the trueup that wrote it, or a newer one`,
    );
  }
  if (!isStored(stored)) throw damaged(place, 'it is no ledger');
  if (stored.checksum !== checksumOf(stored))
    throw damaged(place, 'its checksum does not match, so it was edited or is not whole');
  return stored;
}

function asObject(place: string, text: string): Partial<Record<keyof Stored, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch (error) {
    throw damaged(place, 'it is no JSON', error);
  }
}

function isStored(value: Partial<Record<keyof Stored, unknown>>): value is Stored | FormerStored {
  const { version, stack, serial, checksum: sum, records } = value;
  const isText = typeof stack === 'string' && typeof sum === 'string';
  const isKnown = version === 1 || version === 2 || version === 3;
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
