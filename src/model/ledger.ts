/** The record of what a stack last applied, the lock that only one apply can hold, and the history of all applies. None holds secrets. */
import type { AddressText } from './address.ts';
import type { Approval, ApprovedPlan, OfferedPlan } from './approval.ts';
import type { Action, OutcomeKind } from './change.ts';
import type { BegunResource, FieldChange } from './field.ts';
import type { GuardId } from './guard.ts';
import type { Json } from './json.ts';
import type { NamedIds } from './named-reference.ts';
import type { ChangeForPolicies, PlanPolicies } from './policy.ts';
import type { IdentityText, LedgerPlace } from './stack.ts';

export type Origin = 'created' | 'adopted';

/** `F`: the fields of a kind by name. Another version of trueup may have written the values. */
export interface LedgerRecord<F = Readonly<Record<string, Json>>> {
  readonly id?: string;
  readonly origin: Origin;
  readonly onRemove?: 'delete' | 'release';
  readonly protect?: boolean;
  /** canonical value last applied of each field that was declared, by top-level field name */
  readonly fields: F;
  /**
   * the whole canonical content when this stack last wrote it; only if a deletion needs it as evidence. For kinds with an ownership
   * tag, in a target that keeps no such tags: absent after a write, until a plan finds the resource as declared
   */
  readonly content?: Readonly<Record<string, Json>>;
  /** the names that the manifest gave in place of ids, with the ids in `fields`; absent in ledgers of older versions */
  readonly names?: NamedIds;
  /** live values of undeclared fields, except defaults: nothing is written because of them */
  readonly seen?: Readonly<Record<string, Json>>;
  /** values that an apply let the resource inherit from a parent, by field name: nothing is written because of them */
  readonly inherited?: Readonly<Record<string, Json>>;
  /** what the kind records besides fields: consumer edges with their ids, or that we hold the lock */
  readonly marks?: Readonly<Record<string, Json>>;
  /** the stacks that it was moved from, the oldest first: its ownership tag or creator mark may still name one of them */
  readonly formerOwners?: readonly StackIdentity[];
}

/** One stack, as ownership tags name it. */
export interface StackIdentity {
  readonly stack: string;
  /** the id of the stack; absent in ledgers of older versions */
  readonly id?: string;
}

/** Records that a stack takes over from another one. They count once the ledger of the other stack says that it gave them away. */
export interface IncomingRecords {
  readonly from: StackIdentity;
  /** folder of its ledger, as in `metadata.movedFrom.folder` */
  readonly folder?: string;
  /** by address in this stack; `at` is the address in the other ledger, whose targets may have other names */
  readonly records: Readonly<Record<AddressText, IncomingRecord>>;
}

export type IncomingRecord = { readonly at: AddressText; readonly record: LedgerRecord };

/** An entry in the ledger of the former owner: which stack has the resource now. */
export interface MovedAway {
  readonly to: StackIdentity;
  /** the id of the resource; absent if it has none */
  readonly id?: string;
  /** RFC 3339 */
  readonly at: string;
}

