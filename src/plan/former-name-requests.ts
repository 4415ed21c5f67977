/** Removal requests for the former name of a resource that has another name in the service now: what they say about it. */
import { type AddressText, formatAddress, parseAddress } from '../model/address.ts';
import { quoted } from '../model/quoted.ts';
import type { PlanContext } from './plan-context.ts';
import { kept, type Removal, renamedResource } from './removal.ts';
import { decidesAbout } from './restrict-to-part.ts';

/**
 * The verdicts, in which the notice for a removal request of a former name says what the plan does with the resource under its present
 * name. It may be undeclared there, and removed because of that.
 */
export function withRemovalsElsewhere(
  context: PlanContext,
  verdicts: ReadonlyMap<AddressText, Removal>,
): ReadonlyMap<AddressText, Removal> {
  const isOfThisPlan = decidesAbout(context);
  const notices = [...context.removalRequests].flatMap(([text, { address, metadata }]) => {
    const renamed = verdicts.get(text)?.is === 'notice' ? renamedResource(context, address) : undefined;
    const now = renamed && formatAddress(renamed.address);
    const removal = now === undefined ? undefined : verdicts.get(now);
    if (now === undefined || removal === undefined || !isOfThisPlan(now, removal)) return [];
    const says = removedElsewhere(now, removal, metadata.remove);
    return says === undefined ? [] : [[text, kept(address, ...says)] as const];
  });
  return notices.length === 0 ? verdicts : new Map([...verdicts, ...notices]);
}

/** @param asked the mode in the removal request of the former name. @returns undefined if the resource stays as it is */
function removedElsewhere(
  now: AddressText,
  removal: Removal,
  asked: 'safe' | 'force' | undefined,
): readonly [message: string, fix: string] | undefined {
  const name = quoted(parseAddress(now).name);
  const subject = `its name in the service is ${name} now`;
  if (removal.is === 'release')
    return [
      `${subject}: it is released as no longer declared, see the change of ${quoted(now)}`,
      `to delete it, write the removal request for ${name}`,
    ];
  if (removal.is !== 'delete') return undefined;
  if (removal.remove !== undefined)
    return [`${subject}: the removal request for ${name} removes it`, 'delete this removal request'];
  const unforced = asked === 'force' ? ', and not by force' : '';
  const force = asked === 'force' ? `to delete it by force, write the removal request for ${name}; ` : '';
  return [
    `${subject}: it is removed as no longer declared${unforced}, see the change of ${quoted(now)}`,
    `${force}to keep it, declare it as ${name}`,
  ];
}
