/** The history of a stack as JSON: what is kept, with a summary of each apply. */
import type { HistoryEntry } from '../model/ledger.ts';
import { renderJson } from './canonical-json.ts';
import { countOutcomes } from './outcomes-text.ts';

/** `{ version: 1, stack, entries: [{ id, began, …, summary }] }`, newest first, without the changes. */
export function renderHistoryJson(stack: string, entries: readonly HistoryEntry[]): string {
  return renderJson({
    version: 1,
    stack,
    entries: entries.map(({ version, changes, ...entry }) => ({ ...entry, summary: summaryOf(changes) })),
  });
}

/** The entry with its changes, their fields before and after, and a summary. */
export function renderEntryJson(entry: HistoryEntry): string {
  const { changes, ...head } = entry;
  return renderJson({ ...head, summary: summaryOf(changes), changes });
}

function summaryOf(changes: HistoryEntry['changes']): object {
  const known = changes.flatMap(({ outcome }) => (outcome === undefined ? [] : [{ kind: outcome }]));
  return { changes: changes.length, ...countOutcomes(known) };
}
