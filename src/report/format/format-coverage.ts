/** The coverage of a plan as labelled rows, before any layout. All text is printable. */
import { counted } from '../../model/counted.ts';
import type { Coverage, TargetCoverage } from '../../model/plan/plan.ts';
import { firstFew } from './clip.ts';
import { printable } from './printable.ts';

interface CoverageRow {
  readonly label: string;
  readonly details: readonly string[];
  /** why the reading is not complete */
  readonly incomplete: readonly string[];
}

/** Manifests, ledger, then each target. */
export function coverageRows(coverage: Coverage): CoverageRow[] {
  const read = `${counted(coverage.files, 'file')}, ${counted(coverage.documents, 'document')}`;
  const ledger =
    coverage.ledger === 'found'
      ? 'found'
      : 'none: no field is reset, no access revoked, and nothing removed without an acknowledgement';
  return [
    { label: 'manifests', details: [read], incomplete: [] },
    { label: 'ledger', details: [ledger, ...coverage.ledgerNotes.map(printable)], incomplete: [] },
    ...coverage.targets.map(targetRow),
  ];
}

function targetRow(coverage: TargetCoverage): CoverageRow {
  const { target, unread, requests, read, incomplete, invisible, notes, trail } = coverage;
  if (unread) {
    const after = requests === 0 ? '' : `, after ${counted(requests, 'request')}`;
    return { label: printable(target), details: [`not looked at${after}`], incomplete: [] };
  }
  const counts = read.map(({ kind, count, total }) =>
    printable(total === undefined ? `${count} ${kind}` : `${count} of ${total} ${kind}`),
  );
  const unseen =
    invisible.length === 0
      ? []
      : [
          `drift of ${counted(invisible.length, 'field')} cannot be seen: ${invisible.map(printable).join(', ')}`,
        ];
  return {
    label: printable(target),
    details: [
      `${counted(requests, 'request')}${counts.length === 0 ? '' : ': '}${counts.join(', ')}`,
      ...unseen,
      ...notes.map(printable),
      ...(trail === undefined ? [] : [printable(trail)]),
    ],
    incomplete: firstFew(incomplete.map(printable)),
  };
}
