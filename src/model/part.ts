/**
 * A part of a stack, which `--select` chose. All manifests are known, unlike those of a selection on standard input, but only the part
 * is planned and applied.
 */
import type { AddressText } from './address.ts';

/** What a plan of a part is made for. */
export interface ChosenPart extends Pick<PlanPart, 'selectors'> {
  /** declared resources, removal requests included */
  readonly selected: ReadonlySet<AddressText>;
  /** declared resources that must not come along, either */
  readonly excluded: ReadonlySet<AddressText>;
  /** the names of the targets that have to be read */
  readonly targets: ReadonlySet<string>;
  /** resources that still come along where they are needed, although they exist now: an earlier plan or apply began with them */
  readonly begun?: ReadonlySet<AddressText>;
}

/** What a plan says about the part; the addresses of the part are its selection. */
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
export interface TakenByPart {
  /** under the present name of its target */
  readonly address: AddressText;
}
