/**
 * The kind TagBindings: the key-value tags that are bound to a workspace itself. Tags grant no access, so no change
 * of them is a risk.
 */
import { asTags } from '../../api/workspaces/tag-bindings.ts';
import { namedAfterWorkspace, workspaceOf } from '../../api/workspaces/workspace.ts';
import { defineKind, jsonSchema } from '../../model/define-kind.ts';
import type { Description } from '../../model/kind.ts';
import type { LedgerRecord } from '../../model/ledger.ts';
import { quoted } from '../../model/quoted.ts';
import { calls } from './calls.ts';
import { check } from './check.ts';
import { fields, tagsOfOthers, type LiveTags, prepare } from './fields.ts';
import { fieldsFromResponse, pages, read, readOne } from './read.ts';
import { type TagBindingsSpec, tagBindingsSpec } from './schema.ts';

export const tagBindings = defineKind<TagBindingsSpec, LiveTags>({
  name: 'TagBindings',
  service: 'workspaces',
  summary: 'The key-value tags of a workspace, as a separate document that another team can own',
  names: namedAfterWorkspace,
  specSchema: jsonSchema(tagBindingsSpec),
  fields,
  ownership: { by: 'child', of: workspaceOf },
  absent: 'unmanaged',
  check,
  references: ({ address }) => [{ to: workspaceOf(address), path: [] }],
  read,
  readOne,
  pages,
  fieldsFromResponse,
  prepare,
  withdrawAccess,
  remainingAccess,
  calls,
  risk: () => [],
  toManifest,
});

/** The tags of a workspace for an export, without those that `keep` leaves to others. */
function toManifest({ spec }: LiveTags, defaults: TagBindingsSpec): Description {
  const ofOthers = tagsOfOthers(spec.tags, defaults);
  const own = Object.entries(asTags(spec.tags)).filter(([key]) => !Object.hasOwn(ofOthers, key));
  return { spec: { tags: Object.fromEntries(own) } };
}

/** The tags that stay on a released workspace: those that still have the value that this stack last wrote. */
function remainingAccess({ fields }: LedgerRecord<TagBindingsSpec>, live?: LiveTags): readonly string[] {
  const now = live && asTags(live.spec.tags);
  const tags = Object.entries(asTags(fields.tags)).filter(
    ([key, value]) => now === undefined || now[key] === value,
  );
  if (tags.length === 0) return [];
  const names = tags.map(([key]) => quoted(key)).toSorted();
  return names.length === 1 ? [`its tag ${names[0]} stays`] : [`its tags ${names.join(', ')} stay`];
}

/** The tags that remain when the document is gone: all but those that still have the value that this stack last wrote. */
function withdrawAccess(record: LedgerRecord<TagBindingsSpec>, live: LiveTags): TagBindingsSpec {
  const written = asTags(record.fields.tags);
  const left = Object.entries(asTags(live.spec.tags)).filter(([key, value]) => written[key] !== value);
  return { tags: Object.fromEntries(left) };
}
