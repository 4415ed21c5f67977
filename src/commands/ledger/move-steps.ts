/**
 * Moves a ledger: an unfinished copy is written and verified, the original is closed, and the copy is opened. After a crash between any
 * two steps, exactly one of the two is in use (`run/moved-ledger.ts`), and the same command continues the move.
 */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { formatEntry } from '../../ledger/history-text.ts';
import { contentText } from '../../ledger/ledger-text.ts';
import { contentStart, editText } from '../../manifest/edit/edit-document.ts';
import { UnusualYaml } from '../../manifest/edit/source-tree.ts';
import { findRepository, standardInput } from '../../manifest/files/find-stack.ts';
import { isSamePlace, ledgerDocument, ledgerText } from '../../manifest/ledger-place.ts';
import { isStack } from '../../manifest/load-documents.ts';
import { parseDocuments } from '../../manifest/yaml/parse-documents.ts';
import { createSourceText } from '../../manifest/yaml/yaml-document.ts';
import {
  type HistoryEntry,
  type Ledger,
  LedgerError,
  type LedgerMove,
  type StackStore,
} from '../../model/ledger.ts';
import { quoted } from '../../model/quoted.ts';
import type { LedgerPlace, Stack } from '../../model/stack.ts';
import { redactEntry } from '../../redaction/stored-values.ts';
import { CommandStop } from '../../run/command-stop.ts';
import { exitCodes } from '../../run/exit-codes.ts';
import { findLedgers, placeOf } from '../../run/find-ledger.ts';
import type { CliHost } from '../../run/host.ts';
import { repositoryMember } from '../../run/ledger-head.ts';
import { storedLedger } from '../../run/ledger-redaction.ts';
import type { HeldLock } from '../../run/lock.ts';
import type { FileChange } from '../../run/manifest-edits/write-files.ts';
import { checkedPlace, describePlace, moveCommand, movedError, refuseMoved } from '../../run/moved-ledger.ts';
import { openAnyLedger } from '../../run/open-ledger.ts';
import type { RunTime } from '../../run/stop-signals.ts';
import { printNote, type Terminal } from '../../run/terminal.ts';

// Finds the old and the new place of a ledger, and checks whether it can move. Changes nothing.

interface MoveContext {
  readonly stack: Stack;
  readonly host: CliHost;
  readonly time: RunTime;
}

/** The old or the new place. The store is opened without the check whether the ledger was moved away. */
interface MoveEnd {
  readonly place: LedgerPlace;
  readonly store: StackStore;
}

export interface MoveEnds {
  readonly from: MoveEnd;
  readonly to: MoveEnd;
}

/** What a move has to do. */
export type Task =
  /** the ledger is at the new place already */
  | { readonly is: 'done'; readonly ledger: Ledger }
  | { readonly is: 'copy'; readonly ledger: Ledger; readonly entries: readonly HistoryEntry[] }
  /** the original is closed and the copy is verified, but the copy is not opened yet */
  | { readonly is: 'open'; readonly copy: Ledger };

export function openAt(place: LedgerPlace, { stack, host, time }: MoveContext): Promise<StackStore> {
  return openAnyLedger({ ...stack, ledger: place }, host, time);
}

/**
 * The place that the ledger moves away from: the place that the stack names or, if that is the new place already, where a search finds it.
 * @returns undefined if the ledger is at the new place
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

/** @throws CommandStop, LedgerError if the ledger cannot move */
export async function findTask({ from, to }: MoveEnds, context: MoveContext): Promise<Task> {
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
  const ledger = await checkedStore(from, context).read();
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
  await refuseForeignContent({ ledger, entries, copy }, { from, to }, context);
  return { is: 'copy', ledger, entries };
}

interface Compared {
  readonly ledger: Ledger;
  readonly entries: readonly HistoryEntry[];
  /** the ledger at the new place */
  readonly copy: Ledger;
}

/** Refuses a new place with foreign content. It may be empty, equal, or have what a finished or interrupted move of this ledger left. */
async function refuseForeignContent(
  { ledger, entries, copy }: Compared,
  { from, to }: MoveEnds,
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
  const present = copy.known ? await checkedStore(to, context).read() : copy;
  if (present.known && contentText(name, present) !== contentText(name, ledger))
    throw refuse('has other records, or another state, than the ledger that is to move');
  const ours = new Map(entries.map((entry) => [entry.id, formatEntry(entry)]));
  const theirs = await to.store.readEntries(Number.MAX_SAFE_INTEGER);
  const foreign = theirs.find((entry) => entry instanceof Error || ours.get(entry.id) !== formatEntry(entry));
  if (foreign !== undefined) throw refuse('has a history that the ledger that is to move does not have');
}

/** The store with the check whether the ledger was moved away. */
function checkedStore({ store }: MoveEnd, context: MoveContext): StackStore {
  return refuseMoved(store, context.stack, (place) => openAt(place, context));
}

interface Steps extends MoveContext {
  readonly ends: MoveEnds;
  readonly locks: readonly Pick<HeldLock, 'lockGuard'>[];
  readonly terminal: Terminal;
}

/** Entries are written in groups: one request for each entry would be slow, and one for a whole long history too large. */
const groupSize = 100;

