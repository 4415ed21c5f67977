/** The history of a stack as JSON, with a summary of each apply. Valid against `history-schema`. */
import type { ShownDiagnostic } from '../../model/diagnostic.ts';
import type { HistoryEntry } from '../../model/stack/ledger.ts';
import { renderJson } from './canonical-json.ts';
import { diagnosticsMember } from './diagnostics-json.ts';
import { countOutcomes } from '../terminal/outcomes-text.ts';

/** The entries that were read from a history. */
interface HistoryReading {
  readonly stack: string;
  /** newest first */
  readonly entries: readonly HistoryEntry[];
  /** a sentence for each entry that cannot be read */
  readonly damaged: readonly string[];
}

/** `{ version: 1, stack, entries: [{ id, began, …, summary }], damaged, diagnostics? }`, without the changes. */
export function renderHistoryJson(
  { stack, entries, damaged }: HistoryReading,
  diagnostics: readonly ShownDiagnostic[] = [],
): string {
  return renderJson({
    version: 1,
    stack,
    entries: entries.map(({ version, changes, ...entry }) => ({ ...entry, summary: summaryOf(changes) })),
    damaged,
    ...diagnosticsMember(diagnostics),
  });
}

/** The entry with its changes, their fields before and after, and a summary. */
export function renderEntryJson(entry: HistoryEntry, diagnostics: readonly ShownDiagnostic[] = []): string {
  const { changes, ...head } = entry;
  return renderJson({ ...head, summary: summaryOf(changes), changes, ...diagnosticsMember(diagnostics) });
}

function summaryOf(changes: HistoryEntry['changes']): object {
  const known = changes.flatMap(({ outcome }) => (outcome === undefined ? [] : [{ kind: outcome }]));
  return { changes: changes.length, ...countOutcomes(known) };
}
