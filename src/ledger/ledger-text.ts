/**
 * A ledger as the text that every store keeps: readable JSON with a version and a checksum, so that an edit by hand, a
 * torn write and a file of another trueup are noticed before anything is planned from them.
 */
import { createHash } from 'node:crypto';
import {
  type ApprovedPlan,
  DamagedLedger,
  type Ledger,
  LedgerError,
  type LedgerRecord,
} from '../model/ledger.ts';

/** What a text is and where it was found, for messages. */
export interface LedgerPlace {
  /** `the ledger "…/payments.ledger.json"` */
  readonly place: string;
  readonly stack: string;
}

interface Stored {
  readonly version: 1;
  readonly stack: string;
  readonly serial: number;
  /** over the records, and over the approved plan where there is one */
  readonly checksum: string;
  readonly approved?: ApprovedPlan;
  readonly records: Readonly<Record<string, LedgerRecord>>;
}

export const noLedger: Ledger = { known: false, serial: 0, records: new Map() };

/** The text of the ledger, under the serial that it has. */
export function formatLedger(stack: string, { serial, records, approved }: Ledger): string {
  const sorted = Object.fromEntries([...records].sort(([a], [b]) => (a < b ? -1 : 1)));
  const stored: Stored = {
    version: 1,
    stack,
    serial,
    checksum: checksum(sorted, approved),
    ...(approved === undefined ? {} : { approved }),
    records: sorted,
  };
  return `${JSON.stringify(stored, null, 2)}\n`;
}

/** @throws LedgerError when the text is no ledger of this stack, or not as it was written */
export function parseLedger(text: string, { place, stack }: LedgerPlace): Ledger {
  const stored = parseStored(place, text);
  if (stored.stack !== stack) {
    throw new LedgerError(
      `${place} belongs to stack "${stored.stack}", not to "${stack}": move it away, or correct metadata.name`,
    );
  }
  const { serial, records, approved } = stored;
  return {
    known: true,
    serial,
    records: new Map(Object.entries(records)),
    ...(approved === undefined ? {} : { approved }),
  };
}

function parseStored(place: string, text: string): Stored {
  const stored = asObject(place, text);
  if (typeof stored.version === 'number' && stored.version !== 1) {
    throw new LedgerError(
      `${place} has version ${stored.version}, which this trueup does not know: use the trueup that wrote it, or a newer one`,
    );
  }
  if (!isStored(stored)) throw damaged(place, 'it is no ledger');
  if (stored.checksum !== checksum(stored.records, stored.approved)) {
    throw damaged(place, 'its checksum does not match, so it was edited or is not whole');
  }
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

function isStored(value: Partial<Record<keyof Stored, unknown>>): value is Stored {
  const { version, stack, serial, checksum: sum, records } = value;
  const isText = typeof stack === 'string' && typeof sum === 'string';
  return (
    version === 1 && isText && Number.isInteger(serial) && typeof records === 'object' && records !== null
  );
}

function damaged(place: string, how: string, cause?: unknown): DamagedLedger {
  const fix = 'restore it from a backup, or rebuild it with "trueup recover"';
  return new DamagedLedger(`${place} is damaged: ${how}; ${fix}`, { cause });
}

function checksum(records: Stored['records'], approved: ApprovedPlan | undefined): string {
  const kept = approved === undefined ? records : [records, approved];
  return createHash('sha256').update(JSON.stringify(kept)).digest('hex');
}
