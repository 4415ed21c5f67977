/**
 * One change while it is carried out: looked at once more before its first call, ended when its last call has ended.
 * Its outcome is the worst of what became of its calls. Nothing is thrown on: a failure is that of this change alone.
 */
import { messageOf } from '../model/message-of.ts';
import { type AddressText, formatAddress, parseAddress } from '../model/resource/address.ts';
import type { Call, CallId } from '../model/plan/call.ts';
import type { Change } from '../model/plan/change.ts';
import type { Kind } from '../model/kind/kind.ts';
import type { Origin } from '../model/stack/ledger.ts';
import type { Outcome, OutcomeKind } from '../model/plan/outcome.ts';
import type { Spec } from '../model/resource/resource.ts';
import type { SecretSource } from '../model/stack/target.ts';
import { untilAborted } from '../model/until-aborted.ts';
import type { Answer } from '../model/wire.ts';
import type { Planning } from '../plan/build-plan.ts';
import type { Recheck } from '../plan/approval/recheck.ts';
import type { Fence } from './fence.ts';
import { resolveCall } from './resolve-call.ts';
import type { NodeResult } from './schedule.ts';
import { type LookBudget, lookAfterRefusal } from './second-look.ts';
import { type Failed, isNo, type SendContext, type Sent, sendCall } from './send-call.ts';
import { whyStopped } from './why-stopped.ts';

export interface ChangeTools extends Omit<SendContext, 'id' | 'insteadOfMark'> {
  readonly planning: Planning;
  /** ids given by calls of this apply */
  readonly ids: Map<AddressText, string>;
  /** passed by each try of each call */
  readonly fence?: Fence;
  /** what may be asked for the sake of refusals, by all changes of the target */
  readonly looks: LookBudget;
  readSecret(source: SecretSource): Promise<string>;
  began(): void;
  created(address: AddressText, origin: Origin): void;
  callEnded(id: CallId): void;
  /** one more of its calls was carried out, and others have not ended yet */
  cameFurther(done: DoneCalls): void;
  ended(outcome: Outcome, done: DoneCalls): Outcome;
}

/** The calls of a change that were carried out so far, also those of other changes that it shares. */
export interface DoneCalls {
  readonly calls: ReadonlySet<CallId>;
  /** what they were answered, as far as it was heard */
  readonly answers: ReadonlyMap<CallId, Answer>;
}

interface CallEnd {
  readonly kind: OutcomeKind;
  readonly detail?: string;
  readonly inDoubt?: true;
  /** answered with a no that nobody could look into */
  readonly refused?: true;
  /** failed by its answer, and seen to be true all the same */
  readonly foundTrue?: true;
  /** failed by its answer; what it was to make is there all the same, and not as it was to be */
  readonly isThere?: true;
  /** of a call that was carried out, if it was heard */
  readonly answer?: Answer;
}

/** What the last look before the first call came to. */
type RecheckResult = Recheck | { readonly is: 'failed'; readonly why: string };

/** The worse of two stands further right. */
const severity: readonly OutcomeKind[] = ['unchanged', 'applied', 'skipped', 'stale', 'failed', 'unknown'];

/** What failed by its answer alone counts for less than what did not happen. */
function severityOf({ kind, foundTrue }: CallEnd): number {
  return foundTrue ? severity.indexOf('applied') + 0.5 : severity.indexOf(kind);
}

function isDone({ kind, foundTrue }: CallEnd): boolean {
  return kind === 'applied' || foundTrue === true;
}

export class ChangeRun {
  readonly change: Change;
  readonly #tools: ChangeTools;
  readonly #ends = new Map<CallId, CallEnd>();
  #look: Promise<RecheckResult> | undefined;
  #outcome: Outcome | undefined;

  constructor(change: Change, tools: ChangeTools) {
    this.change = change;
    this.#tools = tools;
  }

