/** The plan: ordered changes with their calls, what was looked at, and the digest of what it all means. */
import type { Change, Mention } from './change.ts';
import type { Diagnostic } from './diagnostic.ts';
import type { Guard } from './guard.ts';
import type { Service } from './target.ts';

export interface Plan {
  /** of this shape; a reader refuses another one */
  readonly version: 1;
  readonly stack: string;
  readonly targets: readonly PlanTarget[];
  /** in the order in which apply starts them; none with action `none` */
  readonly changes: readonly Change[];
  /** declared resources with nothing to do */
  readonly unchanged: number;
  /** left alone, and mentioned */
  readonly mentions: readonly Mention[];
  /** what forbids applying: ownership conflicts, references to nothing */
  readonly problems: readonly Diagnostic[];
  /** what it is stopped for until somebody has read it, or warned of; outside of the digest */
  readonly guards: readonly Guard[];
  readonly coverage: Coverage;
  /** 32 hexadecimal characters (RULES 27) */
  readonly digest: string;
}

export interface PlanTarget {
  readonly name: string;
  readonly service: Service;
  readonly url: string;
  /** the organization, or the mount */
  readonly place: string;
  readonly dialect: string;
}

/** What the look covered. A plan never says "no changes" when `complete` is false. */
export interface Coverage {
  readonly complete: boolean;
  readonly files: number;
  readonly documents: number;
  readonly ledger: 'found' | 'none';
  readonly targets: readonly TargetCoverage[];
}

export interface TargetCoverage {
  readonly target: string;
  /** requests sent to read it */
  readonly requests: number;
  /** resources read, by kind, with the service's own count where it tells one */
  readonly read: readonly { readonly kind: string; readonly count: number; readonly total?: number }[];
  readonly incomplete: readonly string[];
  /** fields whose drift cannot be seen: `Kind.sourceUrl` */
  readonly invisible: readonly string[];
  readonly notes: readonly string[];
}
