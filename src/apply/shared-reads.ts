/**
 * Reads that the changes of one target share: the current defaults of parents, and pages of a list, each of which shows many
 * resources that are updated within seconds.
 */
import type { Change } from '../model/change.ts';
import { type Json, sameJson } from '../model/json.ts';
import type { Kind, Session } from '../model/kind.ts';
import type { LiveResource, Spec } from '../model/resource.ts';

/** How old a read may be when the write that relies on it is sent, in milliseconds. */
export const maxAge = 3000;

/** The session in which parents were last read: all changes of a target share what it read in the last seconds. */
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
  /** it is from a page that shows other resources, too */
  readonly isShared?: true;
}

/** A resource that the plan has found in a list, and that may be read again on a page of that list. */
export interface Listed {
  readonly change: Change;
  readonly id: string;
  /** the values in the ledger, also of fields that are not declared */
  readonly recorded: Spec;
  /** index in the list */
  readonly listIndex: number;
  readonly kind: Kind;
  readonly pages: NonNullable<Kind['pages']>;
  readonly session: Session;
  openSession(): Session;
  /** milliseconds since 1970 */
  now(): number;
}

/** An update of this apply that verifies pages: a page that was read later must show it. */
interface RecentUpdate {
  readonly listed: Listed;
  /** as it was read before the write */
  readonly before: LiveResource;
  /** the fields that the response returned */
  readonly returned: Spec;
  /** names of fields that the update has changed */
  readonly changed: readonly string[];
  /** when it was sent, in milliseconds: a list may show the state of that time, and its response may come later */
  readonly at: number;
}

interface PageRead {
  /** when its request was sent, in milliseconds */
  sentAt: number;
  /** when the update that it must show was made, in milliseconds: its content may be that old */
  readonly at: number;
  /** a session that reads the page once */
  readonly recent: Session;
  /** whether the page shows the update */
  isVerified: Promise<boolean>;
  hasFailed: boolean;
}

/** Reading a page is not worth it for fewer updates. */
const minUpdates = 3;

/** A checked write is expected to wait at least this many milliseconds until it is sent. Its page must be recent even then. */
const minDelay = 600;

/** The maximum number of trials in a row without a verified page, and of pages in a row on which no update relies. */
const maxTries = 3;

/**
 * The pages of the resources of one kind in one target. Any page, and any field of it, may lag or show less than the resource itself.
 * So a page is used only if it shows an update that was made since the page was last read. Its content counts as read at that time.
 * An update relies on a page only if some page has shown a changed value of each of its fields. Otherwise its resource is read alone;
 * other updates may wait for that update (a trial), because the page must show it afterwards.
 */
export class PageReads {
  /** the number of resources that `find` was not asked for yet, by the page on which the plan found them */
  readonly #left = new Map<number, number>();
  readonly #reads = new Map<number, PageRead>();
  /** the last few, the newest last */
  #recentUpdates: readonly RecentUpdate[] = [];
  /** names of fields for which a page has shown a changed value */
  readonly #provedFields = new Set<string>();
  /** a page has contradicted an update, or could not be read: no more pages are used */
  #areUnusable = false;
  /** updates whose resource is read alone while all others of their page wait, by page */
  readonly #trials = new Map<
    number,
    { readonly listed: Listed; readonly ended: Promise<void>; end(): void }
  >();
  #trialsLeft = maxTries;
  /** how many pages may be read before an update relies on one of them */
  #pagesLeft = maxTries;
  /** by how many places resources have moved in the list since the plan read it */
  #moved = 0;
  /** the longest time that recent writes waited between their check and their sending, in milliseconds */
  #delay = 0;

  /** Announces a resource that `find` will be asked for. */
  expect({ listIndex, pages }: Listed): void {
    const page = Math.floor(listIndex / pages.size);
    this.#left.set(page, (this.#left.get(page) ?? 0) + 1);
  }

