/**
 * A service of sample kinds in simulated time, whose list is read in pages of a hundred. It stores the history of each resource, so
 * that a list can be outdated, and records on which read each write relied.
 */
import { applyPlan } from '../../../src/apply/apply-plan.ts';
import { RateController } from '../../../src/api/transport/rate-controller.ts';
import { Throttle } from '../../../src/api/transport/throttle.ts';
import { formatAddress } from '../../../src/model/address.ts';
import type { Outcome } from '../../../src/model/change.ts';
import { type Answer, WireError, type Writer } from '../../../src/model/http.ts';
import type { Kind, Session } from '../../../src/model/kind.ts';
import type { LiveResource } from '../../../src/model/resource.ts';
import { SimulatedClock } from '../http/simulated-clock.ts';
import { parentKind, registryOf } from './sample-kind.ts';
import { at, desired, inputOf, ledgerOf, live, planOf, record } from './sample-plan.ts';

export interface PagedWorld {
  /** the number of resources in the list; each has the colour red */
  readonly count: number;
  /** indices of the resources that the plan makes blue */
  readonly updates: readonly number[];
  readonly perSecond: number;
  /** whether the ledger has records of the updated resources, which is the default */
  readonly hasLedger?: boolean;
  /** milliseconds until a response; `pageAfter` is for pages, with the same default */
  readonly after?: number;
  readonly pageAfter?: number;
  /** the list shows the state of this many milliseconds ago */
  readonly lag?: number;
  /** milliseconds from the beginning at which another user makes a resource green, by index */
  readonly greenAt?: ReadonlyMap<number, number>;
  /** indices of resources that are deleted before the apply, which moves all others in the list */
  readonly gone?: readonly number[];
  /** the number of resources that are new at the start of the list since the plan */
  readonly inserted?: number;
  /** the number of pages after which the list is refused */
  readonly pagesUntilRefused?: number;
  /** indices of resources that pages wrongly show as green */
  readonly falselyGreen?: readonly number[];
  /** what pages do not contain */
  readonly hidden?: 'colour' | 'tag';
  readonly readBeforeWrite?: 'page' | 'resource';
  /** indices of resources whose calls cannot rely on a page */
  readonly alone?: readonly number[];
}

/** The read on which a write relied. */
interface ReliedRead {
  /** the start of the read, in milliseconds from the beginning */
  readonly at: number;
  readonly by: 'page' | 'resource';
}

export interface PagedRun {
  readonly pages: number;
  readonly reads: number;
  readonly writes: readonly (ReliedRead & { readonly index: number; readonly sentAt: number })[];
  readonly outcomes: readonly Outcome[];
  /** milliseconds */
  readonly took: number;
}

const nameOf = (index: number) => `w-${String(index).padStart(6, '0')}`;
const indexOf = (text: string) => Number(/w-(\d+)/.exec(text)?.[1]);

/** Plans these updates, and applies the plan. */
export async function applyPaged(world: PagedWorld): Promise<PagedRun> {
  const service = new PagedService(world);
  const kind = service.kind();
  const recorded = world.hasLedger === false ? [] : world.updates;
  const records = Object.fromEntries(
    recorded.map((index) => {
      const address = at('Parent', nameOf(index));
      return [formatAddress(address), record({ id: `id-${address.name}`, fields: { colour: 'red' } })];
    }),
  );
  const made = {
    records,
    desired: world.updates.map((index) => desired(at('Parent', nameOf(index)), { colour: 'blue' })),
    live: Array.from({ length: world.count }, (_, index) => ({ ...red(index), listIndex: index })),
    kinds: registryOf(kind),
    target: { readBeforeWrite: world.readBeforeWrite ?? ('page' as const) },
  };
  const [target] = inputOf(made).targets;
  if (target === undefined) throw new Error('no target');
  const openSession = (): Session => {
    const read = new Map<string, Promise<unknown>>();
    return {
      target: target.target,
      dialect: target.dialect,
      stack: 'mine',
      reader: { get: (page, begins) => service.get(page, begins), list: notRead },
      lacks: new Set(),
      once: <T>(key: string, start: () => Promise<T>) => {
        const known = read.get(key) ?? start();
        read.set(key, known);
        return known as Promise<T>;
      },
    };
  };
  const { outcomes } = await applyPlan({
    planning: planOf(made),
    kinds: made.kinds,
    targets: new Map([['acme', { session: openSession(), openSession, writer: service.writer() }]]),
    ledger: ledgerOf(records),
    store: { write: async (ledger) => ({ ...ledger, known: true, serial: ledger.serial + 1 }) },
    now: () => service.clock.now(),
    readSecret: async () => 'a secret',
    pause: async () => {},
    tell: () => {},
  });
  return { ...service.counts(), outcomes };
}

