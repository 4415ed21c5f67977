/**
 * Calls are data: one HTTP request that a change needs, complete before anything is sent. What apply sends is what the
 * plan shows. Ids that do not exist yet stand as references, secrets as their sources; both are types of their own that
 * no JSON can spell, so nothing that a service answers and a write repeats is ever taken for one (rule 42).
 */
import type { AddressText } from '../resource/address.ts';
import type { SecretSource } from '../stack/target.ts';
import type { WriteMethod } from '../wire.ts';

/** `Kind/acme/app#create`: unique in a plan. */
export type CallId = string;

/** The id of a resource that the same plan creates. */
export class IdReference {
  readonly $id: AddressText;
  constructor(address: AddressText) {
    this.$id = address;
  }
}

/** A secret that is read when the call is sent. */
export class SecretReference {
  readonly $secret: SecretSource;
  constructor(source: SecretSource) {
    this.$secret = source;
  }
}

/** JSON, with references in it. */
export type CallValue =
  | null
  | boolean
  | number
  | string
  | IdReference
  | SecretReference
  | readonly CallValue[]
  | CallObject;
export interface CallObject {
  readonly [key: string]: CallValue;
}

export interface Call {
  readonly id: CallId;
  readonly target: string;
  readonly method: WriteMethod;
  /** segments below the API root, not encoded: `['workspaces', { $id: … }, 'actions', 'lock']` */
  readonly path: readonly (string | IdReference)[];
  /** in the target's own wire names; may hold references */
  readonly body?: CallObject;
  /** calls of one target run in rising order; a later one waits for all earlier ones, whatever came of them */
  readonly order: number;
  /** calls that must have succeeded; if one did not, this call is skipped. References add theirs by themselves. */
  readonly needs: readonly CallId[];
  /** statuses that mean that the service has carried it out */
  readonly success: readonly number[];
  /**
   * Statuses that mean that it was true already, by somebody else's doing, unless it is a repetition whose first answer
   * was lost and the kind can prove that it was ours.
   */
  readonly already?: readonly number[];
  /** may be sent again when its answer was lost */
  readonly repeatable: boolean;
  /** where the answer holds the id of the resource that this call creates: `/data/id` */
  readonly createsId?: { readonly address: AddressText; readonly pointer: string };
  /** the right that it needs, by its name in `LiveResource.rights`: `can-update` (rule 30) */
  readonly permission?: string;
  /**
   * The fields of its change that it writes, by their top-level names. Where neither this nor `takesFrom` is said: all that
   * no other call of the change names. So the ledger hears of a change that was carried out in part.
   */
  readonly writes?: readonly string[];
  /** the fields that it takes elements from and adds none to: nothing in them becomes ours by it */
  readonly takesFrom?: readonly string[];
  /** for a reader of the plan: what the call does, where method and path do not say it */
  readonly description?: string;
}

export function isReference(value: unknown): value is IdReference | SecretReference {
  return value instanceof IdReference || value instanceof SecretReference;
}

export function isCallObject(value: CallValue | undefined): value is CallObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isReference(value);
}

/** Every reference in a value, at any depth, in the order of its members. */
export function referencesIn(value: CallValue | undefined): (IdReference | SecretReference)[] {
  if (isReference(value)) return [value];
  if (Array.isArray(value)) return (value as readonly CallValue[]).flatMap(referencesIn);
  return isCallObject(value) ? Object.values(value).flatMap(referencesIn) : [];
}
