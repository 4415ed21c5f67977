/**
 * What an update sends of the triggers. A service clears the others when one is set; one that has parts of the API only may refuse an
 * emptied list beside an expression for tags, ignore an emptied expression, or keep a list (rule 48). There the list of patterns goes
 * first, and what may still be there afterwards gets an update of its own, which is sent only if it still is.
 */
import { kebabCase } from '../../../model/kind/field-names.ts';
import { isJsonObject, type JsonObject, memberOf } from '../../../model/json/json.ts';
import { triggerLists } from '../attributes.ts';
import { isFilled } from '../prepare/prepare-triggers.ts';
import type { WorkspaceContext } from '../workspace-types.ts';
import type { ChangedFields } from './changed-fields.ts';

type TriggerList = (typeof triggerLists)[number];

interface ChangedTriggers {
  /** the list that is set, if any */
  readonly filled: TriggerList | undefined;
  readonly emptied: readonly TriggerList[];
  readonly regex: 'set' | 'emptied' | undefined;
}

function changedTriggers(changed: ChangedFields): ChangedTriggers {
  const lists = triggerLists.filter((name) => changed.get(name)?.after !== undefined);
  const { after, members } = changed.get('vcsRepo') ?? {};
  const regex = isJsonObject(after) ? memberOf(after, 'tagsRegex') : members?.['tagsRegex'];
  return {
    filled: lists.find((name) => isFilled(changed.get(name)?.after)),
    emptied: lists.filter((name) => !isFilled(changed.get(name)?.after)),
    regex: regex === undefined ? undefined : isFilled(regex) ? 'set' : 'emptied',
  };
}

/** The list in the update itself: one of the two, because old services refuse both keys, even with empty lists (wire/workspaces 2.1). */
function listInUpdate(
  { filled, emptied, regex }: ChangedTriggers,
  { target }: WorkspaceContext,
): TriggerList | undefined {
  return filled ?? (target.ownership === 'ledger' && regex === 'set' ? undefined : emptied[0]);
}

export function triggerAttributes(changed: ChangedFields, context: WorkspaceContext): JsonObject {
  const list = listInUpdate(changedTriggers(changed), context);
  return list === undefined ? {} : { [kebabCase(list)]: changed.get(list)?.after ?? [] };
}

/** Another update, which empties a list. */
export interface ClearingUpdate {
  readonly attributes: JsonObject;
  /** the fields that are as declared only after it */
  readonly writes: readonly string[];
}

/** The updates before and after the one with everything else. */
export function clearingUpdates(
  changed: ChangedFields,
  context: WorkspaceContext,
): { readonly before?: ClearingUpdate; readonly after?: ClearingUpdate } {
  if (context.target.ownership !== 'ledger') return {};
  const triggers = changedTriggers(changed);
  const isFirst = triggers.regex === 'set' && triggers.emptied.includes('triggerPatterns');
  const done = [listInUpdate(triggers, context), isFirst ? 'triggerPatterns' : undefined];
  const left = triggers.emptied.filter((name) => !done.includes(name));
  const patterns = changed.get('triggerPatterns')?.after ?? context.live?.spec.triggerPatterns;
  // An emptied list of patterns removes an expression, too.
  const regex = triggers.regex === 'emptied' && !isFilled(patterns) ? ['vcsRepo'] : [];
  const writes = [...left, ...regex];
  const [list = 'triggerPatterns'] = left;
  return {
    ...(isFirst ? { before: emptying('triggerPatterns', ['triggerPatterns']) } : {}),
    ...(writes.length === 0 ? {} : { after: emptying(list, writes) }),
  };
}

function emptying(list: TriggerList, writes: readonly string[]): ClearingUpdate {
  return { attributes: { [kebabCase(list)]: [] }, writes };
}
