/**
 * Finds creates that are similar to a resource of ours that is no longer declared: most likely its name was changed in the manifest.
 * Resources are compared by the texts of their kind, else by all their settings.
 */
import { canonicalSpec } from '../compare/comparisons.ts';
import {
  type Address,
  type AddressText,
  formatAddress,
  kindAndTarget,
  parseAddress,
} from '../model/address.ts';
import { canonicalText, type Json, sameJson } from '../model/json.ts';
import type { Kind } from '../model/kind.ts';
import type { DesiredResource, LiveResource, Spec } from '../model/resource.ts';
import { isTaken } from './count-guards.ts';
import type { Draft } from './draft-declared.ts';
import type { PlanContext } from './plan-context.ts';

export interface LikelyRename {
  readonly gone: LiveResource;
  readonly becomes: 'deleted' | 'released' | 'kept';
  readonly made: Draft;
}

/** At most one for each create: the most similar one that no other create is more similar to, else the most similar of all. */
export function findRenames(
  context: PlanContext,
  drafts: ReadonlyMap<AddressText, Draft>,
): readonly LikelyRename[] {
  const made = [...drafts.values()].filter(({ change }) => change.action === 'create');
  const creates = Map.groupBy(made, ({ change: { address } }) => kindAndTarget(address));
  const gone = Map.groupBy(
    [...context.live.values()].filter(
      (live) => creates.has(kindAndTarget(live.address)) && isGone(context, live, drafts),
    ),
    ({ address }) => kindAndTarget(address),
  );
  return [...creates].flatMap(([place, some]) =>
    pairUp(
      goneResources(context, gone.get(place) ?? []),
      some.flatMap((draft) => createdResources(context, draft)),
    ).map(({ removed, created }) => ({
      gone: removed.live,
      becomes: removalOf(drafts, removed.live),
      made: created.draft,
    })),
  );
}

/** Ours and no longer declared; for kinds without ownership tags only if this plan removes it. */
function isGone(context: PlanContext, live: LiveResource, drafts: ReadonlyMap<AddressText, Draft>): boolean {
  const { address, evidence } = live;
  const text = formatAddress(address);
  const draft = drafts.get(text);
  if (draft !== undefined && isTaken(draft)) return true;
  // A resource outside of a selection may still be declared.
  if (
    context.isSelection ||
    context.desired.has(text) ||
    context.movesAway.has(text) ||
    context.kind(address.kind).ownership.by !== 'claim'
  )
    return false;
  return context.record(address) !== undefined || context.hasOurTag(evidence);
}

function removalOf(
  drafts: ReadonlyMap<AddressText, Draft>,
  { address }: LiveResource,
): LikelyRename['becomes'] {
  const action = drafts.get(formatAddress(address))?.change.action;
  return action === 'delete' ? 'deleted' : action === 'release' ? 'released' : 'kept';
}

/** How a resource is recognized: by its kind's `similarity` texts or, without any, by all its declared settings. */
type Signature =
  | { readonly by: 'traits'; readonly traits: readonly string[] }
  | { readonly by: 'settings'; readonly settings: Settings | undefined };

interface GoneResource {
  readonly live: LiveResource;
  readonly signature: Signature;
}

interface CreatedResource {
  readonly draft: Draft;
  readonly signature: Signature;
  /** Whether a live resource without a record has the settings of this declaration. */
  isLike(live: LiveResource): boolean;
}

function goneResources(context: PlanContext, gone: readonly LiveResource[]): GoneResource[] {
  return gone.flatMap((live): GoneResource[] => {
    const { similarity, fields, ownership } = context.kind(live.address.kind);
    const traits = similarity?.(canonicalSpec(fields, live.spec));
    if (traits !== undefined) return [{ live, signature: { by: 'traits', traits } }];
    if (ownership.by !== 'claim') return [];
    return [{ live, signature: { by: 'settings', settings: recordedSettings(context, live.address) } }];
  });
}

function createdResources(context: PlanContext, draft: Draft): CreatedResource[] {
  const { address } = draft.change;
  const { similarity, fields, ownership } = context.kind(address.kind);
  const traits = similarity?.(canonicalSpec(fields, draft.prepared));
  if (traits !== undefined) return [{ draft, signature: { by: 'traits', traits }, isLike: () => false }];
  const settings = ownership.by === 'claim' ? declaredSettings(context, address) : undefined;
  if (settings === undefined) return [];
  return [
    {
      draft,
      signature: { by: 'settings', settings },
      isLike: (live) => isLiveAs(context, live.address, settings),
    },
  ];
}

interface RenameCandidate {
  readonly removed: GoneResource;
  readonly created: CreatedResource;
  readonly score: number;
}