  async perform(call: Call): Promise<NodeResult> {
    if (this.#look === undefined) {
      if (this.#isStopped()) return this.#endCall(call, this.#notSent());
      this.#tools.began();
    }
    this.#look ??= this.#lookAgain();
    const verdict = await untilAborted(this.#look, this.#tools.stop).catch(() => undefined);
    if (verdict === undefined || (this.#isStopped() && isOpen(verdict)))
      return this.#endCall(call, this.#notSent());
    if (verdict.is === 'failed') return this.#endCall(call, { kind: 'failed', detail: verdict.why });
    if (verdict.is === 'stale') return this.#endCall(call, { kind: 'stale', detail: verdict.why });
    if (verdict.is === 'done') return this.#endCall(call, this.#foundThere());
    return this.#endCall(call, await this.#send(call));
  }

  /** What is there before anything was sent is nothing that we created, however alike (rules 24). */
  #foundThere(): CallEnd {
    const { address, action } = this.change;
    if (action === 'create') this.#tools.created(formatAddress(address), 'adopted');
    return { kind: 'unchanged' };
  }

  #isStopped(): boolean {
    return this.#tools.stop?.aborted ?? false;
  }

  /** What becomes of what nobody will send any more. */
  #notSent(): CallEnd {
    const { fence, stop } = this.#tools;
    const signal = fence?.lost.aborted ? fence.lost : stop;
    return { kind: 'skipped', ...(signal && { detail: `not sent: ${whyStopped(signal)}` }) };
  }

  async #lookAgain(): Promise<RecheckResult> {
    const { planning, kind, session } = this.#tools;
    try {
      if (!planning.needsRecheck(this.change)) return { is: 'send' };
      const { address, id, action } = this.change;
      const live = await kind.readOne(session, address, id);
      const takesAway = action === 'delete' || action === 'release';
      const doubt =
        live === undefined && takesAway ? await kind.doubtGone?.(session, address, id) : undefined;
      return doubt === undefined ? planning.recheck(this.change, live) : { is: 'failed', why: doubt };
    } catch (error) {
      return { is: 'failed', why: messageOf(error) };
    }
  }

  async #send(call: Call): Promise<CallEnd> {
    const { ids, planning, readSecret, fence } = this.#tools;
    try {
      const request = await resolveCall(call, {
        idOf: (address) => ids.get(address) ?? planning.idOf(parseAddress(address)),
        readSecret,
      });
      const line = { ...this.#tools, ...this.#self() };
      const permitted = fence === undefined ? request : { ...request, permit: () => fence.pass() };
      const sent = await sendCall(call, permitted, { line, address: this.change.address });
      return sent.is === 'failed' && sent.refusal !== undefined
        ? await this.#doubt(call, sent)
        : this.#conclude(call, sent);
    } catch (error) {
      return { kind: 'failed', detail: messageOf(error) };
    }
  }

  #self(): Pick<SendContext, 'id' | 'insteadOfMark'> {
    const id = this.change.id ?? this.#tools.ids.get(formatAddress(this.change.address));
    return { id, insteadOfMark: insteadOfMark(this.change, this.#tools.kind) };
  }

  /** A no is an answer, and not the fact (rules 40): what it was about is looked at once. */
  async #doubt(call: Call, sent: Failed): Promise<CallEnd> {
    const end: CallEnd = { kind: 'failed', detail: sent.why };
    if (!isNo(sent)) return { ...end, refused: true };
    const { insteadOfMark, id } = this.#self();
    const seen = await lookAfterRefusal(call, this.change, { ...this.#tools, insteadOfMark, id });
    switch (seen.is) {
      case 'true':
        this.#learn(call, seen.live?.id);
        return { ...end, foundTrue: true };
      case 'there':
        return {
          ...end,
          detail: `${sent.why}; it is there all the same, ours, and not as sent`,
          isThere: true,
        };
      case 'open':
        return { ...end, refused: true };
      case 'untrue':
        return end;
    }
  }

  #learn({ createsId }: Call, id: string | undefined, origin: Origin = 'created'): void {
    if (createsId === undefined || id === undefined) return;
    this.#tools.ids.set(createsId.address, id);
    this.#tools.created(createsId.address, origin);
  }

  #conclude(call: Call, sent: Sent): CallEnd {
    if (sent.is === 'failed' && sent.unsent && this.#isStopped()) return this.#notSent();
    if (sent.is === 'already') return { kind: 'unchanged' };
    if (sent.is === 'failed' && sent.inDoubt) return { kind: 'failed', detail: sent.why, inDoubt: true };
    if (sent.is !== 'ok') return { kind: sent.is, detail: sent.why };
    this.#learn(call, sent.id, sent.origin);
    return { kind: 'applied', ...(sent.answer === undefined ? {} : { answer: sent.answer }) };
  }

  skip(call: Call, because: CallId): void {
    this.#endCall(call, { kind: 'skipped', detail: `waits for ${because}, which did not happen` });
  }

  /** A call of another change carries this one out too: it has ended as that call ended. */
  followShared(owner: ChangeRun): void {
    const shared = this.change.sharedCall;
    const end = shared === undefined ? undefined : owner.#ends.get(shared);
    if (shared !== undefined && end !== undefined) this.#note(shared, end);
  }

  /** For what no call has ended: changes that only the ledger has to learn of. */
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
    this.#note(call.id, end);
    this.#tools.callEnded(call.id);
    if (end.kind === 'skipped') return 'skipped';
    return isDone(end) || end.kind === 'unchanged' ? 'ok' : 'failed';
  }

