/**
 * A resource from its two sides: desired (what manifests ask for) and live (what the service answers now), and the ownership
 * tag as text, `<stack>[:protect][:release][:id=<8 hex>]`, which only this file formats and parses.
 */
import type { Address } from './address.ts';
import type { Place } from './diagnostic.ts';
import type { Json, Path } from './json.ts';
import type { NamedIds } from './named-reference.ts';

/** Field values by their names in manifests. */
export type Spec = Readonly<Record<string, Json>>;

export interface Metadata {
  readonly name: string;
  readonly adopt?: boolean;
  readonly onRemove?: 'delete' | 'release';
  readonly protect?: boolean;
  readonly remove?: 'safe' | 'force';
  readonly renamedFrom?: string;
  /** the stack that owns the resource until this one takes it over */
  readonly movedFrom?: MoveOrigin;
  /** the stack that takes the resource over: this stack keeps it until then; such a document has no spec */
  readonly movedTo?: { readonly stack: string };
}

export type MoveOrigin = {
  readonly stack: string;
  /** folder of its ledger, relative to the folder of this stack; only for a local ledger, which is kept beside the stack file */
  readonly folder?: string;
};

/** Whether a document declares a resource: a removal request and the document of a resource that moves away do not. */
export function isDeclaration({ metadata }: { readonly metadata: Metadata }): boolean {
  return metadata.remove === undefined && metadata.movedTo === undefined;
}

export interface DesiredResource<D extends Spec = Spec> {
  readonly address: Address;
  /** as written, with stack defaults merged and short forms removed; values are not canonical yet */
  readonly spec: D;
  readonly metadata: Metadata;
  /** the place of `metadata.name` in its document, or of the short form that it comes from */
  readonly place: Place;
  /** The place of a field of the spec, in the file where it was written (for a default: `trueup.yaml`). */
  placeOf(path: Path, side?: 'key' | 'value'): Place;
  /** top-level fields whose value comes from the stack's defaults */
  readonly fromDefaults: readonly string[];
  /** the names that the manifest gives in place of ids; present once the ids were found: then `spec` has the ids */
  readonly names?: NamedIds;
}

/** The mark in the target that says which stack owns a resource. */
export interface OwnershipTag {
  readonly stack: string;
  readonly protect: boolean;
  readonly release: boolean;
  /** inherited, such as from a project: it proves nothing about this resource */
  readonly inherited: boolean;
  /** the id of the stack, which distinguishes stacks with the same name; a plan leaves out the id of its own stack */
  readonly id?: string;
  /** made from the ledger's record, because the service keeps no ownership tags */
  readonly recorded?: true;
  /** it names the stack from which this stack takes the resource over, and counts as ours */
  readonly moving?: true;
}

/** What the target itself says about who owns a resource. */
export interface OwnershipEvidence {
  readonly ownershipTag?: OwnershipTag;
  /** the stack that created it, according to its creator mark */
  readonly creatorStack?: string;
}

/** What the response to a create says about which resource it is. */
export interface ReturnedResource {
  readonly name: string;
  /** null if the response does not show it */
  readonly organization: string | null;
}

/** Facts of a live resource that are not fields: locked, resource count, the full set of tag bindings. */
type Facts = Readonly<Record<string, Json>>;

export interface LiveResource<S extends Spec = Spec, F extends Facts = Facts> {
  readonly address: Address;
  readonly id?: string;
  /**
   * The service's response in the shape of a manifest's spec, with every field that it contains. A missing field is one that
   * the service does not return.
   */
  readonly spec: S;
  readonly evidence: OwnershipEvidence;
  readonly facts: F;
  /** its index in the list from which it was read, if that list shows all that a read of the resource alone shows */
  readonly listIndex?: number;
  /** effective values of fields that it inherits from a parent, by field name, as far as the service returns them */
  readonly inherited?: Readonly<Record<string, Json>>;
  /**
   * What the token that read the resource may do with it, by the service's names of the rights. A right that is missing here
   * is unknown.
   */
  readonly rights?: Readonly<Record<string, boolean>>;
  /** the service denies this token every right to change the resource */
  readonly mayWrite?: false;
}

/** The key of the direct tag binding that holds the ownership tag. */
export const ownershipTagKey = 'trueup-stack';

/** The creator mark of a resource that a stack created: `trueup/payments`. */
export function creatorMarkOf(stack: string): string {
  return `${creatorPrefix}${stack}`;
}

const creatorPrefix = 'trueup/';

/** Whether a declared text could be read as a creator mark of any stack. */
export function isLikeCreatorMark(text: string): boolean {
  return text.trim().toLowerCase().startsWith(creatorPrefix);
}

/** Anybody can write the field that holds the mark, so only valid names of stacks count. */
const creatorMark = /^trueup\/(?<stack>[a-z0-9-]{1,63})$/;

export function stackOfCreatorMark(text: string | null | undefined): string | undefined {
  return creatorMark.exec(text ?? '')?.groups?.['stack'];
}

export function formatOwnershipTag({ stack, protect, release, id }: Omit<OwnershipTag, 'inherited'>): string {
  return `${stack}${protect ? ':protect' : ''}${release ? ':release' : ''}${id === undefined ? '' : `:id=${id}`}`;
}

/**
 * The value of the tag, with the id of the stack. Plans do not show the id, and approvals do not cover it.
 * @param text the tag as a change has it, without an id
 * @param id undefined in a plan before the first apply, which makes the id: calls of such a plan are never sent
 */
export function ownershipTagValue(text: string, id: string | undefined): string {
  return formatOwnershipTag({ ...parseOwnershipTag(text), id: id ?? '(made by the first apply)' });
}

/** Adds the id of this stack to its own tag, if that has none: for a write of all tags, which repeats the ownership tag. */
export function withStackId(value: string, stack: string, id: string | undefined): string {
  const ownershipTag = parseOwnershipTag(value);
  return ownershipTag.stack === stack && ownershipTag.id === undefined ? ownershipTagValue(value, id) : value;
}

export function parseOwnershipTag(text: string, inherited = false): OwnershipTag {
  const key = `${inherited}:${text}`;
  const tag = tags.get(key) ?? parsedOwnershipTag(text, inherited);
  tags.set(key, tag);
  return tag;
}

/** The tags parsed so far: most resources of a stack have the same tag. */
const tags = new Map<string, OwnershipTag>();

function parsedOwnershipTag(text: string, inherited: boolean): OwnershipTag {
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

/** The ownership tag of the resource itself: one that is inherited from its project proves nothing. */
export function ownOwnershipTag({ ownershipTag }: OwnershipEvidence): OwnershipTag | undefined {
  return ownershipTag?.inherited ? undefined : ownershipTag;
}

/** The ownership tag that the service itself shows on the resource, which a release removes. */
export function shownOwnershipTag(evidence: OwnershipEvidence): OwnershipTag | undefined {
  const ownershipTag = ownOwnershipTag(evidence);
  return ownershipTag?.recorded ? undefined : ownershipTag;
}
