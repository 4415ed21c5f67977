/** Finds the first place where a document differs from what it shall say, and the splices that settle it. */
import { diffArrays } from 'diff';
import { canonicalText, isJsonObject, type Json, type JsonObject, sameJson } from '../../model/json/json.ts';
import { quoted } from '../../model/quoted.ts';
import { type Collection, insertEntry, moveItem, removeEntry } from './entries.ts';
import { habitsOf } from './habits.ts';
import { replaceValue } from './replace-value.ts';
import { type SourceEntry, type SourceNode, UnusualYaml } from './source-tree.ts';
import type { Splice } from './splice.ts';
import type { Habits } from './value-text.ts';

interface Compared {
  readonly text: string;
  readonly habits: Habits;
}

/** @returns no splices when both are the same @throws UnusualYaml */
export function nextEdit(
  text: string,
  root: SourceNode,
  sides: { readonly from: Json; readonly to: Json },
): Splice[] {
  return editAt({ text, habits: habitsOf(text, root) }, root, sides) ?? [];
}

/** Undefined: the value has to be written anew as a whole. */
function editAt(
  compared: Compared,
  node: SourceNode,
  { from, to }: { from: Json; to: Json },
): Splice[] | undefined {
  if (sameJson(from, to)) return [];
  if (node.is === 'map' && isJsonObject(from) && isJsonObject(to))
    return editMap(compared, node, { from, to });
  if (node.is === 'list' && Array.isArray(from) && Array.isArray(to))
    return editList(compared, node, { from, to });
  return undefined;
}

function editMap(
  compared: Compared,
  node: SourceNode,
  { from, to }: { readonly from: JsonObject; readonly to: JsonObject },
): Splice[] | undefined {
  const collection: Collection = { ...compared, node };
  const added = Object.keys(to).find((key) => !Object.hasOwn(from, key));
  if (added !== undefined) {
    if (!canGrow(collection)) return undefined;
    return insertEntry(collection, { key: added, value: to[added] ?? null }, node.entries.length);
  }
  for (const key of Object.keys(to)) {
    const [before = null, after = null] = [from[key], to[key]];
    if (!sameJson(before, after))
      return editEntry(collection, entryOf(node, key), { from: before, to: after });
  }
  const removed = Object.keys(from).filter((key) => !Object.hasOwn(to, key));
  if (Object.keys(to).length === 0) return undefined;
  const [first = ''] = removed;
  const index = node.entries.indexOf(entryOf(node, first));
  return canShrink(collection, index) ? removeEntry(collection, index) : undefined;
}

function editEntry(collection: Collection, entry: SourceEntry, sides: { from: Json; to: Json }): Splice[] {
  return editAt(collection, entry.value, sides) ?? replaceValue(collection, entry, sides.to);
}

/** The member that a map itself has; one that a merge key brings is not written here. */
function entryOf({ entries }: SourceNode, key: string): SourceEntry {
  const found = entries.find((entry) => entry.key === key);
  if (found === undefined) throw new UnusualYaml(`the key ${quoted(key)} is not written where it is used`);
  return found;
}

/** Items that stay are left where they are: new ones come first, so that the list is never empty in between. */
function editList(
  compared: Compared,
  node: SourceNode,
  { from, to }: { readonly from: readonly Json[]; readonly to: readonly Json[] },
): Splice[] | undefined {
  const collection: Collection = { ...compared, node };
  if (node.entries.length !== from.length) throw new UnusualYaml('its lists are not what they seem');
  if (to.length === 0) return undefined;
  const parts = diffArrays(from.map(canonicalText), to.map(canonicalText));
  const removed = parts.flatMap((part, number) =>
    part.removed
      ? part.value.map((text, offset) => ({ text, index: countBefore(parts, number) + offset }))
      : [],
  );
  const added = parts.findIndex((part) => part.added);
  const [gone] = removed;
  if (added === -1) {
    if (gone === undefined) throw new UnusualYaml('its lists are not what they seem');
    return canShrink(collection, gone.index) ? removeEntry(collection, gone.index) : undefined;
  }
  if (!canGrow(collection)) return undefined;
  const [text] = parts[added]?.value ?? [];
  const before = countBefore(parts, added);
  const moved = removed.find((one) => one.text === text);
  if (moved !== undefined) return moveItem(collection, moved.index, before);
  return insertEntry(collection, { value: to.find((item) => canonicalText(item) === text) ?? null }, before);
}

/** How many items of the list as it is stand before a part. */
function countBefore(parts: ReturnType<typeof diffArrays<string>>, number: number): number {
  return parts.slice(0, number).reduce((sum, part) => (part.added ? sum : sum + part.value.length), 0);
}

/** Whether an entry can come behind the others: on a line of its own, or between brackets. */
function canGrow({ text, node }: Collection): boolean {
  return node.style === 'flow' || node.entries.every(({ start }) => isFirstOfLine(text, start));
}

function canShrink({ text, node }: Collection, index: number): boolean {
  const entry = node.entries[index];
  return node.style === 'flow' || (entry !== undefined && isFirstOfLine(text, entry.start));
}

function isFirstOfLine(text: string, at: number): boolean {
  return text.slice(text.lastIndexOf('\n', at - 1) + 1, at).trim() === '';
}
