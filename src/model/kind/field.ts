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
  /** what `null` means: the service's "Default on create". Absent: there is no default, and `null` is invalid (rule 6). */
  readonly default?: Json;
  /** the effect of that default, where the value alone does not tell: "what the mount gives" for 0 seconds */
  readonly defaultMeans?: string;
  /** sent only when the resource is created; a later difference is a note (rule 13) */
  readonly createOnly?: true;
  /** holds the birth mark, unless a manifest sets the field (rule 20) */
  readonly bearsBirthMark?: true;
  /** the service never answers it: it is compared with the ledger */
  readonly writeOnly?: true;
  /** an instruction to trueup itself, not part of the live resource */
  readonly local?: true;
  /** for an object whose members are fields of their own: absent members are not managed */
  readonly members?: FieldTable;
}

/** Every field of a kind's spec, by its name in manifests. */
export type FieldTable = Readonly<Record<string, Field>>;

/** The field table of a kind whose specs have the type `S`, but for `Other` names: neither a missing name nor another one compiles. */
export type FieldsOf<S, Other extends keyof S = never> = {
  readonly [Name in Exclude<keyof S, Other>]-?: Field;
};

/** A field that is to change. A missing `before` or `after` means that the member does not exist on that side. */
export interface FieldChange {
  readonly path: Path;
  /** canonical */
  readonly before?: Json;
  /** canonical */
  readonly after?: Json;
  readonly shape: Shape;
  /** set where the value before is unknown: the reason */
  readonly unknown?: string;
  /** where the value comes from, if not from the manifest: "default", "no longer declared" */
  readonly origin?: string;
  /** for a value that was redacted as a whole: its hash, from which the digest is built. The value itself is then the placeholder */
  readonly redacted?: { readonly before?: string; readonly after?: string };
}

const plannerFields: ReadonlySet<string> = new Set(['claim', 'remove', 'overrides', 'inherited']);

/**
 * Whether a field change is the planner's own and no manifest can declare it: the claim, the way of a removal and what it
 * overrides, or a value that a parent gives.
 */
export function isPlannerField([name = '']: Path): boolean {
  return plannerFields.has(name);
}
