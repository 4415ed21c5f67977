/**
 * Redacts everything that is stored: the ledger, its lock, the history, archived events, and the values of plans. Names are not
 * redacted, because resources are found by them. Plans keep the hash of a redacted value, so that the digest can be recomputed.
 */
import { createHash } from 'node:crypto';
import { type Address, formatAddress } from '../model/address.ts';
import type { TrailEvent } from '../model/audit-trail.ts';
import type { FieldChange } from '../model/field.ts';
import { canonicalText, isJsonObject, type Json, type Path, sameJson } from '../model/json.ts';
import type {
  HistoryChange,
  HistoryEntry,
  IncomingRecords,
  Ledger,
  LedgerLock,
  LedgerRecord,
} from '../model/ledger.ts';
import { secretPlaceholder, type SourcesIn, textsIn } from './known-secrets.ts';

/** Removes secrets from the texts of a value; returns the same object when there are none. */
export type Redact = <T extends object>(value: T) => T;

/** Redacts all members except some. @param names the members that are kept: names, ids, or fixed words */
function redactAllExcept<T extends object>(value: T, names: readonly (keyof T)[], redact: Redact): T {
  const kept = names.flatMap((name) => (Object.hasOwn(value, name) ? [[name, value[name]] as const] : []));
  const others = Object.entries(value).filter(([name]) => !names.includes(name as keyof T));
  return { ...redactAll(Object.fromEntries(others), redact), ...Object.fromEntries(kept) } as T;
}

/** Redacts all members. Their names stay. */
function redactAll(value: object, redact: Redact): object {
  const members = Object.entries(value).map(
    ([name, member]) => [name, redactMember(member, redact)] as const,
  );
  return Object.fromEntries(members);
}

/** The keys of a map are names, so they stay as well. */
function redactMember(value: unknown, redact: Redact): unknown {
  if (value instanceof Map)
    return new Map([...value].map(([key, member]) => [key, redactMember(member, redact)]));
  if (typeof value === 'string') return redact([value])[0];
  return typeof value === 'object' && value !== null ? redact(value) : value;
}

/**
 * Whether a stored value equals a value, if each placeholder stands for a secret of any length. Without a placeholder, only an equal value
 * matches.
 */
export function matchesRedacted(stored: Json | undefined, value: Json | undefined): boolean {
  if (typeof stored === 'string') return typeof value === 'string' && matchesText(stored, value);
  if (Array.isArray(stored) && Array.isArray(value))
    return stored.length === value.length && stored.every((item, at) => matchesRedacted(item, value[at]));
  if (!isJsonObject(stored) || !isJsonObject(value)) return sameJson(stored, value);
  const names = new Set([...Object.keys(stored), ...Object.keys(value)]);
  return [...names].every((name) => matchesRedacted(stored[name], value[name]));
}

function matchesText(stored: string, value: string): boolean {
  const [start = '', ...parts] = stored.split(secretPlaceholder);
  const end = parts.pop();
  if (end === undefined) return stored === value;
  if (!value.startsWith(start)) return false;
  let at = start.length;
  for (const part of parts) {
    // A secret has at least one character.
    const found = value.indexOf(part, at + 1);
    if (found === -1) return false;
    at = found + part.length;
  }
  return value.length - end.length > at && value.endsWith(end);
}

/** Members of a ledger with names and places, which are never secrets. */
const namesOfLedger = ['records', 'targets', 'closedFor', 'movedTo', 'copiedFrom'] as const;

/** @param redactApproved for the values in the approved plan, which its digest covers */
export function redactLedger(
  ledger: Ledger,
  redact: Redact,
  redactApproved: (approved: NonNullable<Ledger['approved']>) => NonNullable<Ledger['approved']>,
): Ledger {
  const { records, approved } = ledger;
  return {
    ...redactAllExcept(ledger, [...namesOfLedger, 'incoming', 'movedAway', 'approved', 'offered'], redact),
    ...(ledger.incoming && { incoming: ledger.incoming.map((one) => redactIncoming(one, redact)) }),
    records: redactRecords(records, redact),
    ...(ledger.offered && { offered: ledger.offered.map((one) => redactAllExcept(one, ['digest'], redact)) }),
    ...(approved && {
      approved: redactAllExcept(redactApproved(approved), ['atoms', 'digest', 'passed', 'replaced'], redact),
    }),
  };
}

/** Returns the same records when there is nothing to redact. */
function redactRecords(records: Ledger['records'], redact: Redact): Ledger['records'] {
  const redacted = [...records].flatMap(([address, record]) => {
    const clean = redactRecord(record, redact);
    return clean === record ? [] : [[address, clean] as const];
  });
  return redacted.length === 0 ? records : new Map([...records, ...redacted]);
}

function redactRecord(record: LedgerRecord, redact: Redact): LedgerRecord {
  // Most records have no secret, and each write of the ledger contains all records.
  if (redact(record) === record) return record;
  return redactAllExcept(record, ['id', 'origin', 'onRemove', 'formerOwners'], redact);
}

