/** What the history of a stack tells of its writes to one target: when each resource was last applied, and by which requests (rule 50). */
import { type AddressText, parseAddress } from '../../model/resource/address.ts';
import type { HistoryChange, HistoryEntry } from '../../model/stack/ledger.ts';

/** The clock of a run and that of the service may differ by so many milliseconds where nobody told by how much. */
export const clockSkew = 60_000;

/** What remains of that where the answers of the service told it: they tell whole seconds, and took their time. */
const toldSkew = 5_000;

/** How long an apply that was killed may have written: the default limit of a run. */
const longestRun = 3_600_000;

export interface RunsOfStack {
  /** the ids of all requests to the target: the trail of another organization has none of them */
  readonly requests: ReadonlySet<string>;
  /** the same of one resource */
  requestsOn(address: AddressText): ReadonlySet<string>;
  /** the runs that wrote to the resource by requests whose ids are not all known */
  unnamed(address: AddressText): readonly HistoryEntry[];
  /**
   * When the stack last applied the resource, or proved that it was as applied: no earlier than this, in milliseconds since 1970 by the
   * clock of the service; undefined when the history does not tell.
   * @param clockAhead of the service, now
   */
  appliedSince(address: AddressText, clockAhead: number | undefined): number | undefined;
}

/** @param history newest first */
export function runsOfStack(target: string, history: readonly HistoryEntry[]): RunsOfStack {
  const proved = history.findIndex((entry) => entry.proved);
  const all = history.flatMap((entry, at) => entry.changes.map((change) => ({ change, entry, at })));
  const here = all.filter(({ change }) => parseAddress(change.address).target === target);
  const byAddress = Map.groupBy(here, ({ change }) => change.address);
  const on = (address: AddressText) => byAddress.get(address) ?? [];
  return {
    requests: requestsOf(here),
    requestsOn: (address) => requestsOf(on(address)),
    unnamed: (address) => on(address).flatMap(({ change, entry }) => (isNamed(change) ? [] : [entry])),
    appliedSince: (address, clockAhead) => {
      const written = on(address).find(({ change }) => isWritten(change));
      const isLater = written !== undefined && (proved === -1 || written.at < proved);
      const run = isLater ? written.entry : history[proved];
      return run && timeOfRun(run, target, clockAhead).from;
    },
  };
}

function requestsOf(all: readonly { readonly change: HistoryChange }[]): ReadonlySet<string> {
  return new Set(all.flatMap(({ change }) => change.requests ?? []));
}

/**
 * When a run was, by the clock of the service. Where it did not keep how far that was from its own, it may have been on this machine, or on
 * one whose clock was right.
 */
export function timeOfRun(
  { began, ended, clocks = {} }: HistoryEntry,
  target: string,
  clockAhead = 0,
): { readonly from: number; readonly to: number } {
  const told = clocks[target];
  const ahead = told === undefined ? [0, clockAhead] : [told];
  const skew = told === undefined ? clockSkew : toldSkew;
  const begin = Date.parse(began);
  const end = ended === undefined ? begin + longestRun : Date.parse(ended);
  return { from: begin + Math.min(...ahead) - skew, to: end + Math.max(...ahead) + skew };
}

/** Whether the change wrote to its resource. Without an outcome, the apply was killed: then it may have. */
function isWritten({ outcome, done, foundTrue }: HistoryChange): boolean {
  const isBroken = outcome === 'stale' || outcome === 'skipped' || outcome === 'failed';
  return !isBroken || foundTrue === true || (done?.length ?? 0) > 0;
}

function isNamed({ outcome, requests, unnamed }: HistoryChange): boolean {
  return outcome === 'applied' && requests !== undefined && !unnamed;
}
