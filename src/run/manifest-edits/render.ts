/**
 * Changes of manifests as text, with the patch of each file coloured as `git diff` does it, and as JSON that is valid against
 * the schema of `accept`.
 */
import { type Address, formatAddress } from '../../model/address.ts';
import type { Diagnostic, Place, ShownDiagnostic } from '../../model/diagnostic.ts';
import { jsonPointer } from '../../model/field.ts';
import type { Risk } from '../../model/guard.ts';
import type { Json, Path } from '../../model/json.ts';
import { addressMembers, diagnosticsMember, renderJson } from '../../report/json/render-json.ts';
import type { Paint } from '../../report/text/layout.ts';
import { printable } from '../../report/view/printable.ts';

/** Why there is nothing to write, if nothing was refused either. */
export type NothingToWrite =
  /** everything was read, and no requested value differs */
  | 'as-declared'
  /** the values differ only because the files were changed */
  | 'as-applied'
  /** the values that differ follow from other fields, or are set by trueup itself */
  | 'not-written'
  /** no value that was read differs, but not everything could be read */
  | 'not-all-seen'
  /** the apply that should be reverted changed no value that manifests declare */
  | 'no-values-before';

/** A value that widens access if it is applied: a risk as a plan has it. */
export interface Widening {
  readonly address: Address;
  readonly risk: Risk;
}

interface AcceptReport {
  readonly stack: string;
  /** false if the changes are only shown */
  readonly written: boolean;
  readonly files: readonly { readonly file: string; readonly patch: string; readonly removed: boolean }[];
  readonly acceptedChanges: readonly {
    readonly address: Address;
    /** empty for a resource that is no longer declared */
    readonly path: Path;
    /** canonical; missing where the member, or the resource, is removed */
    readonly value: Json | undefined;
    readonly place: Place;
  }[];
  readonly widens: readonly Widening[];
  readonly nothing: NothingToWrite;
  readonly refused: readonly { readonly address: Address; readonly path: Path; readonly why: Diagnostic }[];
}

// The changes of manifests as text: the patch of each file, coloured as `git diff` does it.

const sentences: Readonly<Record<NothingToWrite, string>> = {
  'as-declared': 'nothing to accept: live is as declared',
  'as-applied': 'nothing to accept: nothing was changed in the targets since the last apply',
  'not-written': 'nothing to accept: what differs is not written in manifests',
  'not-all-seen': 'nothing to accept in what was read, but not everything could be read',
  'no-values-before': 'nothing to revert: the apply changed no value that manifests declare',
};

/** Ends with a line break. */
export function renderAcceptedChanges(
  { files, acceptedChanges, widens, refused, nothing }: AcceptReport,
  paint: Paint,
): string {
  if (files.length === 0)
    return refused.length === 0 && acceptedChanges.length === 0 ? `${sentences[nothing]}\n` : '';
  const patches = files.map(({ patch }) =>
    patch
      .split('\n')
      .map((line) => paintLine(line, paint))
      .join('\n'),
  );
  return [...patches, ...widens.map((one) => `${paint.warning(widensText(one))}\n`)].join('');
}

/** `widens access: <address> <field>: "web" in "shop" gains the policy "write"` */
function widensText({ address, risk: { path, message } }: Widening): string {
  const field = path.length === 0 ? '' : ` ${path.join('.')}`;
  return printable(`widens access: ${formatAddress(address)}${field}: ${message}`);
}

function paintLine(line: string, paint: Paint): string {
  const shown = printable(line.replace(/\r$/, ''));
  if (/^(\+\+\+|---) /.test(line)) return paint.heading(shown);
  if (line.startsWith('+')) return paint.added(shown);
  return line.startsWith('-') ? paint.removed(shown) : shown;
}

// The changes of manifests as JSON. Valid against the schema of `accept`.

/** `{ version: 1, stack, written, files, accepted, widens, refused, diagnostics? }` */
export function renderAcceptJson(report: AcceptReport, diagnostics: readonly ShownDiagnostic[] = []): string {
  const { stack, written, files, acceptedChanges, widens, refused } = report;
  return renderJson({
    version: 1,
    stack,
    written,
    files,
    accepted: acceptedChanges.map(({ address, path, value, place }) => ({
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