function pairUp(gone: readonly GoneResource[], made: readonly CreatedResource[]): RenameCandidate[] {
  const byKey = Map.groupBy(gone, ({ signature }) => keyOf(signature));
  const pairs = made.flatMap((created) => [
    ...(byKey.get(keyOf(created.signature)) ?? []).map((removed) => ({
      removed,
      created,
      score: scoreOf(removed.signature, created.signature),
    })),
    ...(byKey.get(unrecorded) ?? [])
      .filter(({ live }) => created.isLike(live))
      .map((removed) => ({ removed, created, score: 0 })),
  ]);
  pairs.sort((a, b) => b.score - a.score || (nameOf(a) < nameOf(b) ? -1 : 1));
  return firstOfEach(pairs);
}

/** Assigns each removed resource to its most similar create; a create without one then gets its most similar candidate. */
function firstOfEach(sorted: readonly RenameCandidate[]): RenameCandidate[] {
  const chosen = new Map<CreatedResource, RenameCandidate>();
  const taken = new Set<GoneResource>();
  for (const pair of sorted) {
    if (taken.has(pair.removed) || chosen.has(pair.created)) continue;
    taken.add(pair.removed);
    chosen.set(pair.created, pair);
  }
  for (const pair of sorted) if (!chosen.has(pair.created)) chosen.set(pair.created, pair);
  return [...chosen.values()];
}

const unrecorded = 'settings without a record';

function keyOf(signature: Signature): string {
  if (signature.by === 'traits') return `traits ${signature.traits[0]}`;
  return signature.settings === undefined ? unrecorded : `settings ${canonicalText(signature.settings)}`;
}

/** The number of equal traits; 0 for settings, which are compared as a whole. */
function scoreOf(one: Signature, other: Signature): number {
  if (one.by !== 'traits' || other.by !== 'traits') return 0;
  return one.traits.filter((trait, index) => trait === other.traits[index]).length;
}

function nameOf({ removed, created }: RenameCandidate): string {
  return `${formatAddress(created.draft.change.address)}\0${formatAddress(removed.live.address)}`;
}

/** The settings of a resource and its children, canonical, by `Kind.field`: for kinds that define no similarity. */
type Settings = Readonly<Record<string, Json>>;

/** The settings of a declared resource; undefined when all of them come from the stack's defaults. */
function declaredSettings(context: PlanContext, address: Address): Settings | undefined {
  const declared = withChildren(context, address).flatMap(({ kind, at }) => {
    const resource = context.desired.get(formatAddress(at));
    return resource === undefined ? [] : [{ kind, resource }];
  });
  return declared.some(setsMoreThanDefaults)
    ? mergeSettings(
        declared.map(({ kind, resource }) => ({ kind, spec: canonicalSpec(kind.fields, resource.spec) })),
      )
    : undefined;
}

/** The settings that were last applied, from the ledger; undefined without a record. */
function recordedSettings(context: PlanContext, address: Address): Settings | undefined {
  const known = context.recordedAt(address);
  if (known === undefined || !context.ledger.records.has(known)) return undefined;
  return mergeSettings(
    withChildren(context, parseAddress(known)).flatMap(({ kind, at }) => {
      const record = context.ledger.records.get(formatAddress(at));
      return record === undefined ? [] : [{ kind, spec: record.fields }];
    }),
  );
}

/** Whether the live resource has all of these settings. */
function isLiveAs(context: PlanContext, address: Address, settings: Settings): boolean {
  const found = mergeSettings(
    withChildren(context, address).flatMap(({ kind, at }) => {
      const live = context.live.get(formatAddress(at));
      return live === undefined ? [] : [{ kind, spec: canonicalSpec(kind.fields, live.spec) }];
    }),
  );
  return Object.entries(settings).every(([name, value]) => sameJson(found[name], value));
}

interface DeclaredOfKind {
  readonly kind: Kind;
  readonly resource: DesiredResource;
}

function setsMoreThanDefaults({ kind, resource: { spec, fromDefaults } }: DeclaredOfKind): boolean {
  return Object.keys(spec).some((name) => !fromDefaults.includes(name) && kind.fields[name]?.local !== true);
}

function mergeSettings(all: readonly { readonly kind: Kind; readonly spec: Spec }[]): Settings {
  return Object.fromEntries(
    all.flatMap(({ kind, spec }) =>
      Object.entries(spec)
        .filter(([name]) => kind.fields[name]?.local !== true)
        .map(([name, value]) => [`${kind.name}.${name}`, value] as const),
    ),
  );
}

/** The address itself and the addresses of its possible children, each with its kind. */
function withChildren(
  context: PlanContext,
  address: Address,
): { readonly kind: Kind; readonly at: Address }[] {
  const text = formatAddress(address);
  return context.kinds().flatMap((kind) => {
    const at = { ...address, kind: kind.name };
    const parent = kind.ownership.by === 'child' ? kind.ownership.of(at) : at;
    return formatAddress(parent) === text ? [{ kind, at }] : [];
  });
}
