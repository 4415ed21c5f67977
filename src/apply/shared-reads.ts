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
  /** the fields that the ledger records */
  readonly recorded: Spec;
  /** index in the list */
  readonly listedAt: number;
  readonly kind: Kind;
  readonly pages: NonNullable<Kind['pages']>;
  readonly session: Session;
  openSession(): Session;
  /** milliseconds since 1970 */
  now(): number;
}

/** A written resource that shows whether a page is recent: a list has to show it like this from now on. */
interface Witness {
  readonly listed: Listed;
  /** as it was read before the write */
  readonly before: LiveResource;
  /** what the response shows */
  readonly answered: Spec;
  /** names of fields that the write has changed */
  readonly changed: readonly string[];
  /** when its response came, in milliseconds */
  readonly at: number;
}

interface PageRead {
  /** when its request was sent, in milliseconds */
  sentAt: number;
  /** how old its content may be: when what it has to show was written, in milliseconds */
  readonly at: number;
  /** in which the page is read once */
  readonly recent: Session;
  isBelieved: Promise<boolean>;
  isRefuted: boolean;
}

/** Fewer updates than this are not worth a page. */
const fewest = 3;

/** How long a write is expected to wait for its turn at least, in milliseconds: a page is not used to the last moment. */
const leastDelay = 600;

/** How many updates are sent alone without a page that is believed afterwards, and how many pages may cost more than they save. */
const maxTries = 3;

/**
 * The pages of the resources of one kind in one target. Lists may lag, or show less than a resource itself, and each page or field may
 * do so for itself. So a page is believed only if it shows what was written since it was read before, and counts as old as that write.
 * An update relies on it only if some page has shown a changed value of each of its fields. An update that cannot rely on a page is read alone; others may wait for it,
 * because the page has to show it then.
 */
export class PageReads {
  /** the number of resources that were not asked for yet, by the page on which the plan found them */
  readonly #left = new Map<number, number>();
  readonly #reads = new Map<number, PageRead>();
  /** the newest ones, the last at the end */
  #witnesses: readonly Witness[] = [];
  /** names of fields of which a page has shown a changed value */
  readonly #provedFields = new Set<string>();
  /** a page has contradicted what was written, or could not be read */
  #isLost = false;
  /** updates that are read alone while all others of their page wait, by page */
  readonly #trials = new Map<number, { readonly of: Listed; readonly over: Promise<void>; end(): void }>();
  #trialsLeft = maxTries;
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
    for (;;) {
      const page = this.#pageOf(listed);
      const trial = this.#trials.get(page);
      if (trial !== undefined) {
        await trial.over;
        continue;
      }
      const read = this.#readOf(page, { listed, left });
      if (read !== undefined && !(await read.isBelieved)) continue;
      if (read !== undefined && this.#areProved(listed)) return this.#foundOn(read, page, listed);
      if (this.#trials.has(page)) continue;
      if (left >= fewest) this.#begin(listed, page);
      return undefined;
    }
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
  ended(
    listed: Listed,
    written?: { readonly before: LiveResource; readonly answered: Spec } | undefined,
  ): void {
    if (written !== undefined && listed.change.calls.length === 1) {
      const changed = changedBy(listed, written);
      const witness = { ...written, listed, changed, at: listed.now() };
      if (changed.length > 0) this.#witnesses = [...this.#witnesses.slice(1 - listed.pages.size), witness];
    }
    for (const [page, { of, end }] of this.#trials) {
      if (of !== listed) continue;
      this.#trials.delete(page);
      end();
    }
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

  #areProved({ change }: Listed): boolean {
    return change.fields.every(({ path: [name = ''] }) => this.#provedFields.has(name));
  }

  #begin(listed: Listed, page: number): void {
    if (this.#trialsLeft === 0 || this.#isLost) return;
    this.#trialsLeft -= 1;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#trials.set(page, { of: listed, over: promise, end: resolve });
  }

  /** A recent read of the page, or a new one if it is worth it and something can show that it is recent. */
  #readOf(
    page: number,
    { listed, left }: { readonly listed: Listed; readonly left: number },
  ): PageRead | undefined {
    const known = this.#reads.get(page);
    if (known !== undefined && !known.isRefuted && this.#isRecent(known, listed.now())) return known;
    const witness = this.#witnesses.findLast(
      (one) => this.#pageOf(one.listed) === page && one.at > (known?.sentAt ?? Number.NEGATIVE_INFINITY),
    );
    const isWorthIt = left >= fewest - 1 && this.#pagesLeft > 0;
    // The page waits for its turn, too.
    const answered = listed.now() + Math.max(this.#delay, leastDelay);
    if (witness === undefined || !this.#isRecent(witness, answered) || !isWorthIt) return undefined;
    this.#pagesLeft -= 1;
    const read = newPageRead(listed, witness.at);
    this.#reads.set(page, read);
    read.isBelieved = this.#isBelieved(page, read.recent, witness).then((isBelieved) => {
      read.isRefuted = !isBelieved;
      return isBelieved;
    });
    return read;
  }

  /** Whether a page will still be recent enough when a write that is checked now goes out. */
  #isRecent({ at }: { readonly at: number }, now: number): boolean {
    return !this.#isLost && now - at + Math.max(this.#delay, leastDelay) <= maxAge;
  }

  async #isBelieved(page: number, recent: Session, witness: Witness): Promise<boolean> {
    const shown = await this.#show(witness.listed, page, recent);
    // One that has moved to another page proves nothing.
    if (shown === undefined) return false;
    if (!shows(shown, witness)) {
      this.#isLost = true;
      return false;
    }
    for (const name of witness.changed) this.#provedFields.add(name);
    this.#trialsLeft = maxTries;
    return true;
  }

