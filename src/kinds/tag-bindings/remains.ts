/** Finds the tags that stay on a released workspace: those that we bound and that still have the value that we last wrote. Pure. */
import type { LedgerRecord } from '../../model/stack/ledger.ts';
import { quoted } from '../../model/quoted.ts';
import { asTags } from '../../services/workspaces/bound-tags.ts';
import type { LiveTags } from './live-tags.ts';
import type { TagBindingsSpec } from './schema.ts';

export function remainingAccess(
  { fields }: LedgerRecord<TagBindingsSpec>,
  live?: LiveTags,
): readonly string[] {
  const now = live && asTags(live.spec.tags);
  const tags = Object.entries(asTags(fields.tags)).filter(
    ([key, value]) => now === undefined || now[key] === value,
  );
  if (tags.length === 0) return [];
  const names = tags.map(([key]) => quoted(key)).toSorted();
  return names.length === 1 ? [`its tag ${names[0]} stays`] : [`its tags ${names.join(', ')} stay`];
}
