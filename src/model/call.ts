/**
 * Calls are data: one HTTP request that a change needs, complete before anything is sent, in neutral names or in those of a
 * dialect. References are placeholders for secrets and for ids that do not exist yet. References are instances of classes, so that
 * no live value can be mistaken for one.
 */
import type { AddressText } from './address.ts';
import type { WriteMethod } from './http.ts';
import type { Json } from './json.ts';
import type { SecretSource } from './stack.ts';

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

/** JSON that may contain references. */
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
  /** calls of one target run in ascending order: a call waits until all calls with a lower order have ended, successfully or not */
  readonly order: number;
  /** calls that must succeed first, or this one is skipped; the calls that create referenced ids are added automatically */
  readonly needs: readonly CallId[];
  /** statuses that mean that the service carried out the call */
  readonly success: readonly number[];
  /**
   * Statuses that mean that others already did the same, unless the call was repeated after a lost response and the kind can
   * prove that the first attempt did it.
   */
  readonly already?: readonly number[];
  /** may be sent again when its response was lost */
  readonly repeatable: boolean;
  /** the read before this call may be that of a list page, because the call changes only its own fields and widens no access */
  readonly sharesRead?: true;
  /** the facts of the change's preconditions that this call still relies on after other calls of the change were sent */
  readonly reliesOn?: readonly string[];
  /** for a call that creates a resource: the JSON pointer to its id in the answer, such as `/data/id` */
  readonly createsId?: { readonly address: AddressText; readonly pointer: string };
  /** the right that the call needs, by its name in `LiveResource.rights` or `TokenRights`: `can-update`, `create` */
  readonly permission?: string;
  /**
   * The fields of the change that this call writes, by top-level name. Without this and `takesFrom`: all fields that no other
   * call of the change names. The ledger needs it to record a change that was only partly carried out.
   */
  readonly writes?: readonly string[];
  /** the fields from which it only removes elements: the ledger records no value of them for this call */
  readonly takesFrom?: readonly string[];
  /** values that the call removes, by field: a response that still has one shows that the service ignored the call */
  readonly removes?: Readonly<Record<string, Json>>;
  /** the most likely reason of a refusal with this status, if the service does not give it */
  readonly refusalHints?: Readonly<Record<number, string>>;
  /** what the call does, for readers of the plan, if method and path are not clear */
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

// Renames object members at any depth, which is all that a dialect changes in a body. References are kept as they are.

/** The same value with other member names. JSON in, JSON out. */
export function renameMembers<T extends CallValue>(value: T, names: Readonly<Record<string, string>>): T {
  return renamed(value, names) as T;
}

function renamed(value: CallValue, names: Readonly<Record<string, string>>): CallValue {
  if (Array.isArray(value)) return (value as readonly CallValue[]).map((item) => renamed(item, names));
  if (!isCallObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      Object.hasOwn(names, key) ? (names[key] ?? key) : key,
      renamed(member, names),
    ]),
  );
}
