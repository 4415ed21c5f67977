/**
 * Asks the audit trails who touched what drifted: only where something drifted, never further back than the last apply, and never
 * so that a report fails. What a trail does not give is said instead (rule 50).
 */
import { readTrail } from '../../audit/trail/read-trail.ts';
import { type TrailChannel, TrailError, type TrailEvent, trailRetention } from '../../model/audit-trail.ts';
import { counted } from '../../model/counted.ts';
import type { Touched } from '../../model/plan/touch.ts';
import { type AddressText, formatAddress } from '../../model/resource/address.ts';
import { type HistoryEntry, type HistoryStore, LedgerError } from '../../model/stack/ledger.ts';
import type { Stack, Target } from '../../model/stack/target.ts';
import { WireError } from '../../model/wire.ts';
import {
  clockSkew,
  lastApplied,
  type TouchedResource,
  type TrailReading,
  whoTouched,
} from '../../plan/drift/who-touched.ts';
import type { Touches } from '../../plan/drift/with-touches.ts';
import { auditedTargets, connectToAudit } from '../run/connect-audit.ts';
import type { Connected } from '../run/connect.ts';
import { SecretError } from '../run/read-secret.ts';
import type { RunTime } from '../run/run-time.ts';
import type { CliHost } from '../cli-host.ts';

interface TrailContext {
  readonly stack: Stack;
  readonly host: CliHost;
  readonly time: RunTime;
  readonly store: HistoryStore;
  readonly connected: Connected;
  /** milliseconds since 1970: nothing earlier is asked for */
  readonly since?: number | undefined;
}

/** So many applies are looked through for the last one of a resource. */
const mostApplies = 50;

/** A trail with more pages is one to be archived. */
const mostPages = 20;

/** How long a report waits for a trail, in milliseconds. */
const patience = 60_000;

export async function askTrails(
  drifted: readonly TouchedResource[],
  context: TrailContext,
): Promise<Touches> {
  const byTarget = Map.groupBy(drifted, ({ address }) => address.target);
  const targets = context.stack.targets.filter(({ name }) => byTarget.has(name));
  if (targets.length === 0) return { touched: new Map(), trails: new Map() };
  const history = await readHistory(context.store);
  const asked = await Promise.all(
    targets.map(async (target) => {
      const here = byTarget.get(target.name) ?? [];
      return [target.name, await askTrail(target, here, { ...context, history })] as const;
    }),
  );
  return {
    touched: new Map(asked.flatMap(([, { touched }]) => [...touched])),
    trails: new Map(asked.map(([name, { trail }]) => [name, trail])),
  };
}

/** Newest first. Entries that cannot be read tell nothing; "trueup history" names them. */
async function readHistory(store: HistoryStore): Promise<readonly HistoryEntry[]> {
  try {
    const entries = await store.readEntries(mostApplies);
    return entries.flatMap((entry) => (entry instanceof LedgerError ? [] : [entry]));
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error;
    return [];
  }
}

interface AskedTrail {
  readonly touched: ReadonlyMap<AddressText, Touched>;
  readonly trail: string;
}

const noToken =
  'no "auditToken" in this target: with one, it would be shown here who touched what drifted, and when';

const noTrail = 'who touched what drifted is not known: cluster-auth has no audit trail';

async function askTrail(
  target: Target,
  drifted: readonly TouchedResource[],
  context: TrailContext & { readonly history: readonly HistoryEntry[] },
): Promise<AskedTrail> {
  const unasked = (trail: string): AskedTrail => ({ touched: new Map(), trail });
  if (target.service === 'cluster-auth') return unasked(noTrail);
  if (!auditedTargets({ targets: [target] }).includes(target)) return unasked(noToken);
  try {
    const { history } = context;
    const reading = await readLive(target, boundOf(drifted, context), context);
    const touched = drifted.map(
      (one) => [formatAddress(one.address), whoTouched(one, reading, history)] as const,
    );
    const since = new Date(reading.from).toISOString();
    const requests = counted(reading.requests, 'request');
    return { touched: new Map(touched), trail: `audit trail since ${since}: ${requests}` };
  } catch (error) {
    const isForeseen =
      error instanceof TrailError || error instanceof WireError || error instanceof SecretError;
    if (!isForeseen) throw error;
    return unasked(`who touched what drifted is not known: ${error.message}`);
  }
}

type TrailBound = Pick<TrailReading, 'from' | 'why'>;

/** How far back the trail is worth being read, and why no further. */
function boundOf(
  drifted: readonly TouchedResource[],
  {
    host,
    since,
    history,
  }: Pick<TrailContext, 'host' | 'since'> & { readonly history: readonly HistoryEntry[] },
): TrailBound {
  const kept: TrailBound = {
    from: host.now() - trailRetention + clockSkew,
    why: `the service keeps its trail for ${trailRetention / 86_400_000} days`,
  };
  const applied = drifted.map(({ address }) => lastApplied(formatAddress(address), history));
  const isKnown = applied.every((at) => at !== undefined);
  const bounds: TrailBound[] = [
    kept,
    ...(since === undefined
      ? []
      : [{ from: since, why: 'the trail was read no further back than --since says' }]),
    ...(isKnown
      ? [{ from: Math.min(...applied) - clockSkew, why: 'nothing before the last apply was asked for' }]
      : []),
  ];
  return bounds.reduce((latest, bound) => (bound.from > latest.from ? bound : latest));
}

/** @throws TrailError, WireError, SecretError */
async function readLive(
  target: Target,
  bound: TrailBound,
  { stack, host, time, connected: { embedded } }: TrailContext,
): Promise<TrailReading & { readonly requests: number }> {
  const impatience = new AbortController();
  const why = new Error(`the audit trail of target "${target.name}" was not answered within a minute`);
  const timer = setTimeout(() => impatience.abort(why), patience);
  const until = Math.min(time.deadline.until, host.now() + patience);
  const signal = AbortSignal.any([time.over, impatience.signal]);
  try {
    const limits = { deadline: { until }, signal, leave: time.leave };
    const { trails, close } = await connectToAudit({ stack, targets: [target], embedded }, host, limits);
    try {
      const [channel] = trails.map((trail) => trail.channel);
      if (channel === undefined) throw new Error(`no way to the audit trail of target ${target.name}`);
      return { ...bound, ...(await readEvents(channel, bound.from)), requests: channel.requests() };
    } finally {
      await close();
    }
  } finally {
    clearTimeout(timer);
  }
}

/** @param from the service leaves out an event of exactly the time that it is given (wire/audit-trails 1.1) */
async function readEvents(
  channel: TrailChannel,
  from: number,
): Promise<Pick<TrailReading, 'events' | 'cut'>> {
  const events: TrailEvent[] = [];
  const pages = readTrail(channel, { since: from - 1, maxPages: mostPages });
  for (;;) {
    const { done, value } = await pages.next();
    if (!done) events.push(...value);
    else if (value.sawAll) return { events };
    else {
      const cut = `the audit trail was not looked at further than ${value.pages} pages: use an archive of it (trueup audit archive)`;
      return { events, cut };
    }
  }
}