async function notRead(): Promise<never> {
  throw new Error('sample kinds are read by readOne');
}

function red(index: number): LiveResource {
  return live(at('Parent', nameOf(index)), { spec: { colour: 'red' }, ownershipTag: 'mine' });
}

class PagedService {
  readonly clock = new SimulatedClock();
  readonly #began = this.clock.now();
  readonly #world: PagedWorld;
  readonly #throttle: Throttle;
  /** the time at which a write of ours made a resource blue, by index */
  readonly #blueAt = new Map<number, number>();
  readonly #relied = new Map<number, ReliedRead>();
  readonly #writes: PagedRun['writes'][number][] = [];
  readonly #order: readonly (number | undefined)[];
  /** the latest content of each page */
  readonly #found = new Map<number, { readonly began: number; readonly found: readonly LiveResource[] }>();
  /** the latest result of the single read of each resource */
  readonly #foundAlone = new Map<string, LiveResource | undefined>();
  #pages = 0;
  #reads = 0;

  constructor(world: PagedWorld) {
    this.#world = world;
    const rate = { initial: world.perSecond, highest: world.perSecond, clock: this.clock };
    this.#throttle = new Throttle({ rate: new RateController(rate), slots: 10, clock: this.clock });
    const gone = new Set(world.gone);
    const left = Array.from({ length: world.count }, (_, index) => index).filter((index) => !gone.has(index));
    this.#order = [...Array.from({ length: world.inserted ?? 0 }, () => undefined), ...left];
  }