  #note(id: CallId, end: CallEnd): void {
    this.#ends.set(id, end);
    if (this.#ends.size === this.#callCount()) this.#endFromCalls();
    else if (isDone(end)) this.#tools.cameFurther(this.#done());
  }

  #done(): DoneCalls {
    const done = [...this.#ends].filter(([, end]) => isDone(end));
    const heard = done.flatMap(([id, { answer }]) => (answer === undefined ? [] : [[id, answer] as const]));
    return { calls: new Set(done.map(([id]) => id)), answers: new Map(heard) };
  }

  #endFromCalls(): void {
    const ends = [...this.#ends.values()];
    this.#end(ends.reduce((a, b) => (severityOf(b) > severityOf(a) ? b : a)));
  }

  /** What a change that failed is marked with. */
  #marks({ kind, foundTrue }: CallEnd): Pick<Outcome, 'inDoubt' | 'refused' | 'foundTrue'> {
    if (kind !== 'failed') return {};
    if (foundTrue) return { foundTrue };
    const ends = [...this.#ends.values()];
    return {
      ...(ends.some(({ inDoubt }) => inDoubt) ? { inDoubt: true } : {}),
      ...(ends.some(({ refused }) => refused) ? { refused: true } : {}),
    };
  }

  #end(end: CallEnd): void {
    if (this.#outcome !== undefined) return;
    const { kind, detail } = end;
    const { address, action, place } = this.change;
    const done = this.#done();
    const there = [...this.#ends].flatMap(([id, { isThere }]) => (isThere ? [id] : []));
    const isBroken = severity.indexOf(kind) > severity.indexOf('applied');
    const warnings = [...done.answers.values()].flatMap((answer) => answer.warnings ?? []);
    const outcome: Outcome = {
      address,
      action,
      kind,
      ...(detail === undefined ? {} : { detail }),
      ...(place === undefined ? {} : { place }),
      ...(isBroken && done.calls.size + there.length > 0 ? { done: [...done.calls, ...there] } : {}),
      ...this.#marks(end),
      ...(warnings.length === 0 ? {} : { warnings }),
    };
    this.#outcome = this.#tools.ended(outcome, done);
  }
}

function insteadOfMark({ action, fields }: Change, kind: Kind): Spec {
  if (action !== 'create') return {};
  return Object.fromEntries(
    fields.flatMap(({ path: [name = ''], after }) =>
      after !== undefined && kind.fields[name]?.bearsBirthMark ? [[name, after] as const] : [],
    ),
  );
}

/** Of a look that was taken while the run was told to stop: it led to nothing yet, or it was broken off itself. */
function isOpen({ is }: RecheckResult): boolean {
  return is === 'send' || is === 'failed';
}
