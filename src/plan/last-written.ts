/**
 * Finds out whether a resource was changed since this stack last wrote it. Without an ownership tag in the target nothing else shows that
 * another stack has taken it over, so a changed resource is deleted only by force.
 */
import { contentAfter } from '../compare/comparisons.ts';
import type { FieldChange } from '../model/field.ts';
import { sameJson } from '../model/json.ts';
import type { Overridden } from '../model/kind.ts';
import { type Address, type AddressText, formatAddress, parseAddress } from '../model/address.ts';
import type { LiveResource } from '../model/resource.ts';
import type { LedgerRecord } from '../model/ledger.ts';
import { quoted } from '../model/quoted.ts';
import type { PlanContext } from './plan-context.ts';
import type { Draft } from './draft-declared.ts';
import { isLive, writtenContent } from './compare-resource.ts';

/**
 * Whether a resource is unchanged since this stack last wrote it: one without an ownership tag is deleted only if this is true. Values that an
 * apply of this stack began to write count as written if they are live.
 */
export function isAsLastWritten(context: PlanContext, live: LiveResource, record: LedgerRecord): boolean {
  const { fields } = context.kind(live.address.kind);
  const { content } = record;
  if (content === undefined) return false;
  // A field that the record lacks is newer than the record, so it had its default then.
  const written = { ...contentAfter(fields, undefined, []), ...content };
  return sameJson(
    contentAfter(fields, written, liveBegun(context, live)),
    contentAfter(fields, live.spec, []),
  );
}

function liveBegun(context: PlanContext, live: LiveResource): FieldChange[] {
  return context.begunFields(live.address).filter((begun) => isLive(context, live.address, { begun, live }));
}

/** What changed in a resource since this stack last wrote it; `unknown` if the ledger does not have its content. */
type ChangedSince = readonly string[] | 'unknown';

/** For a resource of a kind with ownership tags, in a target that keeps none. @returns the names of the changed fields, sorted */
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

/** The changes that a deletion would override if only the ledger shows the owner; undefined if there are none. */
export function overriddenChange(context: PlanContext, live: LiveResource): Overridden | undefined {
  if (!context.isLedgerOwned(live.address)) return undefined;
  const changed = changedSince(context, live);
  if (changed === 'unknown') {
    const unknown = 'the ledger has no record of its content when this stack last wrote it';
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

/** The message and fix for a resource that is kept because it was changed since this stack last wrote it; undefined if it was not. */
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
    fix: `if another stack owns ${quoted(text)} now, declare it here with "onRemove: release", apply, and remove that document; to delete it, write a document for it with "metadata.remove: force"`,
  };
}

/** Whether the plan writes a child of this parent, so that the parent's content in the ledger becomes stale. */
function hasChangingChild(
  context: PlanContext,
  drafts: ReadonlyMap<AddressText, Draft>,
  parent: Address,
): boolean {
  if (!context.isLedgerOwned(parent)) return false;
  return context.kinds().some(({ name, ownership }) => {
    if (ownership.by !== 'child') return false;
    const child = { ...parent, kind: name };
    const action = drafts.get(formatAddress(child))?.change.action ?? 'none';
    return action !== 'none' && formatAddress(ownership.of(child)) === formatAddress(parent);
  });
}

/** The drafted record without its content, if the plan writes a child of this resource: the next plan reads it again. */
export function withoutStaleContent(
  context: PlanContext,
  drafts: ReadonlyMap<AddressText, Draft>,
  record: LedgerRecord,
  address: Address,
): LedgerRecord {
  const { content: _, ...rest } = record;
  return hasChangingChild(context, drafts, address) ? rest : record;
}
