/**
 * Reads that the changes of one target share: the current defaults of parents, and pages of the list, each with many resources that
 * are updated within seconds.
 */
import type { Change } from '../model/change.ts';
import { type Json, sameJson } from '../model/json.ts';
import type { Kind, Session } from '../model/kind.ts';
import type { LiveResource, Spec } from '../model/resource.ts';

/** How old a read may be when the write that relies on it goes out, in milliseconds. */
export const maxAge = 3000;

/** The session in which parents were read last: all changes of a target share what it read in the last seconds. */
export class ParentReads {
  #last: { readonly at: number; readonly session: Session } | undefined;

  /** @param after a read that began before this time, in milliseconds, does not count */
  session(open: () => Session, { now, after }: { readonly now: number; readonly after: number }) {
    const last = this.#last;
    if (last !== undefined && last.at > after && Math.abs(now - last.at) <= maxAge) return last;
    const opened = { at: now, session: open() };
    this.#last = opened;
    return opened;
  }
}

/** What a read, or a response that counts as one, found. */
export interface Known {
  /** milliseconds since 1970 */
  readonly at: number;
  readonly live: LiveResource | undefined;
  /** it is from a page, which the resource shares with others */
  readonly isShared?: true;
}

/** A resource that the plan has found in a list, and that may be read again with others. */
export interface Listed {
  readonly change: Change;
  readonly id: string;
  /** index in the list */
  readonly listedAt: number;
  readonly kind: Kind;
  readonly pages: NonNullable<Kind['pages']>;
  readonly session: Session;
  openSession(): Session;
  /** milliseconds since 1970 */
  now(): number;
}

/** A resource as it was read before a write, and what the response shows: both say how a list has to show it from now on. */
interface Written {
  readonly before: LiveResource;
  readonly answered: Spec;
}

interface PageRead {
  /** when its request was sent, in milliseconds */
  at: number;
  /** in which the page is read once */
  readonly recent: Session;
  isBelieved: Promise<boolean>;
}

/** Fewer updates than this are not worth a page. */
const fewest = 3;

/** How long a write is expected to wait for its turn at least, in milliseconds: a page is not used to the last moment. */
const leastDelay = 600;

/** How many updates are sent alone at most to find out whether the list shows them, and how many pages may cost more than they save. */
const maxTries = 3;

/**
 * The pages of one target. A page is read only if several updates of resources on it are due, and serves those that go out soon enough.
 * Lists may lag, or show less than a resource itself: so the first update goes alone, and pages count from then on only if
 * one shows what it wrote. Each later page that has the last written resource must show it, too.
 */
export class PageReads {
  /** the number of resources that were not asked for yet, by the page on which the plan found them */
  readonly #left = new Map<number, number>();
  readonly #reads = new Map<number, PageRead>();
  #trust: 'open' | 'proved' | 'lost' = 'open';
  #trialsLeft = maxTries;
  /** the update that goes alone, and then the read of the page that has to show it; meanwhile all others wait */
  #trial: { readonly of?: Listed; readonly over: Promise<unknown>; readonly end?: () => void } | undefined;
  #last: (Written & { readonly listed: Listed; readonly page: number }) | undefined;
  /** how many pages may be read before an update relies on one of them */
  #pagesLeft = maxTries;
  /** by how many places resources have moved in the list since the plan read it */
  #moved = 0;
  /** the longest time that writes waited lately between their check and their sending, in milliseconds */
  #delay = 0;

  /** Announces a resource that `find` will be asked for. */
  expect({ listedAt, pages }: Listed): void {
    const page = Math.floor(listedAt / pages.size);
    this.#left.set(page, (this.#left.get(page) ?? 0) + 1);
  }

