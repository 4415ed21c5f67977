/**
 * The keys that an acknowledgement covers. A key changes with what a person saw: the acknowledgement then no longer covers the guard.
 * For most guards the id is enough, because the plan itself shows the rest. The message and rule of a policy, and the values of a
 * loosened setting, are only in the guard, so these keys have a hash of them: of the whole values, also if only a part was shown.
 */
import { createHash } from 'node:crypto';
import { formatAddress } from '../model/address.ts';
import { acknowledgeableIds, type Guard, isBlocking, policyOf } from '../model/guard.ts';

/** If more resources violate a policy, one key covers all of them, because all keys are written into one comment of a pull request. */
const maxKeys = 20;

/** The keys of the guards that block a plan, sorted and without duplicates. */
export function guardKeys(guards: readonly Guard[]): string[] {
  const keys = guards.filter(isBlocking).flatMap((guard) => {
    const { id, message, settingHash = '' } = guard;
    if (id === 'loosened') return [`${id} ${hashOf(JSON.stringify([message, settingHash]))}`];
    return policyOf(id) === undefined ? [id] : keysOfPolicy(guard);
  });
  return [...new Set(keys)].sort();
}

/** The keys of policies that block a plan and can be acknowledged. @param ids the guards to include */
export function policyKeys(guards: readonly Guard[], ids: readonly string[]): string[] {
  const open: readonly string[] = acknowledgeableIds(guards);
  return guardKeys(
    guards.filter(({ id }) => policyOf(id) !== undefined && open.includes(id) && ids.includes(id)),
  );
}

/** `policy/no-deletes@0a1b…`: one key for each resource. After a part was applied, the rest of the plan needs no new keys. */
function keysOfPolicy({ id, effect, message, concerns, ruleHash = '' }: Guard): string[] {
  // The message without the number of resources at its beginning.
  const says = message.replace(/^[^"]*/, '');
  const about = concerns.map(({ address, messages }) => JSON.stringify([formatAddress(address), messages]));
  const each = about.length > maxKeys ? [about.join()] : about;
  return each.map((one) => `${id}@${hashOf(JSON.stringify([effect, says, one, ruleHash]))}`);
}

/** 128 bits: an author of both texts must not find two with the same hash. */
function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/** Whether a text has the form of a policy's key. */
export function isPolicyKey(text: string): boolean {
  return /^policy\/[a-z0-9-]{1,32}@[0-9a-f]{32}$/.test(text);
}

/** The id of the guard that a key belongs to. */
export function idOfKey(key: string): string {
  return key.replace(/[@ ].*/, '');
}

/** Whether everything that the policy with this id says was shown. @param keys of the guards that were shown */
export function isShownIn(keys: ReadonlySet<string>, guards: readonly Guard[], id: string): boolean {
  return policyKeys(guards, [id]).every((key) => keys.has(key));
}
