/**
 * Finds creates that look like a resource of ours that is no longer declared: most likely its name was changed in the
 * manifest (rule 26). It does not matter whether the old resource is removed or kept: the new one would be empty. Pure.
 */
import { type AddressText, formatAddress } from '../../model/resource/address.ts';
import { canonicalText } from '../../model/json/json.ts';
import type { LiveResource } from '../../model/resource/resource.ts';
import { canonicalSpec } from '../../compare/canonical-spec.ts';
import { declaredSettings, isLiveAs, recordedSettings, type Settings } from '../context/declared-settings.ts';
import type { Draft } from '../draft/draft-declared.ts';
import type { PlanContext } from '../context/plan-context.ts';
import { isTaken, placeOf } from '../guards/ownership-counts.ts';

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
  const creates = Map.groupBy(made, ({ change: { address } }) => placeOf(address));
  const gone = Map.groupBy(
    [...context.live.values()].filter(
      (live) => creates.has(placeOf(live.address)) && isGone(context, live, drafts),
    ),
    ({ address }) => placeOf(address),
  );
  return [...creates].flatMap(([place, some]) =>
    pairUp(
      goneResources(context, gone.get(place) ?? []),
      some.flatMap((draft) => createdResources(context, draft)),
    ).map(({ removed, created }) => ({
      gone: removed.live,
      becomes: fateOf(drafts, removed.live),
      made: created.draft,
    })),
  );
}

/** Ours and no longer declared; for kinds without claims only if this plan removes it. */
function isGone(context: PlanContext, live: LiveResource, drafts: ReadonlyMap<AddressText, Draft>): boolean {
  const { address, witness } = live;
  const text = formatAddress(address);
  const draft = drafts.get(text);
  if (draft !== undefined && isTaken(draft)) return true;
  // A resource outside of a selection may be declared all the same.
  if (context.isSelection || context.desired.has(text) || context.kind(address.kind).ownership.by !== 'claim')
    return false;
  return context.record(address) !== undefined || context.bearsOurClaim(witness);
}

function fateOf(drafts: ReadonlyMap<AddressText, Draft>, { address }: LiveResource): LikelyRename['becomes'] {
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

const unrecorded = 'settings that the ledger does not know';

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