  /** Never rejects. @returns undefined if the resource has to be read alone */
  async find(listed: Listed): Promise<Known | undefined> {
    const left = this.#countDown(listed);
    for (;;) {
      const page = this.#pageOf(listed);
      const trial = this.#trials.get(page);
      if (trial !== undefined) {
        await trial.ended;
        continue;
      }
      const read = this.#readOf(page, { listed, left });
      if (read !== undefined && !(await read.isVerified)) continue;
      if (read !== undefined && this.#areFieldsProved(listed)) return this.#foundOn(read, page, listed);
      if (this.#trials.has(page)) continue;
      if (left >= minUpdates) this.#beginTrial(listed, page);
      return undefined;
    }
  }

  /** Called when a write of this target is sent. @param delay milliseconds since its check */
  sent({ delay, isShared }: { readonly delay: number; readonly isShared: boolean }): void {
    this.#delay = Math.max(delay, this.#delay * 0.97);
    if (isShared) this.#pagesLeft = Math.min(maxTries, this.#pagesLeft + 1);
  }

  /** Called when a resource was created: the resources after it move in the list. */
  created(): void {
    this.#moved += 1;
  }

  /** Called when a call has ended. @param written absent if it was not carried out, or its response has no fields */
  ended(
    listed: Listed,
    written?: { readonly before: LiveResource; readonly returned: Spec; readonly sentAt: number } | undefined,
  ): void {
    if (written !== undefined && listed.change.calls.length === 1) {
      const { sentAt: at, ...fields } = written;
      const changed = changedBy(listed, fields);
      const update = { ...fields, listed, changed, at };
      if (changed.length > 0)
        this.#recentUpdates = [...this.#recentUpdates.slice(1 - listed.pages.size), update];
    }
    for (const [page, trial] of this.#trials) {
      if (trial.listed !== listed) continue;
      this.#trials.delete(page);
      trial.end();
    }
  }

  #countDown({ listIndex, pages }: Listed): number {
    const page = Math.floor(listIndex / pages.size);
    const left = this.#left.get(page) ?? 0;
    this.#left.set(page, left - 1);
    return left;
  }

  #pageOf({ listIndex, pages }: Listed): number {
    return Math.max(0, Math.floor((listIndex + this.#moved) / pages.size));
  }

  #areFieldsProved({ change }: Listed): boolean {
    return change.fields.every(({ path: [name = ''] }) => this.#provedFields.has(name));
  }

  #beginTrial(listed: Listed, page: number): void {
    if (this.#trialsLeft === 0 || this.#areUnusable) return;
    this.#trialsLeft -= 1;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#trials.set(page, { listed, ended: promise, end: resolve });
  }

  /** A recent read of the page, or a new one if that is worth it and an update can verify that the page is recent. */
  #readOf(
    page: number,
    { listed, left }: { readonly listed: Listed; readonly left: number },
  ): PageRead | undefined {
    const known = this.#reads.get(page);
    if (known !== undefined && !known.hasFailed && this.#isRecent(known, listed.now())) return known;
    const update = this.#recentUpdates.findLast(
      (one) => this.#pageOf(one.listed) === page && one.at > (known?.sentAt ?? Number.NEGATIVE_INFINITY),
    );
    const isWorthIt = left >= minUpdates - 1 && this.#pagesLeft > 0;
    // The request for the page has to wait, too.
    const readAt = listed.now() + Math.max(this.#delay, minDelay);
    if (update === undefined || !this.#isRecent(update, readAt) || !isWorthIt) return undefined;
    this.#pagesLeft -= 1;
    const read = newPageRead(listed, update.at);
    this.#reads.set(page, read);
    read.isVerified = this.#verify(page, read.recent, update).then((isVerified) => {
      read.hasFailed = !isVerified;
      return isVerified;
    });
    return read;
  }

  /** Whether a page will still be recent enough when a write that is checked at `now` is sent. */
  #isRecent({ at }: { readonly at: number }, now: number): boolean {
    return !this.#areUnusable && now - at + Math.max(this.#delay, minDelay) <= maxAge;
  }

  async #verify(page: number, recent: Session, update: RecentUpdate): Promise<boolean> {
    const shown = await this.#readFromPage(update.listed, page, recent);
    // A resource that has moved to another page proves nothing.
    if (shown === undefined) return false;
    if (!shows(shown, update)) {
      this.#areUnusable = true;
      return false;
    }
    for (const name of update.changed) this.#provedFields.add(name);
    this.#trialsLeft = maxTries;
    return true;
  }

  async #foundOn(read: PageRead, page: number, listed: Listed): Promise<Known | undefined> {
    const live = await this.#readFromPage(listed, page, read.recent);
    if (live?.listIndex === undefined || !this.#isRecent(read, listed.now())) return undefined;
    this.#moved = live.listIndex - listed.listIndex;
    return { at: read.at, live, isShared: true };
  }

  async #readFromPage(listed: Listed, page: number, recent: Session): Promise<LiveResource | undefined> {
    const { pages, session, change, id } = listed;
    try {
      return await pages.read(session, { recent, page, address: change.address, id });
    } catch {
      this.#areUnusable = true;
      return undefined;
    }
  }
}

function newPageRead({ openSession, now }: Listed, at: number): PageRead {
  const session = openSession();
  const begins = () => {
    read.sentAt = now();
  };
  const reader = { ...session.reader, get: (path: string) => session.reader.get(path, begins) };
  const read = {
    sentAt: now(),
    at,
    recent: { ...session, reader },
    isVerified: Promise.resolve(false),
    hasFailed: false,
  };
  return read;
}

/**
 * Names of the fields that a change wrote and whose value in the response is new: neither the value before the change nor the
 * recorded one, which an old list may show as well.
 */
function changedBy(
  { change, recorded }: Listed,
  { before, returned }: Pick<RecentUpdate, 'before' | 'returned'>,
): readonly string[] {
  const names = [...new Set(change.fields.map(({ path: [name = ''] }) => name))];
  return names.filter(
    (name) =>
      returned[name] !== undefined &&
      !sameJson(returned[name], before.spec[name]) &&
      !sameJson(returned[name], recorded[name]),
  );
}

/**
 * Whether a list shows an update. The fields that the change wrote must be as in the response. The owner, and the facts that the write
 * relied on, must be as before; all other fields as before or as in the response, because a write may change more.
 */
function shows(shown: LiveResource, { listed, before, returned, changed }: RecentUpdate): boolean {
  const written = new Set(listed.change.fields.map(({ path: [name = ''] }) => name));
  const isShown = (name: string, value: Json | undefined) => {
    const isReturned = returned[name] !== undefined && sameJson(shown.spec[name], returned[name]);
    return isReturned || (!written.has(name) && sameJson(shown.spec[name], value));
  };
  const { evidence, facts } = before;
  const reliedOn = listed.change.calls.flatMap(({ reliesOn = [] }) => reliesOn);
  return (
    JSON.stringify(shown.evidence) === JSON.stringify(evidence) &&
    changed.every((name) => sameJson(shown.spec[name], returned[name])) &&
    reliedOn.every((name) => sameJson(shown.facts[name], facts[name])) &&
    Object.entries(before.spec).every(([name, value]) => isShown(name, value))
  );
}