  counts(): Omit<PagedRun, 'outcomes'> {
    return { pages: this.#pages, reads: this.#reads, writes: this.#writes, took: this.#now() };
  }

  kind(): Kind {
    return {
      ...parentKind,
      readOne: async ({ reader }, { name }) => {
        await reader.get(name);
        return this.#foundAlone.get(name);
      },
      pages: {
        size: 100,
        read: async (_, { page, recent, id }) => {
          const { began, found } = await recent.once(`page ${page}`, async () => {
            const { status } = await recent.reader.get(`${page}`);
            const found = this.#found.get(page);
            if (status !== 200 || found === undefined)
              throw new WireError('the page is refused', { method: 'GET', url: `${page}`, sent: true });
            return found;
          });
          const resource = found.find((one) => one.id === id);
          if (resource !== undefined) this.#relied.set(indexOf(id), { at: began, by: 'page' });
          return resource;
        },
      },
      calls: (change, context) => {
        const { calls } = parentKind.calls(change, context);
        const isAlone = this.#world.alone?.includes(indexOf(change.address.name));
        return { calls: isAlone ? calls : calls.map((call) => ({ ...call, sharesRead: true as const })) };
      },
      fieldsFromResponse: (_, { body }) => ({ about: ['colour'], spec: body as LiveResource['spec'] }),
    };
  }

  writer(): Writer {
    return {
      send: async ({ method, path, permit }) => {
        const leave = await this.#throttle.enter(undefined, { isUrgent: true });
        try {
          await permit?.().catch((cause: unknown) => {
            throw new WireError('not permitted', { method, url: path, sent: false, cause });
          });
          const index = indexOf(path);
          const relied = this.#relied.get(index);
          if (relied === undefined) throw new Error(`${path} was never read`);
          this.#writes.push({ index, sentAt: this.#now(), ...relied });
          this.#blueAt.set(index, this.#now());
          await this.clock.wait(this.#world.after ?? 20);
          const { spec } = this.#shown(index, this.#now());
          return { method, url: path, status: 200, body: { ...spec }, words: '' };
        } finally {
          leave();
        }
      },
    };
  }

  /** Returns a resource or a page in its state at the time of the request. */
  async get(path: string, begins: () => void = () => {}): Promise<Answer> {
    return Number.isNaN(indexOf(path)) ? this.#getPage(path, begins) : this.#getOne(path, begins);
  }

  async #getOne(name: string, begins: () => void): Promise<Answer> {
    this.#reads += 1;
    const found = await this.#answer(this.#world.after, (began) => {
      begins();
      const index = indexOf(name);
      this.#relied.set(index, { at: began, by: 'resource' });
      return this.#isGone(index) ? undefined : this.#shown(index, began);
    });
    this.#foundAlone.set(name, found);
    return { method: 'GET', url: name, status: 200, body: null, words: '' };
  }

  async #getPage(page: string, begins: () => void): Promise<Answer> {
    this.#pages += 1;
    const isRefused = this.#pages > (this.#world.pagesUntilRefused ?? Number.POSITIVE_INFINITY);
    const { pageAfter = this.#world.after, lag = 0 } = this.#world;
    const found = await this.#answer(pageAfter, (began) => {
      begins();
      return { began, found: this.#onPage(Number(page), began - lag) };
    });
    this.#found.set(Number(page), found);
    return { method: 'GET', url: page, status: isRefused ? 403 : 200, body: null, words: '' };
  }

  #onPage(page: number, when: number): LiveResource[] {
    const places = this.#order.slice(page * 100, page * 100 + 100);
    return places.flatMap((index, place) =>
      index === undefined ? [] : [this.#inList(this.#listed(index, when), page * 100 + place)],
    );
  }

  #inList({ spec, evidence, ...rest }: LiveResource, listIndex: number): LiveResource {
    const { hidden } = this.#world;
    const { colour: _, ...others } = spec;
    return {
      ...rest,
      listIndex,
      spec: hidden === 'colour' ? others : spec,
      evidence: hidden === 'tag' ? {} : evidence,
    };
  }

  /** @param readNow called at the time of the request, before the response takes its time */
  async #answer<T>(after: number | undefined, readNow: (began: number) => T): Promise<T> {
    const leave = await this.#throttle.enter(undefined, { isRead: true });
    try {
      const seen = readNow(this.#now());
      await this.clock.wait(after ?? 20);
      return seen;
    } finally {
      leave();
    }
  }

  #listed(index: number, when: number): LiveResource {
    const shown = this.#shown(index, when);
    const isFalse = this.#world.falselyGreen?.includes(index) === true;
    return isFalse ? { ...shown, spec: { ...shown.spec, colour: 'green' } } : shown;
  }

  #shown(index: number, when: number): LiveResource {
    const [blue = Number.POSITIVE_INFINITY, green = Number.POSITIVE_INFINITY] = [
      this.#blueAt.get(index),
      this.#world.greenAt?.get(index),
    ];
    const last = Math.max(blue <= when ? blue : -1, green <= when ? green : -1);
    const colour = last === -1 ? 'red' : last === blue ? 'blue' : 'green';
    const resource = red(index);
    return { ...resource, spec: { ...resource.spec, colour } };
  }

  #isGone(index: number): boolean {
    return this.#world.gone?.includes(index) === true;
  }

  /** Milliseconds from the beginning. */
  #now(): number {
    return this.clock.now() - this.#began;
  }
}
