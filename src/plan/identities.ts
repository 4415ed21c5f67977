/**
 * Who is who: which live resource stands behind a declared name, and which of the ledger's records tells of it. Names
 * move and are used again; an id is one resource for ever.
 */
import { type Address, type AddressText, formatAddress, parseAddress } from '../model/address.ts';
import type { Kind } from '../model/kind.ts';
import type { Ledger, LedgerRecord } from '../model/ledger.ts';
import type { DesiredResource, LiveResource } from '../model/resource.ts';

export interface Known {
  readonly desired: ReadonlyMap<AddressText, DesiredResource>;
  readonly ledger: Ledger;
  kind(name: string): Kind;
}

export function byAddress<T extends { readonly address: Address }>(
  resources: readonly T[],
): Map<AddressText, T> {
  return new Map(resources.map((resource) => [formatAddress(resource.address), resource]));
}

/** Live resources by address; one that was renamed stands at the address that declares it (RULES 8, 26). */
export function matchLive(
  all: readonly LiveResource[],
  { desired, ledger, kind }: Known,
): ReadonlyMap<AddressText, LiveResource> {
  const live = byAddress(all);
  const byId = new Map(all.flatMap((resource) => idKeyed(resource.address, resource)));
  for (const [text, { address, metadata }] of desired) {
    if (live.has(text) || kind(address.kind).ownership.by !== 'claim') continue;
    const id = ledger.records.get(text)?.id;
    const former = metadata.renamedFrom ?? '';
    const renamed =
      (id === undefined ? undefined : byId.get(idKey(address, id))) ??
      live.get(formatAddress({ ...address, name: former }));
    const formerText = renamed === undefined ? '' : formatAddress(renamed.address);
    // Whoever is not under the address that it was read with has been given to another declaration before.
    if (renamed === undefined || desired.has(formerText) || live.get(formerText) !== renamed) continue;
    live.delete(formerText);
    live.set(text, { ...renamed, address, spec: { ...renamed.spec, name: renamed.address.name } });
  }
  return live;
}

/**
 * The ledger's records by the address that each resource has today. A record of another id than the live resource's
 * tells of one that is gone, and proves nothing about the one that took its name.
 */
export function matchRecords(
  ledger: Ledger,
  live: ReadonlyMap<AddressText, LiveResource>,
): ReadonlyMap<AddressText, LedgerRecord> {
  const records = new Map(ledger.records);
  const byId = new Map([...ledger.records].flatMap(([text, record]) => idKeyed(parseAddress(text), record)));
  for (const [text, resource] of live) {
    if (resource.id === undefined || tellsOf(records.get(text), resource)) continue;
    const same = byId.get(idKey(resource.address, resource.id));
    if (same === undefined) records.delete(text);
    else records.set(text, same);
  }
  return records;
}

/** Whether a record at the address of a live resource is about it, as far as ids can tell. */
function tellsOf(record: LedgerRecord | undefined, { id }: LiveResource): boolean {
  return record !== undefined && (id === undefined || record.id === undefined || record.id === id);
}

/** Addresses of the records that tell of nothing live: it is gone, or was renamed and has been recorded anew. */
export function spentRecords(ledger: Ledger, live: ReadonlyMap<AddressText, LiveResource>): AddressText[] {
  const unrecorded = new Set(
    [...live].flatMap(([text, resource]) =>
      tellsOf(ledger.records.get(text), resource)
        ? []
        : idKeyed(resource.address, resource).map(([key]) => key),
    ),
  );
  return [...ledger.records].flatMap(([text, record]) => {
    const here = live.get(text);
    const livesOn =
      (here !== undefined && tellsOf(record, here)) ||
      idKeyed(parseAddress(text), record).some(([key]) => unrecorded.has(key));
    return livesOn ? [] : [text];
  });
}

function idKeyed<T extends { readonly id?: string }>(address: Address, value: T): [string, T][] {
  return value.id === undefined ? [] : [[idKey(address, value.id), value]];
}

function idKey({ kind, target }: Address, id: string): string {
  return `${kind}/${target}#${id}`;
}
