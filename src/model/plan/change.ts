/** A change: one resource, what the plan does with it, and the calls that do it. */
import type { Address } from '../resource/address.ts';
import type { Call, CallId } from './call.ts';
import type { Place } from '../diagnostic.ts';
import type { FieldChange } from '../kind/field.ts';
import type { Json } from '../json/json.ts';
import type { Risk } from './risk.ts';
import type { Touched } from './touch.ts';

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
  /** hash of the live content, for a removed resource without an id: tells it from a later resource of the same name */
  readonly fingerprint?: string;
  readonly calls: readonly Call[];
  /** a call of another change that carries out this one, too (rule 20) */
  readonly sharedCall?: CallId;
  /** facts of the live resource, besides its fields, that the calls rely on; checked again before writing */
  readonly preconditions: Readonly<Record<string, Json>>;
  /** where live is not as it was last applied: who touched it since; absent where nobody was asked */
  readonly touched?: Touched;
}

/** The members of a change that enter the digest: what an approval is about (rule 27). */
export type DigestedChange = Pick<Change, 'address' | 'action' | 'fields' | 'id' | 'fingerprint'>;

/** Identifies one resource among all that ever have the same name: by its id, or, without an id, by its content. */
export type RemovedIdentity = { readonly id: string } | { readonly fingerprint: string };

/**
 * The resource that an approval of this removal is about; undefined where the change removes nothing. The approval to remove
 * one resource must not remove a later one of the same name. Creations and updates are approved by name.
 */
export function removedIdentity({ action, id, fingerprint }: DigestedChange): RemovedIdentity | undefined {
  if (action !== 'delete' && action !== 'release') return undefined;
  if (id !== undefined) return { id };
  return fingerprint === undefined ? undefined : { fingerprint };
}

/** The remote id of the resource that this change removes; undefined when it removes nothing, or has no id. */
export function removedId(change: DigestedChange): string | undefined {
  const identity = removedIdentity(change);
  return identity !== undefined && 'id' in identity ? identity.id : undefined;
}

/** A resource that trueup read, does not change, and tells the user about. */
export interface Mention {
  readonly address: Address;
  readonly message: string;
  readonly fix?: string;
}
