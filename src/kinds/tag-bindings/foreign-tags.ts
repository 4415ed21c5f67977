/** The tags of a workspace that are not of the document's set: the service's own, and those it keeps for others (rule 14). */
import type { Json } from '../../model/json/json.ts';
import { matchesPattern } from '../../model/kind/name-pattern.ts';
import { asTags, type Tags } from '../../services/workspaces/bound-tags.ts';
import { isReserved } from '../../services/workspaces/tag-rules.ts';
import type { TagBindingsSpec } from './schema.ts';

/** Of the direct tags, those to leave alone. What is declared is not foreign, even when a pattern of `keep` matches it. */
export function foreignTags(direct: Json | undefined, desired: TagBindingsSpec): Tags {
  const declared = asTags(desired.tags);
  const patterns = Array.isArray(desired.keep) ? desired.keep.map(String) : [];
  const isForeign = (key: string) =>
    !Object.hasOwn(declared, key) &&
    (isReserved(key) || patterns.some((pattern) => matchesPattern(key, pattern)));
  return Object.fromEntries(Object.entries(asTags(direct)).filter(([key]) => isForeign(key)));
}
