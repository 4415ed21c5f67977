/**
 * Carries out a plan: exactly its calls, in dependency order; each resource is read again just before it is written. Every
 * change ends with exactly one outcome, and each call that was carried out is recorded in the ledger.
 */
import { type AddressText, formatAddress } from '../model/address.ts';
import type { Call } from '../model/call.ts';
import type { ApplyEvent, Change, Outcome } from '../model/change.ts';
import { hasErrors } from '../model/diagnostic.ts';
import type { Path } from '../model/json.ts';
import type { Registry, Session } from '../model/kind.ts';
import { type Ledger, LedgerConflict, type Origin } from '../model/ledger.ts';
import type { SecretSource } from '../model/stack.ts';
import type { Writer } from '../model/http.ts';
import type { PlanResult } from '../plan/build-plan.ts';
import type { ResponseCheck } from '../plan/verify-responses.ts';
import { ChangeRun, type ChangeTools, type DoneCalls } from './change-run.ts';
import { completeRecord, putRecord, recordFound } from './ledger-records.ts';
import { type LedgerHead, LedgerKeeper, type LedgerWriter, type LockGuard } from './keep-ledger.ts';
import { PageReads, ParentReads } from './shared-reads.ts';
import { ReadBudget, WriteVerifier } from './verify-write.ts';
import { type Node, schedule } from './schedule.ts';

export interface ApplyTarget {
  readonly session: Session;
  /** Opens another session, which reads again what a session reads once. */
  openSession?(): Session;
  readonly writer: Writer;
}

export interface ApplyInput {
  readonly planning: PlanResult;
  readonly kinds: Registry;
  readonly targets: ReadonlyMap<string, ApplyTarget>;
  readonly ledger: Ledger;
  /** what the ledger holds besides its records, written before the first call */
  readonly head?: LedgerHead;
  readonly store: LedgerWriter;
  /** checked before each attempt of each call */
  readonly lockGuard?: LockGuard;
  /** calls of one target in flight at once */
  readonly concurrency?: number;
  /** once aborted, nothing more is sent or retried; requests in flight are completed */
  readonly stop?: AbortSignal;
  readSecret(source: SecretSource): Promise<string>;
  /** milliseconds since 1970; must never decrease, because the age of a read is computed from it */
  now(): number;
  pause(milliseconds: number): Promise<void>;
  tell(event: ApplyEvent): void;
}

export interface Applied {
  /** one for each change of the plan, in its order */
  readonly outcomes: readonly Outcome[];
  readonly ledger: Ledger;
}

interface CallNode extends Node {
  readonly call: Call;
  readonly run: ChangeRun;
}

/**
 * Writes the ledger once before anything is sent: an apply whose ledger cannot be written does not begin. After another run
 * has written the ledger or taken the lock, nothing more is sent.
 * @throws when the plan has problems (the caller refuses such a plan), when the ledger cannot be written, or when the
 * lock was lost
 */
export async function applyPlan(input: ApplyInput): Promise<Applied> {
  const { plan } = input.planning;
  if (hasErrors(plan.problems)) throw new Error('a plan with problems is not applied');
  const keeper = new LedgerKeeper(input.store, input.ledger, input.head);
  const work = new Work(input, keeper);
  recordFound({ planning: input.planning, kinds: input.kinds, keeper });
  await keeper.save();
  input.tell({ type: 'begin', changes: plan.changes.length, calls: work.nodes.length });
  try {
    await schedule(work.nodes, {
      concurrency: input.concurrency ?? 8,
      perform: (node) => node.run.perform(node.call),
      skipped: (node, because) => node.run.skip(node.call, because),
    });
    work.endChangesWithoutCalls();
  } finally {
    await saveLast(keeper, input.lockGuard);
  }
  input.lockGuard?.lost.throwIfAborted();
  return { outcomes: work.outcomes(), ledger: await keeper.save() };
}

/** @throws LockLost rather than LedgerConflict if both apply: a run that takes over the lock writes the ledger, too */
async function saveLast(keeper: LedgerKeeper, lockGuard: LockGuard | undefined): Promise<void> {
  await keeper.save().catch((error: unknown) => {
    if (error instanceof LedgerConflict) lockGuard?.lost.throwIfAborted();
    throw error;
  });
}

