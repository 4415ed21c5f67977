/** What shall be left of the tags when the document is gone: all but those that still are as we last wrote them. */
import type { LedgerRecord } from '../../model/stack/ledger.ts';
import type { LiveResource, Spec } from '../../model/resource/resource.ts';
import { asTags } from '../../services/workspaces/bound-tags.ts';

export function revoke(record: LedgerRecord, live: LiveResource): Spec {
  const written = asTags(record.fields['tags']);
  const left = Object.entries(asTags(live.spec['tags'])).filter(([key, value]) => written[key] !== value);
  return { tags: Object.fromEntries(left) };
}