export interface Ledger {
  /** false when there was no ledger: then missing records cause no reset, removal or revocation */
  readonly known: boolean;
  /** counts writes of the store */
  readonly serial: number;
  readonly records: ReadonlyMap<AddressText, LedgerRecord>;
  /**
   * The identity of each target, by name, when its records were made: records of another identity prove nothing.
   * Undefined in ledgers of older versions, whose records count for the current targets.
   */
  readonly targets?: ReadonlyMap<string, IdentityText>;
  /** made by the first apply; in each ownership tag of this stack, to detect another stack with the same name */
  readonly stackId?: string;
  /** ids in ownership tags that `recover --adopt-repository` took over; the next apply replaces them by its own id */
  readonly takenIds?: readonly string[];
  /** where the manifests come from */
  readonly repository?: AppliedRepository;
  /** the commit of the manifests that were applied last, even if there was nothing to do */
  readonly commit?: AppliedCommit;
  /** commits that were applied before it, do not belong to its history, and may not be replaced in full; newest first */
  readonly otherCommits?: readonly AppliedCommit[];
  /** the new name of a renamed stack, whose ledger has taken over these records: nothing is applied under the old name */
  readonly closedFor?: string;
  /** where the ledger was moved to: nothing is planned or written from this one any more */
  readonly movedTo?: LedgerMove;
  /** for a copy that a move makes: the copy is the ledger only if the same move has closed the original */
  readonly copiedFrom?: LedgerMove;
  /** what this stack is about to take over from other stacks; present only during such an apply, or after it crashed */
  readonly incoming?: readonly IncomingRecords[];
  /** resources that other stacks have taken over */
  readonly movedAway?: ReadonlyMap<AddressText, MovedAway>;
  /** present only while an apply of an approved plan is running, or after it crashed */
  readonly approved?: ApprovedPlan;
  /** the digests of plans whose apply succeeded, with the time (RFC 3339): such an approval has ended */
  readonly endedApprovals?: ReadonlyMap<string, string>;
  /** the plans that CI runs wait to apply, newest last; earlier versions drop them, and then such a run applies nothing */
  readonly offered?: readonly OfferedPlan[];
}

/** One end of a move of a ledger from one place to another. */
export interface LedgerMove {
  /** the same at both ends */
  readonly id: string;
  /** the other end, relative to the folder of the stack */
  readonly place: LedgerPlace;
  /** RFC 3339 */
  readonly at: string;
}

/** The repository that a stack was applied from, and the path of the stack file in it. */
export interface AppliedRepository {
  /** address of the remote, without scheme and login: `git.example.com/acme/infra`; absent without a remote */
  readonly remote?: string;
  /** path of the stack file, below the root of the repository */
  readonly path: string;
}

/** A commit of the repository that holds the manifests. */
export interface AppliedCommit {
  readonly id: string;
  /** the work tree had changes that were not committed */
  readonly dirty?: true;
  /** the hash of what was declared, if files of the stack had uncommitted changes; absent in ledgers of older versions */
  readonly uncommitted?: string;
  /** only files that git ignores, such as generated ones, had such changes */
  readonly ignored?: true;
}

/** One run of trueup, as locks and the history show it. */
export interface RunIdentity {
  /** the same for every attempt of one CI job, such as `github:acme/infra/771/apply`; unique for each run elsewhere */
  readonly id: string;
  /** counts the attempts of a CI job: a later one begins only after the earlier ones have ended */
  readonly attempt?: number;
  /** the user who set the id guarantees that no two runs with it exist at the same time */
  readonly sole?: boolean;
  /** a person, or the actor that a CI names */
  readonly who: string;
  /** the host */
  readonly where: string;
  readonly pid?: number;
  /** the scope in which `pid` is unique: the boot of a system and a container on it; on Linux only */
  readonly pidNamespace?: string;
  /** page of the run in its CI */
  readonly url?: string;
}

/** The right to apply a stack. It never expires by time: its holder releases it, or a person removes it. */
export interface LedgerLock {
  /** the id that `trueup unlock` requires */
  readonly id: string;
  readonly run: RunIdentity;
  /** RFC 3339 */
  readonly since: string;
}

/** Earlier versions are read, too. Earlier trueups refuse the second: a moved ledger, an unfinished copy, or one with moved resources. */
export const ledgerVersion = 3;
export const movedLedgerVersion = 4;
export const historyVersion = 1;

