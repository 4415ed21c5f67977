/**
 * What is known of a resource just before a call of its change is sent: each attempt is preceded by a read and a comparison
 * with the plan, unless a recent answer or this apply's own creation counts as that read (rule 29).
 */
import { messageOf } from '../model/error-message.ts';
import { type AddressText, formatAddress } from '../model/address.ts';
import type { Call, CallId } from '../model/call.ts';
import type { Change } from '../model/change.ts';
import type { Kind, Session } from '../model/kind.ts';
import type { LiveResource, Spec } from '../model/resource.ts';
import type { Answer } from '../model/http.ts';
import type { LaterCall, Recheck } from '../plan/recheck.ts';
import type { PlanResult } from '../plan/build-plan.ts';
import { writtenBy } from './ledger-records.ts';

/** How old a read may be when the write that relies on it goes out, in milliseconds. */
export const maxAge = 3000;

/** The result of a look. */
export type Verdict = Recheck | { readonly is: 'failed'; readonly why: string };

interface RecheckTools {
  readonly planning: PlanResult;
  readonly kind: Kind;
  readonly session: Session;
  /** ids of resources that this apply created */
  readonly ids: ReadonlyMap<AddressText, string>;
  /** when this apply created them, in milliseconds */
  readonly createdAt: ReadonlyMap<AddressText, number>;
  /** milliseconds since 1970 */
  now(): number;
}

/** What the last read, or an answer that counts as one, found. */
interface Known {
  readonly at: number;
  readonly live: LiveResource | undefined;
}

/** The looks of one change. */
export class LastRead {
  readonly #change: Change;
  readonly #tools: RecheckTools;
  /** calls of which an attempt may have reached the service */
  readonly #sent = new Set<CallId>();
  #known: Known | undefined;
  /** when the resource was seen last; absent where the list that the plan read is enough */
  #seenAt: number | undefined;
  #reading: Promise<Known> | undefined;

  constructor(change: Change, tools: RecheckTools) {
    this.#change = change;
    this.#tools = tools;
  }

  /** Never rejects. @param isRepeated an attempt of the call has failed: nothing counts but a new read */
  async before(call: Call, isRepeated: boolean): Promise<Verdict> {
    const later = this.#laterCall(call);
    try {
      if (!isRepeated && this.#needsNoRead(call, later)) return { is: 'send' };
      const known = isRepeated ? undefined : this.#recent(later);
      const { live } = known ?? (await this.#read());
      const doubt = live === undefined ? await this.#whyNotGone() : undefined;
      if (doubt !== undefined) return { is: 'failed', why: doubt };
      return this.#compare(live, later);
    } catch (error) {
      return { is: 'failed', why: messageOf(error) };
    }
  }

  /** The same for a create that was looked up by name, and whose resource does not exist. */
  whenAbsent(): Recheck {
    return this.#compare(undefined);
  }

  #compare(live: LiveResource | undefined, later?: LaterCall): Recheck {
    const { planning, now } = this.#tools;
    return planning.recheck(this.#change, live, { now: now(), later });
  }

  /** Milliseconds since the last look; 0 where none is needed. */
  age(): number {
    return this.#seenAt === undefined ? 0 : Math.abs(this.#tools.now() - this.#seenAt);
  }

  /** A call goes out: what was known before it is no longer enough for the next one. */
  sends({ id }: Call): void {
    this.#sent.add(id);
  }

  /** Takes over the fields that the answer to a call has. */
  learn(call: Call, answer: Answer | undefined): void {
    const known = this.#known;
    this.#known = undefined;
    const answered = answer && this.#tools.kind.fieldsFromResponse?.(call, answer);
    if (known?.live === undefined || answered === undefined) return;
    // An answer says nothing about the claim, so that the time of the last read counts.
    this.#known = { at: known.at, live: { ...known.live, spec: answered.spec } };
  }

  /** Only where the plan's own list is enough, or this apply has just created the resource, or the whole that it belongs to. */
  #needsNoRead({ createsId }: Call, later: LaterCall | undefined): boolean {
    const { planning, createdAt, now } = this.#tools;
    if (this.#change.action !== 'create') return false;
    if (createsId !== undefined && later === undefined) return !planning.needsRecheck(this.#change);
    const at = createdAt.get(this.#whole());
    if (at === undefined || Math.abs(now() - at) > maxAge) return false;
    this.#seenAt = at;
    return true;
  }

  /** The address of what has the id: the resource itself, or the whole that it is a part of. */
  #whole(): AddressText {
    const { ownership } = this.#tools.kind;
    const { address } = this.#change;
    return formatAddress(ownership.by === 'part' ? ownership.of(address) : address);
  }

  /** Of a call after others of its change, or of a part of what this apply has created: it finds what the plan could not see. */
  #laterCall(call: Call): LaterCall | undefined {
    const { kind } = this.#tools;
    const isOfNewWhole = kind.ownership.by === 'part' && this.#change.action === 'create';
    if (!isOfNewWhole && ![...this.#sent].some((id) => id !== call.id)) return undefined;
    const written = writtenBy({ change: this.#change, calls: new Set([call.id]) });
    return { written: new Set([...written, ...(call.takesFrom ?? [])]), reliesOn: call.reliesOn ?? [] };
  }

  /** Calls that start together share one read. After the first of them was sent, only its answer counts. */
  #recent(later: LaterCall | undefined): Known | undefined {
    const known = this.#known;
    if (known === undefined || Math.abs(this.#tools.now() - known.at) > maxAge) return undefined;
    if (later === undefined) return known;
    const spec: Spec = known.live?.spec ?? {};
    const hasAll =
      later.reliesOn.length === 0 && [...later.written].every((name) => spec[name] !== undefined);
    return hasAll && later.written.size > 0 ? known : undefined;
  }

  #read(): Promise<Known> {
    this.#reading ??= this.#readNow().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readNow(): Promise<Known> {
    const { kind, session, ids, now } = this.#tools;
    const { address, id = ids.get(this.#whole()), action } = this.#change;
    const live = await kind.readOne(session, address, id, action);
    const known = { at: now(), live };
    [this.#known, this.#seenAt] = [known, known.at];
    return known;
  }

  /** For what is to be taken away and is not found: why it may exist all the same. */
  async #whyNotGone(): Promise<string | undefined> {
    const { kind, session } = this.#tools;
    const { address, id, action } = this.#change;
    const takesAway = action === 'delete' || action === 'release';
    return takesAway ? kind.whyNotGone?.(session, address, id) : undefined;
  }
}
