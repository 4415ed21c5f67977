/**
 * Reads what a plan needs of every target, side by side; only kinds that tell who loses by a deletion wait until it is
 * known what goes. Only GET and LIST go over the wire.
 */
import { type Address, type AddressText, formatAddress, parseAddress } from '../model/address.ts';
import type { Kind, LiveSet, Registry, Session, Wanted } from '../model/kind.ts';
import type { Ledger, LedgerRecord } from '../model/ledger.ts';
import type { DesiredResource } from '../model/resource.ts';

export interface ReadInput {
  readonly sessions: readonly Session[];
  readonly kinds: Registry;
  readonly desired: readonly DesiredResource[];
  readonly ledger: Ledger;
  /** what of one target the plan is going to delete, once all that stands for itself there has been read */
  leaving(session: Session, sets: ReadonlyMap<string, LiveSet>): ReadonlySet<AddressText>;
}

/** For each target, by name, what was read of each kind. @throws WireError when a target cannot be reached */
export async function readLive(input: ReadInput): Promise<ReadonlyMap<string, ReadonlyMap<string, LiveSet>>> {
  const targets = await Promise.all(
    input.sessions.map(async (session) => [session.target.name, await readTarget(session, input)] as const),
  );
  return new Map(targets);
}

type Sets = ReadonlyMap<string, LiveSet>;

async function readTarget(session: Session, input: ReadInput): Promise<Sets> {
  const kinds = [...input.kinds.values()].filter((kind) => kind.service === session.target.service);
  const tellLosses = kinds.filter(({ losses }) => losses !== undefined);
  const others = kinds.filter(({ losses }) => losses === undefined);
  const first = await readKinds(session, others, (kind) => wantedOf(kind, session, input));
  if (tellLosses.length === 0) return first;
  const leaving = input.leaving(session, first);
  const isLeaving = (whole: Address) => leaving.has(formatAddress(whole));
  const rest = await readKinds(session, tellLosses, (kind) => ({
    ...wantedOf(kind, session, input),
    ...(leaving.size === 0 ? {} : { leaving: isLeaving }),
  }));
  return new Map(kinds.flatMap(({ name }) => entryOf(name, first.get(name) ?? rest.get(name))));
}

/** In the order of the registry, whichever was read first. */
function entryOf(name: string, set: LiveSet | undefined): [string, LiveSet][] {
  return set === undefined ? [] : [[name, set]];
}

async function readKinds(
  session: Session,
  kinds: readonly Kind[],
  wantedFor: (kind: Kind) => Wanted,
): Promise<Sets> {
  const sets = await Promise.all(
    kinds
      .map((kind) => [kind, wantedFor(kind)] as const)
      .filter(([kind, wants]) => isOfInterest(kind, wants))
      .map(async ([kind, wants]) => [kind.name, await kind.read(session, wants)] as const),
  );
  return new Map(sets);
}

function wantedOf(kind: Kind, session: Session, { desired, ledger }: ReadInput): Wanted {
  const isHere = (address: { kind: string; target: string }) =>
    address.kind === kind.name && address.target === session.target.name;
  const records = new Map<AddressText, LedgerRecord>();
  for (const [text, record] of ledger.records) if (isHere(parseAddress(text))) records.set(text, record);
  return {
    declared: desired.filter(({ address }) => isHere(address)),
    records,
    record: (address) => ledger.records.get(formatAddress(address)),
  };
}

/** Kinds that can hold something of ours that nobody declares any more are always looked at. */
function isOfInterest({ ownership }: Kind, { declared, records, leaving }: Wanted): boolean {
  const mayHoldOurs = ownership.by === 'claim' || (ownership.by === 'ledger' && ownership.named);
  return mayHoldOurs || declared.length > 0 || records.size > 0 || leaving !== undefined;
}
