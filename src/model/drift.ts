/**
 * Drift: how live resources and manifests differ from the ledger, which holds what was last applied. `drifted`: live differs, because
 * the target was changed. `pending`: manifests differ, because the files were changed.
 */
import type { GivenAccess } from './access.ts';
import type { Place, ShownDiagnostic } from './diagnostic.ts';
import type { FieldChange } from './field.ts';
import type { Address } from './address.ts';
import type { Notice } from './change.ts';
import type { Coverage, Plan, PlanTarget } from './plan.ts';
import type { LastModified } from './audit-trail.ts';

export interface Drift extends Pick<Plan, 'stack' | 'selection' | 'part'> {
  readonly targets: readonly PlanTarget[];
  readonly drifted: readonly DriftedResource[];
  /** names in manifests that refer to other objects than the ledger recorded, because names were changed in the service */
  readonly changedNames: readonly DriftedName[];
  readonly pending: readonly PendingResource[];
  /** absent if it was not requested */
  readonly unmanaged?: Unmanaged;
  /** resources without a record in the ledger, whose drift cannot be determined */
  readonly unrecorded: readonly Notice[];
  /** the number of recorded resources whose live state is the one that was last applied */
  readonly unchanged: number;
  /** recorded resources whose drift could not be determined, each with the reason */
  readonly undetermined: readonly Notice[];
  /** what access the resources give now; absent where they give none */
  readonly access?: readonly GivenAccess[];
  /** false: more may have drifted than was found */
  readonly complete: boolean;
  /** why a target could not be read */
  readonly problems: readonly ShownDiagnostic[];
  readonly coverage: Coverage;
}

/** A field that changed from its value in the ledger, which is `before`. */
export interface DriftField extends FieldChange {
  /** the other side changed, too: the manifest of a drifted field, the live value of a pending field */
  readonly both?: true;
}

export interface DriftedResource {
  /** its address in the ledger: after a rename in the target, the former one */
  readonly address: Address;
  /** `recreated`: another resource has its name now */
  readonly is: 'changed' | 'gone' | 'recreated';
  /** as recorded; absent for a resource without an id */
  readonly id?: string;
  /** the id of the resource that has its name now */
  readonly newId?: string;
  /** before: as last applied; after: live */
  readonly fields: readonly DriftField[];
  /** clauses about what no field shows */
  readonly notes: readonly string[];
  /** where a manifest declares it, if under another name */
  readonly declaredAs?: Address;
  /** absent when no audit trail was read */
  readonly lastModified?: LastModified;
}

/** A name in a manifest that has another id than the ledger recorded for it. */
export interface DriftedName {
  /** the resource whose manifest gives the name */
  readonly address: Address;
  /** the field of the id, such as `projectId` */
  readonly field: string;
  /** as the manifest has it */
  readonly given: string;
  /** the id that it has now; an address, if an apply would create the object */
  readonly id: string;
  /** the ids that the ledger has under this name */
  readonly recorded: readonly string[];
  /** a clause with both ids */
  readonly message: string;
  readonly fix: string;
  readonly place?: Place;
}

export interface PendingResource {
  readonly address: Address;
  /** `new`: not in the ledger; `dropped`: no longer declared; `removed`: a removal request asks for its removal */
  readonly is: 'new' | 'changed' | 'dropped' | 'removed';
  /** before: as last applied; after: as declared */
  readonly fields: readonly DriftField[];
  readonly place?: Place;
}

/** Fields that no manifest declares and whose live values changed since the last apply. */
export interface Unmanaged {
  readonly resources: readonly UnmanagedResource[];
  /** the number of resources whose undeclared fields the ledger does not have, because an older version wrote it */
  readonly unseen: number;
}

export interface UnmanagedResource {
  readonly address: Address;
  readonly id?: string;
  /** before: as the last apply saw it; after: live */
  readonly fields: readonly FieldChange[];
  /** absent when no audit trail was read */
  readonly lastModified?: LastModified;
}
