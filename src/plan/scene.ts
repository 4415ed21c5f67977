/**
 * Everything a plan is made from, by address: what is desired, what is live, what the ledger knows. Pure lookups; the
 * one decision taken here is which live resource stands behind a declared name (the same name, or a renamed one).
 */
import { type Address, type AddressText, formatAddress } from '../model/address.ts';
import type { Kind, LiveSet, Registry } from '../model/kind.ts';
import type { Ledger, LedgerRecord } from '../model/ledger.ts';
import type { DesiredResource, LiveResource } from '../model/resource.ts';
import type { Dialect, Stack, Target } from '../model/target.ts';

/** One target as it was found: what was read of each kind, and at what cost. */
export interface LiveTarget {
  readonly target: Target;
  readonly dialect: Dialect;
  readonly sets: ReadonlyMap<string, LiveSet>;
  /** requests sent to read it */
  readonly requests: number;
}

export interface SceneInput {
  readonly stack: Stack;
  readonly kinds: Registry;
  readonly desired: readonly DesiredResource[];
  readonly targets: readonly LiveTarget[];
  readonly ledger: Ledger;
  /** false when a manifest could not be read: nothing is pruned then */
  readonly manifestsComplete: boolean;
}

export interface Scene {
  readonly stack: Stack;
  /** declared, tombstones left out */
  readonly desired: ReadonlyMap<AddressText, DesiredResource>;
  readonly tombstones: ReadonlyMap<AddressText, DesiredResource>;
  readonly live: ReadonlyMap<AddressText, LiveResource>;
  readonly ledger: Ledger;
  kind(name: string): Kind;
  target(name: string): LiveTarget;
  record(address: Address): LedgerRecord | undefined;
  /** why nothing of this kind may be pruned in this target; undefined when it may */
  pruneBar(address: Address): string | undefined;
}

/** @throws on a kind or target that validation should have refused: a bug */
export function setScene(input: SceneInput): Scene {
  const isTombstone = (resource: DesiredResource) => resource.metadata.remove !== undefined;
  const byAddress = (resources: readonly DesiredResource[]) =>
    new Map(resources.map((resource) => [formatAddress(resource.address), resource] as const));
  const desired = byAddress(input.desired.filter((resource) => !isTombstone(resource)));
  const targets = new Map(input.targets.map((found) => [found.target.name, found] as const));
  const kind = (name: string) => found(input.kinds.get(name), `kind ${name}`);
  const target = (name: string) => found(targets.get(name), `target ${name}`);
  return {
    stack: input.stack,
    desired,
    tombstones: byAddress(input.desired.filter(isTombstone)),
    live: matchLive(input, desired, kind),
    ledger: input.ledger,
    kind,
    target,
    record: (address) => input.ledger.records.get(formatAddress(address)),
    pruneBar: (address) => {
      if (!input.manifestsComplete) return 'not every manifest could be read';
      return target(address.target).sets.get(address.kind)?.incomplete[0];
    },
  };
}

function found<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`no ${what} in this plan`);
  return value;
}

/** Live resources by address; one that was renamed stands at the address that declares it (RULES 8, 26). */
function matchLive(
  input: SceneInput,
  desired: ReadonlyMap<AddressText, DesiredResource>,
  kind: (name: string) => Kind,
): ReadonlyMap<AddressText, LiveResource> {
  const all = input.targets.flatMap((target) => [...target.sets.values()].flatMap((set) => set.resources));
  const live = new Map(all.map((resource) => [formatAddress(resource.address), resource] as const));
  const byId = new Map(
    all.flatMap((resource) =>
      resource.id === undefined ? [] : [[idKey(resource.address, resource.id), resource] as const],
    ),
  );
  for (const [text, resource] of desired) {
    const { address, metadata } = resource;
    if (live.has(text) || kind(address.kind).ownership.by !== 'claim') continue;
    const id = input.ledger.records.get(text)?.id;
    const former = metadata.renamedFrom ?? '';
    const renamed =
      (id === undefined ? undefined : byId.get(idKey(address, id))) ??
      live.get(formatAddress({ ...address, name: former }));
    if (renamed === undefined || desired.has(formatAddress(renamed.address))) continue;
    live.delete(formatAddress(renamed.address));
    live.set(text, { ...renamed, address, spec: { ...renamed.spec, name: renamed.address.name } });
  }
  return live;
}

function idKey({ kind, target }: Address, id: string): string {
  return `${kind}/${target}#${id}`;
}