/** The changes of one apply, each with its run. */
class Work {
  readonly nodes: readonly CallNode[];
  readonly #input: ApplyInput;
  readonly #keeper: LedgerKeeper;
  readonly #stop: AbortSignal;
  readonly #runs = new Map<AddressText, ChangeRun>();
  readonly #ids = new Map<AddressText, string>();
  readonly #createdAt = new Map<AddressText, number>();
  readonly #origins = new Map<AddressText, Origin>();
  readonly #tools = new Each((target: string, kind: string) => this.#toolsOf(target, kind));
  readonly #readBudgets = new Each((_target: string) => new ReadBudget());
  readonly #parents = new Each((_target: string) => new ParentReads());
  /** for each kind in a target: a list may be up to date for one kind and lag for another */
  readonly #pages = new Each((_target: string, _kind: string) => new PageReads());
  readonly #verifiers = new Each((_target: string) => new WriteVerifier());
  /** the runs that share a call of another change, by the id of that call */
  readonly #sharing = new Map<string, ChangeRun[]>();
  #finished = 0;

  constructor(input: ApplyInput, keeper: LedgerKeeper) {
    this.#input = input;
    this.#keeper = keeper;
    const signals = [keeper.lost, input.lockGuard?.lost, input.stop];
    this.#stop = AbortSignal.any(signals.filter((signal) => signal !== undefined));
    for (const change of input.planning.plan.changes)
      this.#runs.set(formatAddress(change.address), this.#runOf(change));
    this.nodes = [...this.#runs.values()].flatMap((run) =>
      run.change.calls.map((call) => ({
        id: call.id,
        lane: call.target,
        order: call.order,
        needs: call.needs,
        call,
        run,
      })),
    );
  }

  #runOf(change: Change): ChangeRun {
    const run = new ChangeRun(change, this.#tools.of(change.address.target, change.address.kind));
    if (change.sharedCall !== undefined) {
      this.#sharing.set(change.sharedCall, [...(this.#sharing.get(change.sharedCall) ?? []), run]);
    }
    return run;
  }

  #toolsOf(targetName: string, kindName: string): ChangeTools {
    const input = this.#input;
    const target = input.targets.get(targetName);
    const kind = input.kinds.get(kindName);
    if (target === undefined || kind === undefined)
      throw new Error(`no target ${targetName} or no kind ${kindName}`);
    return {
      kind,
      session: target.session,
      writer: target.writer,
      pause: input.pause,
      planning: input.planning,
      ids: this.#ids,
      createdAt: this.#createdAt,
      now: input.now,
      readSecret: input.readSecret,
      stop: this.#stop,
      openSession: target.openSession ?? (() => target.session),
      parents: this.#parents.of(targetName),
      pages: this.#pages.of(targetName, kindName),
      readBudget: this.#readBudgets.of(targetName),
      kinds: input.kinds,
      verifier: this.#verifiers.of(targetName),
      ...(input.lockGuard === undefined ? {} : { lockGuard: input.lockGuard }),
      began: (change) => input.tell({ type: 'start', change }),
      created: (text, origin) => {
        this.#origins.set(text, origin);
        // All kinds with pages are read from one list.
        for (const { name, pages } of input.kinds.values())
          if (pages !== undefined) this.#pages.of(targetName, name).created();
      },
      callEnded: (run, id) => {
        for (const sharer of this.#sharing.get(id) ?? []) sharer.followShared(run);
      },
      progressed: (change, done) => this.#record(change, done, false),
      ended: (change, outcome, done) => this.#end(change, outcome, done),
    };
  }

