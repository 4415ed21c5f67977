/**
 * What all JSON outputs share: equal values give equal texts, no character in them can move a cursor or reorder a line, and
 * diagnostics and addresses have the same members everywhere.
 */
import { type Address, formatAddress } from '../../model/address.ts';
import type { Place, ShownDiagnostic } from '../../model/diagnostic.ts';
import { canonicalText, type Json } from '../../model/json.ts';
import { countDiagnostics } from '../text/diagnostics.ts';
import { printableJson } from '../view/printable.ts';
import type { DiagnosticJson } from './plan-schema.ts';

/** The value with sorted keys in every object. */
export function sortedKeys(value: Json): Json {
  return JSON.parse(canonicalText(value)) as Json;
}

/** The value as text, indented by two, with its members in insertion order, without a final line end. */
export function renderJson(value: object): string {
  return printableJson(JSON.stringify(value, null, 2));
}

// Diagnostics as JSON, for editors and CI. Members have a fixed order; absent ones are left out.

/** What a command checked, whether it found problems or not. */
export interface CheckedCounts {
  readonly files: number;
  readonly documents: number;
  readonly resources: number;
}

/** `{ version: 1, summary: { errors, warnings, files }, checked, diagnostics }` */
export function renderDiagnosticsJson(
  diagnostics: readonly ShownDiagnostic[],
  checked?: CheckedCounts,
): string {
  return renderJson({
    version: 1,
    summary: countDiagnostics(diagnostics),
    ...(checked === undefined ? {} : { checked }),
    diagnostics: diagnostics.map(diagnosticJson),
  });
}

/** `{ diagnostics }` to add to the result of a command; empty without any. */
export function diagnosticsMember(diagnostics: readonly ShownDiagnostic[]): {
  diagnostics?: DiagnosticJson[];
} {
  return diagnostics.length === 0 ? {} : { diagnostics: diagnostics.map(diagnosticJson) };
}

export function diagnosticJson(diagnostic: ShownDiagnostic): DiagnosticJson {
  const { code, severity, class: kind, message, place, found, allowed, fix, related } = diagnostic;
  return {
    code,
    severity,
    class: kind,
    message,
    ...placeMember(place),
    ...(found === undefined ? {} : { found }),
    ...(allowed === undefined ? {} : { allowed }),
    ...(fix === undefined ? {} : { fix }),
    ...(related === undefined
      ? {}
      : { related: related.map((other) => ({ message: other.message, ...placeMember(other.place) })) }),
  };
}

/** `{ place: { file, line, column } }`; empty without a place. */
export function placeMember(place: Place | undefined) {
  if (place === undefined) return {};
  const { file, line, column } = place;
  return { place: { file, line, column } };
}

// The members of an address in JSON: as one text, and as its parts.

export function addressMembers(address: Address) {
  const { kind, target, name } = address;
  return { address: formatAddress(address), kind, target, name };
}
