/** The types of a kind's specs, derived from its schema, and how a kind prepares the two sides of a comparison. */
import type { Address, AddressText } from './address.ts';
import type { Diagnostic } from './diagnostic.ts';
import type { Risk } from './guard.ts';
import type { Json, JsonObject } from './json.ts';
import type { LedgerRecord } from './ledger.ts';
import type { LiveResource, Spec } from './resource.ts';
import type { Dialect } from './stack.ts';

/**
 * The spec of a valid manifest. Every field may be missing, even a required one: a removal request declares none, and neither does
 * a resource that is no longer declared.
 */
export type Declared<S> = { readonly [Field in keyof S]?: S[Field] };

/**
 * The fields of the schema with values that were not validated against it: from the ledger, from a live resource, in canonical
 * form, or, for a child, from the stack's defaults, which the kind's rules check even when they do not match the schema.
 */
export type Named<S> = string extends keyof S
  ? Readonly<Record<string, Json>>
  : { readonly [Field in keyof S]?: Json };

declare const admits: unique symbol;

/** The JSON Schema of specs of the type `S`: using it for other fields or other values does not compile. */
export type SchemaOf<S> = JsonObject & {
  readonly [admits]?: { readonly spec: S; readonly fields: (field: keyof S) => keyof S };
};

/** The values that a resource inherits from another one, such as a project, for fields that it does not set itself. */
export interface Inheritable {
  /** the parent, for people: `project "net" (prj-1)` */
  readonly from: string;
  /** its remote id; absent if the parent could not be read */
  readonly id?: string;
  /** by field name; null: nothing. Empty if the parent could not be read */
  readonly values: Readonly<Record<string, Json>>;
  /** why the parent could not be read */
  readonly unread?: string;
  /**
   * the declared parent, if the plan changes these values: the change may fail, so they are read again before each write that
   * relies on them
   */
  readonly plannedBy?: AddressText;
}

/** Both sides of a comparison, and what the plan knows about other resources. */
export interface CompareContext<D extends Spec = Spec, L extends LiveResource = LiveResource> {
  readonly address: Address;
  /** what can be compared depends on what the service accepts */
  readonly dialect: Dialect;
  readonly desired: D;
  readonly live?: L;
  /** the resource as the plan saw it, which is `live` unless it was read again since */
  readonly planned?: L;
  readonly record?: LedgerRecord<Named<D>>;
  /** what the resource inherits after the plan; absent if the plan does not change that */
  readonly inheritable?: Inheritable;
  /** milliseconds since 1970; absent where nothing may depend on the time */
  readonly now?: number | undefined;
  /**
   * Another resource.
   * @param id also finds a renamed resource, which the plan has at another address: `live.address`
   */
  peer(
    address: Address,
    id?: string,
  ): {
    readonly desired?: Spec;
    /** its manifest has `metadata.protect: true` */
    readonly protects?: true;
    readonly live?: LiveResource;
    readonly record?: LedgerRecord;
  };
}

export interface PreparedSpecs<P extends Spec = Spec> {
  readonly desired: P;
  readonly live?: Spec;
  /** fields whose live value is unknown, each with the reason */
  readonly unknown?: Readonly<Record<string, string>>;
  /** fields of `desired` that no manifest declares, each with the reason why the plan sets it */
  readonly origins?: Readonly<Record<string, string>>;
  /** what the resource inherits afterwards, as far as it is known; null: nothing */
  readonly inherited?: Pick<Inheritable, 'from' | 'values'>;
  /** risks of the change that its two specs alone do not show */
  readonly risks?: readonly Risk[];
  /** why it is too late for this change. It is an error of the plan; if the change was approved in time, it is stale instead */
  readonly expired?: Diagnostic;
  readonly notes?: readonly string[];
  readonly problems?: readonly Diagnostic[];
}
