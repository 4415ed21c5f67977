/**
 * Verifies a refused write by reading the resource: a proxy may answer with a refusal although the service carried out the
 * request. Each refusal costs at most one read, and after a number of confirmed refusals no more are verified.
 */
import type { Call } from '../model/plan/call.ts';
import type { Change } from '../model/plan/change.ts';
import type { Kind, Session } from '../model/kind/kind.ts';
import type { LiveResource, Spec } from '../model/resource/resource.ts';
import type { PlanResult } from '../plan/build-plan.ts';
import { writtenBy } from './complete-record.ts';
import { isThisCreate } from './send-call.ts';

/** How many refusals of a target are verified that turn out to be true. */
const maxConfirmedRefusals = 10;

/** The remaining number of verifications for one target; shared by all of its changes. */
export class ReadBudget {
  #left = maxConfirmedRefusals;

  /** Whether one more look may be made; it is counted then. */
  take(): boolean {
    if (this.#left === 0) return false;
    this.#left -= 1;
    return true;
  }

  /** Does not count a look that showed that the refusal was wrong. */
  giveBack(): void {
    this.#left += 1;
  }
}

interface ReadContext {
  readonly planning: PlanResult;
  readonly kind: Kind;
  readonly session: Session;
  readonly looks: ReadBudget;
  /** the resource's id, once it has one */
  readonly id: string | undefined;
  readonly declaredMark: Spec;
}

/** `open`: the resource could not be read, or only the rest of the change would show the truth. */
type VerifiedState =
  | { readonly is: 'true'; readonly live?: LiveResource }
  /** the create made the resource, but it is not as desired */
  | { readonly is: 'there' }
  | { readonly is: 'untrue' }
  | { readonly is: 'open' };

/** Never rejects. */
export async function readAfterRefusal(
  call: Call,
  change: Change,
  look: ReadContext,
): Promise<VerifiedState> {
  const { kind, session, looks, id } = look;
  if (!looks.take()) return { is: 'open' };
  try {
    const live = await kind.readOne(session, change.address, id);
    const verified = verify(call, change, { look, live });
    if (verified.is === 'true') looks.giveBack();
    return verified;
  } catch {
    return { is: 'open' };
  }
}

/** A resource counts as created by this call only if it has its birth mark (rules 20). */
function verify(
  call: Call,
  change: Change,
  { look, live }: { readonly look: ReadContext; readonly live: LiveResource | undefined },
): VerifiedState {
  const isCreate = call.createsId !== undefined;
  if (isCreate && (live === undefined || !isThisCreate(live, look))) return { is: 'untrue' };
  const written = new Set([...writtenBy({ change, calls: new Set([call.id]) }), ...(call.takesFrom ?? [])]);
  if (look.planning.isCarriedOut(change, written, live)) return { is: 'true', ...(live && { live }) };
  if (isCreate) return { is: 'there' };
  return { is: writesAlone(call, change) ? 'untrue' : 'open' };
}

/** Whether no other call of the change writes the same fields, so that their values show whether this call was carried out. */
function writesAlone(call: Call, { calls }: Change): boolean {
  const namesOf = ({ writes, takesFrom }: Call) =>
    writes === undefined && takesFrom === undefined ? [''] : [...(writes ?? []), ...(takesFrom ?? [])];
  const own = new Set(namesOf(call));
  return calls.every((other) => other === call || !namesOf(other).some((name) => own.has(name)));
}
