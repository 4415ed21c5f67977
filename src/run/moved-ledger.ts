/**
 * A ledger that was moved has two ends: the closed original, which names the new place, and the copy. Each command refuses the
 * original. A copy counts only if its original has been closed by the same move, so that at any moment exactly one of the two is used.
 */
import { stateFolderName } from '../files/write-file.ts';
import { isSamePlace, ledgerText, parseLedgerPlace } from '../manifest/ledger-place.ts';
import { messageOf } from '../model/error-message.ts';
import { DamagedLedger, type Ledger, LedgerError, type LedgerMove, LedgerMoved } from '../model/ledger.ts';
import type { StackStore } from '../model/ledger.ts';
import { quoted } from '../model/quoted.ts';
import type { LedgerPlace, Stack } from '../model/stack.ts';
import { shellWord } from '../report/view/printable.ts';
import { sourceToShow } from './read-secret.ts';

export type StackOfLedger = Pick<Stack, 'ledger' | 'name' | 'directory'>;

/** `the ref "refs/trueup/payments" of the remote "origin"` */
export function describePlace(place: LedgerPlace, stack: string): string {
  switch (place.in) {
    case 'local':
      return `the file ${quoted(`${place.folder ?? stateFolderName}/${stack}.ledger.json`)} beside the stack file`;
    case 'git':
      return `the ref ${quoted(`refs/trueup/${stack}`)} of the remote ${quoted(place.remote)}`;
    case 'postgres':
      return `PostgreSQL, at the address in ${sourceToShow(place.url)}`;
  }
}

/** `trueup ledger move --to git`, for messages. */
export function moveCommand(to: LedgerPlace, from?: LedgerPlace): string {
  const flags = [...(from === undefined ? [] : ['--from', from]), '--to', to];
  const words = flags.map((flag) => (typeof flag === 'string' ? flag : shellWord(ledgerText(flag))));
  return ['trueup ledger move', ...words].join(' ');
}

/** A store that refuses to read a ledger that was moved away, and its history. @param open opens the other end, without this check */
export function refuseMoved(
  store: StackStore,
  stack: StackOfLedger,
  open: (place: LedgerPlace) => Promise<StackStore>,
): StackStore {
  let checked: Promise<Ledger> | undefined;
  const read = () => {
    checked = store.read().then((ledger) => refuseIfMoved(ledger, { store, stack, open }));
    return checked;
  };
  // The history of a damaged ledger can be read.
  const check = async () => {
    await (checked ?? read()).catch((error: unknown) => {
      if (!(error instanceof LedgerError) || error instanceof LedgerMoved || error instanceof CopyError)
        throw error;
    });
  };
  const checking: Partial<StackStore> = {
    read,
    listEntries: (limit) => check().then(() => store.listEntries(limit)),
    readEntries: (limit, skipped) => check().then(() => store.readEntries(limit, skipped)),
    showEntry: (id) => check().then(() => store.showEntry(id)),
  };
  return new Proxy(store, {
    get: (whole, name) => {
      const member: unknown = Reflect.get(Object.hasOwn(checking, name) ? checking : whole, name);
      return typeof member === 'function' ? member.bind(whole) : member;
    },
  });
}

/** A moved ledger, with what to change in the stack file. */
export class MovedElsewhere extends LedgerMoved {
  /** what happened, without the fix */
  readonly what: string;
  readonly fix: string;
  readonly to: LedgerPlace;
  constructor(what: string, fix: string, to: LedgerPlace) {
    super(`${what}: ${fix}`);
    this.what = what;
    this.fix = fix;
    this.to = to;
  }
}

/** For a copy whose move has not ended, or was followed by another move. */
export class CopyError extends LedgerError {
  override readonly name: string = 'CopyError';
}

/** For a copy whose move can no longer be finished, so that it can be replaced like a damaged ledger. */
class AbandonedCopy extends DamagedLedger {}

interface Ends {
  readonly store: StackStore;
  readonly stack: StackOfLedger;
  open(place: LedgerPlace): Promise<StackStore>;
}

/** @returns the ledger, if it was not moved to another place. @throws LedgerMoved, CopyError, AbandonedCopy */
async function refuseIfMoved(ledger: Ledger, { store, stack, open }: Ends): Promise<Ledger> {
  const { movedTo, copiedFrom, ...content } = ledger;
  if (movedTo !== undefined) throw movedError(store.place, movedTo, stack.name);
  if (copiedFrom === undefined) return ledger;
  const original = await readOriginal(copiedFrom, open).catch((error: unknown) => {
    throw new CopyError(
      `${unfinished(store.place, copiedFrom, stack)}, and that cannot be read: ${messageOf(error)}`,
    );
  });
  if (original.movedTo?.id === copiedFrom.id) return content;
  if (original.movedTo !== undefined) throw movedError(store.place, original.movedTo, stack.name);
  if (!original.known)
    throw new AbandonedCopy(
      `${unfinished(store.place, copiedFrom, stack)}, but there is none now: go where that ledger is and run ${quoted(moveCommand(stack.ledger ?? { in: 'local' }))} there; if it is gone for good, rebuild it with "trueup recover"`,
    );
  throw new CopyError(
    `${unfinished(store.place, copiedFrom, stack)}, which is still the ledger: run ${quoted(moveCommand(stack.ledger ?? { in: 'local' }, copiedFrom.place))} to finish the move, or write ${quoted(`ledger: ${ledgerText(copiedFrom.place)}`)} into the stack file`,
  );
}

function unfinished(place: string, { place: from, at }: LedgerMove, { name }: StackOfLedger): string {
  return `${place} is an unfinished copy: a move that began at ${at} copied it from ${describePlace(from, name)}`;
}

export function movedError(place: string, { place: to, at }: LedgerMove, stack: string): LedgerMoved {
  return new MovedElsewhere(
    `${place} was moved to ${describePlace(to, stack)} at ${at}`,
    `write ${quoted(`ledger: ${ledgerText(to)}`)} into the "spec" of the stack file of stack ${quoted(stack)}, or check out a commit that has it`,
    to,
  );
}

async function readOriginal({ place }: LedgerMove, open: Ends['open']): Promise<Ledger> {
  const store = await open(checkedPlace(place));
  try {
    return await store.read();
  } finally {
    await store.close();
  }
}

/** The place, if a stack file could name it: a stored place may be anything. @throws LedgerError */
export function checkedPlace(place: LedgerPlace): LedgerPlace {
  const read = parseLedgerPlace(ledgerText(place));
  if (typeof read === 'string' || !isSamePlace(read, place))
    throw new LedgerError('the ledger names a place that no stack file can have');
  return read;
}
