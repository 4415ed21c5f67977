/**
 * A body from a dialect's own names to `neutral`. Only member names change: values, order and depth stay. The other way
 * the names of a call are the dialect's already (`plan/calls/plan-calls.ts`), so that what is sent is what the plan shows.
 */
import type { Json } from '../model/json/json.ts';
import { renameMembers } from '../model/json/rename-members.ts';
import type { Dialect } from '../model/stack/target.ts';

/** Renames the members of `body` at any depth; names that the dialect does not mention stay as they are. */
export function toNeutral(body: Json, { rename }: Dialect): Json {
  const pairs = Object.entries(rename);
  if (pairs.length === 0) return body;
  return renameMembers(body, Object.fromEntries(pairs.map(([neutral, wire]) => [wire, neutral])));
}
