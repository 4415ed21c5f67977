/** The plan: ordered changes with their calls, what was looked at, and the digest of what it all means. */
import type { AddressText } from '../resource/address.ts';
import type { Change, Mention } from './change.ts';
import type { ShownDiagnostic } from '../diagnostic.ts';
import type { Guard } from './guard.ts';
import type { TargetIdentity } from '../stack/target-identity.ts';

/** Of the shape below, which plan files have: a reader refuses another one. */
export const planVersion = 2;

export interface Plan {
  readonly version: typeof planVersion;
  readonly stack: string;
  readonly targets: readonly PlanTarget[];
  /** the declared resources, sorted, where they are a part of the stack alone: what is not among them was left as it is */
  readonly selection?: readonly AddressText[];
  /** in the order in which apply starts them; none with action `none` */
  readonly changes: readonly Change[];
  /** declared resources with nothing to do */
  readonly unchanged: number;
  /** left alone, and mentioned */
  readonly mentions: readonly Mention[];
  /** what forbids applying: ownership conflicts, references to nothing; a plan file may have codes of another version */
  readonly problems: readonly ShownDiagnostic[];
  /** what it is stopped for until somebody has read it, or warned of; outside of the digest */
  readonly guards: readonly Guard[];
  readonly coverage: Coverage;
  /** 32 hexadecimal characters (rule 27) */
  readonly digest: string;
}

/** A target by its name in the stack, and what it is. */
export interface PlanTarget extends TargetIdentity {
  readonly name: string;
  readonly dialect: string;
}

/** What the look covered. A plan never says "no changes" when `complete` is false. */
export interface Coverage {
  readonly complete: boolean;
  readonly files: number;
  readonly documents: number;
  readonly ledger: 'found' | 'none';
  /** what a reader of the plan should know about the ledger that it was made with */
  readonly ledgerNotes: readonly string[];
  readonly targets: readonly TargetCoverage[];
}

export interface TargetCoverage {
  readonly target: string;
  /** nothing of it could be looked at: the plan holds no change of it, and says why among its problems */
  readonly unread?: true;
  /** requests sent to read it */
  readonly requests: number;
  /** resources read, by kind, with the service's own count where it tells one */
  readonly read: readonly { readonly kind: string; readonly count: number; readonly total?: number }[];
  readonly incomplete: readonly string[];
  /** fields whose drift cannot be seen: `Kind.sourceUrl` */
  readonly invisible: readonly string[];
  readonly notes: readonly string[];
}