/** One apply. `began` and `ended`: RFC 3339. Without `ended` it was killed, or is still running. */
export interface HistoryEntry {
  readonly version: typeof historyVersion;
  /** `20261120T114200123Z-7f3a`: sorts after all entries that began before, whatever the clocks of their machines said */
  readonly id: string;
  readonly stack: string;
  readonly run: RunIdentity;
  readonly began: string;
  readonly ended?: string;
  /** commit of the repository that holds the manifests; `dirty` when it had changes that were not committed */
  readonly commit?: string;
  readonly dirty?: boolean;
  /** as in the ledger */
  readonly uncommitted?: string;
  /** only files that git ignores had such changes */
  readonly ignored?: true;
  /** copied from the history of another stack, with the changes of resources that moved from there */
  readonly moved?: true;
  /** the ledger keeps the commits of earlier applies in addition to this one, or instead of it */
  readonly commitKept?: true;
  readonly digest: string;
  /** guards of its plan that blocked, and were acknowledged; absent where none did, and in entries of older versions */
  readonly acknowledged?: readonly GuardId[];
  /** it applied a part of the stack: how many resources were selected, and how many the stack declared, if that is known */
  readonly part?: { readonly selected: number; readonly of?: number };
  /** the identity of each target; absent in entries of older versions */
  readonly targets?: Readonly<Record<string, IdentityText>>;
  /** how far the clock of each target was ahead of the run's, in milliseconds, negative if behind; targets that sent no time are absent */
  readonly clocks?: Readonly<Record<string, number>>;
  /** RFC 3339; for an apply with a creation of unknown outcome: when the later apply ended that resolved it */
  readonly settled?: string;
  /** creations of earlier applies whose result this one did not find out: those that are live or unread, and that no record confirms */
  readonly openCreations?: readonly AddressText[];
  /** what this and earlier applies may have written without a record; a list, even an empty one, is complete. Not in JSON output */
  readonly begunFields?: readonly BegunResource[];
  /** the plan that was made afterwards, of the whole stack, was empty: everything was live as recorded */
  readonly proved?: true;
  /** the approvals that it ended, as the ledger keeps them: digests with the time (RFC 3339); absent in entries of older versions */
  readonly endedApprovals?: Readonly<Record<string, string>>;
  /** who approved it, as `ci apply` verified; absent for other applies, and if no approval was needed */
  readonly approvals?: readonly Approval[];
  /** the policies that it was checked with; absent where the stack named none, and in entries of older versions */
  readonly policies?: PlanPolicies;
  /** resources without a change of their own whose tags changed, as policies saw them; absent in entries of older versions */
  readonly tagged?: Readonly<Record<AddressText, ChangeForPolicies>>;
  /** by address: the contents of the resources that are named in `tagged`, or in `checked` of a change */
  readonly related?: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  /** declared resources that its plan left as they were; absent in entries of older versions */
  readonly unchanged?: number;
  /** the apply ended, but the ledger may lack some of what it did */
  readonly unrecorded?: true;
  /** in the oldest entry, after "ledger prune": when the newest dropped entry ended or began, and the approvals that dropped ones ended */
  readonly pruned?: { readonly until: string } & Pick<HistoryEntry, 'endedApprovals'>;
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
  /** the ids of its requests, as the service returned them; absent in entries of older versions */
  readonly requests?: readonly string[];
  /** an attempt that may have been carried out returned no request id */
  readonly unnamed?: true;
  readonly inDoubt?: true;
  readonly foundTrue?: true;
  /** with the values before; secrets only as their summaries */
  readonly fields: readonly FieldChange[];
  /** for a deleted or released resource and its children: the fields that were last applied, without secrets */
  readonly was?: Readonly<Record<AddressText, Readonly<Record<string, Json>>>>;
  /** what else the rules of policies can check; absent in entries of older versions */
  readonly checked?: ChangeForPolicies;
}

/** Stores a ledger. Writes are atomic: a reader sees the old ledger or the new one. */
export interface LedgerStore {
  /** @throws LedgerError when the stored ledger cannot be read or is damaged */
  read(): Promise<Ledger>;
  /**
   * Returns the ledger with its new serial. Of two writers that read the same serial, the second is refused.
   * @throws LedgerConflict when the stored serial is not the one that `ledger` was read with
   */
  write(ledger: Ledger): Promise<Ledger>;
}

