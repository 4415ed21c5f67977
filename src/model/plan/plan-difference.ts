/**
 * How two plans differ in stack, targets, selection and changes: in what the digest covers, and nothing else (rule 27). An absent side
 * means that this plan has no such thing.
 */
import type { Address, AddressText } from '../resource/address.ts';
import type { Action } from './change.ts';
import type { FieldChange } from '../kind/field.ts';
import type { Path } from '../json/json.ts';
import type { PlanTarget } from './plan.ts';

export interface PlanDifference {
  /** absent when both have the same stack */
  readonly stack?: { readonly one: string; readonly other: string };
  readonly targets: readonly TargetDifference[];
  /** absent when both are about the same resources; an absent side is about the whole stack */
  readonly selection?: { readonly one?: readonly AddressText[]; readonly other?: readonly AddressText[] };
  readonly changes: readonly ChangeDifference[];
}

export interface TargetDifference {
  readonly name: string;
  readonly one?: PlanTarget;
  readonly other?: PlanTarget;
}

export interface ChangeDifference {
  readonly address: Address;
  readonly one?: Action;
  readonly other?: Action;
  /** the remote ids of the two, where the plans adopt or remove different resources of one name */
  readonly ids?: { readonly one?: string; readonly other?: string };
  /** the same for resources without an id */
  readonly fingerprints?: { readonly one?: string; readonly other?: string };
  /** other resources that the change names, where the plans mean different ones by a name; the address itself for one that the plan creates */
  readonly references?: readonly {
    readonly address: AddressText;
    readonly one?: string;
    readonly other?: string;
  }[];
  /** only those that differ */
  readonly fields: readonly FieldDifference[];
}

export interface FieldDifference {
  readonly path: Path;
  readonly one?: FieldChange;
  readonly other?: FieldChange;
}
