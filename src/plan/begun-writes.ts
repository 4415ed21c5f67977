/**
 * What earlier applies of this stack began to create or to write, and what the ledger does not have: the apply did not end, or got no
 * answer. Only the history names it, so it stays open until a plan finds out about it.
 */
import { type Address, type AddressText, formatAddress, parseAddress } from '../model/address.ts';
import type { BegunResource, FieldChange } from '../model/field.ts';
import { sameJson, valueAt } from '../model/json.ts';
import type { LiveResource } from '../model/resource.ts';
import { isLive } from './compare-resource.ts';
import type { PlanContext, PlanContextInput } from './plan-context.ts';
import { kept, type Removal } from './removal.ts';

/** The notice about a live, undeclared resource without a record that an earlier apply had begun to create: only its manifest is gone. */
export function keptAsBegun(context: PlanContext, address: Address): Removal {
  if (context.isBeingCreated(address)) {
    const message =
      'not declared; an apply of this stack that holds the lock and has not ended yet has begun to create it: it is left alone';
    return kept(
      address,
      message,
      'plan again when that apply has ended; if it was killed, remove its lock with "trueup unlock"',
    );
  }
  const message = 'not declared; an apply of this stack that did not end may have created it: it is kept';
  const { ownership } = context.kind(address.kind);
  const isReleased = ownership.by === 'ledger' && ownership.undeclared === 'release';
  return kept(address, message, isReleased ? releaseFix : deleteFix);
}

const deleteFix =
  'declare it and apply; then, to delete it, set "metadata.remove: safe" in its document; to leave it as it is, set "metadata.onRemove: release" there, apply, and remove the document';

const releaseFix =
  'declare it and apply, to manage it; it is never deleted: if you remove its document then, it stays as it is, and this notice ends';

/** What stays open after a plan. */
export interface OpenWrites {
  /** begun creations: the resource is live, undeclared and without a record, or was not read */
  readonly openCreations: readonly AddressText[];
  /** begun fields: the ledger does not have them, and they are live, or the resource was not read */
  readonly openFields: readonly BegunResource[];
}

export function openWrites(
  context: PlanContext,
  { begunCreations = new Set(), begunFields = [] }: BegunWrites,
  records: ReadonlyMap<AddressText, { readonly isUpToDate: boolean }>,
): OpenWrites {
  return {
    openCreations: [...begunCreations].filter((text) => isOpenCreation(context, text)),
    openFields: openFields(context, begunFields, (address) => records.get(address)?.isUpToDate === true),
  };
}

type BegunWrites = Pick<PlanContextInput, 'begunCreations' | 'begunFields'>;

function isOpenCreation(context: PlanContext, text: AddressText): boolean {
  if (context.ledger.records.has(text)) return false;
  const address = parseAddress(text);
  return isUnread(context, address) || (context.live.has(text) && !showsByTag(context, address));
}

function isUnread(context: PlanContext, address: Address): boolean {
  return (
    !context.isInView(address) ||
    context.unreadReason(address) !== undefined ||
    context.incompleteReason(address) !== undefined
  );
}

/** Whether an ownership tag shows which stack created a resource like this, so that nothing else has to keep it. */
function showsByTag(context: PlanContext, address: Address): boolean {
  const { ownership } = context.kind(address.kind);
  const isFoundByTag = ownership.by === 'claim' && ownership.foundByLedgerOnly !== true;
  return (isFoundByTag || ownership.by === 'child') && !context.isLedgerOwned(address);
}

/** @param isUpToDate whether the plan found a declared resource as declared: its record then has all that is live */
function openFields(
  context: PlanContext,
  begun: readonly BegunResource[],
  isUpToDate: (address: AddressText) => boolean,
): readonly BegunResource[] {
  if (begun.length === 0) return [];
  const nowAt = addressesNow(context);
  return begun.flatMap((one) => {
    const { address: text, id } = one;
    const named = parseAddress(text);
    const live = id === undefined ? context.live.get(nowAt.get(text) ?? text) : context.liveWithId(named, id);
    if (live === undefined) return isUnread(context, named) ? [one] : [];
    const now = formatAddress(live.address);
    const fields = isUpToDate(now) ? [] : openFieldsOf(context, live, one.fields);
    if (fields.length === 0) return [];
    // Without an id, the record stays at the former name if the resource is not renamed in the end.
    const at = id === undefined && !context.desired.has(text) ? [now, text] : [now];
    return [...new Set(at)].map((address) => ({ ...one, address, fields }));
  });
}

function openFieldsOf(
  context: PlanContext,
  live: LiveResource,
  fields: readonly FieldChange[],
): readonly FieldChange[] {
  if (isAway(context, live)) return [];
  const recorded = context.record(live.address)?.fields;
  return fields.filter((begun) => {
    const isRecorded = sameJson(valueAt(recorded, begun.path) ?? null, begun.after ?? null);
    return !isRecorded && isLive(context, live.address, { begun, live });
  });
}

/** Whether another stack has taken the resource over. */
function isAway(context: PlanContext, { address, id }: LiveResource): boolean {
  const isByAddress = context.ledger.movedAway?.has(formatAddress(address)) === true;
  return id === undefined ? isByAddress : context.movedAwayWithId(address, id) !== undefined;
}

/** The address that declares each renamed resource, by the address of its record. */
function addressesNow(context: PlanContext): ReadonlyMap<AddressText, AddressText> {
  return new Map(
    [...context.desired.keys()].flatMap((text) => {
      const at = context.recordedAt(parseAddress(text));
      return at === undefined || at === text ? [] : [[at, text] as const];
    }),
  );
}
