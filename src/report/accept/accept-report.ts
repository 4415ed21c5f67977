/** What is told about values that are taken into manifests. */
import type { Diagnostic, Place } from '../../model/diagnostic.ts';
import type { Json, Path } from '../../model/json/json.ts';
import type { Risk } from '../../model/plan/risk.ts';
import type { Address } from '../../model/resource/address.ts';

/** Why nothing is taken in, where nothing is refused either. */
export type NothingTaken =
  /** all was looked at, and of what was asked for nothing differs */
  | 'as-declared'
  /** what differs was changed in the files only */
  | 'as-applied'
  /** what differs follows from other fields, or is trueup's own */
  | 'not-written'
  | 'not-all-seen'
  /** of an apply that is taken back */
  | 'no-values-before';

/** A value that widens access if it is applied: a risk as a plan has it. */
export interface Widening {
  readonly address: Address;
  readonly risk: Risk;
}

export interface AcceptReport {
  readonly stack: string;
  /** false where they are only shown */
  readonly written: boolean;
  readonly files: readonly { readonly file: string; readonly patch: string; readonly removed: boolean }[];
  readonly takings: readonly {
    readonly address: Address;
    /** empty for a resource that is declared no more */
    readonly path: Path;
    /** canonical; missing where the member, or the resource, is removed */
    readonly value: Json | undefined;
    readonly place: Place;
  }[];
  readonly widens: readonly Widening[];
  readonly nothing: NothingTaken;
  readonly refused: readonly { readonly address: Address; readonly path: Path; readonly why: Diagnostic }[];
}
