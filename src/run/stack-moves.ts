/**
 * Takes resources over from other stacks: opens their ledgers where this stack keeps its own, locks them, and moves records and history
 * before anything is sent to a target.
 */
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { stateFolderName } from '../files/write-file.ts';
import { findRepository, liesIn } from '../manifest/files/find-stack.ts';
import type { AddressText } from '../model/address.ts';
import type { BegunResource } from '../model/field.ts';
import type { HistoryChange, HistoryEntry, IncomingRecords, Ledger, StackStore } from '../model/ledger.ts';
import { quoted } from '../model/quoted.ts';
import type { DesiredResource, MoveOrigin } from '../model/resource.ts';
import type { Stack } from '../model/stack.ts';
import {
  moveOrigins,
  originKey,
  originOf,
  type ResolvedMoves,
  resolveMoves,
  withoutMoved,
} from '../plan/stack-moves.ts';
import { CommandStop } from './command-stop.ts';
import { exitCodes } from './exit-codes.ts';
import type { HeldLock } from './lock.ts';
import { moveCommand, MovedElsewhere } from './moved-ledger.ts';
import { begunFieldsOf } from './open-entries.ts';
import { type FormerContext, openLedger } from './open-ledger.ts';

/** The ledger of a stack from which this one takes resources over. */
interface MoveSource {
  /** all origins that mean this ledger: a folder can be written in several ways */
  readonly origins: readonly MoveOrigin[];
  readonly stack: Stack;
  readonly store: StackStore;
  ledger: Ledger;
  held?: HeldLock | undefined;
}

export interface MoveSources {
  readonly all: readonly MoveSource[];
  /** Releases the locks and closes the stores. @returns false when this run had lost a lock */
  close(): Promise<boolean>;
}

interface OpenedMoves {
  readonly sources: MoveSources;
  /** the lock of this stack, if the run writes */
  readonly held: HeldLock | undefined;
}

/**
 * Opens and reads the ledgers of the stacks that resources come from. A run that writes also takes their locks and that of its own
 * stack, in the order of the names of the stacks, so that two applies that take over from each other never wait for each other.
 * @param own as read before the lock
 * @throws CommandStop when one of them is locked, LedgerError when it cannot be read
 */
export async function openMoves(
  { stack, store, resources, own }: OwnLedger,
  { host, time, lock }: FormerContext,
): Promise<OpenedMoves> {
  const all: MoveSource[] = [];
  const close = () => closeSources(all);
  let held: HeldLock | undefined;
  try {
    for (const { origins, stack: other } of await stacksOfMoves(own, resources, stack)) {
      for (const origin of origins) await refuseOutside(origin, stack);
      const source = await openLedger(other, host, time);
      all.push({ origins, stack: other, store: source, ledger: emptyLedger });
    }
    for (const source of all) source.ledger = await readSource(source, stack);
    if (lock === undefined) return { sources: { all, close }, held };
    const take = (taken: HeldLock) => {
      held = taken;
    };
    const ours = { stack, store, take };
    const others = all
      .filter(({ ledger }) => ledger.known)
      .map((source) => ({
        ...source,
        take: (taken: HeldLock) => {
          source.held = taken;
        },
      }));
    for (const one of [ours, ...others].toSorted(byName))
      one.take(await lock.take(one.stack, one.store, time));
    for (const source of all) if (source.held !== undefined) source.ledger = await readSource(source, stack);
    return { sources: { all, close }, held };
  } catch (error) {
    await close();
    await held?.release();
    throw error;
  }
}

interface OwnLedger {
  readonly stack: Stack;
  readonly store: StackStore;
  readonly resources: readonly DesiredResource[];
  readonly own: Ledger;
}

const emptyLedger: Ledger = { known: false, serial: 0, records: new Map() };

function byName(one: { readonly stack: Stack }, other: { readonly stack: Stack }): number {
  return one.stack.name < other.stack.name ? -1 : 1;
}

/** Reads the ledger of the other stack. If it was moved away, the error says that both ledgers must be in the same place. */
async function readSource({ store, stack: { name } }: MoveSource, stack: Stack): Promise<Ledger> {
  return store.read().catch((error: unknown) => {
    if (!(error instanceof MovedElsewhere)) throw error;
    const advice = `stack ${quoted(stack.name)} takes resources over from stack ${quoted(name)}, so both need their ledgers in the same place`;
    throw new MovedElsewhere(
      error.what,
      `${advice}: move that of stack ${quoted(stack.name)} there, too, with ${quoted(moveCommand(error.to))}, and remove "folder" from "movedFrom"`,
      error.to,
    );
  });
}

/** This stack with the name of the other one and, for a ledger in a file, its folder. */
function stackAt({ stack: name, folder }: MoveOrigin, stack: Stack): Stack {
  return { ...stack, name, ...(folder === undefined ? {} : { ledger: { in: 'local', folder } }) };
}

