/**
 * Reads what a plan needs of every target, in parallel and in two steps, over one session for each target. A target that cannot be
 * read is reported once, does not stop the others, and is left out of the plan: its resources do not count as absent.
 */
import { indexDeclaredObjects } from '../compare/declared-objects.ts';
import { namedIn, resolveNames } from '../compare/named-references.ts';
import {
  type Address,
  type AddressText,
  formatAddress,
  kindAndTargetIn,
  kindAndTarget,
} from '../model/address.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { type Reader, WireError } from '../model/http.ts';
import type { Kind, KnownResources, LiveSet, ReadRequest, Registry, Session } from '../model/kind.ts';
import type { Ledger } from '../model/ledger.ts';
import type { NameLists } from '../model/named-reference.ts';
import { quoted } from '../model/quoted.ts';
import type { DesiredResource } from '../model/resource.ts';
import type { Dialect, Target } from '../model/stack.ts';

export function openSession(about: {
  readonly target: Target;
  readonly dialect: Dialect;
  readonly stack: string;
  readonly reader: Reader;
  /** shared by all sessions of the target in a run */
  readonly lacks?: Session['lacks'];
}): Session {
  const reads = new Map<string, Promise<unknown>>();
  return {
    lacks: new Set(),
    ...about,
    once<T>(key: string, read: () => Promise<T>): Promise<T> {
      const known = reads.get(key);
      // Safe because each key belongs to one function: all kinds that share a read call the same one.
      if (known !== undefined) return known as Promise<T>;
      const fresh = read();
      reads.set(key, fresh);
      return fresh;
    },
  };
}

// Two steps: kinds that report who loses access when their parent is deleted (`losses`) are read in the second one, when the deletions of
// the plan are known. Only GET and LIST requests are sent.

interface ReadInput {
  readonly sessions: readonly Session[];
  readonly kinds: Registry;
  readonly desired: readonly DesiredResource[];
  readonly ledger: Ledger;
  /** resources that an unfinished apply had begun to create */
  readonly begunCreations?: ReadonlySet<AddressText> | undefined;
  /** the resources that this run has deleted */
  readonly deleted?: ReadonlySet<AddressText> | undefined;
}

/** The resources of one target, by kind. If it could not be read, `unread` says why, and `sets` is empty. */
export interface LiveReading {
  readonly sets: ReadonlyMap<string, LiveSet>;
  /** the lists of the objects that manifests refer to by name; absent if there are none */
  readonly names?: NameLists;
  readonly unread?: Diagnostic;
}

/** The readings of all targets, by name. */
export type LiveReadings = ReadonlyMap<string, LiveReading>;

/** The first step: all kinds that report no losses. The deletions are not known yet. */
export function readFirst(input: ReadInput): Promise<LiveReadings> {
  const known = knownByKindAndTarget(input);
  return readTargets(input, async (opened) => {
    const session = withKnown(opened, known);
    const names = await readNames(session, input, known);
    const kinds = kindsOf(session, input, { withLosses: false });
    const sets = await readKinds(session, kinds, (kind) =>
      requestFor(kind, session, input, { known, names }),
    );
    return { sets, ...(names.size === 0 ? {} : { names }) };
  });
}

/** One list for each type of object that manifests of the target refer to by name; none for types that they refer to only by id. */
async function readNames(session: Session, { kinds }: ReadInput, known: Known): Promise<NameLists> {
  const wanted = [...kinds.values()].flatMap(({ name: kind, named }) => {
    const { declared = [] } = known.get(kindAndTarget({ kind, target: session.target.name })) ?? {};
    if (named === undefined) return [];
    const used = declared.flatMap(({ spec }) => namedIn(spec, named.references));
    return [...new Set(used.map(({ objectType }) => objectType))].map((objectType) => ({
      objectType,
      named,
    }));
  });
  const lists = wanted.map(
    async ({ objectType, named }) => [objectType, await named.list(session, objectType)] as const,
  );
  return new Map(await Promise.all(lists));
}

/**
 * The second step. @returns the readings of both steps
 * @param deletions by name of the target, the addresses that the plan will delete there
 */
export async function readRest(
  input: ReadInput,
  first: LiveReadings,
  deletions: ReadonlyMap<string, ReadonlySet<AddressText>>,
): Promise<LiveReadings> {
  const sessions = input.sessions.filter(({ target }) => first.get(target.name)?.unread === undefined);
  const known = knownByKindAndTarget(input);
  const rest = await readTargets({ ...input, sessions }, async (opened) => {
    const session = withKnown(opened, known);
    const planned = deletions.get(session.target.name) ?? new Set();
    const isPlannedDeletion = (parent: Address) => planned.has(formatAddress(parent));
    const { names = new Map() } = first.get(session.target.name) ?? {};
    const kinds = kindsOf(session, input, { withLosses: true });
    const sets = await readKinds(session, kinds, (kind) => ({
      ...requestFor(kind, session, input, { known, names }),
      ...(planned.size === 0 ? {} : { isPlannedDeletion }),
    }));
    return { sets };
  });
  return new Map(
    [...first].map(([name, reading]) => [name, mergeSteps(reading, rest.get(name), input)] as const),
  );
}

function kindsOf(
  { target }: Session,
  { kinds }: ReadInput,
  { withLosses }: { readonly withLosses: boolean },
): Kind[] {
  return [...kinds.values()].filter(
    (kind) => kind.service === target.service && (kind.losses !== undefined) === withLosses,
  );
}

