/**
 * Reads what a plan needs of every target, side by side, in two looks: kinds that tell who loses by a deletion are read
 * once it is known what goes. Only GET and LIST go over the wire. A target that cannot be looked at is told once, keeps no other one
 * from being looked at, and is left out of the plan: what was not looked at is not absent (rules 39).
 */
import { type Address, type AddressText, formatAddress, parseAddress } from '../model/resource/address.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Kind, LiveSet, Registry, Session, ReadRequest } from '../model/kind/kind.ts';
import type { Ledger, LedgerRecord } from '../model/stack/ledger.ts';
import type { DesiredResource } from '../model/resource/resource.ts';
import type { Target } from '../model/stack/target.ts';
import { WireError } from '../model/wire.ts';

interface ReadInput {
  readonly sessions: readonly Session[];
  readonly kinds: Registry;
  readonly desired: readonly DesiredResource[];
  readonly ledger: Ledger;
}

/** What was read of each kind of one target, or why nothing was; then `sets` is empty. */
export interface LiveReading {
  readonly sets: ReadonlyMap<string, LiveSet>;
  readonly unread?: Diagnostic;
}

/** By the name of the target. */
export type LiveReadings = ReadonlyMap<string, LiveReading>;

/** The first look: every kind but those that tell who loses something by a deletion, for nobody knows yet what goes. */
export function readFirst(input: ReadInput): Promise<LiveReadings> {
  return lookAtAll(input, (session) =>
    readKinds(session, kindsOf(session, input, { tellLosses: false }), (kind) =>
      requestFor(kind, session, input),
    ),
  );
}

/**
 * The first look with what it left out.
 * @param deletions of each target, by its name, what the plan is going to delete there
 */
export async function readRest(
  input: ReadInput,
  first: LiveReadings,
  deletions: ReadonlyMap<string, ReadonlySet<AddressText>>,
): Promise<LiveReadings> {
  const sessions = input.sessions.filter(({ target }) => first.get(target.name)?.unread === undefined);
  const rest = await lookAtAll({ ...input, sessions }, (session) => {
    const planned = deletions.get(session.target.name) ?? new Set();
    const isPlannedDeletion = (whole: Address) => planned.has(formatAddress(whole));
    return readKinds(session, kindsOf(session, input, { tellLosses: true }), (kind) => ({
      ...requestFor(kind, session, input),
      ...(planned.size === 0 ? {} : { isPlannedDeletion }),
    }));
  });
  return new Map(
    [...first].map(([name, reading]) => [name, joined(reading, rest.get(name), input)] as const),
  );
}

function kindsOf(
  { target }: Session,
  { kinds }: ReadInput,
  { tellLosses }: { readonly tellLosses: boolean },
): Kind[] {
  return [...kinds.values()].filter(
    (kind) => kind.service === target.service && (kind.losses !== undefined) === tellLosses,
  );
}

/** Both looks at one target, in the order of the registry, whichever was read first. */
function joined(first: LiveReading, rest: LiveReading | undefined, { kinds }: ReadInput): LiveReading {
  if (rest === undefined || rest.unread !== undefined) return rest ?? first;
  const sets = [...kinds.keys()].flatMap((name) => {
    const set = first.sets.get(name) ?? rest.sets.get(name);
    return set === undefined ? [] : [[name, set] as const];
  });
  return { sets: new Map(sets) };
}

type Sets = ReadonlyMap<string, LiveSet>;

/** Side by side; a target that cannot be looked at keeps no other one from it. */
async function lookAtAll(
  { sessions }: ReadInput,
  read: (session: Session) => Promise<Sets>,
): Promise<LiveReadings> {
  const readings = await Promise.all(
    sessions.map(async (session) => [session.target.name, await lookAt(session, read)] as const),
  );
  return new Map(readings);
}

async function lookAt(session: Session, read: (session: Session) => Promise<Sets>): Promise<LiveReading> {
  try {
    return { sets: withinTotals(await read(session)) };
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

function requestFor(kind: Kind, session: Session, { desired, ledger }: ReadInput): ReadRequest {
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
