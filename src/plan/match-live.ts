/**
 * Matches declared resources, live resources and ledger records: names can change and be used again, but an id always means the
 * same resource. In targets with `ownership: ledger` the record takes the place of the ownership tag.
 */
import { findRenamed, idKey, isAbout } from '../compare/match-ids.ts';
import { type Address, type AddressText, formatAddress, parseAddress } from '../model/address.ts';
import type { BegunResource, FieldChange } from '../model/field.ts';
import type { Kind } from '../model/kind.ts';
import type { Ledger } from '../model/ledger.ts';
import type { DesiredResource, LiveResource } from '../model/resource.ts';
import type { Target } from '../model/stack.ts';

interface MatchInput {
  /** declared resources, and those that move away */
  readonly desired: ReadonlyMap<AddressText, DesiredResource>;
  readonly ledger: Ledger;
  kind(name: string): Kind;
}

export function byAddress<T extends { readonly address: Address }>(
  resources: readonly T[],
): Map<AddressText, T> {
  return new Map(resources.map((resource) => [formatAddress(resource.address), resource]));
}

/** Live resources by address; a renamed one is at the address that declares it. */
export function matchLive(
  all: readonly LiveResource[],
  { desired, ledger, kind }: MatchInput,
): ReadonlyMap<AddressText, LiveResource> {
  const live = byAddress(all);
  const renamed = findRenamed({
    placed: desired,
    live,
    recordedId: (text) => ledger.records.get(text)?.id ?? ledger.movedAway?.get(text)?.id,
    isRenamable: (address) => kind(address.kind).ownership.by === 'claim',
  });
  for (const [text, former] of renamed) {
    const [found, declared] = [live.get(former), desired.get(text)];
    if (found === undefined || declared === undefined) continue;
    const { address, spec } = found;
    live.delete(former);
    live.set(text, { ...found, address: declared.address, spec: { ...spec, name: address.name } });
  }
  return followParents(live, kind);
}

/** Moves each child, declared or not, to the name of its parent. */
function followParents(
  live: Map<AddressText, LiveResource>,
  kind: MatchInput['kind'],
): ReadonlyMap<AddressText, LiveResource> {
  const strays = [...live.values()].flatMap((child) => {
    const { ownership } = kind(child.address.kind);
    if (ownership.by !== 'child' || child.id === undefined) return [];
    const parent = ownership.of(child.address);
    return live.get(formatAddress(parent))?.id === child.id ? [] : [{ child, key: idKey(parent, child.id) }];
  });
  if (strays.length === 0) return live;
  const parents = new Map([...live.values()].flatMap((parent) => idKeyed(parent.address, parent)));
  for (const { child, key } of strays) {
    const name = parents.get(key)?.address.name ?? child.address.name;
    const address = { ...child.address, name };
    if (live.has(formatAddress(address))) continue;
    live.delete(formatAddress(child.address));
    live.set(formatAddress(address), { ...child, address });
  }
  return live;
}

/**
 * Why resources could not be read, by the address that was read and by the address that declares them now. These differ for a
 * renamed resource and its children, also if the resource was not found under its former name.
 * @param all live resources as read, before `matchLive` moved any
 */
export function matchUnread(
  unseen: ReadonlyMap<AddressText, string>,
  all: readonly LiveResource[],
  {
    live,
    desired,
    kind,
  }: Omit<MatchInput, 'ledger'> & { readonly live: ReadonlyMap<AddressText, LiveResource> },
): ReadonlyMap<AddressText, string> {
  if (unseen.size === 0) return unseen;
  const read = byAddress(all);
  const placed = new Map(
    [...live.values()].flatMap(({ address, id }) =>
      id === undefined ? [] : [[idKey(address, id), address.name] as const],
    ),
  );
  const newNames = newNamesOf(desired, live);
  const nameOf = (parent: Address) => {
    const id = read.get(formatAddress(parent))?.id;
    return id === undefined ? newNames.get(formatAddress(parent)) : placed.get(idKey(parent, id));
  };
  const declaredAs = (address: Address) => {
    const { ownership } = kind(address.kind);
    const name = nameOf(ownership.by === 'child' ? ownership.of(address) : address);
    return formatAddress({ ...address, name: name ?? address.name });
  };
  return new Map(
    [...unseen].flatMap(([text, why]) => [
      [text, why] as const,
      [declaredAs(parseAddress(text)), why] as const,
    ]),
  );
}

/** By former address, the new name of each resource with `renamedFrom` that was not found under its new name. */
function newNamesOf(
  desired: MatchInput['desired'],
  live: ReadonlyMap<AddressText, LiveResource>,
): ReadonlyMap<AddressText, string> {
  const newNames = new Map<AddressText, string>();
  for (const [text, { address, metadata }] of desired) {
    const { renamedFrom } = metadata;
    if (renamedFrom === undefined || live.has(text)) continue;
    newNames.set(formatAddress({ ...address, name: renamedFrom }), address.name);
  }
  return newNames;
}