  #end(change: Change, result: Outcome, done: DoneCalls): Outcome {
    const { planning, tell } = this.#input;
    const outcome =
      result.kind === 'applied'
        ? withResponseCheck(result, planning.checkResponses(change, done.answers, this.#ids), done)
        : result;
    this.#finished += 1;
    tell({ type: 'end', outcome, finished: this.#finished, changes: planning.plan.changes.length });
    const isAsDesired =
      outcome.kind === 'applied' || outcome.kind === 'unchanged' || outcome.foundTrue === true;
    // A created resource with a known id is ours even if the service dropped its ownership tag.
    const isCreated = change.action === 'create' && this.#ids.has(formatAddress(change.address));
    if (isAsDesired || isCreated || done.calls.size > 0) this.#record(change, done, isAsDesired);
    if (isAsDesired && (change.calls.length === 0 || this.#endsOwnership(change))) this.#forget(change);
    return outcome;
  }

  /** Records what was carried out so far. The record of a removed resource stays until a plan finds that it is gone. */
  #record(change: Change, done: DoneCalls, isWhole: boolean): void {
    const text = formatAddress(change.address);
    if (!this.#input.planning.records.has(text)) return;
    const context = { ...this.#input, ids: this.#ids, origins: this.#origins };
    const record = completeRecord(context, text, { change, ...done, isWhole });
    putRecord({ ...this.#input, keeper: this.#keeper }, text, record);
    this.#keeper.saveSoon();
  }

  /** Whether it releases a resource that only the ledger shows as ours: as long as the record exists, every plan counts it as ours. */
  #endsOwnership({ action, address }: Change): boolean {
    const { ownership } = this.#input.targets.get(address.target)?.session.target ?? {};
    return action === 'release' && ownership === 'ledger';
  }

  /** Drops the records of an undeclared resource and its children, if it was released without a call or only the ledger names its owner. */
  #forget({ address }: Change): void {
    const { kinds, planning } = this.#input;
    const text = formatAddress(address);
    if (planning.records.has(text)) return;
    const children = [...kinds.values()].flatMap(({ name, ownership }) => {
      const child = { ...address, kind: name };
      const isChild = ownership.by === 'child' && formatAddress(ownership.of(child)) === text;
      return isChild && !planning.records.has(formatAddress(child)) ? [formatAddress(child)] : [];
    });
    for (const gone of [text, ...children]) this.#keeper.drop(gone);
    this.#keeper.saveSoon();
  }

  /** Ends changes without their own calls: those that only change the ledger, or whose shared call never ran. */
  endChangesWithoutCalls(): void {
    for (const run of this.#runs.values()) run.endWithoutCalls();
  }

  outcomes(): readonly Outcome[] {
    return [...this.#runs.values()].map((run) => run.outcome());
  }
}

/** One object for each target, or for each kind in a target, which all its changes share. */
class Each<Key extends readonly string[], T> {
  readonly #make: (...key: Key) => T;
  readonly #made = new Map<string, T>();

  constructor(make: (...key: Key) => T) {
    this.#make = make;
  }

  of(...key: Key): T {
    const text = JSON.stringify(key);
    const made = this.#made.get(text) ?? this.#make(...key);
    this.#made.set(text, made);
    return made;
  }
}

/**
 * Adds to the outcome which fields were returned with another value, and which cannot be verified: a successful status does not prove
 * them. A reset that the service ignored is a failure.
 */
function withResponseCheck(
  outcome: Outcome,
  { contradicted, ignored, unverifiable }: ResponseCheck,
  { calls }: DoneCalls,
): Outcome {
  const names = (fields: readonly { readonly path: Path }[]) =>
    fields.map(({ path }) => path.join('.')).join(', ');
  const changedValues = contradicted.filter((field) => !ignored.includes(field));
  const details = [
    ...(outcome.detail === undefined ? [] : [outcome.detail]),
    ...(ignored.length === 0
      ? []
      : [
          `${names(ignored)}: the service did not reset it and returned the old value; declare the wanted value`,
        ]),
    ...(changedValues.length === 0 ? [] : [`${names(changedValues)}: returned with another value than sent`]),
    ...(unverifiable.length === 0
      ? []
      : [`${names(unverifiable.map((path) => ({ path })))}: sent, cannot be verified`]),
  ];
  return {
    ...outcome,
    ...(ignored.length === 0 ? {} : { kind: 'failed' as const, done: [...calls] }),
    ...(details.length === 0 ? {} : { detail: details.join('; ') }),
  };
}
