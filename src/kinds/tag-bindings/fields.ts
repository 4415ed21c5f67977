/**
 * How tags compare: key by key. Live tags that the document does not own are left out: the service's own tags, and those that
 * `keep` names.
 */
import {
  asTags,
  type BoundTags,
  isReserved,
  maxTags,
  ownershipFromTag,
  type Tags,
} from '../../api/workspaces/tag-bindings.ts';
import { rightsOf, unreadPart, type WorkspaceItem, workspaceOf } from '../../api/workspaces/workspace.ts';
import { set, stringMap } from '../../compare/comparisons.ts';
import { type Address, formatAddress } from '../../model/address.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { FieldsOf, FieldTable } from '../../model/field.ts';
import type { Json } from '../../model/json.ts';
import type { CompareContext, PreparedSpecs } from '../../model/kind-specs.ts';
import { matchesPattern } from '../../model/name-pattern.ts';
import { quoted } from '../../model/quoted.ts';
import type { LiveResource } from '../../model/resource.ts';
import type { TagBindingsSpec } from './schema.ts';

export const fields: FieldTable = {
  tags: { compare: stringMap, default: {} },
  // An instruction to trueup that the service does not have.
  keep: { compare: set, local: true },
} satisfies FieldsOf<TagBindingsSpec>;

/**
 * The direct tags that the document does not own: the service's own and those that `keep` names. The document owns each tag that it
 * declares, even when a pattern of `keep` matches it.
 */
export function tagsOfOthers(direct: Json | undefined, desired: TagBindingsSpec): Tags {
  const declared = asTags(desired.tags);
  const patterns = Array.isArray(desired.keep) ? desired.keep.map(String) : [];
  const isOfOthers = (key: string) =>
    !Object.hasOwn(declared, key) &&
    (isReserved(key) || patterns.some((pattern) => matchesPattern(key, pattern)));
  return Object.fromEntries(Object.entries(asTags(direct)).filter(([key]) => isOfOthers(key)));
}

/** `ownershipTag` is the text of the workspace's own tag, null if there is none. */
type TagFacts = {
  /** all direct tags without the ownership tag */
  readonly direct?: Tags;
  readonly ownershipTag?: string | null;
  readonly assessmentsEnabled?: Json;
  /** the effective mode, own or inherited */
  readonly executionMode?: Json;
};

export type LiveTags = LiveResource<{ readonly tags?: Tags }, TagFacts>;

/** `direct` and `ownershipTag` are the whole set, which a replacing write must repeat; the id is that of the workspace. */
export function liveTags(address: Address, item: WorkspaceItem, tags: BoundTags): LiveTags {
  const { direct, ownershipTag } = tags;
  const own = ownershipTag !== undefined && !ownershipTag.inherited ? ownershipTag.text : null;
  return {
    address,
    id: item.id,
    ...(item.listIndex === undefined ? {} : { listIndex: item.listIndex }),
    spec: { tags: direct },
    evidence: ownershipFromTag(tags),
    facts: {
      direct,
      ownershipTag: own,
      assessmentsEnabled: item.attributes['assessments-enabled'] ?? null,
      executionMode: item.attributes['execution-mode'] ?? null,
    },
    ...rightsOf(item),
  };
}

type Comparison = CompareContext<TagBindingsSpec, LiveTags>;

/** Removes tags that the document does not own from the live tags, and reports a set that would exceed the service's limit. */
export function prepare(context: Comparison): PreparedSpecs<TagBindingsSpec> {
  const { desired, live } = context;
  if (live === undefined) return { desired, problems: unread(context) };
  const ofOthers = tagsOfOthers(live.facts.direct, desired);
  const { length: kept } = Object.keys(ofOthers);
  const tags = asTags(live.spec.tags);
  const isOwn = ([key]: [string, unknown]) => !Object.hasOwn(ofOthers, key);
  return {
    desired,
    live: { tags: kept === 0 ? tags : Object.fromEntries(Object.entries(tags).filter(isOwn)) },
    problems: tooMany(context, kept),
  };
}

/** A problem if the tags of an existing workspace could not be read: a write would replace unknown tags. */
function unread({ address, peer }: Comparison): Diagnostic[] {
  const workspace = peer(workspaceOf(address));
  if (workspace.live === undefined) return [];
  return [
    {
      code: 'tags-unread',
      severity: 'error',
      class: 'incomplete',
      ...unreadPart(`the tag bindings for ${quoted(formatAddress(address))}`, workspace.live),
    },
  ];
}

function tooMany({ address, desired }: Comparison, kept: number): Diagnostic[] {
  const own = Object.keys(asTags(desired.tags)).length;
  if (own + kept + 1 <= maxTags) return [];
  return [
    {
      code: 'too-many-tags',
      severity: 'error',
      class: 'invalid',
      message: `${quoted(formatAddress(address))} would have ${own + kept + 1} tag bindings, and the service allows ${maxTags}`,
      found: `${own} declared, ${kept} kept for others, 1 ownership tag`,
      fix: 'declare fewer tags, or keep fewer',
    },
  ];
}