export interface LockStore {
  readLock(): Promise<LedgerLock | undefined>;
  /**
   * Takes the lock when it is free, or when the lock that is held has the id `instead`.
   * @returns the lock that is held now: `wanted`, or the lock of another run
   */
  lock(wanted: LedgerLock, instead?: string): Promise<LedgerLock>;
  /** Removes the lock if it has this id. @returns the removed lock */
  unlock(id: string): Promise<LedgerLock | undefined>;
}

export interface HistoryStore {
  /** Adds entries; each replaces an existing entry with the same id. */
  keepEntries(entries: readonly HistoryEntry[]): Promise<void>;
  /** Newest first. @throws LedgerError when an entry cannot be read */
  listEntries(limit: number): Promise<readonly HistoryEntry[]>;
  /** The same, with an error that names the entry in place of each one that cannot be read. @param skipped leaves out the newest */
  readEntries(limit: number, skipped?: number): Promise<readonly (HistoryEntry | LedgerError)[]>;
  /** Also of a damaged entry. For a run that holds the lock: what the store read or wrote since then is not read again. */
  newestEntryId(): Promise<string | undefined>;
  showEntry(id: string): Promise<HistoryEntry | undefined>;
  /** Removes these entries; a missing entry is not an error. */
  removeEntries(ids: readonly string[]): Promise<void>;
}

/** Stores all that is kept about one stack. */
export interface StackStore extends LedgerStore, LockStore, HistoryStore {
  /** for people: `the ledger "…/payments.ledger.json"` */
  readonly place: string;
  /**
   * Why this run could not write here, as a clause; undefined if no reason is found. Writes nothing.
   * @throws LedgerError when the store does not answer
   */
  whyUnwritable(): Promise<string | undefined>;
  /**
   * Moves the ledger, even a damaged one, to another name, so that a new one can be written. It is never read again.
   * @returns its new place, for messages: `"…/payments.ledger.json.damaged-2026-…"`
   */
  setAside(): Promise<string>;
  /** Closes files and connections. The store must not be used afterwards. */
  close(): Promise<void>;
}

/** The store of the ledger cannot be used. The message names it and says what to do. */
export class LedgerError extends Error {
  override readonly name: string = 'LedgerError';
}

/** The wait for the store was aborted before it answered. */
export class WaitEnded extends LedgerError {
  override readonly name: string = 'WaitEnded';
  constructor(message = 'the wait for the ledger was ended') {
    super(message);
  }
}

/** The configured place of the ledger is not valid; no request was made. */
export class LedgerAddressError extends LedgerError {
  override readonly name = 'LedgerAddressError';
}

/** The stored ledger is not as trueup wrote it. It can be rebuilt. */
export class DamagedLedger extends LedgerError {
  override readonly name = 'DamagedLedger';
}

/** The ledger is at another place now. */
export class LedgerMoved extends LedgerError {
  override readonly name = 'LedgerMoved';
}

/** Another run has written the ledger since this run read it. */
export class LedgerConflict extends LedgerError {
  override readonly name = 'LedgerConflict';
  constructor(place: string, serials: { readonly found: number; readonly expected: number }) {
    super(
      `${place} was written by another run meanwhile (serial ${serials.found}, expected ${serials.expected}): plan again`,
    );
  }
}

/** This run cannot verify any more that it holds the lock: it must send nothing more. */
export class LockLost extends LedgerError {
  override readonly name = 'LockLost';
  /** what happened, in a clause; the message says more */
  readonly clause: string;
  constructor(clause: string, more?: string) {
    super(
      `${clause}${more === undefined ? '' : `: ${more}`}; nothing more was sent: check who else works on this stack, and plan again`,
    );
    this.clause = clause;
  }
}