function redactIncoming(incoming: IncomingRecords, redact: Redact): IncomingRecords {
  const records = Object.entries(incoming.records).map(
    ([address, { at, record }]) => [address, { at, record: redactRecord(record, redact) }] as const,
  );
  return { ...incoming, records: Object.fromEntries(records) };
}

export function redactLock(lock: LedgerLock, redact: Redact): LedgerLock {
  return redactAllExcept(lock, ['id'], redact);
}

export function redactEntry(entry: HistoryEntry, redact: Redact): HistoryEntry {
  return {
    ...redactAllExcept(
      entry,
      ['id', 'stack', 'digest', 'targets', 'approvals', 'tagged', 'related', 'changes'],
      redact,
    ),
    ...(entry.approvals && {
      approvals: entry.approvals.map((one) =>
        redactAllExcept(one, ['method', 'digest', 'acknowledged'], redact),
      ),
    }),
    ...(entry.tagged && { tagged: redactAll(entry.tagged, redact) as NonNullable<HistoryEntry['tagged']> }),
    ...(entry.related && {
      related: redactAll(entry.related, redact) as NonNullable<HistoryEntry['related']>,
    }),
    changes: entry.changes.map((change) => redactChange(change, redact)),
  };
}

function redactChange(change: HistoryChange, redact: Redact): HistoryChange {
  const { was, checked } = change;
  return {
    ...redactAllExcept(change, ['address', 'action', 'outcome', 'was', 'checked'], redact),
    ...(was && { was: redactAll(was, redact) as NonNullable<HistoryChange['was']> }),
    ...(checked && { checked: redactAll(checked, redact) as NonNullable<HistoryChange['checked']> }),
  };
}

/** An event of an audit trail, for an archive. */
export function redactEvent(event: TrailEvent, redact: Redact): TrailEvent {
  const { resource } = event;
  return {
    ...redactAllExcept(event, ['id', 'organizationId', 'resource'], redact),
    resource: redactAllExcept(resource, ['id'], redact),
  };
}

/** Where a stored ledger contains a secret: the address of a record, and the name of a member. */
export function findStored(
  { records, ...others }: Ledger,
  sourcesIn: SourcesIn,
): { readonly record?: string; readonly member: string; readonly source: string }[] {
  // Search thousands of texts at once, because a hit is rare.
  const all: string[] = [];
  for (const record of records.values()) textsIn({ ...record } as unknown as Json, all);
  for (const member of Object.values(others)) textsIn(member as Json, all);
  if (sourcesIn(all.join('\n')).length === 0) return [];
  const ofRecords = [...records].flatMap(([record, { id: _, formerOwners: __, ...members }]) =>
    Object.entries(members).flatMap(([member, value]) =>
      sourcesOf(value, sourcesIn).map((source) => ({ record, member, source })),
    ),
  );
  const { targets: _, closedFor: __, movedTo: ___, copiedFrom: ____, movedAway: _____, ...rest } = others;
  const ofOthers = Object.entries(rest).flatMap(([member, value]) =>
    sourcesOf(value, sourcesIn).map((source) => ({ member, source })),
  );
  return [...ofRecords, ...ofOthers];
}

function sourcesOf(value: unknown, sourcesIn: SourcesIn): string[] {
  return [...new Set(textsIn(value as Json).flatMap(sourcesIn))];
}

// Values that are redacted in stored plans. A redacted value is replaced as a whole by the placeholder, and its hash is kept, so that
// the digest of the plan can still be recomputed. The hash lets a reader test a guess of the value.

/** The place of a value: equal values have different hashes in different places. */
export interface ValuePlace {
  readonly stack: string;
  readonly address: Address;
}

type Side = 'before' | 'after';

/** SHA-256. @returns 64 hexadecimal characters */
export function valueHash({ stack, address }: ValuePlace, path: Path, value: Json): string {
  return createHash('sha256')
    .update(canonicalText([stack, formatAddress(address), path, value]))
    .digest('hex');
}

/** The hash of one side of a change; undefined when that side has no value. */
export function sideHash(place: ValuePlace, field: FieldChange, side: Side): string | undefined {
  const { path, redacted, [side]: value } = field;
  return redacted?.[side] ?? (value === undefined ? undefined : valueHash(place, path, value));
}

/** Replaces each value in which `redact` finds a secret. Only values are replaced, never paths. */
export function withRedactedValues(place: ValuePlace, field: FieldChange, redact: Redact): FieldChange {
  const sides = (['before', 'after'] as const).filter((side) => {
    const { [side]: value } = field;
    return value !== undefined && field.redacted?.[side] === undefined && !sameJson(redact([value]), [value]);
  });
  if (sides.length === 0) return field;
  const hashes = sides.map((side) => [side, sideHash(place, field, side)] as const);
  return {
    ...field,
    ...Object.fromEntries(sides.map((side) => [side, secretPlaceholder])),
    redacted: { ...field.redacted, ...Object.fromEntries(hashes) },
  };
}

/** Whether each value that has a hash in `redacted` is the placeholder. Another text in its place would look like the real value. */
export function showsOnlyPlaceholders({ redacted = {}, ...field }: FieldChange): boolean {
  return (['before', 'after'] as const).every(
    (side) => redacted[side] === undefined || field[side] === secretPlaceholder,
  );
}
