/**
 * A change: one resource, what the plan does with it, and the calls that do it. Also its outcome, and the events that apply
 * reports while it works.
 */
import type { Address, AddressText } from './address.ts';
import type { LastModified } from './audit-trail.ts';
import type { Call, CallId } from './call.ts';
import type { Place } from './diagnostic.ts';
import type { FieldChange } from './field.ts';
import type { Risk } from './guard.ts';
import type { Json } from './json.ts';

export type Action = 'create' | 'update' | 'delete' | 'release' | 'adopt' | 'none';

export interface Change {
  readonly address: Address;
  readonly action: Action;
  /** why, as a clause: "declared, not live" */
  readonly reason: string;
  readonly fields: readonly FieldChange[];
  /** what the reader should know but need not act on */
  readonly notes: readonly string[];
  /** the access that it widens or narrows, and other risks; absent when there are none */
  readonly risks?: readonly Risk[];
  /** where the manifest declares it; absent when it is no longer declared */
  readonly place?: Place;
  /** the live resource's id, when it exists and has one */
  readonly id?: string;
  /**
   * the remote ids of the other resources that the resource names, such as consumers of a state, by address; the address itself
   * if the same plan creates that resource
   */
  readonly references?: Readonly<Record<AddressText, string>>;
  /** hash of the live content, for a removed resource without an id: distinguishes it from a later resource of the same name */
  readonly fingerprint?: string;
  /** for an adoption: the other stack that created the resource or its parent, according to the creator mark */
  readonly createdBy?: string;
  readonly calls: readonly Call[];
  /** a call of another change that also carries out this change */
  readonly sharedCall?: CallId;
  /** facts of the live resource, besides its fields, that the calls rely on; checked again before writing */
  readonly preconditions: Readonly<Record<string, Json>>;
  /** who last modified the resource since the last apply, if it drifted; absent when no audit trail was read */
  readonly lastModified?: LastModified;
}

/** The members of a change that enter the digest, which an approval covers. Risks that narrow access do not enter it. */
export type DigestedChange = Pick<
  Change,
  'address' | 'action' | 'fields' | 'id' | 'fingerprint' | 'references' | 'risks'
>;

/** Identifies one resource among all that ever had the same name: by its id, or, without an id, by its content. */
export type Identity = { readonly id: string } | { readonly fingerprint: string };

/**
 * The resource that an approval of this change covers; undefined if its name is enough. The approval to adopt or to remove one
 * resource covers no later one of the same name. Creations, and updates of our resources, are approved by name.
 */
export function approvedIdentity({ action, id, fingerprint }: DigestedChange): Identity | undefined {
  if (action !== 'delete' && action !== 'release' && action !== 'adopt') return undefined;
  if (id !== undefined) return { id };
  return fingerprint === undefined ? undefined : { fingerprint };
}

/** The remote id of the resource that an approval of this change covers; undefined if its name is enough, or it has no id. */
export function approvedId(change: DigestedChange): string | undefined {
  const identity = approvedIdentity(change);
  return identity !== undefined && 'id' in identity ? identity.id : undefined;
}

/** A report about a resource that trueup read and does not change. */
export interface Notice {
  readonly address: Address;
  readonly message: string;
  readonly fix?: string;
  /** something prevents the removal of the resource for now: a later plan may remove it. Not in the JSON of plans */
  readonly isPending?: true;
}

// The outcome of each change, and the events that apply reports while it works.

export type OutcomeKind =
  /** sent, and the service answered with success */
  | 'applied'
  /** the resource was already as desired just before the call; nothing was sent */
  | 'unchanged'
  /** the live resource changed since the plan; nothing was sent */
  | 'stale'
  /** a change that it depends on did not succeed; nothing was sent */
  | 'skipped'
  | 'failed'
  /** sent, and the answer was lost: it may or may not have been carried out */
  | 'unknown';

export interface Outcome {
  readonly address: Address;
  readonly action: Action;
  readonly kind: OutcomeKind;
  /** the reason, in the service's words where there are any */
  readonly detail?: string;
  readonly place?: Place;
  /** for a change with several calls: those that were carried out before it stopped */
  readonly done?: readonly string[];
  /** failed, and may have been carried out: the response was no refusal, or the refusal of a creation was not verified */
  readonly inDoubt?: true;
  /** failed, and no immediate read verified that nothing was carried out; never stored */
  readonly refused?: true;
  /** failed or unknown, but a read afterwards found the resource as desired */
  readonly foundTrue?: true;
  /** the request ids that the service returned; its audit trail has them, too */
  readonly requests?: readonly string[];
  /** it was carried out, maybe by an attempt without a request id: the response was lost, or came from a proxy */
  readonly unnamed?: true;
  /** the service's own warnings about writes that it carried out */
  readonly warnings?: readonly string[];
}

/** Why a change was not sent after a signal or the deadline, as a clause. */
export const runStopped = 'the run was stopped';

export type ApplyEvent =
  | { readonly type: 'begin'; readonly changes: number; readonly calls: number }
  | { readonly type: 'start'; readonly change: Change }
  | { readonly type: 'end'; readonly outcome: Outcome; readonly finished: number; readonly changes: number };
