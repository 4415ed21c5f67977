/**
 * Checks a resource just before a call of its change is sent: before each attempt it is read and compared with the plan, unless
 * a recent response, or its creation by this apply, counts as that read.
 */
import { messageOf } from '../model/error-message.ts';
import { type AddressText, formatAddress } from '../model/address.ts';
import type { Call, CallId } from '../model/call.ts';
import type { Change } from '../model/change.ts';
import type { Inheritable } from '../model/kind-specs.ts';
import type { Kind, Session } from '../model/kind.ts';
import type { LiveResource, Spec } from '../model/resource.ts';
import type { Answer } from '../model/http.ts';
import type { LaterCall, Recheck } from '../plan/recheck.ts';
import type { PlanResult } from '../plan/build-plan.ts';
import { writtenBy } from './ledger-records.ts';
import { type Known, type Listed, maxAge, type PageReads, type ParentReads } from './shared-reads.ts';

/** The result of a check. */
export type Verdict = Recheck | { readonly is: 'failed'; readonly why: string };

interface RecheckTools {
  readonly planning: PlanResult;
  readonly kind: Kind;
  readonly session: Session;
  /** ids of resources that this apply created */
  readonly ids: ReadonlyMap<AddressText, string>;
  /** when this apply created them, in milliseconds */
  readonly createdAt: ReadonlyMap<AddressText, number>;
  /** Opens a session that has read nothing yet. */
  openSession(): Session;
  /** shared by all changes of a target */
  readonly parents: ParentReads;
  readonly pages: PageReads;
  /** milliseconds since 1970 */
  now(): number;
}

/** What a comparison needs besides the resource. */
interface CompareContext {
  readonly later?: LaterCall | undefined;
  readonly parent: Inheritable | undefined;
}

function whyUnread({ from, unread = '' }: Inheritable): string {
  return `${from}, whose defaults the plan relied on, could not be read again: ${unread}`;
}

/** Reads the resource of one change before its writes, and remembers the last read. */
export class ResourceReads {
  readonly #change: Change;
  readonly #tools: RecheckTools;
  /** calls that were sent at least once and may have reached the service */
  readonly #sent: CallId[] = [];
  /** the resource as last read, or as a later response showed it */
  #known: Known | undefined;
  /** for each call, the time of the read that it was compared with; absent if the list that the plan read is enough */
  readonly #seenAt = new Map<CallId, number>();
  #reading: Promise<Known> | undefined;
  /** when an attempt of a call was last sent */
  #sentAt: number | undefined;
  /** when the parent that the next call relies on was read */
  #parentAt: number | undefined;
  readonly #listed: Listed | undefined;
  /** whether the next read may be of a page, with other resources */
  #mayShare: boolean;
  /** whether the last read was of a page */
  #isShared = false;
  /** when the last check ended */
  #checkedAt = 0;

