/** How the fields of a kind compare, and what a difference between two of them is. */
import type { Json, Path } from '../json/json.ts';

/** How a report shows a value. Comparing needs only the canonical form. */
export type Shape = 'scalar' | 'text' | 'list' | 'set' | 'map' | 'duration' | 'secret';

/**
 * One way to compare. Two values are equal when their canonical forms are the same JSON, so that `1h` and `3600`,
 * or two orders of one set, are no difference. `canonical` is idempotent and total over what the kind's schema admits.
 */
export interface Comparison {
  readonly shape: Shape;
  canonical(value: Json): Json;
}

export interface Field {
  readonly compare: Comparison;
  /** what `null` asks for: the service's "Default on create". Absent: there is none, and `null` is invalid (rule 6). */
  readonly default?: Json;
  /** what the service does for that default, where the value does not say it: "what the mount gives" for 0 seconds */
  readonly defaultMeans?: string;
  /** sent by create and never again; a difference is a note (rule 13) */
  readonly createOnly?: true;
  /** the birth mark stands in it, unless a manifest sets it (rule 20) */
  readonly bearsBirthMark?: true;
  /** never answered by the service: compared with the ledger */
  readonly writeOnly?: true;
  /** an instruction to trueup itself, not part of the live resource */
  readonly local?: true;
  /** an object whose members are fields of their own: those that are absent are not managed */
  readonly members?: FieldTable;
}

/** Every field of a kind's spec, by its name in manifests. */
export type FieldTable = Readonly<Record<string, Field>>;

/** The table of a kind whose specs are of the type `S`: what is no field of the schema does not compile. */
export type FieldsOf<S> = { readonly [Name in keyof S]?: Field };

/** A field that is to change. A missing `before` or `after` means that there is no such member. */
export interface FieldChange {
  readonly path: Path;
  /** canonical */
  readonly before?: Json;
  /** canonical */
  readonly after?: Json;
  readonly shape: Shape;
  /** the service does not tell the value before; this says why */
  readonly unknown?: string;
  /** why the value is what it is, where the manifest itself does not say it: "default", "no longer declared" */
  readonly origin?: string;
}
