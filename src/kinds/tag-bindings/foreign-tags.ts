/** The tags of a workspace that its document does not own: the service's own, and those that `keep` names (rule 14). */
import type { Json } from '../../model/json/json.ts';
import { matchesPattern } from '../../model/kind/name-pattern.ts';
import { asTags, type Tags } from '../../services/workspaces/bound-tags.ts';
import { isReserved } from '../../services/workspaces/tag-rules.ts';
import type { TagBindingsSpec } from './schema.ts';

/** The direct tags to leave alone. A declared tag is never foreign, even when a pattern of `keep` matches it. */
export function foreignTags(direct: Json | undefined, desired: TagBindingsSpec): Tags {
  const declared = asTags(desired.tags);
  const patterns = Array.isArray(desired.keep) ? desired.keep.map(String) : [];
  const isForeign = (key: string) =>
    !Object.hasOwn(declared, key) &&
    (isReserved(key) || patterns.some((pattern) => matchesPattern(key, pattern)));
  return Object.fromEntries(Object.entries(asTags(direct)).filter(([key]) => isForeign(key)));
}