/** Takes the remaining steps of a move. @throws LedgerError, after it has printed which ledger is in use */
export async function carryOutMove(task: Exclude<Task, { is: 'done' }>, steps: Steps): Promise<Ledger> {
  const { from, to } = steps.ends;
  let isClosed = task.is === 'open';
  try {
    const copy = task.is === 'open' ? task.copy : await makeCopy(task, steps);
    if (task.is === 'copy') {
      await checkLocks(steps);
      await close(task.ledger, copy, steps);
    }
    isClosed = true;
    const { copiedFrom: _, ...content } = copy;
    return await to.store.write(content);
  } catch (error) {
    const used = isClosed ? `${to.store.place} is the ledger now` : `${from.store.place} was not closed`;
    printNote(steps.terminal, `${used}: nothing is lost, and the same command continues the move`);
    throw error;
  }
}

/** @returns the stored copy, which is not opened yet */
async function makeCopy({ ledger, entries }: Extract<Task, { is: 'copy' }>, steps: Steps): Promise<Ledger> {
  const { stack, host, ends } = steps;
  const { from, to } = ends;
  const copiedFrom: LedgerMove = { id: host.newId(), place: from.place, at: now(steps) };
  const { serial } = await to.store.read();
  const { movedTo: _, ...content } = storedLedger(ledger, stack.name, host.secrets);
  const repository = await withRemote(ledger, steps);
  const copy = await to.store.write({ ...content, ...repository, serial, copiedFrom });
  const wanted = entries.map((entry) => redactEntry(entry, host.clean));
  const ids = new Set(wanted.map(({ id }) => id));
  const there = await to.store.listEntries(Number.MAX_SAFE_INTEGER);
  // Entries that an earlier move of this ledger left here, and that were pruned in the ledger since then.
  const leftBehind = there.flatMap(({ id }) => (ids.has(id) ? [] : [id]));
  if (leftBehind.length > 0) await to.store.removeEntries(leftBehind);
  for (let at = 0; at < wanted.length; at += groupSize)
    await to.store.keepEntries(wanted.slice(at, at + groupSize));
  await verify({ ledger: copy, entries: wanted }, steps);
  return copy;
}

/** Adds the remote to the copy, if the repository got one after the last apply, and this is still the same stack file. */
async function withRemote(
  { repository: known }: Ledger,
  { stack, host }: Steps,
): Promise<Pick<Ledger, 'repository'>> {
  if (known === undefined || known.remote !== undefined) return {};
  const { repository } = await repositoryMember(stack, host);
  return repository?.path === known.path ? { repository } : {};
}

/** Reads the copy back over a new connection. @throws LedgerError if anything differs */
async function verify(
  { ledger, entries }: { readonly ledger: Ledger; readonly entries: readonly HistoryEntry[] },
  steps: Steps,
): Promise<void> {
  const { stack, ends } = steps;
  const store = await openAt(ends.to.place, steps);
  try {
    const read = await store.read();
    const isSame =
      read.copiedFrom?.id === ledger.copiedFrom?.id &&
      contentText(stack.name, read) === contentText(stack.name, ledger);
    if (!isSame) throw differs(store.place, 'its records or its state');
    const found = await store.listEntries(Number.MAX_SAFE_INTEGER);
    const texts = (all: readonly HistoryEntry[]) => all.map(formatEntry).sort().join('');
    if (texts(found) !== texts(entries)) throw differs(store.place, 'its history');
  } finally {
    await store.close();
  }
}

function differs(place: string, what: string): LedgerError {
  return new LedgerError(
    `${what} in ${place} is not what was written there, as reading it back shows: check that store`,
  );
}

/** Closes the original. It keeps its content, but no command uses it any more. */
async function close(ledger: Ledger, { copiedFrom }: Ledger, steps: Steps): Promise<void> {
  const { from, to } = steps.ends;
  if (copiedFrom === undefined) throw new Error(`the copy in ${quoted(to.store.place)} has no mark`);
  await from.store.write({ ...ledger, movedTo: { ...copiedFrom, place: to.place } });
}

async function checkLocks({ locks }: Steps): Promise<void> {
  for (const { lockGuard } of locks) await lockGuard.check();
}

function now({ host }: Steps): string {
  return new Date(host.now()).toISOString();
}

// Changes "spec.ledger" in the stack file, and no other character.

/** @throws CommandStop if the file cannot be changed in place */
export async function draftStackFile(
  { file, directory }: Pick<Stack, 'file' | 'directory'>,
  place: LedgerPlace,
  cwd: string,
): Promise<FileChange> {
  if (file === standardInput)
    throw new CommandStop('stack-file-needed', '--write needs a stack file: this stack is on standard input');
  const path = resolve(cwd, file);
  const before = (await readFile(path, 'utf8')).replace(/^\uFEFF/, '');
  const source = createSourceText(file, before);
  const { documents } = parseDocuments(source);
  // If no document has the kind of a stack, the first one is the stack.
  const document = documents.find(isStack) ?? documents[0];
  if (document === undefined) throw notEditable(file, 'it has no stack');
  const value = ledgerDocument(place);
  try {
    const edit = { at: contentStart(document), values: [{ path: ['spec', 'ledger'], value }] };
    return {
      file: path,
      repository: await findRepository(directory),
      before,
      after: editText(source, [edit]),
    };
  } catch (error) {
    if (error instanceof UnusualYaml) throw notEditable(file, error.message);
    throw error;
  }
}

function notEditable(file: string, why: string): CommandStop {
  return new CommandStop(
    'not-editable',
    `nothing was moved: ${quoted(file)} cannot be changed in place: ${why}; leave out --write, and edit it by hand`,
  );
}
