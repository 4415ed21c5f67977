/** Reads what a plan needs of every target, all kinds and targets side by side. Only GET and LIST go over the wire. */
import { type AddressText, formatAddress, parseAddress } from '../model/address.ts';
import type { Kind, LiveSet, Registry, Session, Wanted } from '../model/kind.ts';
import type { Ledger, LedgerRecord } from '../model/ledger.ts';
import type { DesiredResource } from '../model/resource.ts';

export interface ReadInput {
  readonly sessions: readonly Session[];
  readonly kinds: Registry;
  readonly desired: readonly DesiredResource[];
  readonly ledger: Ledger;
}

/** For each target, by name, what was read of each kind. @throws WireError when a target cannot be reached */
export async function readLive(input: ReadInput): Promise<ReadonlyMap<string, ReadonlyMap<string, LiveSet>>> {
  const targets = await Promise.all(
    input.sessions.map(async (session) => [session.target.name, await readTarget(session, input)] as const),
  );
  return new Map(targets);
}

async function readTarget(session: Session, input: ReadInput): Promise<ReadonlyMap<string, LiveSet>> {
  const kinds = [...input.kinds.values()].filter((kind) => kind.service === session.target.service);
  const wanted = kinds.map((kind) => [kind, wantedOf(kind, session, input)] as const);
  const sets = await Promise.all(
    wanted
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
function isOfInterest({ ownership }: Kind, { declared, records }: Wanted): boolean {
  const mayHoldOurs = ownership.by === 'claim' || (ownership.by === 'ledger' && ownership.named);
  return mayHoldOurs || declared.length > 0 || records.size > 0;
}
