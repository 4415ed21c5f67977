/**
 * Reads what a plan needs of every target, side by side; only kinds that tell who loses by a deletion wait until it is
 * known what goes. Only GET and LIST go over the wire. A target that cannot be looked at is told once, keeps no other one
 * from being looked at, and is left out of the plan: what was not looked at is not absent (rule 39).
 */
import { type Address, type AddressText, formatAddress, parseAddress } from '../model/resource/address.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Kind, LiveSet, Registry, Session, ReadRequest } from '../model/kind/kind.ts';
import type { Ledger, LedgerRecord } from '../model/stack/ledger.ts';
import type { DesiredResource } from '../model/resource/resource.ts';
import type { Target } from '../model/stack/target.ts';
import { WireError } from '../model/wire.ts';

export interface ReadInput {
  readonly sessions: readonly Session[];
  readonly kinds: Registry;
  readonly desired: readonly DesiredResource[];
  readonly ledger: Ledger;
  /** what of one target the plan is going to delete, once all that stands for itself there has been read */
  plannedDeletions(session: Session, sets: ReadonlyMap<string, LiveSet>): ReadonlySet<AddressText>;
}

/** What was read of each kind of one target, or why nothing was; then `sets` is empty. */
export interface LiveReading {
  readonly sets: ReadonlyMap<string, LiveSet>;
  readonly unread?: Diagnostic;
}

/** For each target, by name, what was read of it. */
export async function readLive(input: ReadInput): Promise<ReadonlyMap<string, LiveReading>> {
  const targets = await Promise.all(
    input.sessions.map(async (session) => [session.target.name, await lookAt(session, input)] as const),
  );
  return new Map(targets);
}

type Sets = ReadonlyMap<string, LiveSet>;

async function lookAt(session: Session, input: ReadInput): Promise<LiveReading> {
  try {
    return { sets: withinTotals(await readTarget(session, input)) };
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    return { sets: new Map(), unread: unread(session.target, error.message) };
  }
}

function unread({ name }: Target, why: string): Diagnostic {
  return {
    code: 'target-unread',
    severity: 'error',
    class: 'incomplete',
    message: `target "${name}" could not be read: ${why}`,
    fix: 'make it possible to read it, then plan again: until then nothing of it is planned, and nothing is written anywhere',
  };
}

/** @throws WireError when the target could not be looked at */
async function readTarget(session: Session, input: ReadInput): Promise<Sets> {
  const kinds = [...input.kinds.values()].filter((kind) => kind.service === session.target.service);
  const tellLosses = kinds.filter(({ losses }) => losses !== undefined);
  const others = kinds.filter(({ losses }) => losses === undefined);
  const first = await readKinds(session, others, (kind) => wantedOf(kind, session, input));
  if (tellLosses.length === 0) return first;
  const isPlannedDeletion = input.plannedDeletions(session, first);
  const isLeaving = (whole: Address) => isPlannedDeletion.has(formatAddress(whole));
  const rest = await readKinds(session, tellLosses, (kind) => ({
    ...wantedOf(kind, session, input),
    ...(isPlannedDeletion.size === 0 ? {} : { isPlannedDeletion: isLeaving }),
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
  wantedFor: (kind: Kind) => ReadRequest,
): Promise<Sets> {
  const sets = await Promise.all(
    kinds
      .map((kind) => [kind, wantedFor(kind)] as const)
      .filter(([kind, wants]) => isOfInterest(kind, wants))
      .map(async ([kind, wants]) => [kind.name, await kind.read(session, wants)] as const),
  );
  const { unread: why } = sets.map(([, set]) => set).find((set) => set.unread !== undefined) ?? {};
  if (why !== undefined) throw new WireError(why, { method: 'GET', url: session.target.url, sent: false });
  return new Map(sets);
}

/** A service that counts fewer than it gives has not been understood: what else of it is wrong, nobody knows (rule 38). */
function withinTotals(sets: Sets): Sets {
  return new Map(
    [...sets].map(([kind, set]) => {
      const { resources, total } = set;
      if (total === undefined || resources.length <= total) return [kind, set];
      const why = `${resources.length} ${kind} ${resources.length === 1 ? 'was' : 'were'} read, and the service counts ${total}`;
      return [kind, { ...set, incomplete: [...set.incomplete, why] }];
    }),
  );
}

function wantedOf(kind: Kind, session: Session, { desired, ledger }: ReadInput): ReadRequest {
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
function isOfInterest({ ownership }: Kind, { declared, records, isPlannedDeletion }: ReadRequest): boolean {
  const mayHoldOurs = ownership.by === 'claim' || (ownership.by === 'ledger' && ownership.named);
  return mayHoldOurs || declared.length > 0 || records.size > 0 || isPlannedDeletion !== undefined;
}
