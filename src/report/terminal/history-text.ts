/** The history of a stack for a terminal: a line for each apply, or all changes of one apply. */
import { parseAddress } from '../../model/resource/address.ts';
import type { Change } from '../../model/plan/change.ts';
import { counted } from '../../model/counted.ts';
import type { HistoryChange, HistoryEntry } from '../../model/stack/ledger.ts';
import { groupEqual, changeLines } from './change-text.ts';
import { columns, pad } from './layout.ts';
import { outcomeSummary } from './outcomes-text.ts';
import type { Paint } from './paint.ts';
import { printable } from '../format/printable.ts';

interface HistoryTextOptions {
  readonly paint: Paint;
  /** columns of the terminal; default 100 */
  readonly width?: number;
}

const columnTitles = ['id', 'began', 'who', 'outcome', 'commit'];

/** In the given order, newest first. */
export function renderHistory(entries: readonly HistoryEntry[], { paint }: HistoryTextOptions): string {
  if (entries.length === 0) return 'Nothing was applied yet';
  const rows = entries.map((entry) => [
    printable(entry.id),
    printable(entry.began),
    printable(entry.run.who),
    entrySummary(entry),
    commitText(entry, 12),
  ]);
  const widths = columnTitles.map((head, at) =>
    Math.max(columns(head), ...rows.map((row) => columns(row[at] ?? ''))),
  );
  const line = (row: readonly string[]) =>
    row
      .map((cell, at) => pad(cell, widths[at] ?? 0))
      .join('  ')
      .trimEnd();
  return [paint.bold(line(columnTitles)), ...rows.map(line)].join('\n');
}

/** `9 applied, 1 failed`, or that a killed apply did not end. */
function entrySummary({ ended, changes }: HistoryEntry): string {
  if (ended === undefined) return `did not end (${counted(changes.length, 'change')} begun)`;
  if (changes.length === 0) return 'nothing to do, recorded as found';
  const known = changes.flatMap(({ outcome }) => (outcome === undefined ? [] : [{ kind: outcome }]));
  const open = changes.length - known.length;
  const counts = known.length === 0 ? [] : [outcomeSummary(known)];
  return [...counts, ...(open === 0 ? [] : [`${open} not reached`])].join(', ');
}

/** One apply: who, where, when, from which commit; then each change with its values before and after. */
export function renderEntry(entry: HistoryEntry, { paint, width = 100 }: HistoryTextOptions): string {
  const { run, began, ended } = entry;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['stack', entry.stack],
    ['who', `${run.who} on ${run.where}`],
    ['run', run.id],
    ['page', run.url],
    ['began', began],
    ['ended', ended ?? 'it did not: it was killed, or is still running'],
    ['ledger', entry.unrecorded && 'may lack what was done: it could not be written, or the lock was lost'],
    ['commit', commitText(entry) || undefined],
    ['digest', entry.digest],
  ];
  const head = facts.flatMap(([name, value]) =>
    value === undefined ? [] : [`${paint.dim(pad(name, 8))}${printable(value)}`],
  );
  const layout = { paint, width, calls: false };
  const changes = groupEqual(entry.changes.map(asChange)).map((block) =>
    changeLines(block, layout).join('\n'),
  );
  return [head.join('\n'), ...changes, paint.bold(entrySummary(entry))].join('\n\n');
}

function commitText({ commit, dirty }: HistoryEntry, length = 40): string {
  if (commit === undefined) return '';
  return `${printable(commit.slice(0, length))}${dirty === true ? ' with uncommitted changes' : ''}`;
}

/** The history's change as a plan's change, with the outcome as a note. */
function asChange({
  address,
  action,
  reason,
  fields,
  outcome,
  detail,
  done = [],
  foundTrue,
}: HistoryChange): Change {
  const text = outcome === undefined ? 'not known: the apply did not come to its end' : outcome;
  return {
    address: parseAddress(address),
    action,
    reason,
    fields,
    notes: [
      `outcome: ${text}${detail === undefined ? '' : `: ${detail}`}`,
      ...(outcome === 'applied' || foundTrue ? [] : done.map((call) => `done before it stopped: ${call}`)),
      ...(foundTrue ? ['looked at afterwards, all of it was found true'] : []),
    ],
    calls: [],
    preconditions: {},
  };
}
