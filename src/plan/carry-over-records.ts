/**
 * Carries over the records of a target whose address changed, if the new address proves them: it has a resource with the
 * recorded id or, for kinds without ids, one that is exactly as this stack last wrote it. Pure.
 */
import { type AddressText, formatAddress, parseAddress } from '../model/address.ts';
import type { Notice } from '../model/change.ts';
import type { Kind } from '../model/kind.ts';
import type { LedgerRecord } from '../model/ledger.ts';
import { quoted } from '../model/quoted.ts';
import { type PlanContext, type PlanContextInput, makePlanContext } from './plan-context.ts';
import { isAsLastWritten } from './last-written.ts';

export interface CarriedOver {
  readonly kept: ReadonlyMap<AddressText, LedgerRecord>;
  /** records of the target that the new address does not prove, each with the reason */
  readonly dropped: readonly Notice[];
  /** what could not be read; when not empty, the result must not be used */
  readonly gaps: readonly string[];
}

/** @param input of the one target, with all its records */
export function carryOver(input: PlanContextInput): CarriedOver {
  const context = makePlanContext(input);
  const kept = new Map<AddressText, LedgerRecord>();
  const dropped: Notice[] = [];
  for (const [text, record] of input.ledger.records) {
    const address = parseAddress(text);
    if (!context.isInView(address)) continue;
    const message = whyUnverified(context, text, record);
    if (message === undefined) kept.set(text, withoutUnseen(context.kind(address.kind), record));
    else dropped.push({ address, message });
  }
  const gaps = input.targets.flatMap(({ unread, sets }) => [
    ...(unread === undefined ? [] : [unread.message]),
    ...[...sets.values()].flatMap(({ incomplete }) => incomplete),
  ]);
  return { kept, dropped, gaps: [...new Set(gaps)] };
}

function whyUnverified(context: PlanContext, text: AddressText, record: LedgerRecord): string | undefined {
  const address = parseAddress(text);
  const { ownership } = context.kind(address.kind);
  switch (ownership.by) {
    case 'child': {
      const parent = formatAddress(ownership.of(address));
      const own = context.ledger.records.get(parent);
      // A child that was adopted by itself has the id of its parent, which has no record.
      const why =
        own === undefined
          ? missingId(context, ownership.of(address).kind, record)
          : whyUnverified(context, parent, own);
      return why === undefined ? undefined : `its parent ${quoted(parent)} was not found`;
    }
    case 'claim':
      return missingId(context, address.kind, record);
    case 'ledger': {
      const live = context.live.get(text);
      if (live === undefined) return 'it was not found';
      return isAsLastWritten(context, live, record)
        ? undefined
        : 'it differs from what this stack last wrote';
    }
  }
}

function missingId(context: PlanContext, kind: string, { id }: LedgerRecord): string | undefined {
  const isThere = [...context.live.values()].some((live) => live.address.kind === kind && live.id === id);
  if (id !== undefined && isThere) return undefined;
  return id === undefined ? 'its record has no id to find it by' : `no resource with its id ${id} was found`;
}

/** Drops write-only fields: they were written to the former address, and the new one may not have them. */
function withoutUnseen({ fields }: Kind, record: LedgerRecord): LedgerRecord {
  const seen = Object.entries(record.fields).filter(([name]) => fields[name]?.writeOnly !== true);
  return { ...record, fields: Object.fromEntries(seen) };
}
