/** What is taken into the manifests, as JSON. Valid against `accept-schema`. */
import type { ShownDiagnostic } from '../../model/diagnostic.ts';
import { jsonPointer } from '../../model/json/json-patch.ts';
import { addressMembers } from '../json/address-members.ts';
import { renderJson } from '../json/canonical-json.ts';
import { diagnosticsMember } from '../json/diagnostics-json.ts';
import type { AcceptReport } from './accept-report.ts';

/** `{ version: 1, stack, written, files, accepted, widens, refused, diagnostics? }` */
export function renderAcceptJson(report: AcceptReport, diagnostics: readonly ShownDiagnostic[] = []): string {
  const { stack, written, files, takings, widens, refused } = report;
  return renderJson({
    version: 1,
    stack,
    written,
    files,
    accepted: takings.map(({ address, path, value, place }) => ({
      ...addressMembers(address),
      path: jsonPointer(path),
      ...(value === undefined ? { removed: true } : { value }),
      file: place.file,
      line: place.line,
    })),
    widens: widens.map(({ address, risk: { path, message, guard = 'widening' } }) => ({
      ...addressMembers(address),
      path: jsonPointer(path),
      message,
      guard,
    })),
    refused: refused.map(({ address, path, why }) => ({
      ...addressMembers(address),
      path: jsonPointer(path),
      code: why.code,
    })),
    ...diagnosticsMember(diagnostics),
  });
}
