/** A change: one resource, what the plan does with it, and the calls that do it. */
import type { Address, AddressText } from '../resource/address.ts';
import type { Call, CallId } from './call.ts';
import type { Place } from '../diagnostic.ts';
import type { FieldChange } from '../kind/field.ts';
import type { Json } from '../json/json.ts';
import type { Risk } from './risk.ts';
import type { LastModified } from './touch.ts';

export type Action = 'create' | 'update' | 'delete' | 'release' | 'adopt' | 'none';

export interface Change {
  readonly address: Address;
  readonly action: Action;
  /** why, as a clause: "declared, not live" */
  readonly reason: string;
  readonly fields: readonly FieldChange[];
  /** what the reader should know but need not act on */
  readonly notes: readonly string[];
  /** the access that it opens or closes, and to whom; absent when none */
  readonly risks?: readonly Risk[];
  /** where the manifest declares it; absent when it is no longer declared */
  readonly place?: Place;
  /** the live resource's id, when it exists and has one */
  readonly id?: string;
  /**
   * The remote ids of the other resources that it names, such as consumers of a state, by address; the address itself where the
   * same plan creates that resource
   */
  readonly references?: Readonly<Record<AddressText, string>>;
  /** hash of the live content, for a removed resource without an id: tells it from a later resource of the same name */
  readonly fingerprint?: string;
  /** of an adoption: the other stack that created the resource, or the whole that it is a part of, by its creator mark */
  readonly createdBy?: string;
  readonly calls: readonly Call[];
  /** a call of another change that carries out this one, too (rule 20) */
  readonly sharedCall?: CallId;
  /** facts of the live resource, besides its fields, that the calls rely on; checked again before writing */
  readonly preconditions: Readonly<Record<string, Json>>;
  /** where live is not as it was last applied: who touched it since; absent where nobody was asked */
  readonly touched?: LastModified;
}

/** The members of a change that enter the digest: what an approval is about (rule 27). */
export type DigestedChange = Pick<
  Change,
  'address' | 'action' | 'fields' | 'id' | 'fingerprint' | 'references'
>;

/** Identifies one resource among all that ever have the same name: by its id, or, without an id, by its content. */
export type Identity = { readonly id: string } | { readonly fingerprint: string };

/**
 * The resource that an approval of this change is about; undefined where a name says enough. The approval to adopt or to remove one
 * resource covers no later one of the same name. Creations and updates of what is ours are approved by name.
 */
export function approvedIdentity({ action, id, fingerprint }: DigestedChange): Identity | undefined {
  if (action !== 'delete' && action !== 'release' && action !== 'adopt') return undefined;
  if (id !== undefined) return { id };
  return fingerprint === undefined ? undefined : { fingerprint };
}

/** The remote id of that resource; undefined when it has none. */
export function approvedId(change: DigestedChange): string | undefined {
  const identity = approvedIdentity(change);
  return identity !== undefined && 'id' in identity ? identity.id : undefined;
}

/** A resource that trueup read, does not change, and tells the user about. */
export interface Notice {
  readonly address: Address;
  readonly message: string;
  readonly fix?: string;
}
