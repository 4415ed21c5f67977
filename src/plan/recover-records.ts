/**
 * Rebuilds the records of a lost ledger: the current manifests are assumed to be the last applied ones, but only for resources
 * that are live and provably ours. An ownership tag proves that; for kinds without tags, only a live state exactly as declared does.
 * Undeclared resources are not recorded: the guard `no-record` stops their deletion. Pure.
 */
import { canonicalSpec } from '../compare/comparisons.ts';
import { type AddressText, formatAddress, parseAddress } from '../model/address.ts';
import type { Notice } from '../model/change.ts';
import type { Kind } from '../model/kind.ts';
import type { Ledger, LedgerRecord } from '../model/ledger.ts';
import { quoted } from '../model/quoted.ts';
import type { Metadata } from '../model/resource.ts';
import { buildPlan, type PlanInput, type PlanResult } from './build-plan.ts';
import type { Draft } from './draft-declared.ts';
import { isAsLastWritten } from './last-written.ts';
import { makePlanContext, type PlanContext, type PlanContextInput } from './plan-context.ts';

export interface Recovered {
  /** holds the drafts of the records of declared resources */
  readonly planning: PlanResult;
  /** declared, live and ours: recorded as `planning` drafts them */
  readonly recoverable: readonly AddressText[];
  /** declared but not recorded, each with the reason */
  readonly unrecorded: readonly Notice[];
}

/** @param input its ledger is ignored */
export function recoverRecords(input: PlanInput): Recovered {
  const context = makePlanContext({ ...input, ledger: emptyLedger(new Map()) });
  const planning = buildPlan({ ...input, ledger: emptyLedger(asApplied(context)) });
  const recoverable: AddressText[] = [];
  const unrecorded: Notice[] = [...context.unknownNames].map(([text, [problem]]) => ({
    address: parseAddress(text),
    message: problem?.message ?? '',
  }));
  for (const [text, { draft }] of planning.records) {
    const message = whyUnverified(context, planning, draft);
    if (message === undefined) recoverable.push(text);
    else unrecorded.push({ address: draft.change.address, message });
  }
  return { planning, recoverable, unrecorded };
}

function emptyLedger(records: Ledger['records']): Ledger {
  return { known: false, serial: 0, records };
}

/**
 * Records of resources without ownership tags as if their manifests had been applied; used only to compare. So a field that the
 * service never returns, such as a secret, does not count as a difference.
 */
function asApplied(context: PlanContext): ReadonlyMap<AddressText, LedgerRecord> {
  const records = new Map<AddressText, LedgerRecord>();
  for (const [text, { address, spec, metadata }] of context.desired) {
    const { ownership, fields } = context.kind(address.kind);
    if (ownership.by === 'ledger' && context.live.has(text))
      records.set(text, { origin: 'adopted', ...flags(metadata), fields: canonicalSpec(fields, spec) });
  }
  return records;
}

function flags({ protect, onRemove }: Metadata): Pick<LedgerRecord, 'protect' | 'onRemove'> {
  return { ...(protect === undefined ? {} : { protect }), ...(onRemove === undefined ? {} : { onRemove }) };
}

function whyUnverified(
  context: PlanContext,
  planning: Pick<PlanResult, 'records'>,
  draft: Draft,
): string | undefined {
  const { live, change } = draft;
  const { ownership } = context.kind(change.address.kind);
  if (live === undefined) return 'declared, but not live: it was never applied, or somebody removed it';
  if (change.action === 'adopt')
    return 'nothing proves that this stack owns it: the next apply adopts it again';
  const movedFrom = context.desired.get(formatAddress(change.address))?.metadata.movedFrom;
  if (ownership.by === 'ledger' && movedFrom !== undefined)
    return `it may still belong to stack ${quoted(movedFrom.stack)}: the next apply takes it over`;
  if (ownership.by === 'ledger' && change.action !== 'none') return whyDiffers(change.fields);
  if (ownership.by !== 'child') return undefined;
  const parent = planning.records.get(formatAddress(ownership.of(change.address)));
  return parent === undefined ? undefined : whyUnverified(context, planning, parent.draft);
}

function whyDiffers(fields: Draft['change']['fields']): string {
  const names = [...new Set(fields.map(({ path }) => path.join('.')))].join(', ');
  return `live differs from its manifest (${names}), so nothing proves that this stack wrote it: "adopt: true" takes it over`;
}

// Carries over the records of a target whose address changed, if the new address proves them: it has a resource with the
// recorded id or, for kinds without ids, one that is exactly as this stack last wrote it. Pure.

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
    const message = whyNotProved(context, text, record);
    if (message === undefined) kept.set(text, withoutWriteOnly(context.kind(address.kind), record));
    else dropped.push({ address, message });
  }
  const gaps = input.targets.flatMap(({ unread, sets }) => [
    ...(unread === undefined ? [] : [unread.message]),
    ...[...sets.values()].flatMap(({ incomplete }) => incomplete),
  ]);
  return { kept, dropped, gaps: [...new Set(gaps)] };
}

function whyNotProved(context: PlanContext, text: AddressText, record: LedgerRecord): string | undefined {
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
          : whyNotProved(context, parent, own);
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
  const isLive = [...context.live.values()].some((live) => live.address.kind === kind && live.id === id);
  if (id !== undefined && isLive) return undefined;
  return id === undefined ? 'its record has no id to find it by' : `no resource with its id ${id} was found`;
}

/** Drops write-only fields: they were written to the former address, and the new one may not have them. */
function withoutWriteOnly({ fields }: Kind, record: LedgerRecord): LedgerRecord {
  const readable = Object.entries(record.fields).filter(([name]) => fields[name]?.writeOnly !== true);
  return { ...record, fields: Object.fromEntries(readable) };
}
