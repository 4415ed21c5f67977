/**
 * A resource from its two sides: desired (what manifests ask for) and live (what the service answers now), and the ownership
 * tag as text, `<stack>[:protect][:release][:id=<8 hex>]`, which only this file formats and parses (rule 20).
 */
import type { Address } from './address.ts';
import type { Place } from './diagnostic.ts';
import type { Json, Path } from './json.ts';

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
  /** as written, with stack defaults merged and short forms removed; values are not canonical yet */
  readonly spec: D;
  readonly metadata: Metadata;
  /** of `metadata.name` in its document, or of the short form that it comes from */
  readonly place: Place;
  /** of a field of the spec, in the file where it was written (for a default: `trueup.yaml`) */
  placeOf(path: Path, side?: 'key' | 'value'): Place;
  /** top-level fields whose value comes from the stack's defaults */
  readonly fromDefaults: readonly string[];
}

/** The mark in the target that says which stack owns a resource (rule 20). */
export interface OwnershipTag {
  readonly stack: string;
  readonly protect: boolean;
  readonly release: boolean;
  /** inherited, such as from a project: it proves nothing about this resource */
  readonly inherited: boolean;
  /** the id of the stack, which two stacks of one name differ in; a plan leaves out its own */
  readonly id?: string;
  /** stands for the ledger's record: the service shows no claim (rule 48) */
  readonly recorded?: true;
}

/** What the target itself says about who owns a resource. */
export interface OwnershipEvidence {
  readonly claim?: OwnershipTag;
  /** the stack that created it, according to its birth mark */
  readonly bornOf?: string;
}

/** Facts of a live resource that are no fields: locked, resource count, the full set of tag bindings. */
type Facts = Readonly<Record<string, Json>>;

export interface LiveResource<S extends Spec = Spec, F extends Facts = Facts> {
  readonly address: Address;
  readonly id?: string;
  /**
   * The service's answer in the shape of a manifest's spec, with every field that it contains. A missing field is one that
   * the service does not answer (rule 12).
   */
  readonly spec: S;
  readonly witness: OwnershipEvidence;
  readonly facts: F;
  /** effective values of fields that it inherits from a parent, by field name, as far as the service answers them */
  readonly inherited?: Readonly<Record<string, Json>>;
  /**
   * What the token that read the resource may do with it, by the service's names of the rights. About a missing right the
   * service says nothing (rule 30).
   */
  readonly rights?: Readonly<Record<string, boolean>>;
  /** the service denies this token every right to change the resource */
  readonly mayWrite?: false;
}

// The claim as text, `<stack>[:protect][:release][:id=<8 hex>]`. Only this file formats and parses it (rules 20).

/** The key of the direct tag binding that holds the claim. */
export const ownershipTagKey = 'trueup-stack';

/** The birth mark of a resource that a stack created: `trueup/payments`. */
export function creatorMarkOf(stack: string): string {
  return `trueup/${stack}`;
}

/** Anybody can write the field that holds it, so only what can be the name of a stack counts. */
const creatorMark = /^trueup\/(?<stack>[a-z0-9-]{1,63})$/;

export function stackOfCreatorMark(text: string | null | undefined): string | undefined {
  return creatorMark.exec(text ?? '')?.groups?.['stack'];
}

export function formatOwnershipTag({ stack, protect, release, id }: Omit<OwnershipTag, 'inherited'>): string {
  return `${stack}${protect ? ':protect' : ''}${release ? ':release' : ''}${id === undefined ? '' : `:id=${id}`}`;
}

/**
 * The value of the tag, with the id of the stack. The id is no part of what a plan shows and an approval covers.
 * @param text as a change has it; @param id undefined in a plan before the first apply, which makes it: such a plan is never sent
 */
export function ownershipTagValue(text: string, id: string | undefined): string {
  return formatOwnershipTag({ ...parseOwnershipTag(text), id: id ?? '(made by the first apply)' });
}

/** The claim with the stack's id where it is this stack's and has none: for a write of all tags, which repeats it. */
export function withStackId(value: string, stack: string, id: string | undefined): string {
  const claim = parseOwnershipTag(value);
  return claim.stack === stack && claim.id === undefined ? ownershipTagValue(value, id) : value;
}

export function parseOwnershipTag(text: string, inherited = false): OwnershipTag {
  const [stack = '', ...flags] = text.split(':');
  const id = flags.flatMap((flag) => /^id=(?<id>[0-9a-f]{8})$/.exec(flag)?.groups?.['id'] ?? [])[0];
  return {
    stack,
    protect: flags.includes('protect'),
    release: flags.includes('release'),
    inherited,
    ...(id === undefined ? {} : { id }),
  };
}

/** The claim of the resource itself: one that is inherited from its project proves nothing. */
export function ownOwnershipTag({ claim }: OwnershipEvidence): OwnershipTag | undefined {
  return claim?.inherited ? undefined : claim;
}

/** The claim that the service itself shows on the resource, which a release takes off. */
export function shownOwnershipTag(witness: OwnershipEvidence): OwnershipTag | undefined {
  const claim = ownOwnershipTag(witness);
  return claim?.recorded ? undefined : claim;
}
