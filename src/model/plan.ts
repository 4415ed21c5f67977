/**
 * The plan: ordered changes with their calls, the coverage, and the digest. Also the difference between two plans, as far as the
 * digest covers it.
 */
import type { Address, AddressText } from './address.ts';
import type { Action, Change, Notice } from './change.ts';
import type { ShownDiagnostic } from './diagnostic.ts';
import type { FieldChange } from './field.ts';
import type { Guard } from './guard.ts';
import type { Path } from './json.ts';
import type { PlanPart } from './part.ts';
import type { PlanPolicies } from './policy.ts';
import type { TargetIdentity } from './stack.ts';

/** The version of this shape in plan files: a reader refuses any other. */
export const planVersion = 2;

export interface Plan {
  readonly version: typeof planVersion;
  readonly stack: string;
  readonly targets: readonly PlanTarget[];
  /** present for a selection: the declared resources, sorted; all others are left unchanged */
  readonly selection?: readonly AddressText[];
  /** present where `--select` made the selection */
  readonly part?: PlanPart;
  /** in the order in which apply starts them; without changes of action `none` */
  readonly changes: readonly Change[];
  /** sorted; an approval covers which name resolves to which resource, also where nothing is sent */
  readonly changedNames: readonly ChangedName[];
  /** declared resources with nothing to do */
  readonly unchanged: number;
  /** notices of resources that were read and are not changed */
  readonly notices: readonly Notice[];
  /** what prevents applying: ownership conflicts, dangling references; a plan file may have codes of another version */
  readonly problems: readonly ShownDiagnostic[];
  /** the guards that fired, blocking or warning; not part of the digest */
  readonly guards: readonly Guard[];
  /** the policies that it was checked with; absent where the stack names none */
  readonly policies?: PlanPolicies;
  readonly coverage: Coverage;
  /** 32 hexadecimal characters */
  readonly digest: string;
  /** how the digest was made: an approval counts only under the current version */
  readonly digestVersion: number;
  /** absent in plan files of earlier versions */
  readonly made?: PlanOrigin;
}

/**
 * A name that resolves to another resource or object than the ledger has for it: the name of a resource, or one that a resource
 * gives in place of an id. It has either `resource` or `field`.
 */
export interface ChangedName {
  /** the resource that the plan is about */
  readonly address: Address;
  /** the resource that has the name: the same one, its parent, or one that it refers to */
  readonly resource?: AddressText;
  /** the field of the id, such as `projectId` */
  readonly field?: string;
  /** the remote id that the name has now; the address, if the same plan creates the resource */
  readonly id: string;
  /** the ids that the ledger has under this name, sorted */
  readonly recorded: readonly string[];
  /** the address under which the ledger has `id` */
  readonly recordedAs?: AddressText;
}

/** When a plan was made, and from which commit. */
export interface PlanOrigin {
  /** RFC 3339; before anything was read */
  readonly at: string;
  /** the commit that is checked out; absent without a repository */
  readonly commit?: string;
  /** the work tree had changes that were not committed */
  readonly dirty?: true;
  /** the commit of the pull request: only if the CI job names one, and `commit` is that commit or a merge of it */
  readonly pullRequestCommit?: string;
  /**
   * When an apply last ended an approval of this digest, according to the ledger that the plan was made with (RFC 3339); null if
   * none had. It shows without comparing clocks whether an apply came after this plan. Absent in plan files of earlier versions.
   */
  readonly lastEnded?: string | null;
}

/** A target: its name in the stack, its identity and its dialect. */
export interface PlanTarget extends TargetIdentity {
  readonly name: string;
  readonly dialect: string;
}

/** What was read for the plan. A plan never says "no changes" when `complete` is false. */
export interface Coverage {
  readonly complete: boolean;
  readonly files: number;
  readonly documents: number;
  readonly ledger: 'found' | 'none';
  /** remarks about the ledger that the plan was made with */
  readonly ledgerNotes: readonly string[];
  readonly targets: readonly TargetCoverage[];
}

export interface TargetCoverage {
  readonly target: string;
  /** the target could not be read: the plan has no changes in it, and a problem says why */
  readonly unread?: true;
  /** none of its resources is selected, so it was not read */
  readonly skipped?: true;
  /** requests sent to read it */
  readonly requests: number;
  /** resources read, by kind, with the service's own count if it returns one */
  readonly read: readonly { readonly kind: string; readonly count: number; readonly total?: number }[];
  /** what the service lacks of its API, one sentence each */
  readonly limits: readonly string[];
  readonly incomplete: readonly string[];
  /** fields whose drift cannot be seen: `Kind.sourceUrl` */
  readonly invisible: readonly string[];
  readonly notes: readonly string[];
  /** how the audit trail was read for drifted resources, or why it was not; absent when nothing drifted */
  readonly trail?: string;
}

// How two plans differ in stack, targets, selection and changes: only what the digest covers is compared. An absent side (`one`
// or `other`) means that this plan does not have it.

export interface PlanDifference {
  /** absent when both have the same stack */
  readonly stack?: { readonly one: string; readonly other: string };
  readonly targets: readonly TargetDifference[];
  /** absent when both have the same resources; an absent side has the whole stack */
  readonly selection?: { readonly one?: readonly AddressText[]; readonly other?: readonly AddressText[] };
  /** absent when both were selected in the same way; an absent side was not made by `--select` */
  readonly selectors?: { readonly one?: readonly string[]; readonly other?: readonly string[] };
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
  /** the remote ids of the two, if the plans adopt or remove different resources with one name */
  readonly ids?: { readonly one?: string; readonly other?: string };
  /** the same for resources without an id */
  readonly fingerprints?: { readonly one?: string; readonly other?: string };
  /** other resources that the change names, if a name has different ids in the two plans; an address if the plan creates the resource */
  readonly references?: readonly {
    readonly address: AddressText;
    readonly one?: string;
    readonly other?: string;
  }[];
  /** changed names that the two plans resolve differently */
  readonly names?: readonly NameDifference[];
  /** only those that differ */
  readonly fields: readonly FieldDifference[];
}

/** One name. An absent side means that it is not a changed name in this plan. */
export interface NameDifference {
  /** the resource that has the name, or the field that is given by a name */
  readonly name: string;
  readonly one?: ChangedName;
  readonly other?: ChangedName;
}

export interface FieldDifference {
  readonly path: Path;
  readonly one?: FieldChange;
  readonly other?: FieldChange;
}
