/**
 * A create that looks like something of ours which no manifest declares any more: most likely one resource whose name was
 * changed in its manifest (rule 26). What becomes of the old one makes no difference: where it is kept, an empty twin of
 * it would be made. Pure.
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

/** Of each create at most one: the most alike that no other create is more like, else the most alike of all. */
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
      looksOf(context, gone.get(place) ?? []),
      some.flatMap((draft) => wantedLooks(context, draft)),
    ).map(({ go, come }) => ({ gone: go.live, becomes: fateOf(drafts, go.live), made: come.draft })),
  );
}

/** Ours, and no longer declared; of what bears no claim, what this plan takes away. */
function isGone(context: PlanContext, live: LiveResource, drafts: ReadonlyMap<AddressText, Draft>): boolean {
  const { address, witness } = live;
  const text = formatAddress(address);
  const draft = drafts.get(text);
  if (draft !== undefined && isTaken(draft)) return true;
  // What is not in a selection may be declared all the same.
  if (context.isSelection || context.desired.has(text) || context.kind(address.kind).ownership.by !== 'claim')
    return false;
  return context.record(address) !== undefined || context.bearsOurClaim(witness);
}

function fateOf(drafts: ReadonlyMap<AddressText, Draft>, { address }: LiveResource): LikelyRename['becomes'] {
  const action = drafts.get(formatAddress(address))?.change.action;
  return action === 'delete' ? 'deleted' : action === 'release' ? 'released' : 'kept';
}

/** What one is known by: the signs of its kind or, where it bears none, all that the stack asks of it. */
type Looks =
  | { readonly by: 'traits'; readonly traits: readonly string[] }
  | { readonly by: 'settings'; readonly settings: Settings | undefined };

interface Going {
  readonly live: LiveResource;
  readonly looks: Looks;
}

interface Coming {
  readonly draft: Draft;
  readonly looks: Looks;
  /** whether what is live and was never recorded is as this one is declared */
  isLike(live: LiveResource): boolean;
}

function looksOf(context: PlanContext, gone: readonly LiveResource[]): Going[] {
  return gone.flatMap((live): Going[] => {
    const { similarity, fields, ownership } = context.kind(live.address.kind);
    const traits = similarity?.(canonicalSpec(fields, live.spec));
    if (traits !== undefined) return [{ live, looks: { by: 'traits', traits } }];
    if (ownership.by !== 'claim') return [];
    return [{ live, looks: { by: 'settings', settings: recordedSettings(context, live.address) } }];
  });
}

function wantedLooks(context: PlanContext, draft: Draft): Coming[] {
  const { address } = draft.change;
  const { similarity, fields, ownership } = context.kind(address.kind);
  const traits = similarity?.(canonicalSpec(fields, draft.prepared));
  if (traits !== undefined) return [{ draft, looks: { by: 'traits', traits }, isLike: () => false }];
  const settings = ownership.by === 'claim' ? declaredSettings(context, address) : undefined;
  if (settings === undefined) return [];
  return [
    {
      draft,
      looks: { by: 'settings', settings },
      isLike: (live) => isLiveAs(context, live.address, settings),
    },
  ];
}

interface RenameCandidate {
  readonly go: Going;
  readonly come: Coming;
  readonly alike: number;
}

function pairUp(gone: readonly Going[], made: readonly Coming[]): RenameCandidate[] {
  const byKey = Map.groupBy(gone, ({ looks }) => keyOf(looks));
  const pairs = made.flatMap((come) => [
    ...(byKey.get(keyOf(come.looks)) ?? []).map((go) => ({
      go,
      come,
      alike: likenessOf(go.looks, come.looks),
    })),
    ...(byKey.get(unrecorded) ?? [])
      .filter(({ live }) => come.isLike(live))
      .map((go) => ({ go, come, alike: 0 })),
  ]);
  pairs.sort((a, b) => b.alike - a.alike || (nameOf(a) < nameOf(b) ? -1 : 1));
  return firstOfEach(pairs);
}

/** Each gone one goes to the create that is most like it; a create that is left over gets whichever is most like it. */
function firstOfEach(sorted: readonly RenameCandidate[]): RenameCandidate[] {
  const chosen = new Map<Coming, RenameCandidate>();
  const taken = new Set<Going>();
  for (const pair of sorted) {
    if (taken.has(pair.go) || chosen.has(pair.come)) continue;
    taken.add(pair.go);
    chosen.set(pair.come, pair);
  }
  for (const pair of sorted) if (!chosen.has(pair.come)) chosen.set(pair.come, pair);
  return [...chosen.values()];
}

const unrecorded = 'settings that the ledger does not know';

function keyOf(looks: Looks): string {
  if (looks.by === 'traits') return `traits ${looks.traits[0]}`;
  return looks.settings === undefined ? unrecorded : `settings ${canonicalText(looks.settings)}`;
}

/** Equal settings are all alike. */
function likenessOf(one: Looks, other: Looks): number {
  if (one.by !== 'traits' || other.by !== 'traits') return 0;
  return one.traits.filter((trait, index) => trait === other.traits[index]).length;
}

function nameOf({ go, come }: RenameCandidate): string {
  return `${formatAddress(come.draft.change.address)}\0${formatAddress(go.live.address)}`;
}
