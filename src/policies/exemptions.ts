/** Whether an exemption is in force. Only this file decides that. Pure. */
import { matchesPattern } from '../model/name-pattern.ts';
import type { Exemption } from '../model/policy.ts';

const day = 24 * 60 * 60 * 1000;
/** Days from now until the end of an exemption, at most. */
export const maxExemptionDays = 90;
/** Each plan warns of an exemption that ends within this many days. */
const noticeDays = 14;

type ExemptionState =
  | { readonly is: 'in-force'; readonly endsSoon: boolean }
  | { readonly is: 'ended' }
  /** its end is too far away, so it has no effect */
  | { readonly is: 'too-far' }
  /** its end is not a valid date */
  | { readonly is: 'invalid' };

/** @param now milliseconds since 1970 */
export function exemptionState({ until }: Pick<Exemption, 'until'>, now: number): ExemptionState {
  const end = endOf(until);
  if (end === undefined) return { is: 'invalid' };
  if (end <= now) return { is: 'ended' };
  // The last day counts as a whole, so the limit is the end of a day as well.
  if (end > now + (maxExemptionDays + 1) * day) return { is: 'too-far' };
  return { is: 'in-force', endsSoon: end <= now + noticeDays * day };
}

/** The exemptions about a resource. */
export function exemptionsFor(exemptions: readonly Exemption[], address: string): readonly Exemption[] {
  return exemptions.filter(({ resource }) => matchesPattern(address, resource));
}

/** Whether an exemption loosens the policy: none of those `before` is about all of its resources and ends as late or later. */
export function isNewExemption(one: Exemption, before: readonly Exemption[]): boolean {
  const end = endOf(one.until) ?? 0;
  return !before.some(
    (other) => matchesPattern(one.resource, other.resource) && end <= (endOf(other.until) ?? 0),
  );
}

/** The end in milliseconds since 1970: for a day, the beginning of the next one in UTC; undefined for a date that does not exist. */
function endOf(until: string): number | undefined {
  const [date = ''] = until.split('T');
  const [time, midnight] = [Date.parse(until), Date.parse(date)];
  // "2026-02-30" would be a day in March.
  if (Number.isNaN(time) || !new Date(midnight).toISOString().startsWith(date)) return undefined;
  return until.includes('T') ? time : time + day;
}
