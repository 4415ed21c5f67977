/**
 * A body between `neutral` and a dialect's own names. Only member names change: values, order and depth stay, and
 * translating there and back gives the body that went in.
 */
import type { Json } from '../model/json/json.ts';
import { renameMembers } from '../model/json/rename-members.ts';
import type { Dialect } from '../model/stack/target.ts';

/** Renames the members of `body` at any depth; names that the dialect does not mention stay as they are. */
export function translate(body: Json, dialect: Dialect, direction: 'to-wire' | 'to-neutral'): Json {
  const pairs = Object.entries(dialect.rename);
  if (pairs.length === 0) return body;
  return renameMembers(
    body,
    direction === 'to-wire'
      ? dialect.rename
      : Object.fromEntries(pairs.map(([neutral, wire]) => [wire, neutral])),
  );
}