/** @throws CommandStop for a ledger outside of the repository of the stack; it must be in it, like a manifest */
export async function refuseOutside({ folder }: MoveOrigin, { directory }: Stack): Promise<void> {
  if (folder === undefined) return;
  const repository = await findRepository(directory);
  const path = join(directory, folder);
  const real = await realpath(path).catch(() => path);
  if (!repository.isGit || liesIn(repository, real)) return;
  throw new CommandStop(
    'outside-repository',
    `${quoted(folder)}, the ledger in "movedFrom", lies outside the git repository of the stack: put both stacks into one repository, or keep both ledgers in PostgreSQL`,
    { exit: exitCodes.invalid },
  );
}

async function closeSources(all: readonly MoveSource[]): Promise<boolean> {
  let isKept = true;
  for (const { held, store } of all) {
    try {
      isKept = ((await held?.release()) ?? true) && isKept;
    } finally {
      await store.close();
    }
  }
  return isKept;
}

/** What this stack owns, with what it takes over. @throws CommandStop for a selection of the stack */
export function resolveSources(
  { all }: MoveSources,
  input: Omit<Parameters<typeof resolveMoves>[0], 'ledgerOf'> & { readonly isSelection: boolean },
): ResolvedMoves {
  const { own, resources, stack } = input;
  const ledgers = new Map(
    all.flatMap(({ origins, ledger }) => origins.map((origin) => [originKey(origin), ledger] as const)),
  );
  const missing = moveOrigins(own, resources).find((origin) => !ledgers.has(originKey(origin)));
  if (missing !== undefined)
    throw new CommandStop(
      'ledger-conflict',
      `another run has changed the ledger of stack ${quoted(stack.name)} meanwhile: plan again`,
    );
  const resolved = resolveMoves({ ...input, ledgerOf: (origin) => ledgers.get(originKey(origin)) });
  if (input.isSelection && resolved.from.size > 0)
    throw new CommandStop(
      'whole-stack-needed',
      `stack ${quoted(stack.name)} takes resources over from ${[...new Set(resolved.from.values())].map(quoted).join(', ')}: plan and apply the whole stack before a selection of it`,
    );
  return resolved;
}

interface MoveWrites {
  readonly sources: MoveSources;
  readonly pending: readonly IncomingRecords[];
  readonly stack: Stack;
  readonly stackId: string | undefined;
  readonly store: StackStore;
  /** the ledger of this stack, with the approval of this apply, and without what it still has to take over */
  readonly own: Ledger;
  /** the ledger of this stack, with what it takes over */
  readonly ledger: Ledger;
  /** milliseconds since 1970 */
  readonly now: () => number;
}

/**
 * Records in this stack's ledger what it takes over, then removes it from the other ledgers. The second write moves the ownership: until
 * then the other stack owns the resources, and afterwards this one does. An interrupted apply is completed by the next one.
 * @throws LedgerError, LockLost
 */
export async function takeOverMoves(writes: MoveWrites): Promise<Ledger> {
  const { sources, pending, stack, stackId, store, own, ledger, now } = writes;
  for (const incoming of pending)
    await sourceOf(sources, incoming).store.listEntries(Number.MAX_SAFE_INTEGER);
  const begun = await store.write({ ...own, incoming: pending });
  const to = { stack: stack.name, ...(stackId === undefined ? {} : { id: stackId }) };
  const at = new Date(now()).toISOString();
  for (const incoming of pending) {
    const source = sourceOf(sources, incoming);
    if (source.held === undefined)
      throw new Error(`the ledger of stack ${incoming.from.stack} is not locked`);
    await copyHistory(source, incoming, store);
    await source.held.lockGuard.check();
    source.ledger = await source.store.write(withoutMoved(source.ledger, incoming, { to, at }));
  }
  return store.write({ ...ledger, serial: begun.serial });
}

function sourceOf({ all }: MoveSources, incoming: IncomingRecords): MoveSource {
  const key = originKey(originOf(incoming));
  const source = all.find(({ origins }) => origins.some((origin) => originKey(origin) === key));
  if (source === undefined) throw new Error(`the ledger of stack ${incoming.from.stack} is not open`);
  return source;
}

/** The other stacks whose ledgers decide what this stack owns, and whose locks its apply takes; each ledger once. */
export async function stacksOfMoves(
  own: Ledger,
  resources: readonly DesiredResource[],
  stack: Stack,
): Promise<{ readonly stack: Stack; readonly origins: readonly MoveOrigin[] }[]> {
  const found = await Promise.all(
    moveOrigins(own, resources).map(async (origin) => {
      const other = stackAt(origin, stack);
      const { in: where, folder = stateFolderName } = { in: 'local', folder: undefined, ...other.ledger };
      const path = where === 'local' ? join(stack.directory, folder) : '';
      return { origin, other, key: `${origin.stack}\0${await realpath(path).catch(() => path)}` };
    }),
  );
  return [...Map.groupBy(found, ({ key }) => key).values()].flatMap((group) => {
    const [first] = group;
    return first === undefined ? [] : [{ stack: first.other, origins: group.map(({ origin }) => origin) }];
  });
}