/** Merges both steps for one target, in the order of the registry. */
function mergeSteps(first: LiveReading, rest: LiveReading | undefined, { kinds }: ReadInput): LiveReading {
  if (rest === undefined || rest.unread !== undefined) return rest ?? first;
  const sets = [...kinds.keys()].flatMap((name) => {
    const set = first.sets.get(name) ?? rest.sets.get(name);
    return set === undefined ? [] : [[name, set] as const];
  });
  return { ...first, sets: new Map(sets) };
}

type Sets = ReadonlyMap<string, LiveSet>;

/** Reads the targets in parallel. One that cannot be read does not stop the others. */
async function readTargets(
  { sessions }: ReadInput,
  read: (session: Session) => Promise<LiveReading>,
): Promise<LiveReadings> {
  const readings = await Promise.all(
    sessions.map(async (session) => [session.target.name, await readTarget(session, read)] as const),
  );
  return new Map(readings);
}

async function readTarget(
  session: Session,
  read: (session: Session) => Promise<LiveReading>,
): Promise<LiveReading> {
  try {
    const { sets, ...rest } = await read(session);
    const unplannable = [...sets.values()].flatMap((set) => set.unplannable ?? [])[0];
    if (unplannable === undefined) return { ...rest, sets: checkTotals(sets) };
    const message = `target ${quoted(session.target.name)}: ${unplannable.message}`;
    return { sets: new Map(), unread: { severity: 'error', ...unplannable, message } };
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    return { sets: new Map(), unread: unread(session.target, error.message) };
  }
}

function unread({ name, organization, mount }: Target, why: string): Diagnostic {
  const place =
    organization === undefined ? `mount ${quoted(mount ?? '')}` : `organization ${quoted(organization)}`;
  return {
    code: 'target-unread',
    severity: 'error',
    class: 'incomplete',
    message: `target ${quoted(name)} could not be read: ${why}`,
    fix: `remove the cause, then plan again; after an answer 401, 403 or 404, check that the token of the target is valid and may read ${place}. Until then nothing is planned for this target, and nothing is written to any target`,
  };
}

/** @throws WireError when the target could not be read */
async function readKinds(
  session: Session,
  kinds: readonly Kind[],
  requestOf: (kind: Kind) => ReadRequest,
): Promise<Sets> {
  const sets = await Promise.all(
    kinds
      .map((kind) => [kind, requestOf(kind)] as const)
      .filter(([kind, request]) => mustBeRead(kind, request))
      .map(async ([kind, request]) => [kind.name, await kind.read(session, request)] as const),
  );
  const { unread: why } = sets.map(([, set]) => set).find((set) => set.unread !== undefined) ?? {};
  if (why !== undefined) throw new WireError(why, { method: 'GET', url: session.target.url, sent: false });
  return new Map(sets);
}

/** If a service returns more resources than it counts, its answers were misunderstood, and the read is incomplete. */
function checkTotals(sets: Sets): Sets {
  return new Map(
    [...sets].map(([kind, set]) => {
      const { resources, total } = set;
      if (total === undefined || resources.length <= total) return [kind, set];
      const why = `${resources.length} ${kind} ${resources.length === 1 ? 'was' : 'were'} read, and the service counts ${total}`;
      return [kind, { ...set, incomplete: [...set.incomplete, why] }];
    }),
  );
}

/** The declared and recorded resources, by kind and target. */
type Known = ReadonlyMap<string, KnownResources>;

function withKnown(session: Session, known: Known): Session {
  const { name: target } = session.target;
  return {
    ...session,
    known: (kind) => known.get(kindAndTarget({ kind, target })) ?? { declared: [], records: new Map() },
  };
}

function knownByKindAndTarget({
  desired,
  ledger,
  deleted,
}: Pick<ReadInput, 'desired' | 'ledger' | 'deleted'>): Known {
  const declared = Map.groupBy(desired, ({ address }) => kindAndTarget(address));
  const records = Map.groupBy(ledger.records, ([text]) => kindAndTargetIn(text));
  const keys = new Set([...declared.keys(), ...records.keys()]);
  const { movedAway } = ledger;
  return new Map(
    [...keys].map((key) => [
      key,
      { declared: declared.get(key) ?? [], records: new Map(records.get(key)), movedAway, deleted },
    ]),
  );
}

function requestFor(
  kind: Kind,
  { target }: Session,
  { ledger, deleted, begunCreations = new Set() }: ReadInput,
  { known, names: lists }: { readonly known: Known; readonly names: NameLists },
): ReadRequest {
  const key = kindAndTarget({ kind: kind.name, target: target.name });
  const { declared, records } = known.get(key) ?? { declared: [], records: new Map() };
  const { references } = kind.named ?? {};
  const declaredObjects = indexDeclaredObjects(lists, (other) =>
    known.get(kindAndTarget({ kind: other, target: target.name })),
  );
  // Names that are not found are no error here: the plan reports them.
  const lookup =
    references === undefined ? undefined : { references, lists, declaredObjects, recorded: () => [] };
  return {
    declared: lookup === undefined ? declared : declared.map((one) => resolveNames(one, lookup).resource),
    records,
    begun: new Set([...begunCreations].filter((text) => kindAndTargetIn(text) === key)),
    deleted,
    record: (address) => ledger.records.get(formatAddress(address)),
  };
}

/** Whether a kind is read: always if undeclared resources of this kind may be ours, otherwise if the request names any resource. */
function mustBeRead(
  { ownership }: Kind,
  { declared, records, begun, isPlannedDeletion }: ReadRequest,
): boolean {
  const mayHoldOurs =
    (ownership.by === 'claim' && !ownership.foundByLedgerOnly) ||
    (ownership.by === 'ledger' && ownership.limitedByOwns);
  const isKnown = declared.length > 0 || records.size > 0 || (begun?.size ?? 0) > 0;
  return mayHoldOurs || isKnown || isPlannedDeletion !== undefined;
}
