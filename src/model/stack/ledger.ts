/**
 * Our record of what a stack last applied (rule 25), the lock that one apply at a time holds, and the history of all
 * of them. A ledger is a cache of evidence: it can be lost and rebuilt. No secrets in any of the three.
 */
import type { AddressText } from '../resource/address.ts';
import type { Action } from '../plan/change.ts';
import type { FieldChange } from '../kind/field.ts';
import type { Json } from '../json/json.ts';
import type { OutcomeKind } from '../plan/outcome.ts';
import type { IdentityText } from './target-identity.ts';

export type Origin = 'created' | 'adopted';

/** `F`: the fields of a kind by name. Their values are whatever some trueup wrote, which may have been another one. */
export interface LedgerRecord<F = Readonly<Record<string, Json>>> {
  readonly id?: string;
  readonly origin: Origin;
  readonly onRemove?: 'delete' | 'release';
  readonly protect?: boolean;
  /** canonical value last applied of each field that was declared, by top-level field name */
  readonly fields: F;
  /** the whole canonical content when we last wrote it: only for kinds whose deletion needs it as a witness */
  readonly content?: Readonly<Record<string, Json>>;
  /** what the kind wants to remember besides fields: consumer edges with their ids, that we hold the lock */
  readonly marks?: Readonly<Record<string, Json>>;
}

/** What somebody approved, kept while an apply runs: after a crash the same job is judged against it (rule 28). */
export interface ApprovedPlan {
  /** of the digest: what was approved under another one has to be approved again */
  readonly version: number;
  readonly digest: string;
  /** canonical texts, as `atomsOf` makes them */
  readonly atoms: readonly string[];
  /** ids of the guards that blocked and were let pass; absent in an approval of before they were kept */
  readonly passed?: readonly string[];
  /** RFC 3339 */
  readonly createdAt?: string;
}

export interface Ledger {
  /** false when there was none: nothing is reset, removed or revoked on its absence */
  readonly known: boolean;
  /** counts writes of the store */
  readonly serial: number;
  readonly records: ReadonlyMap<AddressText, LedgerRecord>;
  /**
   * What each target was, by its name, when its records were made: records of another identity prove nothing (rule 37).
   * Undefined in a ledger of before it was kept: there the records are taken for those of today's targets.
   */
  readonly targets?: ReadonlyMap<string, IdentityText>;
  /** the commit of the manifests that were applied last, also by an apply with nothing to do (rule 43) */
  readonly commit?: AppliedCommit;
  /** the stack goes on under this name, where all of this has gone: nothing is applied under the old one (rule 44) */
  readonly closedFor?: string;
  /** absent while no apply of an approved plan is under way */
  readonly approved?: ApprovedPlan;
}

/** A commit of the repository that holds the manifests. */
export interface AppliedCommit {
  readonly id: string;
  /** the work tree had changes that were not committed */
  readonly dirty?: true;
}

/** One run of trueup, as locks and the history tell it. */
export interface RunIdentity {
  /** the same for every try of one CI job, such as `github:acme/infra/771/apply`; elsewhere one that no other run has */
  readonly id: string;
  /** counts the tries of a CI job: a later one can begin only when the earlier ones have ended */
  readonly attempt?: number;
  /** whoever set the id vouches that no two runs with it are ever alive at once */
  readonly sole?: boolean;
  /** a person, or the actor that a CI names */
  readonly who: string;
  /** the host */
  readonly where: string;
  readonly pid?: number;
  /** where `pid` is the number of that one process: a start of a system and, on it, a container; on Linux only */
  readonly pidNamespace?: string;
  /** page of the run in its CI */
  readonly url?: string;
}

/** The right to apply a stack. It never expires by time: its holder gives it back, or a person takes it away. */
export interface LedgerLock {
  /** what `trueup unlock` must be told */
  readonly id: string;
  readonly run: RunIdentity;
  /** RFC 3339 */
  readonly since: string;
}

/** `began` and `ended`: RFC 3339. What has no `ended` was killed, or still runs. */
export interface HistoryEntry {
  readonly version: 1;
  /** sorts by time: `20261120T114200123Z-7f3a` */
  readonly id: string;
  readonly stack: string;
  readonly run: RunIdentity;
  readonly began: string;
  readonly ended?: string;
  /** of the repository that holds the manifests; `dirty` when it had changes that were not committed */
  readonly commit?: string;
  readonly dirty?: boolean;
  readonly digest: string;
  /** what each target was (rule 37); absent in an entry of before it was kept */
  readonly targets?: Readonly<Record<string, IdentityText>>;
  /** RFC 3339; of one that left open what became of a creation: when a later apply had come to its end, which settles it */
  readonly settled?: string;
  /** it ended without knowing that the ledger holds all that it did */
  readonly unrecorded?: true;
  readonly changes: readonly HistoryChange[];
}