  /** Never rejects. @returns undefined if the resource has to be read alone */
  async find(listed: Listed): Promise<Known | undefined> {
    const left = this.#take(listed);
    for (let trial = this.#trial; trial !== undefined; trial = this.#trial) await trial.over;
    const page = this.#pageOf(listed);
    if (this.#needsTrial(page)) {
      if (left >= fewest) this.#begin(listed);
      return undefined;
    }
    const read = this.#recent(page, listed.now()) ?? this.#open(page, { listed, left });
    if (read === undefined || !(await read.isBelieved)) return undefined;
    const live = await this.#show(listed, page, read.recent);
    if (live?.listedAt === undefined || !this.#isRecent(read, listed.now())) return undefined;
    this.#moved = live.listedAt - listed.listedAt;
    return { at: read.at, live, isShared: true };
  }

  /** A write of this target goes out. @param delay milliseconds since its check */
  sent({ delay, isShared }: { readonly delay: number; readonly isShared: boolean }): void {
    this.#delay = Math.max(delay, this.#delay * 0.97);
    if (isShared) this.#pagesLeft = Math.min(maxTries, this.#pagesLeft + 1);
  }

  /** A resource was created: those behind it move in the list. */
  created(): void {
    this.#moved += 1;
  }

  /** A call has ended. @param written absent if it was not carried out, or its response shows nothing */
  ended(listed: Listed, written?: Written): void {
    if (written !== undefined && listed.change.calls.length === 1)
      this.#last = { ...written, listed, page: this.#pageOf(listed) };
    if (this.#trial?.of !== listed) return;
    const { end } = this.#trial;
    this.#trial = undefined;
    end?.();
  }

  #take({ listedAt, pages }: Listed): number {
    const page = Math.floor(listedAt / pages.size);
    const left = this.#left.get(page) ?? 0;
    this.#left.set(page, left - 1);
    return left;
  }

  #pageOf({ listedAt, pages }: Listed): number {
    return Math.max(0, Math.floor((listedAt + this.#moved) / pages.size));
  }

  /** Whether no page can prove yet that the list shows what is written. */
  #needsTrial(page: number): boolean {
    return this.#trust === 'open' && this.#last?.page !== page;
  }

  #begin(listed: Listed): void {
    if (this.#trialsLeft === 0) return;
    this.#trialsLeft -= 1;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#trial = { of: listed, over: promise, end: resolve };
  }

  #recent(page: number, now: number): PageRead | undefined {
    const read = this.#reads.get(page);
    return read !== undefined && this.#isRecent(read, now) ? read : undefined;
  }

  /** Whether a page will still be recent enough when a write that is checked now goes out. */
  #isRecent({ at }: PageRead, now: number): boolean {
    return this.#trust !== 'lost' && Math.abs(now - at) + Math.max(this.#delay, leastDelay) <= maxAge;
  }

  #open(page: number, about: { readonly listed: Listed; readonly left: number }): PageRead | undefined {
    const { listed, left } = about;
    const proving = this.#trust === 'open' ? 1 : 0;
    const isWorthIt = left + proving >= fewest && this.#pagesLeft > 0 && this.#delay <= maxAge;
    if (this.#trust === 'lost' || !isWorthIt) return undefined;
    this.#pagesLeft -= 1;
    const read = newPageRead(listed);
    for (const [number, old] of this.#reads) if (read.at - old.at > maxAge) this.#reads.delete(number);
    this.#reads.set(page, read);
    read.isBelieved = this.#isBelieved(page, read.recent);
    if (this.#trust === 'open') this.#trial = { over: read.isBelieved };
    return read;
  }

  async #isBelieved(page: number, recent: Session): Promise<boolean> {
    const last = this.#last;
    if (last?.page !== page) return this.#trust === 'proved';
    const shown = await this.#show(last.listed, page, recent);
    // One that has moved to another page proves nothing.
    const isShown = shown === undefined ? this.#trust === 'proved' : shows(shown, last.listed.change, last);
    if (!isShown) this.#trust = 'lost';
    else if (this.#trust === 'open') this.#trust = 'proved';
    if (this.#trial?.of === undefined) this.#trial = undefined;
    return isShown;
  }

  async #show(listed: Listed, page: number, recent: Session): Promise<LiveResource | undefined> {
    const { pages, session, change, id } = listed;
    try {
      return await pages.read(session, { recent, page, address: change.address, id });
    } catch {
      this.#trust = 'lost';
      return undefined;
    }
  }
}

function newPageRead({ openSession, now }: Listed): PageRead {
  const session = openSession();
  const begins = () => {
    read.at = now();
  };
  const reader = { ...session.reader, get: (path: string) => session.reader.get(path, begins) };
  const read = { at: now(), recent: { ...session, reader }, isBelieved: Promise.resolve(false) };
  return read;
}

/**
 * Whether a list shows a written resource: what the change wrote as the response does, the owner and everything else as it was before,
 * or as the response does, because a write may change more.
 */
function shows(shown: LiveResource, { fields }: Change, { before, answered }: Written): boolean {
  const written = new Set(fields.map(({ path: [name = ''] }) => name));
  const isShown = (name: string, value: Json | undefined) => {
    const isAnswered = answered[name] !== undefined && sameJson(shown.spec[name], answered[name]);
    return isAnswered || (!written.has(name) && sameJson(shown.spec[name], value));
  };
  const { evidence } = before;
  return (
    JSON.stringify(shown.evidence) === JSON.stringify(evidence) &&
    Object.entries(before.spec).every(([name, value]) => isShown(name, value))
  );
}