  async #foundOn(read: PageRead, page: number, listed: Listed): Promise<Known | undefined> {
    const live = await this.#show(listed, page, read.recent);
    if (live?.listedAt === undefined || !this.#isRecent(read, listed.now())) return undefined;
    this.#moved = live.listedAt - listed.listedAt;
    return { at: read.at, live, isShared: true };
  }

  async #show(listed: Listed, page: number, recent: Session): Promise<LiveResource | undefined> {
    const { pages, session, change, id } = listed;
    try {
      return await pages.read(session, { recent, page, address: change.address, id });
    } catch {
      this.#isLost = true;
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
    isBelieved: Promise.resolve(false),
    isRefuted: false,
  };
  return read;
}

/**
 * Names of the fields that a change wrote and that its response shows with a new value: another one than before, and than the one that
 * this stack wrote last, which an old list may show as well.
 */
function changedBy(
  { change, recorded }: Listed,
  { before, answered }: Pick<Witness, 'before' | 'answered'>,
): readonly string[] {
  const names = [...new Set(change.fields.map(({ path: [name = ''] }) => name))];
  return names.filter(
    (name) =>
      answered[name] !== undefined &&
      !sameJson(answered[name], before.spec[name]) &&
      !sameJson(answered[name], recorded[name]),
  );
}

/**
 * Whether a list shows a written resource: what the change wrote as the response does, the owner and everything else as it was before,
 * or as the response does, because a write may change more. Facts that the write relied on are as before.
 */
function shows(shown: LiveResource, { listed, before, answered, changed }: Witness): boolean {
  const written = new Set(listed.change.fields.map(({ path: [name = ''] }) => name));
  const isShown = (name: string, value: Json | undefined) => {
    const isAnswered = answered[name] !== undefined && sameJson(shown.spec[name], answered[name]);
    return isAnswered || (!written.has(name) && sameJson(shown.spec[name], value));
  };
  const { evidence, facts } = before;
  const reliedOn = listed.change.calls.flatMap(({ reliesOn = [] }) => reliesOn);
  return (
    JSON.stringify(shown.evidence) === JSON.stringify(evidence) &&
    changed.every((name) => sameJson(shown.spec[name], answered[name])) &&
    reliedOn.every((name) => sameJson(shown.facts[name], facts[name])) &&
    Object.entries(before.spec).every(([name, value]) => isShown(name, value))
  );
}
