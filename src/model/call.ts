/**
 * Calls are data: one HTTP request that a change needs, complete before anything is sent. What apply sends is what the
 * plan shows. Ids that do not exist yet stand as references, secrets as their sources.
 */
import type { AddressText } from './address.ts';
import type { Json, JsonObject } from './json.ts';
import type { SecretSource } from './target.ts';
import type { WriteMethod } from './wire.ts';

/** `Kind/acme/app#create`: unique in a plan. */
export type CallId = string;

/** The id of a resource that the same plan creates. In JSON: `{ "$id": "Kind/acme/app" }`. */
export interface IdReference {
  readonly $id: AddressText;
}

/** A secret that is read when the call is sent. In JSON: `{ "$secret": { "env": "REVIEWER_JWT" } }`. */
export interface SecretReference {
  readonly $secret: SecretSource;
}

export interface Call {
  readonly id: CallId;
  readonly target: string;
  readonly method: WriteMethod;
  /** segments below the API root, not encoded: `['workspaces', { $id: … }, 'actions', 'lock']` */
  readonly path: readonly (string | IdReference)[];
  /** in the target's own wire names; may hold references */
  readonly body?: JsonObject;
  /** calls of one target run in rising order; a later one waits for all earlier ones, whatever came of them */
  readonly order: number;
  /** calls that must have succeeded; if one did not, this call is skipped. References add theirs by themselves. */
  readonly needs: readonly CallId[];
  /** statuses that mean success */
  readonly success: readonly number[];
  /** may be sent again when its answer was lost */
  readonly repeatable: boolean;
  /** where the answer holds the id of the resource that this call creates: `/data/id` */
  readonly gives?: { readonly address: AddressText; readonly pointer: string };
  /** for a reader of the plan: what the call does, where method and path do not say it */
  readonly says?: string;
}

export function isIdReference(value: Json | IdReference | undefined): value is IdReference & JsonObject {
  return typeof value === 'object' && value !== null && '$id' in value && typeof value['$id'] === 'string';
}
