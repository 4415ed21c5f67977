/**
 * Carries out one change: reads the resource again before each attempt of its calls, and ends when its last call has ended.
 * Its outcome is the worst result of its calls. It never throws: a failure concerns only this change.
 */
import { messageOf } from '../model/error-message.ts';
import { type AddressText, formatAddress, parseAddress } from '../model/address.ts';
import type { Call, CallId } from '../model/call.ts';
import type { Change, Outcome } from '../model/change.ts';
import type { Registry, Session } from '../model/kind.ts';
import type { Origin } from '../model/ledger.ts';
import type { SecretSource } from '../model/stack.ts';
import { type Answer, untilAborted } from '../model/http.ts';
import type { PlanResult } from '../plan/build-plan.ts';
import {
  attemptCall,
  type AttemptResult,
  type CallEnd,
  createsResource,
  isBroken,
  isDone,
  lacksRequestId,
  severityOf,
  whyStopped,
} from './attempt-call.ts';
import type { LockGuard } from './keep-ledger.ts';
import { endOfRefused, type ReadBudget, verifyWrite, type WriteVerifier } from './verify-write.ts';
import { ResourceReads } from './check-before-write.ts';
import type { PageReads, ParentReads } from './shared-reads.ts';
import { declaredMark, type Failed, resolveCall, type SendContext } from './send-call.ts';
import type { NodeResult } from './schedule.ts';

/** What the changes of one kind in a target share. */
export interface ChangeTools extends Omit<SendContext, 'id' | 'declaredMark'> {
  readonly planning: PlanResult;
  /** ids of resources that this apply created */
  readonly ids: Map<AddressText, string>;
  /** when this apply created resources, in milliseconds */
  readonly createdAt: Map<AddressText, number>;
  /** checked before each attempt of each call */
  readonly lockGuard?: LockGuard;
  readonly kinds: Registry;
  openSession(): Session;
  /** shared by all changes of the target */
  readonly parents: ParentReads;
  readonly pages: PageReads;
  /** verifies that the target keeps what is written; shared by all its changes */
  readonly verifier: WriteVerifier;
  /** limits the reads after refusals; shared by all changes of the target */
  readonly readBudget: ReadBudget;
  readSecret(source: SecretSource): Promise<string>;
  began(change: Change): void;
  created(address: AddressText, origin: Origin): void;
  callEnded(run: ChangeRun, id: CallId): void;
  /** Called when a call was carried out while other calls of the change have not ended yet. */
  progressed(change: Change, done: DoneCalls): void;
  ended(change: Change, outcome: Outcome, done: DoneCalls): Outcome;
}

/** The calls of a change that were carried out so far, including its shared call. */
export interface DoneCalls {
  readonly calls: ReadonlySet<CallId>;
  /** their responses, except lost ones */
  readonly answers: ReadonlyMap<CallId, Answer>;
  /** one of them wrote an ownership tag, which was missing when it was read back */
  readonly lostTag?: true;
}

export class ChangeRun {
  readonly change: Change;
  readonly #tools: ChangeTools;
  readonly #results = new Map<CallId, CallEnd>();
  readonly #lastRead: ResourceReads;
  #hasBegun = false;
  #outcome: Outcome | undefined;

  constructor(change: Change, tools: ChangeTools) {
    this.change = change;
    this.#tools = tools;
    this.#lastRead = new ResourceReads(change, tools);
  }

  async perform(call: Call): Promise<NodeResult> {
    const unverified = this.#tools.planning.unverifiedBy(this.change);
    const isFirst = unverified?.call === call.id;
    return this.#endCall(
      call,
      await (isFirst ? this.#sendUnverified(call, unverified.kinds) : this.#recheckAndSend(call)),
    );
  }

