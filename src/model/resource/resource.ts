/** A managed thing from its two sides: desired (what manifests ask for) and live (what the service answers now). */
import type { Address } from './address.ts';
import type { Place } from '../diagnostic.ts';
import type { Json, Path } from '../json/json.ts';

/** Field values by their names in manifests. */
export type Spec = Readonly<Record<string, Json>>;

export interface Metadata {
  readonly name: string;
  readonly adopt?: boolean;
  readonly onRemove?: 'delete' | 'release';
  readonly protect?: boolean;
  readonly remove?: 'safe' | 'force';
  readonly renamedFrom?: string;
}

export interface DesiredResource<D extends Spec = Spec> {
  readonly address: Address;
  /** as written; stack defaults merged, short forms taken out; values not yet canonical */
  readonly spec: D;
  readonly metadata: Metadata;
  /** of the document, at its `metadata.name` (or of the short form that stands for it) */
  readonly place: Place;
  /** of a field of the spec, wherever it was written (a default points into `trueup.yaml`) */
  placeOf(path: Path, side?: 'key' | 'value'): Place;
  /** top-level fields whose value comes from the stack's defaults */
  readonly fromDefaults: readonly string[];
}

/** The mark in the target that says which stack owns a resource (rule 20). */
export interface Claim {
  readonly stack: string;
  readonly protect: boolean;
  readonly release: boolean;
  /** taken over from a parent, such as a project: never ours to rely on */
  readonly inherited: boolean;
}

/** What the target itself says about who owns a resource. */
export interface Witness {
  readonly claim?: Claim;
  /** the stack that created it, told by its birth mark */
  readonly bornOf?: string;
}

/** What is true of a live resource and no field: locked, resource count, the full set of tag bindings. */
export type Facts = Readonly<Record<string, Json>>;

export interface LiveResource<S extends Spec = Spec, F extends Facts = Facts> {
  readonly address: Address;
  readonly id?: string;
  /**
   * What the service answers, in the shape of a manifest's spec, with every field that it can tell. A field that is
   * missing here is one that the service does not answer (rule 12).
   */
  readonly spec: S;
  readonly witness: Witness;
  readonly facts: F;
  /**
   * What the token that read it may do with it, by the service's own word, each right by its name there. One that is
   * missing is one that the service does not tell (rule 30).
   */
  readonly rights?: Readonly<Record<string, boolean>>;
}
