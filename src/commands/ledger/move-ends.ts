/** Finds out from where to where a ledger moves, and whether it may: whatever was found is unchanged. */
import { contentText, formatStored } from '../../ledger/ledger-text.ts';
import { isSamePlace, ledgerText } from '../../manifest/ledger-place.ts';
import type { HistoryEntry, Ledger, StackStore } from '../../model/ledger.ts';
import { quoted } from '../../model/quoted.ts';
import type { LedgerPlace, Stack } from '../../model/stack.ts';
import { CommandStop } from '../../run/command-stop.ts';
import { exitCodes } from '../../run/exit-codes.ts';
import { findLedgers, placeOf } from '../../run/find-ledger.ts';
import type { CliHost } from '../../run/host.ts';
import { checkedPlace, describePlace, moveCommand, movedError, refuseMoved } from '../../run/moved-ledger.ts';
import { openAnyLedger } from '../../run/open-ledger.ts';
import type { RunTime } from '../../run/stop-signals.ts';

export interface MoveContext {
  readonly stack: Stack;
  readonly host: CliHost;
  readonly time: RunTime;
}

/** Opened without the check whether the ledger was moved away. */
interface End {
  readonly place: LedgerPlace;
  readonly store: StackStore;
}

export interface Ends {
  readonly from: End;
  readonly to: End;
}

/** What a move has to do. */
export type Task =
  /** the ledger is there already */
  | { readonly is: 'done'; readonly ledger: Ledger }
  | { readonly is: 'copy'; readonly ledger: Ledger; readonly entries: readonly HistoryEntry[] }
  /** the original is closed, and the copy, which was verified, is not opened yet */
  | { readonly is: 'open'; readonly copy: Ledger };

export function openAt(place: LedgerPlace, { stack, host, time }: MoveContext): Promise<StackStore> {
  return openAnyLedger({ ...stack, ledger: place }, host, time);
}

/**
 * The place that the ledger moves away from: what the stack names, or, if that is the new place already, where the ledger is found.
 * @returns undefined when the ledger is at the new place
 */
export async function findSource(to: LedgerPlace, context: MoveContext): Promise<LedgerPlace | undefined> {
  const { stack } = context;
  const named = placeOf(stack);
  if (!isSamePlace(named, to)) return named;
  const store = await openAt(to, context);
  try {
    const { known, movedTo, copiedFrom } = await store.read();
    const other = movedTo ?? copiedFrom;
    if (other !== undefined) return checkedPlace(other.place);
    if (known) return undefined;
  } finally {
    await store.close();
  }
  const found = await findLedgers(context);
  const [first, ...more] = found.filter(({ ledger }) => ledger.movedTo === undefined);
  if (first !== undefined && more.length === 0) return first.place;
  const { name } = stack;
  if (first === undefined)
    throw new CommandStop(
      'nothing-to-move',
      `stack ${quoted(name)} has no ledger in ${describePlace(to, name)}, nor anywhere else that this checkout reaches: before the first apply there is nothing to move; else name its place with --from`,
    );
  const commands = [first, ...more].map(({ place }) => quoted(moveCommand(to, place)));
  throw new CommandStop(
    'nothing-to-move',
    `stack ${quoted(name)} has several ledgers: choose one with ${commands.join(' or ')}`,
  );
}

/** @throws CommandStop, LedgerError when the ledger cannot move */
export async function findTask({ from, to }: Ends, context: MoveContext): Promise<Task> {
  const { stack } = context;
  const [original, copy] = [await from.store.read(), await to.store.read()];
  const { movedTo } = original;
  if (movedTo !== undefined) {
    if (copy.copiedFrom?.id === movedTo.id) return { is: 'open', copy };
    if (!isSamePlace(checkedPlace(movedTo.place), to.place))
      throw movedError(from.store.place, movedTo, stack.name);
    if (copy.known && copy.movedTo === undefined && copy.copiedFrom === undefined)
      return { is: 'done', ledger: copy };
    throw new CommandStop(
      'nothing-to-move',
      `${from.store.place} was moved to ${describePlace(to.place, stack.name)} at ${movedTo.at}, and there is none now: restore it, or rebuild it with "trueup recover"`,
    );
  }
  const ledger = await settled(from, context).read();
  const entries = await from.store.listEntries(Number.MAX_SAFE_INTEGER);
  if (!ledger.known)
    throw new CommandStop(
      'nothing-to-move',
      `there is no ledger in ${describePlace(from.place, stack.name)}: ${copy.known ? 'the new place has one' : 'before the first apply there is nothing to move'}; write ${quoted(`ledger: ${ledgerText(to.place)}`)} into the stack file`,
    );
  if (ledger.incoming !== undefined && ledger.incoming.length > 0)
    throw new CommandStop(
      'move-impossible',
      `nothing was moved: an apply that was interrupted has begun to take resources over from another stack; run ${quoted('trueup apply')} first, which ends that`,
    );
  await refuseOther({ ledger, entries, copy }, { from, to }, context);
  return { is: 'copy', ledger, entries };
}

interface Compared {
  readonly ledger: Ledger;
  readonly entries: readonly HistoryEntry[];
  /** what the new place has */
  readonly copy: Ledger;
}

/** The new place may have nothing, the same, what an earlier move of this ledger left, or an end of an interrupted one. */
async function refuseOther(
  { ledger, entries, copy }: Compared,
  { from, to }: Ends,
  context: MoveContext,
): Promise<void> {
  const { name } = context.stack;
  const refuse = (what: string) =>
    new CommandStop(
      'ledger-exists',
      `nothing was moved: ${to.store.place} ${what}; if it is not needed any more, remove it; if it belongs to another stack of the name ${quoted(name)}, rename one of the two`,
      { exit: exitCodes.conflict },
    );
  const { copiedFrom, movedTo } = copy;
  const isOurs = copy.stackId === undefined || copy.stackId === ledger.stackId;
  if (copiedFrom !== undefined && isOurs && isSamePlace(copiedFrom.place, from.place)) return;
  if (movedTo !== undefined && isOurs) return;
  if (movedTo !== undefined)
    throw refuse(`was the ledger of another stack, with the id ${quoted(copy.stackId ?? '')}`);
  const other = copy.known ? await settled(to, context).read() : copy;
  if (other.known && contentText(name, other) !== contentText(name, ledger))
    throw refuse('has other records, or another state, than the ledger that is to move');
  const known = new Map(entries.map((entry) => [entry.id, formatStored(entry)]));
  const theirs = await to.store.readEntries(Number.MAX_SAFE_INTEGER);
  const foreign = theirs.find(
    (entry) => entry instanceof Error || known.get(entry.id) !== formatStored(entry),
  );
  if (foreign !== undefined) throw refuse('has a history that the ledger that is to move does not have');
}

function settled({ store }: End, context: MoveContext): StackStore {
  return refuseMoved(store, context.stack, (place) => openAt(place, context));
}
