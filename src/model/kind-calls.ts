/** What a kind derives from a change: its calls, what their responses contain, and what the ledger records. */
import type { Address } from './address.ts';
import type { Call, CallId, IdReference } from './call.ts';
import type { Action, Change } from './change.ts';
import type { Answer } from './http.ts';
import type { Named } from './kind-specs.ts';
import type { LedgerRecord } from './ledger.ts';
import type { LiveResource, OwnershipTag, Spec } from './resource.ts';
import type { Dialect, Target } from './stack.ts';

export interface PlannedCalls {
  readonly calls: readonly Call[];
  /** a call of another change that also carries out this change */
  readonly sharedCall?: CallId;
  /** names of facts of the live resource that the calls rely on */
  readonly preconditions?: readonly string[];
  /** sentences about what the calls do not change */
  readonly notes?: readonly string[];
}

export interface CallContext<
  D extends Spec = Spec,
  L extends LiveResource = LiveResource,
  P extends Spec = D,
> {
  readonly target: Target;
  readonly dialect: Dialect;
  readonly stack: string;
  /** the id that goes into ownership tags; undefined until the first apply has made one */
  readonly stackId?: string;
  /** canonical; the declared spec after `prepare`; for a withdrawn child the spec that remains */
  readonly desired: P;
  readonly live?: L;
  readonly record?: LedgerRecord<Named<D>>;
  /** the ownership tag that the resource, or its parent, will have afterwards */
  readonly ownershipTag?: OwnershipTag;
  /** `safe` or `force` of a removal request */
  readonly remove?: 'safe' | 'force';
  /** the id of another resource, or a reference when this plan creates that resource; undefined when there is none */
  idOf(address: Address): string | IdReference | undefined;
  /**
   * What the same plan does with another resource.
   * @param id also finds a renamed resource, which the plan has at another address: `live.address`
   */
  peer(
    address: Address,
    id?: string,
  ): {
    readonly action: Action;
    readonly desired?: Spec;
    readonly live?: LiveResource;
    readonly fields: Change['fields'];
  };
}

export interface MarkContext<D extends Spec = Spec, L extends LiveResource = LiveResource> {
  /** absent for a resource that was already as declared */
  readonly change?: Change;
  /** the responses to the calls that were carried out; empty when the resource was already as declared */
  readonly answers: ReadonlyMap<CallId, Answer>;
  /** the declared spec; for a change that was carried out partly, only the fields that its calls wrote */
  readonly desired: Named<D>;
  readonly live?: L;
  /** the record of this resource before the change; absent when the change creates it */
  readonly record?: LedgerRecord<Named<D>>;
  /** the change wrote an ownership tag, which was missing when it was read back */
  readonly lostTag?: true | undefined;
  idOf(address: Address): string | undefined;
}

/** The response to a write, as far as it is about the resource itself. */
export interface ReturnedFields {
  /** the fields that this call may have written; those that are missing in `spec` were not returned */
  readonly about: readonly string[];
  /** in the shape of a live spec */
  readonly spec: Spec;
}

/** The change that a call belongs to, once its resource has an id. */
export interface CallOwner {
  readonly address: Address;
  readonly id?: string;
}
