/**
 * What acknowledgements of guards are for. For most guards the id is enough, because the plan itself shows the rest. What a policy says,
 * by which rule, and what a setting was before, is in the guard alone: there a hash says what was shown.
 */
import { createHash } from 'node:crypto';
import { formatAddress } from '../model/address.ts';
import { acknowledgeableIds, type Guard, isBlocking, policyOf } from '../model/guard.ts';

/** Of a policy that more resources violate, one key is for all of them: a comment has only so many characters. */
const maxKeys = 20;

/** Of the guards that block a plan. Each sorted text once. */
export function guardKeys(guards: readonly Guard[]): string[] {
  const keys = guards.filter(isBlocking).flatMap((guard) => {
    const { id, message } = guard;
    if (id === 'loosened') return [`${id} ${hashOf(message).slice(0, 16)}`];
    return policyOf(id) === undefined ? [id] : keysOfPolicy(guard);
  });
  return [...new Set(keys)].sort();
}

/** Of policies alone, where they block a plan and can be acknowledged. @param ids of guards */
export function policyKeys(guards: readonly Guard[], ids: readonly string[]): string[] {
  const open: readonly string[] = acknowledgeableIds(guards);
  return guardKeys(
    guards.filter(({ id }) => policyOf(id) !== undefined && open.includes(id) && ids.includes(id)),
  );
}

/** `policy/no-deletes@0a1b…`: one for each resource, so that what is left of a plan needs no other key than the plan. */
function keysOfPolicy({ id, effect, message, concerns, ruleHash = '' }: Guard): string[] {
  // Without the number of resources, which it begins with.
  const says = message.replace(/^[^"]*/, '');
  const about = concerns.map(({ address, messages }) => JSON.stringify([formatAddress(address), messages]));
  const each = about.length > maxKeys ? [about.join()] : about;
  return each.map((one) => `${id}@${hashOf(JSON.stringify([effect, says, one, ruleHash]))}`);
}

/** 128 bits: who can write both texts must not find two with one hash. */
function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/** Whether a text can be the key of what a policy says. */
export function isPolicyKey(text: string): boolean {
  return /^policy\/[a-z0-9-]{1,32}@[0-9a-f]{32}$/.test(text);
}

/** The guard that a key is about. */
export function idOfKey(key: string): string {
  return key.replace(/[@ ].*/, '');
}

/** Whether everything that policies say with this id was shown. @param keys of what was shown */
export function isShownIn(keys: ReadonlySet<string>, guards: readonly Guard[], id: string): boolean {
  return policyKeys(guards, [id]).every((key) => keys.has(key));
}
