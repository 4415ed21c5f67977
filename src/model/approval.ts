/**
 * Approvals of plans: which ones a stack accepts, and one person's approval of one plan. An approval only names the digest of
 * a plan; `apply` plans again and compares the digest.
 */
import type { GuardId } from './guard.ts';

/** How an approval is given, the strongest first. */
export const approvalMethods = ['signature', 'environment', 'review'] as const;
export type ApprovalMethod = (typeof approvalMethods)[number];

/** `spec.approvals` of a stack: what `trueup ci apply` requires before it writes. */
export interface ApprovalRules {
  /** `none`: no approval is needed; absent: all three methods */
  readonly accept?: readonly (ApprovalMethod | 'none')[];
  /** how many different people must approve; 1 when absent */
  readonly count?: number;
  /** who may approve. If it lists no user and no team: everybody with write permission; if it lists no signers: no signature counts */
  readonly from?: readonly Approver[];
  /** authors of a pull request may approve it themselves */
  readonly selfApprove?: boolean;
  /** authors of a pull request may acknowledge its guards by labels */
  readonly selfAck?: boolean;
}

export type Approver =
  /** a file in the `allowed_signers` format of ssh-keygen, relative to the folder of the stack */
  | { readonly signers: string }
  /** a user name of the code host */
  | { readonly user: string }
  /** `organization/team`, or the path of a group, as the code host calls it */
  | { readonly team: string };

/** One person's approval of one plan. */
export interface Approval {
  readonly method: ApprovalMethod;
  /** the user name in the code host, or the principal of the signing key */
  readonly by: string;
  readonly digest: string;
  /** the head commit that was reviewed */
  readonly commit: string;
  /** RFC 3339 */
  readonly at: string;
  /** number of the pull request or merge request; absent where there is no code host */
  readonly pullRequest?: number;
  /** guards that this person acknowledged for this digest */
  readonly acknowledged: readonly GuardId[];
  /** the messages and rules of acknowledged policies at that time, as keys (`guardKeys`) */
  readonly shown?: readonly string[];
  /** what else in this apply the same person made: indices of pull requests in the order of the merges, or `directPushes` */
  readonly parts?: readonly number[];
}

/** Instead of an index in `parts`: the commits that were pushed without a pull request. */
export const directPushes = -1;

/** An approval that does not count, with the reason, for messages. */
export interface RefusedApproval {
  readonly method: ApprovalMethod;
  readonly by?: string;
  readonly pullRequest?: number;
  /** a clause without a full stop */
  readonly why: string;
  /** it is for commits that this apply lacks, most likely because they were applied before; reports only count such approvals */
  readonly isOld?: boolean;
}

/** What one source of approvals has. A source that cannot be read in full throws: then nothing is applied. */
export interface FoundApprovals {
  readonly approvals: readonly Approval[];
  readonly refused: readonly RefusedApproval[];
}

// What the ledger keeps of approved plans.

/** The approved plan, kept while an apply runs: after a crash, the plan of the same job is compared with it. */
export interface ApprovedPlan {
  /** version of the digest: a plan that was approved under another version must be approved again */
  readonly version: number;
  readonly digest: string;
  /** digest items as canonical texts (`digestItemsOf`) */
  readonly atoms: readonly string[];
  /** the acknowledged guards: ids, and for policies their keys (`policyKeys`); absent in approvals of older versions */
  readonly passed?: readonly string[];
  /** RFC 3339 */
  readonly createdAt?: string;
  /** digests of approvals that this one replaced before their apply had succeeded */
  readonly replaced?: readonly string[];
  /** of `ci apply`: the commit before the pull requests that were approved. Their approvals are read again when the apply continues */
  readonly since?: string;
  /** of `ci apply`: no apply of the stack has succeeded before */
  readonly first?: true;
}

/** The plan of a CI run that a later job of the same run may apply, as the first attempt of the run made it. */
export interface OfferedPlan {
  /** the id of the run, for all its jobs and attempts: `github:acme/infra/771` */
  readonly run: string;
  readonly digest: string;
  /** RFC 3339 */
  readonly at: string;
}

/** A source of approvals that cannot be read in full, or written. The message says what to do. */
export class ApprovalsError extends Error {
  override readonly name = 'ApprovalsError';
}

/** An approval cannot be signed with the key. The message says what to do. */
export class SigningError extends Error {
  override readonly name = 'SigningError';
}