// The history of resources that this stack takes over from another one.

interface HistorySource {
  readonly stack: Pick<Stack, 'name'>;
  readonly store: Pick<StackStore, 'listEntries'>;
}

/** Copies what the applies of the other stack did to the resources. A copy that exists already gets the changes that it lacks. */
export async function copyHistory(
  { store: from, stack }: HistorySource,
  { records }: Pick<IncomingRecords, 'records'>,
  to: Pick<StackStore, 'showEntry' | 'keepEntries'>,
): Promise<void> {
  const here = new Map(Object.entries(records).map(([text, { at }]) => [at, text as AddressText]));
  // A damaged entry is an error: the history would be lost with it.
  const entries = await from.listEntries(Number.MAX_SAFE_INTEGER);
  const copies: HistoryEntry[] = [];
  for (const entry of entries) {
    const changes = entry.changes.flatMap((change) => {
      const address = here.get(change.address);
      return address === undefined ? [] : [{ ...change, address }];
    });
    const id = entry.moved ? entry.id : `${entry.id}-${stack.name}`;
    const copy = await to.showEntry(id);
    const copied = copy?.changes ?? [];
    const known = new Set(
      [...copied, ...((await ownOriginal(entry, to))?.changes ?? [])].map(({ address }) => address),
    );
    const added = changes.filter(({ address }) => !known.has(address));
    if (added.length === 0) continue;
    // The approvals of the other stack do not matter here, and its open writes are about other resources.
    const { endedApprovals: _a, pruned: _p, tagged: _t, related: _r, ...own } = entry;
    const { openCreations: _c, begunFields: _f, ...about } = own;
    const seen = seenByPolicies(entry, { changes, copy, here });
    copies.push({ ...about, id, moved: true, ...seen, changes: [...copied, ...added] });
  }
  if (copies.length > 0) await to.keepEntries(copies);
}

/** What unfinished applies of the other stacks may have written to the resources that move, by their address here. @throws LedgerError */
export async function begunFieldsOfMoved(
  { all }: MoveSources,
  incoming: readonly IncomingRecords[],
): Promise<readonly BegunResource[]> {
  const found = incoming.map(async (one) => {
    const key = originKey(originOf(one));
    const source = all.find(({ origins }) => origins.some((origin) => originKey(origin) === key));
    const begun = source === undefined ? [] : await begunFieldsOf(source.store, source);
    const here = new Map(Object.entries(one.records).map(([text, { at }]) => [at, text as AddressText]));
    return begun.flatMap((written) => {
      const address = here.get(written.address);
      return address === undefined ? [] : [{ ...written, address }];
    });
  });
  return (await Promise.all(found)).flat();
}

interface MovedPart {
  /** the changes of the resources that move */
  readonly changes: readonly HistoryChange[];
  /** the copy that an earlier apply made */
  readonly copy: HistoryEntry | undefined;
  /** the addresses here by those in the other stack */
  readonly here: ReadonlyMap<AddressText, AddressText>;
}

/** What policies saw besides the changes, as far as it belongs to resources that move: the rest is the other stack's. */
function seenByPolicies(
  { tagged = {}, related = {} }: HistoryEntry,
  { changes, copy, here }: MovedPart,
): Pick<HistoryEntry, 'tagged' | 'related'> {
  const parents = new Set(changes.map(({ checked }) => checked?.parent));
  const ownTagged = Object.entries(tagged).flatMap(([text, record]) => {
    const at = text as AddressText;
    return here.has(at) || parents.has(at) ? [[here.get(at) ?? at, record] as const] : [];
  });
  const records = [
    ...changes.flatMap(({ checked }) => checked ?? []),
    ...ownTagged.map(([, record]) => record),
  ];
  const named = new Set<string>(
    records.flatMap(({ parent, references }) => [parent ?? [], references].flat()),
  );
  const allTagged = { ...copy?.tagged, ...Object.fromEntries(ownTagged) };
  const allRelated = {
    ...copy?.related,
    ...Object.fromEntries(Object.entries(related).filter(([text]) => named.has(text))),
  };
  return {
    ...(Object.keys(allTagged).length === 0 ? {} : { tagged: allTagged }),
    ...(Object.keys(allRelated).length === 0 ? {} : { related: allRelated }),
  };
}

/** This stack's own entry from which `copy` was made, if the resource was moved to the other stack and comes back. */
async function ownOriginal(
  copy: HistoryEntry,
  to: Pick<StackStore, 'showEntry'>,
): Promise<HistoryEntry | undefined> {
  const end = `-${copy.stack}`;
  if (!copy.moved || !copy.id.endsWith(end)) return undefined;
  const original = await to.showEntry(copy.id.slice(0, -end.length));
  return original?.stack === copy.stack ? original : undefined;
}
