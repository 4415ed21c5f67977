/** Diagnostics as JSON, for editors and CI. Members have a fixed order; absent ones are left out. */
import type { Place, ShownDiagnostic } from '../../model/diagnostic.ts';
import { renderJson } from './canonical-json.ts';
import { countDiagnostics } from '../terminal/diagnostics-text.ts';
import type { DiagnosticJson } from './plan-schema.ts';

/** `{ version: 1, summary: { errors, warnings, files }, diagnostics }` */
export function renderDiagnosticsJson(diagnostics: readonly ShownDiagnostic[]): string {
  return renderJson({
    version: 1,
    summary: countDiagnostics(diagnostics),
    diagnostics: diagnostics.map(diagnosticJson),
  });
}

/** `{ diagnostics }` of a command besides its result; empty without any. */
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