  constructor(change: Change, tools: RecheckTools) {
    this.#change = change;
    this.#tools = tools;
    this.#listed = listedFrom(change, tools);
    this.#mayShare = this.#listed !== undefined;
    if (this.#listed !== undefined) tools.pages.expect(this.#listed);
  }

  /** The check before an attempt of a call. Never rejects. @param isRepeated an attempt has failed, so only a new read counts */
  async before(call: Call, isRepeated: boolean): Promise<Verdict> {
    const verdict = await this.#check(call, isRepeated);
    this.#checkedAt = this.#tools.now();
    return verdict;
  }

  async #check(call: Call, isRepeated: boolean): Promise<Verdict> {
    const later = this.#laterCall(call);
    try {
      const parent = await this.#parent(call);
      if (parent?.unread !== undefined) return { is: 'failed', why: whyUnread(parent) };
      if (!isRepeated && this.#needsNoRead(call, later))
        return parent === undefined ? { is: 'send' } : this.#compare(undefined, { parent });
      const { at, live, isShared } = (isRepeated ? undefined : this.#recent(later)) ?? (await this.#read());
      this.#seenAt.set(call.id, at);
      const doubt = live === undefined ? await this.#whyNotGone() : undefined;
      if (doubt !== undefined) return { is: 'failed', why: doubt };
      const verdict = this.#compare(live, { later, parent });
      // A page may lag or lack something: only a read of the resource itself may end a change.
      if (verdict.is === 'send' || isShared === undefined) return verdict;
      const alone = await this.#read();
      this.#seenAt.set(call.id, alone.at);
      return this.#compare(alone.live, { later, parent });
    } catch (error) {
      return { is: 'failed', why: messageOf(error) };
    }
  }

  /** The check of a create whose resource was looked up by name and does not exist. */
  async whenAbsent(): Promise<Recheck> {
    const [create] = this.#change.calls;
    const parent = await this.#parent(create);
    if (parent?.unread !== undefined) return { is: 'stale', why: whyUnread(parent) };
    return this.#compare(undefined, { parent });
  }

  #compare(live: LiveResource | undefined, { later, parent: inheritable }: CompareContext): Recheck {
    const { planning, now, ids: created } = this.#tools;
    return planning.recheck(this.#change, live, { now: now(), later, inheritable, created });
  }

  /** When an attempt of a call was last sent, in milliseconds since 1970. */
  get sentAt(): number | undefined {
    return this.#sentAt;
  }

  /** Milliseconds since the read that a call was compared with; 0 if it needs none. */
  age({ id }: Call): number {
    const now = this.#tools.now();
    return Math.max(0, ...[this.#seenAt.get(id), this.#parentAt].map((at) => Math.abs(now - (at ?? now))));
  }

  /**
   * How old a read may be at the next attempt, after one was too old: twice as old, because the target is slow. The read of a page does
   * not show that the target is slow, so after it the limit stays.
   */
  allowedNext(age: number): number {
    return this.#isShared ? age : age * 2;
  }

  /** Notes that a call is sent: what was read before is not enough for the next call. */
  sends({ id }: Call): void {
    const { now, pages } = this.#tools;
    this.#sent.push(id);
    this.#sentAt = now();
    pages.sent({ delay: this.#sentAt - this.#checkedAt, isShared: this.#isShared });
    this.#isShared = false;
  }

  /**
   * Reads the defaults of a parent again, if the plan and this call rely on them.
   * @returns undefined if they do not, and while the plan's own read is recent and nothing was sent
   */
  async #parent(call: Call | undefined): Promise<Inheritable | undefined> {
    const { planning, kind, parents, openSession, now } = this.#tools;
    this.#parentAt = undefined;
    // A call that names no fields sends all that no other call names, those with inherited defaults included (see `Call.writes`).
    const reliesOnParent = call?.createsId !== undefined || !(call?.writes ?? call?.takesFrom);
    const planned = reliesOnParent ? planning.inheritable(this.#change) : undefined;
    // The plan did not rely on a parent that it could not read.
    if (planned?.id === undefined || kind.readInheritable === undefined) return undefined;
    const { readAt = Number.NEGATIVE_INFINITY } = planning;
    const isAsRead = planned.plannedBy === undefined;
    if (isAsRead && this.#sentAt === undefined && Math.abs(now() - readAt) <= maxAge) {
      this.#parentAt = readAt;
      return undefined;
    }
    const { at, session } = parents.session(openSession, { now: now(), after: this.#sentAt ?? readAt });
    this.#parentAt = at;
    return kind.readInheritable(session, planned);
  }

  /** An attempt has failed, and another one may follow after a wait: other changes do not wait for it. */
  failed(): void {
    this.#mayShare = false;
    if (this.#listed !== undefined) this.#tools.pages.ended(this.#listed);
  }

  /** A call has ended: takes over the fields that its response has. */
  learn(call: Call, answer: Answer | undefined): void {
    const { at = 0, live: before } = this.#known ?? {};
    this.#known = undefined;
    const { spec: returned } = (answer && this.#tools.kind.fieldsFromResponse?.(call, answer)) ?? {};
    const sentAt = this.#sentAt ?? at;
    const written = before && returned && { before, returned, sentAt };
    if (this.#listed !== undefined) this.#tools.pages.ended(this.#listed, written);
    // A response does not show the ownership tag, so the time of the last read counts.
    if (written !== undefined) this.#known = { at, live: { ...written.before, spec: written.returned } };
  }

  /** The change has ended, so what was read is no longer needed. */
  forget(): void {
    this.#known = undefined;
  }

  /** Whether the list that the plan read is enough, or this apply has just created the resource or its parent. */
  #needsNoRead({ id, createsId }: Call, later: LaterCall | undefined): boolean {
    const { planning, createdAt, now } = this.#tools;
    if (this.#change.action !== 'create') return false;
    if (createsId !== undefined && later === undefined) return !planning.needsRecheck(this.#change);
    const at = createdAt.get(this.#addressWithId());
    if (at === undefined || Math.abs(now() - at) > maxAge) return false;
    this.#seenAt.set(id, at);
    return true;
  }

  /** The address of the resource that has the id for requests: the resource itself, or the parent of a child. */
  #addressWithId(): AddressText {
    const { ownership } = this.#tools.kind;
    const { address } = this.#change;
    return formatAddress(ownership.by === 'child' ? ownership.of(address) : address);
  }

  /** What a call writes and relies on, if the plan's read no longer fits: it follows other calls, or this apply created its parent. */
  #laterCall(call: Call): LaterCall | undefined {
    const { kind } = this.#tools;
    const isOfNewParent = kind.ownership.by === 'child' && this.#change.action === 'create';
    if (!isOfNewParent && !this.#sent.some((id) => id !== call.id)) return undefined;
    const written = writtenBy({ change: this.#change, calls: new Set([call.id]) });
    return { written: new Set([...written, ...(call.takesFrom ?? [])]), reliesOn: call.reliesOn ?? [] };
  }

  /**
   * The last read, if it is recent: calls that start together share it. For a later call it is enough only if it has all fields that the
   * call writes, and if the call relies on no other fields.
   */
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
    const shared = await this.#fromPage();
    this.#isShared = shared !== undefined;
    const known = shared ?? (await this.#readAlone());
    this.#known = known;
    return known;
  }

  async #fromPage(): Promise<Known | undefined> {
    const listed = this.#mayShare ? this.#listed : undefined;
    this.#mayShare = false;
    return listed && this.#tools.pages.find(listed);
  }

  async #readAlone(): Promise<Known> {
    const { kind, ids } = this.#tools;
    const { address, id = ids.get(this.#addressWithId()), action } = this.#change;
    const timed = withTimes(this.#tools);
    const live = await kind.readOne(timed.session, address, id, action);
    return { at: timed.at(), live };
  }

  /** For a resource that should be removed and was not found: why it may still exist. */
  async #whyNotGone(): Promise<string | undefined> {
    const { kind, session } = this.#tools;
    const { address, id, action } = this.#change;
    const isRemoval = action === 'delete' || action === 'release';
    return isRemoval ? kind.whyNotGone?.(session, address, id) : undefined;
  }
}

/** The session, and the time at which the first of its requests was sent, after all waits: an answer may show the state of that time. */
function withTimes({ session, now }: Pick<RecheckTools, 'session' | 'now'>) {
  let first: number | undefined;
  const timed = async (send: (begins: () => void) => Promise<Answer>) => {
    let began = now();
    const answer = await send(() => {
      began = now();
    });
    first = Math.min(first ?? began, began);
    return answer;
  };
  const reader: Session['reader'] = {
    get: (path) => timed((begins) => session.reader.get(path, begins)),
    list: (path) => timed(() => session.reader.list(path)),
  };
  return { session: { ...session, reader }, at: () => first ?? now() };
}

/** What is needed to find the resource of a change on a page; undefined if it has to be read alone. */
function listedFrom(change: Change, tools: RecheckTools): Listed | undefined {
  const { kind, planning, session, openSession, now } = tools;
  const { address, id, action, calls, risks = [] } = change;
  const { listIndex } = planning.live(address) ?? {};
  if (kind.pages === undefined || listIndex === undefined || id === undefined) return undefined;
  if (session.target.readBeforeWrite === 'resource' || action !== 'update') return undefined;
  const isHarmless =
    calls.length > 0 &&
    calls.every(({ sharesRead }) => sharesRead) &&
    risks.every(({ effect }) => effect === 'narrows');
  if (!isHarmless) return undefined;
  const { known } = planning.records.get(formatAddress(address)) ?? {};
  // Without a record, it is not known which values an old list may show.
  if (known === undefined) return undefined;
  const recorded = { ...known.content, ...known.seen, ...known.fields };
  return { change, id, recorded, listIndex, kind, pages: kind.pages, session, openSession, now };
}
