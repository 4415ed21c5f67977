/**
 * Finds live resources that are declared under a name other than their live name, and the records of live resources. A name can
 * change and be used again, but an id always refers to the same resource. Pure.
 */
import { type Address, type AddressText, formatAddress } from '../model/address.ts';
import type { LedgerRecord } from '../model/ledger.ts';
import type { DesiredResource } from '../model/resource.ts';

type Placed = Pick<DesiredResource, 'address' | 'metadata'>;

interface Matching {
  /** declared resources, and those that move away */
  readonly placed: ReadonlyMap<AddressText, Placed>;
  /** all live resources, by their live addresses */
  readonly live: ReadonlyMap<AddressText, { readonly address: Address; readonly id?: string }>;
  /** the id that the ledger has for an address */
  recordedId(text: AddressText): string | undefined;
  /** Whether resources of this kind are found again after a rename. */
  isRenamable(address: Address): boolean;
}

/**
 * The live addresses of renamed resources, by their declared addresses. Each live address is used only once. The ledger's id takes
 * precedence over a manifest's `renamedFrom`; the order of files has no influence.
 */
export function findRenamed({
  placed,
  live,
  recordedId,
  isRenamable,
}: Matching): ReadonlyMap<AddressText, AddressText> {
  const renamed = new Map<AddressText, AddressText>();
  const missing = [...placed.values()]
    .filter(({ address }) => !live.has(formatAddress(address)) && isRenamable(address))
    .map(({ address, metadata }) => ({ address, metadata, text: formatAddress(address) }))
    .sort((a, b) => (a.text < b.text ? -1 : 1));
  // Usually none is missing, so nothing was renamed.
  if (missing.length === 0) return renamed;
  const byId = new Map(
    [...live].flatMap(([text, { address, id }]) =>
      id === undefined ? [] : [[idKey(address, id), text] as const],
    ),
  );
  const recordedAt = (address: Address) => {
    const id = recordedId(formatAddress(address));
    return id === undefined ? undefined : byId.get(idKey(address, id));
  };
  const byRecordedId = ({ address }: Placed) => recordedAt(address);
  // The resource may also have been renamed manually, or its former name given to another resource.
  const byFormerRecordedId = (resource: Placed) => {
    const former = formerAddress(resource);
    return former === undefined || placed.has(formatAddress(former)) ? undefined : recordedAt(former);
  };
  const byFormerName = (resource: Placed) => {
    const former = formerAddress(resource);
    return former === undefined || !live.has(formatAddress(former)) ? undefined : formatAddress(former);
  };
  const taken = new Set<AddressText>();
  for (const find of [byRecordedId, byFormerRecordedId, byFormerName]) {
    for (const resource of missing) {
      const former = renamed.has(resource.text) ? undefined : find(resource);
      if (former === undefined || placed.has(former) || taken.has(former)) continue;
      taken.add(former);
      renamed.set(resource.text, former);
    }
  }
  return renamed;
}

function formerAddress({ address, metadata: { renamedFrom } }: Placed): Address | undefined {
  return renamedFrom === undefined ? undefined : { ...address, name: renamedFrom };
}

/** A key that is different for any two resources. */
export function idKey({ kind, target }: Address, id: string): string {
  return `${kind}/${target}#${id}`;
}

type WithId = Pick<LedgerRecord, 'id'>;

/** Whether a record at the address of a live resource is about that resource. It is, unless both have ids and these differ. */
export function isAbout<R extends WithId>(record: R | undefined, { id }: WithId): record is R {
  return record !== undefined && (id === undefined || record.id === undefined || record.id === id);
}

/**
 * The record of a live resource: the one at its address, unless it is about an earlier resource of the same name; else the one that
 * has its id.
 * @param records of its kind and target
 */
export function recordAbout<R extends WithId>(
  records: ReadonlyMap<AddressText, R>,
  { address, id }: { readonly address: Address; readonly id: string },
): R | undefined {
  const own = records.get(formatAddress(address));
  return isAbout(own, { id }) ? own : [...records.values()].findLast((record) => record.id === id);
}
