/**
 * One change while it is carried out: looked at once more before its first call, ended when its last call has ended.
 * Its outcome is the worst of what became of its calls.
 */
import { type AddressText, formatAddress, parseAddress } from '../model/address.ts';
import type { Call, CallId } from '../model/call.ts';
import type { Change } from '../model/change.ts';
import type { Outcome, OutcomeKind } from '../model/outcome.ts';
import type { SecretSource } from '../model/target.ts';
import { WireError } from '../model/wire.ts';
import type { Planning } from '../plan/build-plan.ts';
import type { Recheck } from '../plan/recheck.ts';
import { resolveCall } from './resolve-call.ts';
import type { Ending } from './schedule.ts';
import { type Line, type Sent, sendCall } from './send-call.ts';

export interface ChangeTools extends Line {
  readonly planning: Planning;
  /** ids given by calls of this apply */
  readonly ids: Map<AddressText, string>;
  readonly stop?: AbortSignal;
  readSecret(source: SecretSource): Promise<string>;
  began(): void;
  created(address: AddressText, id: string): void;
  callEnded(id: CallId): void;
  ended(outcome: Outcome): void;
}

interface CallEnd {
  readonly kind: OutcomeKind;
  readonly detail?: string;
}

/** The worse of two stands further right. */
const severity: readonly OutcomeKind[] = ['unchanged', 'applied', 'skipped', 'stale', 'failed', 'unknown'];

export class ChangeRun {
  readonly change: Change;
  readonly #tools: ChangeTools;
  readonly #ends = new Map<CallId, CallEnd>();
  #recheck: Promise<Recheck> | undefined;
  #outcome: Outcome | undefined;

  constructor(change: Change, tools: ChangeTools) {
    this.change = change;
    this.#tools = tools;
  }

  async perform(call: Call): Promise<Ending> {
    if (this.#recheck === undefined) {
      if (this.#tools.stop?.aborted)
        return this.#endCall(call, { kind: 'skipped', detail: 'interrupted before it was started' });
      this.#tools.began();
    }
    this.#recheck ??= this.#lookAgain();
    const verdict = await this.#recheck.catch((error: unknown): Recheck | Error => asFailure(error));
    if (verdict instanceof Error) return this.#endCall(call, { kind: 'failed', detail: verdict.message });
    if (verdict.is === 'stale') return this.#endCall(call, { kind: 'stale', detail: verdict.why });
    if (verdict.is === 'done') return this.#endCall(call, { kind: 'unchanged' });
    return this.#endCall(call, await this.#send(call));
  }

  async #lookAgain(): Promise<Recheck> {
    const { planning, kind, session } = this.#tools;
    if (!planning.needsRecheck(this.change)) return { is: 'send' };
    const live = await kind.readOne(session, this.change.address, this.change.id);
    return planning.recheck(this.change, live);
  }

  async #send(call: Call): Promise<CallEnd> {
    const { ids, planning, readSecret } = this.#tools;
    try {
      const request = await resolveCall(call, {
        idOf: (address) => ids.get(address) ?? planning.idOf(parseAddress(address)),
        readSecret,
      });
      return this.#conclude(call, await sendCall(call, request, this.#tools));
    } catch (error) {
      return { kind: 'failed', detail: asFailure(error).message };
    }
  }

  #conclude(call: Call, sent: Sent): CallEnd {
    if (sent.is !== 'ok') return { kind: sent.is, detail: sent.why };
    if (call.gives !== undefined && sent.id !== undefined) {
      this.#tools.ids.set(call.gives.address, sent.id);
      this.#tools.created(call.gives.address, sent.id);
    }
    return { kind: 'applied' };
  }

  skip(call: Call, because: CallId): void {
    this.#endCall(call, { kind: 'skipped', detail: `waits for ${because}, which did not happen` });
  }

  /** This change is carried out by a call of another one: it ends as that call ended. */
  followShared(owner: ChangeRun): void {
    const shared = this.change.sharedCall;
    const end = shared === undefined ? undefined : owner.#ends.get(shared);
    if (end !== undefined) this.#end(end.kind, end.detail);
  }

  endWithoutCalls(): void {
    if (this.#outcome !== undefined) return;
    if (this.change.calls.length === 0 && this.change.sharedCall === undefined) this.#end('applied');
    else this.#end('skipped', 'never started');
  }

  outcome(): Outcome {
    if (this.#outcome === undefined) throw new Error(`${formatAddress(this.change.address)} has no outcome`);
    return this.#outcome;
  }

  #endCall(call: Call, end: CallEnd): Ending {
    this.#ends.set(call.id, end);
    if (this.#ends.size === this.change.calls.length) this.#endFromCalls();
    this.#tools.callEnded(call.id);
    return end.kind === 'applied' || end.kind === 'unchanged'
      ? 'ok'
      : end.kind === 'skipped'
        ? 'skipped'
        : 'failed';
  }

  #endFromCalls(): void {
    const ends = [...this.#ends.values()];
    const worst = ends.reduce((a, b) => (severity.indexOf(b.kind) > severity.indexOf(a.kind) ? b : a));
    const done = [...this.#ends].filter(([, end]) => end.kind === 'applied').map(([id]) => id);
    const broken = severity.indexOf(worst.kind) > severity.indexOf('applied');
    this.#end(worst.kind, worst.detail, broken && done.length > 0 ? done : undefined);
  }

  #end(kind: OutcomeKind, detail?: string, done?: readonly CallId[]): void {
    if (this.#outcome !== undefined) return;
    const { address, action, place } = this.change;
    this.#outcome = {
      address,
      action,
      kind,
      ...(detail === undefined ? {} : { detail }),
      ...(place === undefined ? {} : { place }),
      ...(done === undefined ? {} : { done }),
    };
    this.#tools.ended(this.#outcome);
  }
}

/** What the environment did is an outcome; a bug is thrown on. */
function asFailure(error: unknown): Error {
  if (error instanceof WireError || (error instanceof Error && error.name === 'SecretError')) return error;
  throw error;
}
