/** The tags that remain when the document is gone: all but those that still have the value that we last wrote. */
import type { LedgerRecord } from '../../model/stack/ledger.ts';
import { asTags } from '../../services/workspaces/bound-tags.ts';
import type { LiveTags } from './live-tags.ts';
import type { TagBindingsSpec } from './schema.ts';

export function withdrawAccess(record: LedgerRecord<TagBindingsSpec>, live: LiveTags): TagBindingsSpec {
  const written = asTags(record.fields.tags);
  const left = Object.entries(asTags(live.spec.tags)).filter(([key, value]) => written[key] !== value);
  return { tags: Object.fromEntries(left) };
}