export interface HistoryChange {
  readonly address: AddressText;
  readonly action: Action;
  readonly reason: string;
  /** absent until the apply has ended */
  readonly outcome?: OutcomeKind;
  readonly detail?: string;
  /** calls that were carried out before the change stopped */
  readonly done?: readonly string[];
  readonly inDoubt?: true;
  readonly foundTrue?: true;
  /** with their values before; of a secret what may be known of it */
  readonly fields: readonly FieldChange[];
  /** of what was deleted or released, and of its parts: the fields that we had last applied there, without secrets */
  readonly was?: Readonly<Record<AddressText, Readonly<Record<string, Json>>>>;
}

/** Where a ledger is kept. Writes are atomic: a reader sees the old one or the new one. */
export interface LedgerStore {
  /** @throws LedgerError when what is kept cannot be read or is damaged */
  read(): Promise<Ledger>;
  /**
   * Gives back the ledger with its new serial. Of two writers that read the same one, the second is refused.
   * @throws LedgerConflict when the stored serial is not the one that `ledger` was read with
   */
  write(ledger: Ledger): Promise<Ledger>;
}

export interface LockStore {
  readLock(): Promise<LedgerLock | undefined>;
  /**
   * Takes the lock when nobody holds it, or when the lock with the id `instead` is held.
   * @returns the lock that is held now: `wanted`, or the one that is in the way
   */
  lock(wanted: LedgerLock, instead?: string): Promise<LedgerLock>;
  /** Takes the lock with this id away, and only that one. @returns what was taken away */
  unlock(id: string): Promise<LedgerLock | undefined>;
}

export interface HistoryStore {
  /** Adds entries, each in the place of the one with its id where there is one. */
  keepEntries(entries: readonly HistoryEntry[]): Promise<void>;
  /** Newest first. @throws LedgerError when one of them cannot be read */
  listEntries(limit: number): Promise<readonly HistoryEntry[]>;
  /** The same, where one that cannot be read is the error that names it. */
  readEntries(limit: number): Promise<readonly (HistoryEntry | LedgerError)[]>;
  showEntry(id: string): Promise<HistoryEntry | undefined>;
}

/** All that is kept of one stack, in one place. */
export interface StackStore extends LedgerStore, LockStore, HistoryStore {
  /** for people: `the ledger "…/payments.ledger.json"` */
  readonly place: string;
  /**
   * Moves the ledger out of the way of a new one, whatever state it is in. It is kept, and never read again.
   * @returns where it is now, in words: `"…/payments.ledger.json.damaged-2026-…"`
   */
  setAside(): Promise<string>;
  /** Gives back what the store holds open. Nothing may be asked of it afterwards. */
  close(): Promise<void>;
}

/** What the ledger is kept in cannot be used as it is. The message says which and what to do. */
export class LedgerError extends Error {
  override readonly name: string = 'LedgerError';
}

/** What it is kept in had not answered yet when whoever asked was told to end. */
export class WaitEnded extends LedgerError {
  override readonly name: string = 'WaitEnded';
  constructor(message = 'the wait for the ledger was ended') {
    super(message);
  }
}

/** Where the ledger is kept was told in a way that cannot be meant: nothing was asked for it. */
export class LedgerAddressError extends LedgerError {
  override readonly name = 'LedgerAddressError';
}

/** Something is there, but it is not what was written: it can be rebuilt (rule 25). */
export class DamagedLedger extends LedgerError {
  override readonly name = 'DamagedLedger';
}

/** Another run wrote the ledger since it was read: what this run knows is no longer true. */
export class LedgerConflict extends LedgerError {
  override readonly name = 'LedgerConflict';
  constructor(place: string, serials: { readonly found: number; readonly expected: number }) {
    super(
      `${place} was written by another run meanwhile (serial ${serials.found}, expected ${serials.expected}): plan again`,
    );
  }
}

/** The lock of this run is not seen to be its own any more: nothing more may be sent (rule 45). */
export class LockLost extends LedgerError {
  override readonly name = 'LockLost';
  /** what happened, in a clause; the message says more */
  readonly clause: string;
  constructor(clause: string, more?: string) {
    super(
      `${clause}${more === undefined ? '' : `: ${more}`}; nothing more was sent: look who works on this stack, and plan again`,
    );
    this.clause = clause;
  }
}
