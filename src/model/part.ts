/**
 * A part of a stack, which `--select` chose. Only the part is planned and applied, but all manifests of the stack are known. This is
 * different for a selection on standard input.
 */
import type { AddressText } from './address.ts';

/** What a plan of a part is made for. */
export interface ChosenPart extends Pick<PlanPart, 'selectors'> {
  /** declared resources, removal requests included */
  readonly selected: ReadonlySet<AddressText>;
  /** declared resources that are excluded: it is an error if a selected resource needs one of them */
  readonly excluded: ReadonlySet<AddressText>;
  /** the names of the targets that have to be read */
  readonly targets: ReadonlySet<string>;
  /** resources that came along in an earlier plan or apply of this part: they come along until they are done, although they exist by now */
  readonly begun?: ReadonlySet<AddressText>;
}

/** What a plan says about its part. The addresses of the part are in the `selection` of the plan. */
export interface PlanPart {
  /** as given, sorted; the digest covers them */
  readonly selectors: readonly string[];
  /** how many resources the whole stack declares */
  readonly of: number;
  /** resources that are not selected, and that the plan changes because selected ones need it */
  readonly along: readonly NeededResource[];
  /** how many undeclared resources and records a plan of the whole stack would remove, release, withdraw or forget */
  readonly leftOut: number;
}

export interface NeededResource {
  readonly address: AddressText;
  readonly neededBy: readonly AddressText[];
}

/** A resource that an apply of a part recently deleted, released or withdrew. */
export interface RemovedByPart {
  /** with the current name of its target */
  readonly address: AddressText;
}
