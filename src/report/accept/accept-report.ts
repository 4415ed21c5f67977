/** What is told about values that are taken into manifests. */
import type { Diagnostic, Place } from '../../model/diagnostic.ts';
import type { Json, Path } from '../../model/json/json.ts';
import type { Address } from '../../model/resource/address.ts';

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
  readonly refused: readonly { readonly address: Address; readonly path: Path; readonly why: Diagnostic }[];
}
