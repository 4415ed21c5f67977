/**
 * Finds out from audit trails who last modified drifted resources. Trails are read only if there is drift, and never further back than
 * the last apply. A trail that cannot be read is reported, and the command does not fail.
 */
import { type LastModified, TrailError } from '../model/audit-trail.ts';
import type { Coverage } from '../model/plan.ts';
import { type AddressText, formatAddress } from '../model/address.ts';
import { type HistoryEntry, type HistoryStore, LedgerError } from '../model/ledger.ts';
import type { Target } from '../model/stack.ts';
import { WireError } from '../model/http.ts';
import {
  lastModifiedBy,
  type Modifications,
  type ModifiedResource,
  type RunsOfStack,
  runsOfStack,
} from '../plan/attribute-drift.ts';
import { CommandStop } from './command-stop.ts';
import { isHosted } from '../api/workspaces/organization.ts';
import { limits } from '../api/workspaces/workspace.ts';
import { type EventsContext, readEvents, type TrailBound } from './trail-events.ts';

interface TrailContext extends EventsContext {
  readonly store: HistoryStore;
  /** the coverage of the plan that found the drift */
  readonly coverage: Pick<Coverage, 'targets'>;
  /** milliseconds since 1970: earlier events are not read */
  readonly since?: number | undefined;
}

/** The last apply of a resource is searched for in this many applies. */
const mostApplies = 50;

export async function askTrails(
  drifted: readonly ModifiedResource[],
  context: TrailContext,
): Promise<Modifications> {
  const byTarget = Map.groupBy(drifted, ({ address }) => address.target);
  const targets = context.stack.targets.filter(({ name }) => byTarget.has(name));
  if (targets.length === 0) return { byAddress: new Map(), trails: new Map() };
  const history = await readHistory(context.store);
  const asked = await Promise.all(
    targets.map(async (target) => {
      const here = byTarget.get(target.name) ?? [];
      return [target.name, await askTrail(target, here, { ...context, history })] as const;
    }),
  );
  return {
    byAddress: new Map(asked.flatMap(([, { byAddress }]) => [...byAddress])),
    trails: new Map(asked.map(([name, { trail }]) => [name, trail])),
  };
}

type History = readonly (HistoryEntry | LedgerError)[];

/** Newest first. An entry that cannot be read is an error in the list; "trueup history" names it. */
async function readHistory(store: HistoryStore): Promise<History> {
  try {
    return await store.readEntries(mostApplies);
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error;
    return [];
  }
}

interface AskedTrail {
  readonly byAddress: ReadonlyMap<AddressText, LastModified>;
  readonly trail: string;
}

const noToken =
  'no "auditToken" in this target: with one, trueup shows here who modified the drifted resources, and when';

const noTrailThere =
  'who modified the drifted resources is not known: a service that lacks parts of the API has no audit trail';

const noTrailInEdition =
  'who modified the drifted resources is not known: only the hosted edition of the service has an audit trail';

const noTrail = 'who modified the drifted resources is not known: cluster-auth has no audit trail';

async function askTrail(
  target: Target,
  drifted: readonly ModifiedResource[],
  context: TrailContext & { readonly history: History },
): Promise<AskedTrail> {
  const withoutEvents = (trail: string): AskedTrail => ({ byAddress: new Map(), trail });
  if (target.service === 'cluster-auth') return withoutEvents(noTrail);
  try {
    const runs = runsOfStack(target.name, context.history);
    const clockAhead = clockAheadOf(target, context);
    const bound = boundOf(drifted, { ...context, runs, clockAhead });
    const reading = await readEvents(target, bound, { ...context, clockAhead });
    if (reading === undefined) return withoutEvents(await withoutToken(target, context));
    const modifiedBy = lastModifiedBy({ ...reading, clockAhead }, runs);
    const entries = drifted.map((one) => [formatAddress(one.address), modifiedBy(one)] as const);
    return { byAddress: new Map(entries), trail: reading.how };
  } catch (error) {
    const isExpected =
      error instanceof TrailError || error instanceof WireError || error instanceof CommandStop;
    if (!isExpected) throw error;
    return withoutEvents(`who modified the drifted resources is not known: ${error.message}`);
  }
}

/** Recommends a token only where there may be a trail to read with it. */
async function withoutToken(target: Target, context: TrailContext): Promise<string> {
  if (isLimited(target, context)) return noTrailThere;
  const connected = context.connected.targets.find((one) => one.target.name === target.name);
  const isInEdition = connected && (await isHosted(connected.openSession()));
  return isInEdition === false ? noTrailInEdition : noToken;
}

/** Whether a service lacks features of the API, and so has no trail: only hosted services have one, and they have the whole API. */
function isLimited({ name }: Target, { coverage }: TrailContext): boolean {
  const found = coverage.targets.find(({ target }) => target === name);
  const known: readonly string[] = Object.values(limits);
  return found?.limits.some((limit) => known.includes(limit)) === true;
}

/** How far the target's clock is ahead. It is known, because the plan has just read the target, and answers contain its time. */
function clockAheadOf({ name }: Target, { connected }: TrailContext): number | undefined {
  return connected.targets.find(({ target }) => target.name === name)?.connection.clockAhead();
}

interface BoundInput extends Pick<TrailContext, 'since'> {
  readonly runs: RunsOfStack;
  readonly clockAhead: number | undefined;
}

/** How far back events are read, and why no further. */
function boundOf(drifted: readonly ModifiedResource[], { since, runs, clockAhead }: BoundInput): TrailBound {
  const applied = drifted.map(({ address }) => runs.appliedSince(formatAddress(address), clockAhead));
  const isKnown = applied.every((at) => at !== undefined);
  const from = isKnown ? Math.min(...applied) : 0;
  if (since !== undefined && since > from)
    return { from: since, why: 'the trail was read no further back than --since says' };
  return { from, why: 'nothing earlier was asked for' };
}
