/** Removes tags that the document does not own from the live tags, and reports a set that would exceed the service's limit. */
import { formatAddress } from '../../model/resource/address.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { CompareContext, PreparedSpecs } from '../../model/kind/comparison.ts';
import { quoted } from '../../model/quoted.ts';
import { asTags } from '../../services/workspaces/bound-tags.ts';
import { maxTags } from '../../services/workspaces/tag-rules.ts';
import { workspaceOf } from '../../services/workspaces/workspace-address.ts';
import { foreignTags } from './foreign-tags.ts';
import type { LiveTags } from './live-tags.ts';
import type { TagBindingsSpec } from './schema.ts';

type Comparison = CompareContext<TagBindingsSpec, LiveTags>;

export function prepare(context: Comparison): PreparedSpecs<TagBindingsSpec> {
  const { desired, live } = context;
  if (live === undefined) return { desired, problems: unread(context) };
  const foreign = foreignTags(live.facts.direct, desired);
  const tags = Object.entries(asTags(live.spec.tags)).filter(([key]) => !Object.hasOwn(foreign, key));
  return {
    desired,
    live: { tags: Object.fromEntries(tags) },
    problems: tooMany(context, Object.keys(foreign).length),
  };
}

/** A problem if the tags of an existing workspace could not be read: a write would replace unknown tags. */
function unread({ address, place, peer }: Comparison): Diagnostic[] {
  const workspace = peer(workspaceOf(address));
  if (workspace.live === undefined) return [];
  return [
    {
      code: 'tags-unread',
      severity: 'error',
      class: 'incomplete',
      message: `the tag bindings for ${quoted(formatAddress(address))} could not be read`,
      ...(place === undefined ? {} : { place }),
      fix: 'let the token read them; after a rename, put the same "renamedFrom" into this document as into the workspace\'s',
    },
  ];
}

function tooMany({ address, desired, place }: Comparison, foreign: number): Diagnostic[] {
  const own = Object.keys(asTags(desired.tags)).length;
  if (own + foreign + 1 <= maxTags) return [];
  return [
    {
      code: 'too-many-tags',
      severity: 'error',
      class: 'invalid',
      message: `${quoted(formatAddress(address))} would have ${own + foreign + 1} tag bindings, and the service allows ${maxTags}`,
      ...(place === undefined ? {} : { place }),
      found: `${own} declared, ${foreign} kept for others, 1 claim`,
      fix: 'declare fewer tags, or keep fewer',
    },
  ];
}
