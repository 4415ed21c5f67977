/**
 * Finds out whether somebody changed a resource since this stack last wrote it. Without a claim in the target nothing else shows that
 * another stack has taken it over, so a changed resource is not deleted unless somebody insists (rules 24, 48).
 */

import { contentAfter } from '../compare/comparisons.ts';
import { sameJson } from '../model/json.ts';
import type { Overridden } from '../model/kind.ts';
import { type Address, type AddressText, formatAddress, parseAddress } from '../model/address.ts';
import type { LiveResource } from '../model/resource.ts';
import type { LedgerRecord } from '../model/ledger.ts';
import { quoted } from '../model/quoted.ts';
import type { PlanContext } from './plan-context.ts';
import type { Draft } from './draft-declared.ts';
import { writtenContent } from './compare-resource.ts';

/** Whether nobody changed it since: no resource without a claim is deleted unless this is true (rules 24). */
export function isAsLastWritten(context: PlanContext, live: LiveResource, record: LedgerRecord): boolean {
  const { fields } = context.kind(live.address.kind);
  const { content } = record;
  if (content === undefined) return false;
  // A field that the record lacks is newer than the record, so it had its default then.
  const written = { ...contentAfter(fields, undefined, []), ...content };
  return sameJson(written, contentAfter(fields, live.spec, []));
}

/** What changed of a resource since this stack last wrote it; `unknown` where the ledger does not tell. */
type ChangedSince = readonly string[] | 'unknown';

/** Only for kinds with a claim in a target that keeps none. @returns the names of the changed fields, sorted */
function changedSince(context: PlanContext, live: LiveResource): ChangedSince {
  const { address } = live;
  const record = context.record(address);
  const recordedAt = context.recordedAt(address);
  if (record?.content === undefined || recordedAt === undefined) return 'unknown';
  const before = { ...record.content, name: parseAddress(recordedAt).name };
  const now = {
    ...writtenContent(context.kind(address.kind), live),
    name: live.spec['name'] ?? address.name,
  };
  const names = new Set([...Object.keys(before), ...Object.keys(now)]);
  return [...names].filter((name) => !sameJson(ownValue(before, name), ownValue(now, name))).sort();
}

function ownValue(spec: LiveResource['spec'], name: string) {
  return Object.hasOwn(spec, name) ? spec[name] : undefined;
}

const field = { path: ['overrides', 'changes'], shape: 'list' } as const;

/** What a deletion by the ledger alone would override because somebody changed the resource; undefined when nobody did. */
export function overriddenChange(context: PlanContext, live: LiveResource): Overridden | undefined {
  if (!context.isLedgerOwned(live.address)) return undefined;
  const changed = changedSince(context, live);
  if (changed === 'unknown') {
    const unknown = 'the ledger does not know what it was like when this stack last wrote it';
    return { field: { ...field, unknown }, message: unknown };
  }
  return changed.length === 0
    ? undefined
    : {
        field: { ...field, before: changed },
        message: `it was changed since this stack last wrote it (${changed.join(', ')})`,
      };
}

/** All that a forced deletion of this resource overrides. */
export function overriddenIn(context: PlanContext, live: LiveResource): readonly Overridden[] {
  const { address } = live;
  const change = overriddenChange(context, live);
  const found = context.kind(address.kind).overridden?.(live, context.record(address)) ?? [];
  return change === undefined ? found : [...found, change];
}

/** The note of a resource that is kept because somebody changed it, and the way out. */
export function keptAsChanged(
  context: PlanContext,
  live: LiveResource,
  why: string,
): { readonly message: string; readonly fix: string } | undefined {
  const change = overriddenChange(context, live);
  if (change === undefined) return undefined;
  const text = formatAddress(live.address);
  return {
    message: `${why}, but ${change.message}: it is kept`,
    fix: `if another stack has ${quoted(text)} now, declare it here with "onRemove: release", apply, and remove that document; to delete it, write a document for it with "metadata.remove: force"`,
  };
}

/** Whether the plan writes a part of this whole, so that the content which the ledger keeps of it is read again afterwards. */
function hasChangingPart(
  context: PlanContext,
  drafts: ReadonlyMap<AddressText, Draft>,
  whole: Address,
): boolean {
  if (!context.isLedgerOwned(whole)) return false;
  return context.kinds().some(({ name, ownership }) => {
    if (ownership.by !== 'part') return false;
    const part = { ...whole, kind: name };
    const action = drafts.get(formatAddress(part))?.change.action ?? 'none';
    return action !== 'none' && formatAddress(ownership.of(part)) === formatAddress(whole);
  });
}

/** The drafted record without its content, if the plan writes a part of this parent: the next plan reads it again. */
export function recordBeside(
  context: PlanContext,
  drafts: ReadonlyMap<AddressText, Draft>,
  record: LedgerRecord,
  address: Address,
): LedgerRecord {
  const { content: _, ...rest } = record;
  return hasChangingPart(context, drafts, address) ? rest : record;
}
