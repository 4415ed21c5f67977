/** The tags of a workspace as a manifest would say them (for exports): what it leaves to others is not of its set. */
import type { Description } from '../../model/kind/kind.ts';
import { asTags } from '../../services/workspaces/bound-tags.ts';
import { foreignTags } from './foreign-tags.ts';
import type { LiveTags } from './live-tags.ts';
import type { TagBindingsSpec } from './schema.ts';

export function describe({ spec }: LiveTags, defaults: TagBindingsSpec): Description {
  const foreign = foreignTags(spec.tags, defaults);
  const own = Object.entries(asTags(spec.tags)).filter(([key]) => !Object.hasOwn(foreign, key));
  return { spec: { tags: Object.fromEntries(own) } };
}
