/** A delete and a create that look alike: most likely one resource whose name was changed in its manifest (RULES 26). */
import { formatAddress } from '../model/address.ts';
import { canonicalSpec } from './canonical-spec.ts';
import type { Draft } from './draft.ts';
import type { Scene } from './scene.ts';
import { isTaken, placeOf } from './tally.ts';

export interface LikelyRename {
  readonly gone: Draft;
  readonly made: Draft;
}

interface Looks {
  readonly draft: Draft;
  readonly traits: readonly string[];
}

/** Pairs of one kind and target, each draft in one at most, the most alike first. */
export function findRenames(scene: Scene, drafts: Iterable<Draft>): LikelyRename[] {
  return [...Map.groupBy(drafts, ({ change }) => placeOf(change.address)).values()].flatMap((some) => {
    const made = some.filter(({ change }) => change.action === 'create');
    return pairUp(looksOf(scene, some.filter(isTaken)), looksOf(scene, made));
  });
}

/** Of what goes, the live content; of what comes, the declared one. */
function looksOf(scene: Scene, drafts: readonly Draft[]): Looks[] {
  return drafts.flatMap((draft) => {
    const { likeness, fields } = scene.kind(draft.change.address.kind);
    const traits = likeness?.(canonicalSpec(fields, draft.live?.spec ?? draft.prepared));
    return traits === undefined ? [] : [{ draft, traits }];
  });
}

function pairUp(gone: readonly Looks[], made: readonly Looks[]): LikelyRename[] {
  const byFirst = Map.groupBy(gone, ({ traits }) => traits[0]);
  const pairs = made.flatMap((come) =>
    (byFirst.get(come.traits[0]) ?? []).map((go) => ({
      gone: go.draft,
      made: come.draft,
      alike: go.traits.filter((trait, index) => trait === come.traits[index]).length,
    })),
  );
  pairs.sort((a, b) => b.alike - a.alike || (nameOf(a) < nameOf(b) ? -1 : 1));
  const taken = new Set<Draft>();
  return pairs.filter((pair) => {
    if (taken.has(pair.gone) || taken.has(pair.made)) return false;
    taken.add(pair.gone).add(pair.made);
    return true;
  });
}

function nameOf({ gone, made }: LikelyRename): string {
  return `${formatAddress(made.change.address)}\0${formatAddress(gone.change.address)}`;
}
