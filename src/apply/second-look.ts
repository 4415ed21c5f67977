/**
 * The look at what a write was to do that was answered with a no: an answer is not the fact, and what stands in front of a
 * service may refuse what it has passed on. A no that is true costs one read at most, and of many only the first few.
 */
import type { Call } from '../model/plan/call.ts';
import type { Change } from '../model/plan/change.ts';
import type { Kind, Session } from '../model/kind/kind.ts';
import type { LiveResource, Spec } from '../model/resource/resource.ts';
import type { Planning } from '../plan/build-plan.ts';
import { writtenBy } from './complete-record.ts';
import { isThisCreate } from './send-call.ts';

/** How many of a target's refusals are looked into that turn out to be true. */
const mostTrueRefusals = 10;

/** What one target may still be asked for the sake of refusals; shared by all of its changes. */
export class LookBudget {
  #left = mostTrueRefusals;

  /** Whether one more look may be taken, which is then one less. */
  take(): boolean {
    if (this.#left === 0) return false;
    this.#left -= 1;
    return true;
  }

  /** The look was worth it: the refusal was none. */
  giveBack(): void {
    this.#left += 1;
  }
}

export interface SecondLook {
  readonly planning: Planning;
  readonly kind: Kind;
  readonly session: Session;
  readonly looks: LookBudget;
  /** of the resource, once it has one */
  readonly id: string | undefined;
  readonly insteadOfMark: Spec;
}

/** `open`: nobody could look, or the rest of the change has to be carried out before anybody can tell. */
export type Seen =
  | { readonly is: 'true'; readonly live?: LiveResource }
  /** the create made it, and it is not as it was to be */
  | { readonly is: 'there' }
  | { readonly is: 'untrue' }
  | { readonly is: 'open' };

/** Never rejects. */
export async function lookAfterRefusal(call: Call, change: Change, look: SecondLook): Promise<Seen> {
  const { kind, session, looks, id } = look;
  if (!looks.take()) return { is: 'open' };
  try {
    const live = await kind.readOne(session, change.address, id);
    const seen = judge(call, change, { look, live });
    if (seen.is === 'true') looks.giveBack();
    return seen;
  } catch {
    return { is: 'open' };
  }
}

/** What is created where claims tell whose it is, is this create's doing only if it bears its mark (rules 20). */
function judge(
  call: Call,
  change: Change,
  { look, live }: { readonly look: SecondLook; readonly live: LiveResource | undefined },
): Seen {
  const isBirth = call.createsId !== undefined;
  if (isBirth && (live === undefined || !isThisCreate(live, look))) return { is: 'untrue' };
  const written = new Set([...writtenBy({ change, calls: new Set([call.id]) }), ...(call.takesFrom ?? [])]);
  if (look.planning.isCarriedOut(change, written, live)) return { is: 'true', ...(live && { live }) };
  if (isBirth) return { is: 'there' };
  return { is: isAlone(call, change) ? 'untrue' : 'open' };
}

/** Whether what the call writes is written by it alone, so that its fields tell of it. */
function isAlone(call: Call, { calls }: Change): boolean {
  const namesOf = ({ writes, takesFrom }: Call) =>
    writes === undefined && takesFrom === undefined ? [''] : [...(writes ?? []), ...(takesFrom ?? [])];
  const own = new Set(namesOf(call));
  return calls.every((other) => other === call || !namesOf(other).some((name) => own.has(name)));
}
