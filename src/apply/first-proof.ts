/** Proves whether a target keeps claims or parts, where no answer has shown it (rule 48). */
import { messageOf } from '../model/message-of.ts';
import { type Address, formatAddress } from '../model/resource/address.ts';
import type { Kind, Registry, Session } from '../model/kind/kind.ts';
import type { Change } from '../model/plan/change.ts';
import { untilAborted } from '../model/until-aborted.ts';
import type { PlanResult } from '../plan/build-plan.ts';

/**
 * Lets calls pass that write what is unproven: the first one proves that it is kept, while the others wait. A call that is refused
 * proves nothing; then the next one has to. One for each target and kind.
 */
class WriteCheck {
  #known: 'kept' | 'dropped' | undefined;
  #running: Promise<void> | undefined;
  #leave: () => void = () => {};

  /** @returns `prove`: the caller has to prove it, and to call `end` */
  async enter(): Promise<'prove' | 'kept' | 'dropped'> {
    while (this.#running !== undefined) await this.#running;
    if (this.#known !== undefined) return this.#known;
    this.#running = new Promise((resolve) => {
      this.#leave = resolve;
    });
    return 'prove';
  }

  /** @param known absent when nothing was proved */
  end(known?: 'kept' | 'dropped'): void {
    this.#known = known;
    this.#running = undefined;
    this.#leave();
  }
}

/** What one target has to prove, by kind. */
export class WriteVerifier {
  readonly #proofs = new Map<string, WriteCheck>();

  /** Enters all of them, in the order in which everybody does. @returns those that the caller has to prove, or what is known to be dropped */
  async enter(kinds: readonly string[]): Promise<readonly string[] | { readonly dropped: string }> {
    const toProve: string[] = [];
    for (const kind of kinds) {
      const found = await this.#of(kind).enter();
      if (found === 'prove') toProve.push(kind);
      if (found !== 'dropped') continue;
      this.end(toProve);
      return { dropped: kind };
    }
    return toProve;
  }

  /** @param known absent when nothing was proved */
  end(kinds: readonly string[], known?: 'kept' | 'dropped'): void {
    for (const kind of kinds) this.#of(kind).end(known);
  }

  #of(kind: string): WriteCheck {
    const proof = this.#proofs.get(kind) ?? new WriteCheck();
    this.#proofs.set(kind, proof);
    return proof;
  }
}

type KeptFound =
  | { readonly is: 'kept' }
  /** `lost`: it is not there; `unread`: nobody can tell */
  | { readonly is: 'lost' | 'unread'; readonly why: string };

interface VerifyContext {
  readonly kind: Kind;
  readonly session: Session;
  readonly planning: PlanResult;
  readonly kinds: Registry;
  readonly stop?: AbortSignal;
}

/** Reads back what a carried out call has to prove. @returns the first that was not found, and whether it is the claim or a part */
export async function verifyWrite(
  context: VerifyContext,
  change: Change,
  { kinds, id }: { readonly kinds: readonly string[]; readonly id: string | undefined },
): Promise<KeptFound & { readonly of?: 'claim' | 'part' }> {
  for (const name of kinds) {
    const isClaim = name === context.kind.name;
    const found = await (isClaim
      ? verifyOwnershipTag(context, change.address, id)
      : readPartBack(context, change, { name, id }));
    if (found.is !== 'kept') return { ...found, of: isClaim ? 'claim' : 'part' };
  }
  return { is: 'kept' };
}

async function verifyOwnershipTag(
  { kind, session, stop }: VerifyContext,
  address: Address,
  id: string | undefined,
): Promise<KeptFound> {
  const fix =
    'set "ownership: ledger" for the target, and apply again; tags that are declared there have to go, too';
  try {
    const live = await untilAborted(kind.readOne(session, address, id), stop);
    if (live?.witness.claim !== undefined) return { is: 'kept' };
    return { is: 'lost', why: `the service did not keep its claim: ${fix}` };
  } catch (error) {
    return { is: 'unread', why: `its claim cannot be read back (${messageOf(error)}): ${fix}` };
  }
}

/** A part that the same call wrote has to be as it was sent; of one that is yet to be written, the answer alone is enough. */
async function readPartBack(
  { kinds, session, planning, stop }: VerifyContext,
  { address, calls }: Change,
  { name, id }: { readonly name: string; readonly id: string | undefined },
): Promise<KeptFound> {
  const part = { ...address, kind: name };
  const fix = `take every ${name} of this target out of the manifests, short forms too, and apply again`;
  const written = planning.plan.changes.find(
    (change) =>
      formatAddress(change.address) === formatAddress(part) &&
      calls.some(({ id }) => id === change.sharedCall),
  );
  try {
    const live = await untilAborted(
      kinds.get(name)?.readOne(session, part, id) ?? Promise.resolve(undefined),
      stop,
    );
    const fields = new Set(written?.fields.map(({ path: [field = ''] }) => field));
    if (written === undefined || planning.isCarriedOut(written, fields, live)) return { is: 'kept' };
    return { is: 'lost', why: `the service did not keep its ${name}: ${fix}` };
  } catch (error) {
    return { is: 'unread', why: `its ${name} cannot be read back (${messageOf(error)}): ${fix}` };
  }
}
