/** The direct tags of a workspace as a live resource, and the facts that a replacing write must repeat. */
import type { Address } from '../../model/resource/address.ts';
import type { Json } from '../../model/json/json.ts';
import type { LiveResource } from '../../model/resource/resource.ts';
import { type BoundTags, ownershipFromTag, type Tags } from '../../services/workspaces/bound-tags.ts';
import { rightsOf } from '../../services/workspaces/rights.ts';
import type { WorkspaceItem } from '../../services/workspaces/workspace-item.ts';

/** `claim` is the text of the workspace's own claim, null where there is none. */
type TagFacts = {
  readonly direct?: Tags;
  readonly claim?: string | null;
  readonly assessmentsEnabled?: Json;
  /** the effective one */
  readonly executionMode?: Json;
};

export type LiveTags = LiveResource<{ readonly tags?: Tags }, TagFacts>;

/** `direct` and `claim` are the whole set, which a replacing write must repeat; the id is the workspace's. */
export function liveTags(address: Address, item: WorkspaceItem, tags: BoundTags): LiveTags {
  const { direct, claim } = tags;
  const own = claim !== undefined && !claim.inherited ? claim.text : null;
  return {
    address,
    id: item.id,
    spec: { tags: direct },
    witness: ownershipFromTag(tags),
    facts: {
      direct,
      claim: own,
      assessmentsEnabled: item.attributes['assessments-enabled'] ?? null,
      executionMode: item.attributes['execution-mode'] ?? null,
    },
    ...rightsOf(item),
  };
}
