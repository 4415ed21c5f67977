/** Proves whether a target keeps claims, where no answer has shown it (rule 48). */
import { messageOf } from '../model/message-of.ts';
import type { Address } from '../model/resource/address.ts';
import { untilAborted } from '../model/until-aborted.ts';
import type { SendContext } from './send-call.ts';

/**
 * Lets calls that write a claim pass: the first one proves that claims are kept, while the others wait. A call that is refused
 * proves nothing; then the next one has to. One for each target.
 */
export class ClaimProof {
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

type ClaimFound =
  | { readonly is: 'kept' }
  /** `lost`: it is not there; `unread`: nobody can tell */
  | { readonly is: 'lost' | 'unread'; readonly why: string };

export async function readClaimBack(
  { kind, session, stop }: Pick<SendContext, 'kind' | 'session' | 'stop'>,
  address: Address,
  id: string | undefined,
): Promise<ClaimFound> {
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