/**
 * The address of the ledger's record of a resource, by its current address. A record with another id than the live resource is about an
 * earlier resource of the same name, and proves nothing about this one.
 */
export function matchRecords(
  { records }: Ledger,
  live: ReadonlyMap<AddressText, LiveResource>,
): (text: AddressText) => AddressText | undefined {
  const mismatched = [...live].filter(
    ([text, resource]) => resource.id !== undefined && !isAbout(records.get(text), resource),
  );
  const own = (text: AddressText) => (records.has(text) ? text : undefined);
  // Usually each record has the address of its resource.
  if (mismatched.length === 0) return own;
  const byId = recordsById(records);
  const moved = new Map(
    mismatched.map(([text, { address, id = '' }]) => [text, byId.get(idKey(address, id))] as const),
  );
  return (text) => (moved.has(text) ? moved.get(text) : own(text));
}

function recordsById(records: Ledger['records']): ReadonlyMap<string, AddressText> {
  const byId = new Map<string, AddressText>();
  for (const [text, { id }] of records) if (id !== undefined) byId.set(idKey(parseAddress(text), id), text);
  return byId;
}

/** Addresses of records that match no live resource: it is gone, or was renamed and recorded again. */
export function unmatchedRecords(
  ledger: Ledger,
  live: ReadonlyMap<AddressText, LiveResource>,
): AddressText[] {
  const unrecorded = new Set(
    [...live.values()].flatMap((resource) =>
      isAbout(ledger.records.get(formatAddress(resource.address)), resource)
        ? []
        : idKeyed(resource.address, resource).map(([key]) => key),
    ),
  );
  return [...ledger.records.keys()].filter((text) => {
    const [record, here] = [ledger.records.get(text), live.get(text)];
    if (record === undefined || (here !== undefined && isAbout(record, here))) return false;
    return !idKeyed(parseAddress(text), record).some(([key]) => unrecorded.has(key));
  });
}

/** Selects the addresses whose record has the id of one of the resources. After a rename, a record still has the former address. */
export function recordsAbout(
  resources: readonly LiveResource[],
  addresses: readonly AddressText[],
  { records }: Ledger,
): AddressText[] {
  const keys = new Set(resources.flatMap((live) => idKeyed(live.address, live).map(([key]) => key)));
  return addresses.filter((text) =>
    idKeyed(parseAddress(text), records.get(text) ?? {}).some(([key]) => keys.has(key)),
  );
}

/**
 * Makes a function that finds an entry by the kind and target of its address, and by the id of its resource; the first of several. The
 * entries are searched for each resource, so they are indexed at the first call.
 */
export function findById<T>(
  entries: Iterable<readonly [AddressText, T]>,
  idOf: (entry: readonly [AddressText, T]) => string | undefined,
): (address: Address, id: string) => T | undefined {
  let index: Map<string, T> | undefined;
  return (address, id) => {
    index ??= new Map(
      [...entries].reverse().flatMap((entry) => {
        const known = idOf(entry);
        return known === undefined ? [] : [[idKey(parseAddress(entry[0]), known), entry[1]] as const];
      }),
    );
    return index.size === 0 ? undefined : index.get(idKey(address, id));
  };
}

function idKeyed<T extends { readonly id?: string }>(address: Address, value: T): [string, T][] {
  return value.id === undefined ? [] : [[idKey(address, value.id), value]];
}

// Targets with `ownership: ledger`, whose service keeps no ownership tags: there the ledger's record replaces the tag. All rules
// about tags apply, except that tags of other stacks cannot be seen, and none is written.

/** Whether resources of this kind would have ownership tags, but have none in this target. */
export function isLedgerOwned({ ownership }: Kind, target: Target): boolean {
  return ownership.by === 'claim' && target.ownership === 'ledger';
}

/** Finds the fields that applies may have written without a record: by the id of a resource, else by the address of its record. */
export function findBegun(
  begun: readonly BegunResource[],
  live: ReadonlyMap<AddressText, LiveResource>,
  recordedAt: (address: Address) => AddressText | undefined,
): (address: Address) => readonly FieldChange[] {
  if (begun.length === 0) return () => [];
  const byKey = Map.groupBy(begun, ({ address, id }) => begunKey(address, id));
  return (address) => {
    const text = formatAddress(address);
    const id = live.get(text)?.id;
    const keys = [begunKey(recordedAt(address) ?? text), ...(id === undefined ? [] : [begunKey(text, id)])];
    return keys.flatMap((key) => byKey.get(key) ?? []).flatMap(({ fields }) => fields);
  };
}

function begunKey(address: AddressText, id?: string): string {
  return id === undefined ? address : idKey(parseAddress(address), id);
}
