/**
 * A service of sample kinds in memory: reads return the live resources, and every write is recorded and gets the response that the
 * test wants. It does not change resources: its purpose is to show what the applier sends, and when.
 */
import { type Applied, type ApplyInput, applyPlan } from '../../../src/apply/apply-plan.ts';
import type { LockGuard } from '../../../src/apply/keep-ledger.ts';
import { formatAddress } from '../../../src/model/address.ts';
import type { ApplyEvent, Outcome } from '../../../src/model/change.ts';
import type { Ledger } from '../../../src/model/ledger.ts';
import type { LiveResource } from '../../../src/model/resource.ts';
import { type Answer, WireError, type WireRequest } from '../../../src/model/http.ts';
import { samples } from './sample-kind.ts';
import { inputOf, ledgerOf, planOf, type World } from './sample-plan.ts';

export interface Script {
  /** the response to a request; by default all succeed, and created resources get the ids 1, 2, 3 */
  readonly answer?: (request: WireRequest) => Partial<Answer> | Error | undefined;
  /** the live resources at the time of the apply; by default those of the plan */
  readonly now?: readonly LiveResource[];
  readonly readFails?: Error;
  /** milliseconds; always 0 by default */
  readonly clock?: () => number;
  readonly stop?: AbortSignal;
  readonly writeLedger?: (ledger: Ledger) => Promise<Ledger>;
  readonly lockGuard?: LockGuard;
  readonly tell?: (event: ApplyEvent) => void;
}

export interface AppliedSamples extends Applied {
  /** `POST /wholes`, in the order in which they were sent */
  readonly sent: readonly string[];
  readonly requests: readonly WireRequest[];
  readonly events: readonly ApplyEvent[];
  /** each ledger that was written, with the number of requests before it */
  readonly written: readonly { readonly ledger: Ledger; readonly after: number }[];
  /** `Parent/acme/app: applied` */
  readonly summary: readonly string[];
}

/** Plans this world, and applies the plan. */
export async function applySamples(world: World, script: Script = {}): Promise<AppliedSamples> {
  const requests: WireRequest[] = [];
  const events: ApplyEvent[] = [];
  const written: { ledger: Ledger; after: number }[] = [];
  const input = inputOf(world);
  const now = new Map((script.now ?? world.live ?? []).map((found) => [formatAddress(found.address), found]));
  const kinds = new Map(
    [...(world.kinds ?? samples)].map(([name, kind]) => [
      name,
      {
        ...kind,
        readOne: async (_: unknown, address: LiveResource['address']) => {
          if (script.readFails !== undefined) throw script.readFails;
          return now.get(formatAddress(address));
        },
      },
    ]),
  );
  let created = 0;
  const send = async (request: WireRequest): Promise<Answer> => {
    await request.permit?.().catch((cause: unknown) => {
      throw new WireError('not permitted', { method: request.method, url: request.path, sent: false, cause });
    });
    requests.push(request);
    const answer = script.answer?.(request);
    if (answer instanceof Error) throw answer;
    await Promise.resolve();
    const status = request.method === 'POST' ? 201 : 200;
    created += request.method === 'POST' ? 1 : 0;
    const url = `https://toys.test${request.path}`;
    return { method: request.method, url, status, body: { id: `${created}` }, words: '', ...answer };
  };
  const applied = await applyPlan({
    planning: planOf(world),
    kinds,
    targets: new Map(
      input.targets.map(({ target, dialect }) => [target.name, sampleTarget(target, dialect, send)]),
    ),
    ledger: ledgerOf(world.records ?? {}, world.ledger ?? true),
    store: {
      write: async (ledger) => {
        if (script.writeLedger !== undefined) return script.writeLedger(ledger);
        const stored = { ...ledger, known: true, serial: ledger.serial + 1 };
        written.push({ ledger: stored, after: requests.length });
        return stored;
      },
    },
    ...(script.stop === undefined ? {} : { stop: script.stop }),
    ...(script.lockGuard === undefined ? {} : { lockGuard: script.lockGuard }),
    now: script.clock ?? (() => 0),
    readSecret: async () => 'a secret',
    pause: async () => {},
    tell: (event) => {
      events.push(event);
      script.tell?.(event);
    },
  });
  const sent = requests.map(({ method, path }) => `${method} ${path}`);
  return { ...applied, sent, requests, events, written, summary: applied.outcomes.map(summarize) };
}

function sampleTarget(
  target: ReturnType<typeof inputOf>['targets'][number]['target'],
  dialect: ReturnType<typeof inputOf>['targets'][number]['dialect'],
  send: (request: WireRequest) => Promise<Answer>,
): ApplyInput['targets'] extends ReadonlyMap<string, infer T> ? T : never {
  const silent = async () => {
    throw new Error('toys are read by readOne');
  };
  return {
    session: {
      target,
      dialect,
      stack: 'mine',
      reader: { get: silent, list: silent },
      lacks: new Set(),
      once: (_, read) => read(),
    },
    writer: { send },
  };
}

function summarize({ address, kind }: Outcome): string {
  return `${formatAddress(address)}: ${kind}`;
}
