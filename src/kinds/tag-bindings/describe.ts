/** Describes the tags of a workspace for exports, without the tags that `keep` leaves to others. */
import type { Description } from '../../model/kind/kind.ts';
import { asTags } from '../../services/workspaces/bound-tags.ts';
import { foreignTags } from './foreign-tags.ts';
import type { LiveTags } from './live-tags.ts';
import type { TagBindingsSpec } from './schema.ts';

export function toManifest({ spec }: LiveTags, defaults: TagBindingsSpec): Description {
  const foreign = foreignTags(spec.tags, defaults);
  const own = Object.entries(asTags(spec.tags)).filter(([key]) => !Object.hasOwn(foreign, key));
  return { spec: { tags: Object.fromEntries(own) } };
}
