/**
 * `trueup history [path]` and `trueup history show ID [path]`: who applied what, and how to revert it, as text and as JSON.
 */
import { join, resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { exists, stackFileName } from '../../manifest/files/find-stack.ts';
import { type AddressText, parseAddress, readAddress } from '../../model/address.ts';
import type { Approval } from '../../model/approval.ts';
import type { Change } from '../../model/change.ts';
import type { ShownDiagnostic } from '../../model/diagnostic.ts';
import { type HistoryChange, type HistoryEntry, LedgerError } from '../../model/ledger.ts';
import { counted, quoted } from '../../model/quoted.ts';
import { diagnosticsMember, renderJson } from '../../report/json/render-json.ts';
import { changeLines, groupEqual } from '../../report/text/change.ts';
import { columns, pad, type Paint } from '../../report/text/layout.ts';
import { countOutcomes, outcomeSummary } from '../../report/text/outcomes.ts';
import { firstFew, printable, shellWord } from '../../report/view/printable.ts';
import {
  addExamples,
  command,
  type CommandEnd,
  type CommonOptions,
  formatOption,
  parseCount,
  stackHelp,
  timeoutOption,
} from '../../run/command-options.ts';
import { CommandStop } from '../../run/command-stop.ts';
import { type ExitCode, exitCodes } from '../../run/exit-codes.ts';
import type { CliHost } from '../../run/host.ts';
import { withStackLedger } from '../../run/open-ledger.ts';
import { listenForEnd } from '../../run/stop-signals.ts';
import { type CommandContext, printError, printJson, type Terminal } from '../../run/terminal.ts';
import { onlyChangesOf, findEntry, readEntriesOfResource } from './find-entry.ts';
import { renderRevert, renderRevertJson } from './revert-text.ts';

export function defineCommand(history: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  addExamples(
    history,
    ['trueup history', 'the last 20 applies'],
    ['trueup history --limit 3 --format json', 'the last 3, for a script'],
    ['trueup history --resource Workspace/acme/app', 'the applies that changed this resource, and how'],
    ['trueup history show latest', 'each change of the last apply'],
  );
  history
    .argument('[path]', stackHelp)
    .addOption(formatOption())
    .option('--limit <number>', 'how many', parseCount, 20)
    .option('--resource <address>', 'only applies that changed it, such as Workspace/acme/app', parseResource)
    .addOption(timeoutOption())
    .action(async (path: string | undefined, options: ListOptions & CommonOptions) => {
      end(
        await listHistory(path, options, { host, terminal: terminalOf(options), timeout: options.timeout }),
      );
    });
  const show = command(
    history,
    'show',
    'Shows one apply: who, when, from which commit, each change before and after',
  );
  show
    .argument('<id>', 'as "trueup history" lists it, its beginning, its last four characters, or "latest"')
    .argument('[path]', stackHelp)
    .addOption(formatOption())
    .option('--resource <address>', 'only what it did to this resource', parseResource)
    .option('--revert', 'print what to write into the manifests to take it back')
    .option('--write', 'with --revert: write it into the manifests, in place')
    .option('--dry-run', 'with --write: show the patch, and write nothing')
    .option('-y, --yes', 'with --write: do not ask; required without a terminal')
    .addOption(timeoutOption())
    .action(async (id: string, path: string | undefined) => {
      // Options that "history" also has are stored there, regardless of their place on the command line.
      const options: CommonOptions & ShowOptions = show.optsWithGlobals();
      const context = { host, terminal: terminalOf(options), timeout: options.timeout };
      end(await showHistory(id, path, { ...options, context }));
    });
  addExamples(
    show,
    ['trueup history show latest', 'each change, with the values before and after'],
    ['trueup history show latest --resource Workspace/acme/app', 'only what it did to this resource'],
    ['trueup history show 7f3a --revert', 'print the manifests that take this apply back'],
    ['trueup history show latest --revert --write', 'write those values into the manifests'],
  );
}

interface HistoryContext extends CommandContext {
  /** seconds that the run may take */
  readonly timeout?: number | undefined;
}

interface ListOptions {
  readonly limit: number;
  /** the address of a resource */
  readonly resource?: AddressText;
}

function parseResource(text: string): AddressText {
  if (/^[^/\s]+\/[^/\s]+\/./.test(text)) return readAddress(text);
  throw new InvalidArgumentError('an address has a kind, a target and a name: Workspace/acme/app');
}

async function listHistory(
  path: string | undefined,
  { limit, resource }: ListOptions,
  context: HistoryContext,
): Promise<ExitCode> {
  const { host, terminal } = context;
  return withStackLedger(path, { ...context, stops: listenForEnd(host) }, async ({ stack, store }) => {
    const found =
      resource === undefined
        ? await store.readEntries(limit)
        : await readEntriesOfResource(resource, store, limit);
    const entries = found.flatMap((entry) => (entry instanceof LedgerError ? [] : [entry]));
    const damaged = found.flatMap((entry) => (entry instanceof LedgerError ? [entry] : []));
    if (terminal.format === 'json') {
      const about = { stack: stack.name, entries, damaged: damaged.map(({ message }) => message), resource };
      printJson(terminal, (reported) => renderHistoryJson(about, reported));
    } else {
      // When all entries are damaged, "nothing was applied" would be wrong.
      if (entries.length > 0 || damaged.length === 0)
        host.stdout.write(`${renderHistory(entries, { paint: terminal.paint, resource })}\n`);
      for (const { message } of damaged) printError(terminal, 'history-damaged', message);
    }
    return damaged.length === 0 ? exitCodes.done : exitCodes.error;
  });
}

interface ShowOptions extends Pick<ListOptions, 'resource'> {
  /** prints the changes of manifests that revert the apply, instead of the apply */
  readonly revert?: boolean;
  /** with `revert`: writes these changes into the manifests */
  readonly write?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

async function showHistory(
  id: string,
  path: string | undefined,
  { revert, context, resource, ...options }: ShowOptions & { readonly context: HistoryContext },
): Promise<ExitCode> {
  const { host, terminal } = context;
  const writes = options.write === true;
  if (path === undefined) await refuseStackAsId(id, host);
  if (writes && !revert) throw new CommandStop('usage', '--write writes what --revert takes back: pass both');
  return withStackLedger(path, { ...context, stops: listenForEnd(host) }, async ({ stack, store, stop }) => {
    const outlives = (name: string) => {
      const ownership = host.kinds.get(name)?.ownership;
      return ownership?.by === 'ledger' && ownership.undeclared !== 'delete';
    };
    const found = await findEntry(id, store, stack.name);
    const entry = resource === undefined ? found : onlyChangesOf(resource, found);
    if (writes) {
      const { writeRevert } = await import('./write-revert.ts');
      return writeRevert(entry, { ...options, path, stack, stop, host, terminal });
    }
    if (terminal.format === 'json')
      printJson(terminal, (reported) =>
        revert ? renderRevertJson(entry, { outlives }, reported) : renderEntryJson(entry, reported),
      );
    else host.stdout.write(`${revert ? renderRevert(entry, { outlives }) : show(entry, terminal)}\n`);
    return exitCodes.done;
  });
}

/** @throws CommandStop for the path of a stack in the place of the id */
async function refuseStackAsId(id: string, { cwd }: CliHost): Promise<void> {
  const path = resolve(cwd, id);
  if (id === '' || !((await exists(join(path, stackFileName))) || /\.ya?ml$/.test(id))) return;
  const typed = `trueup history show latest ${shellWord(id)}`;
  throw new CommandStop(
    'unknown-apply',
    `${quoted(id)} is the path of a stack: name the apply before it, such as ${quoted(typed)}`,
  );
}

function show(entry: HistoryEntry, { paint, width }: Terminal): string {
  return renderEntry(entry, { paint, ...(width === undefined ? {} : { width }) });
}

// The history of a stack for a terminal: a line for each apply, or all changes of one apply.

interface HistoryTextOptions {
  readonly paint: Paint;
  /** columns of the terminal; default 100 */
  readonly width?: number;
  /** the entries have changes of this resource alone */
  readonly resource?: AddressText | undefined;
}

const columnTitles = ['id', 'began', 'who', 'outcome', 'commit'];

/** In the given order, newest first. */
function renderHistory(entries: readonly HistoryEntry[], { paint, resource }: HistoryTextOptions): string {
  if (entries.length === 0 && resource === undefined) return 'Nothing was applied yet';
  if (entries.length === 0) return `No apply in the history changed ${printable(resource ?? '')}`;
  const rows = entries.map((entry) => [
    printable(entry.id),
    printable(entry.began),
    printable(entry.run.who),
    resource === undefined ? entrySummary(entry) : changeSummaries(entry).join(', '),
    commitText(entry, 12),
  ]);
  const widths = columnTitles.map((head, at) =>
    Math.max(columns(head), ...rows.map((row) => columns(row[at] ?? ''))),
  );
  const padded = (cell: string, at: number) => pad(cell, widths[at] ?? 0);
  const line = (row: readonly string[]) => row.map(padded).join('  ').trimEnd();
  const pruned = entries.at(-1)?.pruned;
  const end =
    pruned === undefined ? [] : [`Older applies were dropped, the newest of ${printable(pruned.until)}`];
  return [paint.bold(line(columnTitles)), ...rows.map(line), ...end].join('\n');
}

/** `9 applied, 1 failed`, or that a killed apply did not end. */
function entrySummary({ ended, changes, part }: HistoryEntry): string {
  const number = counted(changes.length, 'change');
  if (ended === undefined) return `did not end (of ${number}, any may have been made)${partText(part)}`;
  if (changes.length === 0) return 'nothing to do, recorded as found';
  const known = changes.flatMap(({ outcome }) => (outcome === undefined ? [] : [{ kind: outcome }]));
  const open = changes.length - known.length;
  const counts = known.length === 0 ? [] : [outcomeSummary(known)];
  return [...counts, ...(open === 0 ? [] : [`${open} not reached`])].join(', ') + partText(part);
}

function partText(part: HistoryEntry['part']): string {
  return part ? `, a part: ${part.selected}${part.of === undefined ? '' : ` of ${part.of}`} resources` : '';
}

/** `update applied: autoApply, tags` */
function changeSummaries({ ended, changes }: HistoryEntry): string[] {
  const unknown = ended === undefined ? 'may have been made' : 'not reached';
  return changes.map(({ action, outcome = unknown, fields }) => {
    const names = [...new Set(fields.map(({ path: [name = ''] }) => name))];
    const shown = action === 'create' ? '' : firstFew(names, 4).map(printable).join(', ');
    return `${action} ${outcome}${shown === '' ? '' : `: ${shown}`}`;
  });
}

/** One apply: who, where, when, from which commit; then each change with its values before and after. */
function renderEntry(entry: HistoryEntry, { paint, width = 100 }: HistoryTextOptions): string {
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
    ['guards', entry.acknowledged && `acknowledged: ${entry.acknowledged.join(', ')}`],
    ...(entry.approvals ?? []).map((approval) => ['approved', approvalText(approval)] as const),
  ];
  const head = facts.flatMap(([name, value]) =>
    value === undefined ? [] : [`${paint.dim(pad(name, 9))}${printable(value)}`],
  );
  const layout = { paint, width, calls: false };
  const changes = groupEqual(entry.changes.map(asChange)).map((block) =>
    changeLines(block, layout).join('\n'),
  );
  return [head.join('\n'), ...changes, paint.bold(entrySummary(entry))].join('\n\n');
}

/** `alice by signature, pull request 12, acknowledged deletes` */
function approvalText({ by, method, pullRequest, acknowledged }: Approval): string {
  const parts = [
    `${by} by ${method}`,
    ...(pullRequest === undefined ? [] : [`pull request ${pullRequest}`]),
    ...(acknowledged.length === 0 ? [] : [`acknowledged ${acknowledged.join(', ')}`]),
  ];
  return parts.join(', ');
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
  const text = outcome === undefined ? 'not known: the apply did not end' : outcome;
  return {
    address: parseAddress(address),
    action,
    reason,
    fields,
    notes: [
      `outcome: ${text}${detail === undefined ? '' : `: ${detail}`}`,
      ...(outcome === 'applied' || foundTrue ? [] : done.map((call) => `done before it stopped: ${call}`)),
      ...(foundTrue ? ['read afterwards, all of it was as desired'] : []),
    ],
    calls: [],
    preconditions: {},
  };
}

// The history of a stack as JSON, with a summary of each apply. Valid against `schema.ts`.

/** The entries that were read from a history. */
interface HistoryReading {
  readonly stack: string;
  /** newest first */
  readonly entries: readonly HistoryEntry[];
  /** a sentence for each entry that cannot be read */
  readonly damaged: readonly string[];
  /** the entries have changes of this resource alone */
  readonly resource?: AddressText | undefined;
}

/** `{ version: 1, stack, entries: [{ id, began, …, summary }], damaged, diagnostics? }`; for one resource also its changes. */
function renderHistoryJson(
  { stack, entries, damaged, resource }: HistoryReading,
  diagnostics: readonly ShownDiagnostic[] = [],
): string {
  return renderJson({
    version: 1,
    stack,
    entries: entries.map(({ version, changes, begunFields: _, ...entry }) => ({
      ...entry,
      summary: summaryOf(changes),
      ...(resource === undefined ? {} : { changes }),
    })),
    damaged,
    ...diagnosticsMember(diagnostics),
  });
}

/** The entry with its changes, their fields before and after, and a summary. */
function renderEntryJson(entry: HistoryEntry, diagnostics: readonly ShownDiagnostic[] = []): string {
  const { changes, begunFields: _, ...head } = entry;
  return renderJson({ ...head, summary: summaryOf(changes), changes, ...diagnosticsMember(diagnostics) });
}

function summaryOf(changes: HistoryEntry['changes']): object {
  const known = changes.flatMap(({ outcome }) => (outcome === undefined ? [] : [{ kind: outcome }]));
  return { changes: changes.length, ...countOutcomes(known) };
}
