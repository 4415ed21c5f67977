/**
 * Values that are redacted in stored plans. A redacted value is replaced as a whole by the placeholder, and its hash is kept, so that
 * the digest of the plan can still be recomputed. The hash lets a reader test a guess of the value.
 */
import { createHash } from 'node:crypto';
import { canonicalText, type Json, type Path, sameJson } from '../json/json.ts';
import type { FieldChange } from '../kind/field.ts';
import { secretPlaceholder } from '../redaction/known-secrets.ts';
import type { Redact } from '../redaction/stored-values.ts';
import { type Address, formatAddress } from '../resource/address.ts';

/** A value's place: the same value has another hash in every other place. */
export interface ValuePlace {
  readonly stack: string;
  readonly address: Address;
}

type Side = 'before' | 'after';

/** SHA-256. @returns 64 hexadecimal characters */
export function valueHash({ stack, address }: ValuePlace, path: Path, value: Json): string {
  return createHash('sha256')
    .update(canonicalText([stack, formatAddress(address), path, value]))
    .digest('hex');
}

/** The hash of one side of a change; undefined when that side has no value. */
export function sideHash(place: ValuePlace, field: FieldChange, side: Side): string | undefined {
  const { path, redacted, [side]: value } = field;
  return redacted?.[side] ?? (value === undefined ? undefined : valueHash(place, path, value));
}

/** Replaces each value in which `redact` finds a secret. Only values are replaced, never paths. */
export function withRedactedValues(place: ValuePlace, field: FieldChange, redact: Redact): FieldChange {
  const sides = (['before', 'after'] as const).filter((side) => {
    const { [side]: value } = field;
    return value !== undefined && field.redacted?.[side] === undefined && !sameJson(redact([value]), [value]);
  });
  if (sides.length === 0) return field;
  const hashes = sides.map((side) => [side, sideHash(place, field, side)] as const);
  return {
    ...field,
    ...Object.fromEntries(sides.map((side) => [side, secretPlaceholder])),
    redacted: { ...field.redacted, ...Object.fromEntries(hashes) },
  };
}

/** Whether a hash stands only beside the placeholder: beside any other text, a reader would take that text for the value. */
export function isRedactionPlain({ redacted = {}, ...field }: FieldChange): boolean {
  return (['before', 'after'] as const).every(
    (side) => redacted[side] === undefined || field[side] === secretPlaceholder,
  );
}