  /** Sends a call whose writes the service may drop silently. Waits until another call proves that they are kept, or proves it itself. */
  async #sendUnverified(call: Call, kinds: readonly string[]): Promise<CallEnd> {
    const { verifier, stop } = this.#tools;
    const found = await untilAborted(verifier.enter(kinds), stop).catch(() => undefined);
    if (found === undefined) return this.#notSent();
    if ('dropped' in found) {
      const what = found.dropped === this.change.address.kind ? 'ownership tags' : found.dropped;
      return { kind: 'skipped', detail: `not sent: no read has shown that the service keeps ${what}` };
    }
    const end = await this.#recheckAndSend(call);
    const proved = isDone(end) && found.length > 0 ? await this.#prove(end, found) : end;
    if (isDone(proved)) verifier.end(found, 'kept');
    else verifier.end(found, proved === end ? undefined : 'dropped');
    return proved;
  }

  async #recheckAndSend(call: Call): Promise<CallEnd> {
    if (!this.#hasBegun) {
      if (this.#isStopped()) return this.#notSent();
      this.#hasBegun = true;
      this.#tools.began(this.change);
    }
    const { ids, planning, readSecret, lockGuard } = this.#tools;
    try {
      const sent = await attemptCall(call, {
        change: this.change,
        lastRead: this.#lastRead,
        send: { ...this.#tools, ...this.#sendState() },
        lockGuard,
        resolve: () =>
          resolveCall(call, {
            idOf: (address) => ids.get(address) ?? planning.live(parseAddress(address))?.id,
            readSecret,
          }),
      });
      return sent.is === 'failed' && sent.refusal !== undefined
        ? await this.#verifyRefusal(call, sent)
        : this.#endOf(call, sent);
    } catch (error) {
      return { kind: 'failed', detail: messageOf(error) };
    }
  }

  /** A resource that already exists was not created by us, even if it is as desired. */
  #alreadyThere(call: Call): CallEnd {
    if (createsResource(call, this.change))
      this.#tools.created(formatAddress(this.change.address), 'adopted');
    return { kind: 'unchanged' };
  }

  #isStopped(): boolean {
    return this.#tools.stop?.aborted ?? false;
  }

  /** The result of a call that is not sent because the run was stopped. */
  #notSent(): CallEnd {
    const { lockGuard, stop } = this.#tools;
    const signal = lockGuard?.lost.aborted ? lockGuard.lost : stop;
    return { kind: 'skipped', ...(signal && { detail: `not sent: ${whyStopped(signal)}` }) };
  }

  /** Reads back what was just written, because a service may have silently dropped it. */
  async #prove(end: CallEnd, kinds: readonly string[]): Promise<CallEnd> {
    const { id } = this.#sendState();
    const found = await verifyWrite(this.#tools, this.change, { kinds, id });
    if (found.is === 'kept' || this.#isStopped()) return end;
    const detail = `it was ${this.change.action === 'create' ? 'created' : 'changed'}, but ${found.why}`;
    return {
      ...end,
      kind: 'failed',
      detail,
      ...(found.is === 'lost' ? { lost: found.of } : { isThere: true }),
    };
  }

  #sendState(): Pick<SendContext, 'id' | 'declaredMark'> {
    const id = this.change.id ?? this.#tools.ids.get(formatAddress(this.change.address));
    const { kind, session } = this.#tools;
    // Without an ownership tag, a declared value proves nothing: another resource of the same name may have it, too.
    const isProof = session.target.ownership !== 'ledger';
    return { id, declaredMark: isProof ? declaredMark(this.change, kind) : {} };
  }

  async #verifyRefusal(call: Call, sent: Failed): Promise<CallEnd> {
    const context = { ...this.#tools, ...this.#sendState(), sent };
    const { id, ...end } = await endOfRefused(call, this.change, context);
    this.#rememberCreated(call, { id });
    return end;
  }

  #rememberCreated(
    { createsId }: Call,
    { id, origin = 'created', answer }: { id?: string | undefined; origin?: Origin; answer?: Answer },
  ): void {
    if (createsId === undefined || id === undefined) return;
    this.#tools.ids.set(createsId.address, id);
    // What was looked up afterwards may have been changed since it was created.
    const sentAt = answer === undefined ? undefined : this.#lastRead.sentAt;
    if (sentAt !== undefined) this.#tools.createdAt.set(createsId.address, sentAt);
    this.#tools.created(createsId.address, origin);
  }

  #endOf(call: Call, sent: AttemptResult): CallEnd {
    if (sent.is === 'failed' && sent.unsent && this.#isStopped()) return this.#notSent();
    if (sent.is === 'already') return this.#alreadyThere(call);
    if (sent.is === 'failed' && sent.inDoubt) return { kind: 'failed', detail: sent.why, inDoubt: true };
    if (sent.is !== 'ok') return { kind: sent.is, detail: sent.why };
    this.#rememberCreated(call, sent);
    if (call.createsId === undefined && sent.origin !== undefined)
      this.#tools.created(formatAddress(this.change.address), sent.origin);
    return {
      kind: 'applied',
      ...(sent.note === undefined ? {} : { detail: sent.note }),
      ...(sent.answer === undefined ? {} : { answer: sent.answer }),
    };
  }

  skip(call: Call, because: CallId): void {
    this.#endCall(call, { kind: 'skipped', detail: `depends on ${because}, which did not succeed` });
  }

  /** Takes over the result of the shared call, which belongs to another change. */
  followShared(owner: ChangeRun): void {
    const shared = this.change.sharedCall;
    const end = shared === undefined ? undefined : owner.#results.get(shared);
    if (shared === undefined || end === undefined) return;
    // The reason is reported once, by the owner of the call.
    const why = `sent in one request with ${formatAddress(owner.change.address)}, which has the reason`;
    this.#addResult(
      shared,
      end.kind === 'failed' && end.detail !== undefined ? { ...end, detail: why } : end,
    );
    this.#forgetAnswers();
  }

  /** Frees memory: the responses of thousands of ended changes would take most of it. */
  #forgetAnswers(): void {
    if (this.#outcome === undefined) return;
    for (const [id, { answer: _, ...end }] of this.#results) this.#results.set(id, end);
    this.#lastRead.forget();
  }

  /** Ends a change that has not ended yet: it has no calls, or its shared call never ran. */
  endWithoutCalls(): void {
    if (this.#outcome !== undefined) return;
    if (this.#callCount() > 0) this.#end({ kind: 'skipped', detail: 'never started' });
    else this.#end(this.#isStopped() ? this.#notSent() : { kind: 'applied' });
  }

  #callCount(): number {
    return this.change.calls.length + (this.change.sharedCall === undefined ? 0 : 1);
  }

  outcome(): Outcome {
    if (this.#outcome === undefined) throw new Error(`${formatAddress(this.change.address)} has no outcome`);
    return this.#outcome;
  }

  #endCall(call: Call, end: CallEnd): NodeResult {
    this.#addResult(call.id, end);
    this.#tools.callEnded(this, call.id);
    this.#forgetAnswers();
    if (end.kind === 'skipped') return 'skipped';
    return isDone(end) || end.kind === 'unchanged' ? 'ok' : 'failed';
  }

  #addResult(id: CallId, end: CallEnd): void {
    this.#results.set(id, end);
    const call = this.change.calls.find((one) => one.id === id);
    if (call !== undefined) this.#lastRead.learn(call, end.answer);
    if (this.#results.size === this.#callCount()) this.#endFromCalls();
    else if (isDone(end)) this.#tools.progressed(this.change, this.#done());
  }

  #done(): DoneCalls {
    // If the tag was not kept, a child that the same call wrote counts as not kept, too.
    const isCarriedOut = (id: CallId, end: CallEnd) =>
      isDone(end) || (end.lost !== undefined && id !== this.change.sharedCall);
    const done = [...this.#results].filter(([id, end]) => isCarriedOut(id, end));
    const answered = done.flatMap(([id, { answer }]) =>
      answer === undefined ? [] : [[id, answer] as const],
    );
    return {
      calls: new Set(done.map(([id]) => id)),
      answers: new Map(answered),
      ...(done.some(([, { lost }]) => lost === 'tag') ? { lostTag: true } : {}),
    };
  }

  #endFromCalls(): void {
    const results = [...this.#results.values()];
    this.#end(results.reduce((a, b) => (severityOf(b) > severityOf(a) ? b : a)));
  }

  /** Members of an outcome that only a failed change has. */
  #failureDetails({ kind, foundTrue }: CallEnd): Pick<Outcome, 'inDoubt' | 'refused' | 'foundTrue'> {
    if (kind !== 'failed') return {};
    if (foundTrue) return { foundTrue };
    const results = [...this.#results.values()];
    return {
      ...(results.some(({ inDoubt }) => inDoubt) ? { inDoubt: true } : {}),
      ...(results.some(({ refused }) => refused) ? { refused: true } : {}),
    };
  }

  #requestIds(): Pick<Outcome, 'requests' | 'unnamed'> {
    const results = [...this.#results.values()];
    const requests = results.flatMap(({ answer }) => answer?.requestId ?? []);
    return {
      ...(requests.length === 0 ? {} : { requests }),
      ...(results.some(lacksRequestId) ? { unnamed: true } : {}),
    };
  }

  #end(end: CallEnd): void {
    if (this.#outcome !== undefined) return;
    const { kind, detail } = end;
    const { address, action, place } = this.change;
    const done = this.#done();
    const existing = [...this.#results].flatMap(([id, { isThere }]) => (isThere ? [id] : []));
    const warnings = [...done.answers.values()].flatMap((answer) => answer.warnings ?? []);
    const outcome: Outcome = {
      address,
      action,
      kind,
      ...(detail === undefined ? {} : { detail }),
      ...(place === undefined ? {} : { place }),
      ...(isBroken(end) && done.calls.size + existing.length > 0
        ? { done: [...done.calls, ...existing] }
        : {}),
      ...this.#failureDetails(end),
      ...this.#requestIds(),
      ...(warnings.length === 0 ? {} : { warnings }),
    };
    this.#outcome = this.#tools.ended(this.change, outcome, done);
  }
}
