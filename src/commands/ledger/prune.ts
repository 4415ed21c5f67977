/** `trueup ledger prune --older-than AGE [path]`: drops old entries of the history, and changes nothing in the ledger. */
import { type Command, InvalidArgumentError } from 'commander';
import type { ShownDiagnostic } from '../../model/diagnostic.ts';
import { parseDuration } from '../../model/duration.ts';
import type { HistoryEntry } from '../../model/ledger.ts';
import { counted, quoted } from '../../model/quoted.ts';
import { diagnosticsMember, renderJson } from '../../report/json/render-json.ts';
import { printable } from '../../report/view/printable.ts';
import { endedApprovalsOf, entriesOfCommits } from '../../run/apply-history.ts';
import {
  addExamples,
  command,
  type CommandEnd,
  type CommonOptions,
  formatOption,
  parseTimeout,
  stackHelp,
  timeoutOption,
} from '../../run/command-options.ts';
import { CommandStop } from '../../run/command-stop.ts';
import { type ExitCode, exitCodes } from '../../run/exit-codes.ts';
import type { CliHost } from '../../run/host.ts';
import { pathOfStack } from '../../run/load-manifests.ts';
import { endAfter, holdLock } from '../../run/lock.ts';
import { splitOpenEntries } from '../../run/open-entries.ts';
import { type StackLedger, withStackLedger } from '../../run/open-ledger.ts';
import { identifyRun } from '../../run/origin.ts';
import { listenForSignals } from '../../run/stop-signals.ts';
import { countedTime } from '../../run/past-applies.ts';
import { type CommandContext, printJson } from '../../run/terminal.ts';
import { askToWrite } from './ask-to-write.ts';

interface PruneOptions extends CommonOptions {
  /** seconds */
  readonly olderThan: number;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly lockTimeout?: number;
}

export function definePrune(ledger: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  const prune = command(
    ledger,
    'prune',
    'Drops old applies of the history; records, approvals and begun applies stay',
  );
  prune
    .argument('[path]', stackHelp)
    .requiredOption('--older-than <age>', 'which applies, such as 90d or 2160h', parseAge)
    .option('--dry-run', 'show what would be dropped, and write nothing')
    .addOption(formatOption())
    .option('-y, --yes', 'do not ask; required without a terminal')
    .option(
      '--lock-timeout <duration>',
      'how long to wait for the lock of the stack, such as 5m',
      parseTimeout,
    )
    .addOption(timeoutOption())
    .action(async (path: string | undefined, options: PruneOptions) => {
      end(await pruneHistory(path, options, { host, terminal: terminalOf(options) }));
    });
  addExamples(
    prune,
    ['trueup ledger prune --older-than 90d --dry-run', 'show how many applies would be dropped'],
    ['trueup ledger prune --older-than 90d --yes', 'drop them, for example in a nightly job'],
  );
}

/** In seconds. As in a stack file, a number needs a unit. */
function parseAge(text: string): number {
  const seconds = /^\s*\d*\s*$/.test(text) ? undefined : parseDuration(text);
  if (seconds === undefined) throw new InvalidArgumentError('an age is written like 90d or 12h');
  return seconds;
}

interface PruneRun extends CommandContext, StackLedger {
  readonly path: string | undefined;
  readonly options: PruneOptions;
}

function pruneHistory(
  path: string | undefined,
  options: PruneOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const { host } = context;
  const about = { host, stops: listenForSignals(host), timeout: options.timeout };
  return withStackLedger(path, about, async (opened) => {
    const run = { ...opened, ...context, path, options };
    const found = await choose(run);
    if (found.dropped.length === 0 || options.dryRun) return report(found, run);
    await askToWrite(`Drop ${describe(found)}?`, run);
    return dropUnderLock(run);
  });
}

/** @throws CommandStop without a ledger, LedgerError if an entry cannot be read, because it may be needed */
async function choose({ store, stack, host, options }: PruneRun): Promise<PrunedEntries> {
  const { known } = await store.read();
  const entries = await store.listEntries(Number.MAX_SAFE_INTEGER);
  if (!known && entries.length > 0)
    throw new CommandStop(
      'ledger-lost',
      `nothing was dropped: stack ${quoted(stack.name)} has a history and no ledger, which "trueup recover" rebuilds with it`,
    );
  const now = host.now();
  return pruneEntries(entries, { stack: stack.name, before: now - options.olderThan * 1000, now });
}

async function dropUnderLock(run: PruneRun): Promise<ExitCode> {
  const { store, stack, path, options, stop, host, terminal, time } = run;
  const held = await holdLock(
    {
      store,
      stack: stack.name,
      run: identifyRun(host),
      timeout: options.lockTimeout ?? 0,
      path: pathOfStack(path, stack),
      stop,
      deadline: time.deadline,
    },
    terminal,
  );
  return endAfter(async () => {
    const found = await choose(run);
    await held.lockGuard.check();
    // First stores what must outlast the dropped entries: if the run is killed after that, nothing that is needed is lost.
    if (found.marked !== undefined) await store.keepEntries([found.marked]);
    await store.removeEntries(found.dropped.map(({ id }) => id));
    return report(found, run);
  }, held.release);
}

function describe({ dropped, kept }: PrunedEntries): string {
  return `${counted(dropped.length, 'apply', 'applies')} of ${dropped.length + kept.length}`;
}

function report(found: PrunedEntries, run: PruneRun): ExitCode {
  const { terminal, host } = run;
  if (terminal.format === 'json') printJson(terminal, (reported) => renderJsonReport(found, run, reported));
  else host.stdout.write(`${renderReport(found, run)}\n`);
  return exitCodes.done;
}

function renderReport({ dropped, kept }: PrunedEntries, { stack, options }: PruneRun): string {
  const verb = options.dryRun ? 'Would drop' : 'Dropped';
  const [newest] = dropped;
  const lines = [
    `${verb} ${counted(dropped.length, 'apply', 'applies')} from the history of stack ${quoted(stack.name)}; ${kept.length} ${options.dryRun ? 'would be kept' : 'kept'}`,
  ];
  if (newest !== undefined) lines.push(`The newest of them began at ${printable(newest.began)}`);
  return lines.join('\n');
}

function renderJsonReport(
  { dropped, kept }: PrunedEntries,
  { stack, store, options }: PruneRun,
  diagnostics: readonly ShownDiagnostic[] = [],
): string {
  return renderJson({
    version: 1,
    stack: stack.name,
    place: store.place,
    dryRun: options.dryRun === true,
    dropped: dropped.length,
    kept: kept.length,
    entries: dropped.map(({ id }) => id),
    ...diagnosticsMember(diagnostics),
  });
}

// Chooses which entries of a history may be dropped. All commands that read the history must still work without them.

interface PrunedEntries {
  /** newest first */
  readonly dropped: readonly HistoryEntry[];
  /** newest first */
  readonly kept: readonly HistoryEntry[];
  /** an entry of `kept`, with added facts of the dropped entries that are still needed; it has to be written again */
  readonly marked?: HistoryEntry;
}

/**
 * Of the stack's own applies, only the oldest ones are dropped, up to the first one that is kept, so that no gap arises. The last apply is
 * always kept, as are unfinished applies with the apply before them, applies whose commits a rebuilt ledger needs, and applies of parts
 * whose deletes still count. Entries copied from another stack are dropped by age alone: the applies of this stack do not need them.
 * @param entries all, newest first
 * @param about.before in milliseconds since 1970, like `now`
 */
export function pruneEntries(
  entries: readonly HistoryEntry[],
  { stack, before, now }: { readonly stack: string; readonly before: number; readonly now: number },
): PrunedEntries {
  const isOld = (entry: HistoryEntry) => timeOf(entry) < before;
  const own = entries.filter(({ moved }) => moved !== true);
  const { open, last } = splitOpenEntries(own, { name: stack });
  const counting = own.filter((entry) => entry.part !== undefined && timeOf(entry) > now - countedTime);
  const needed = new Set([...own.slice(0, 1), ...open, ...last, ...entriesOfCommits(own), ...counting]);
  const firstDropped = own.findLastIndex((entry) => needed.has(entry) || !isOld(entry)) + 1;
  const droppedOwn = own.slice(firstDropped);
  const isDropped = (entry: HistoryEntry) => (entry.moved ? isOld(entry) : droppedOwn.includes(entry));
  const dropped = entries.filter(isDropped);
  const oldestKept = own[firstDropped - 1];
  const marked =
    oldestKept === undefined || droppedOwn.length === 0 ? undefined : withPruned(oldestKept, droppedOwn);
  const kept = entries
    .filter((entry) => !isDropped(entry))
    .map((entry) => (entry === oldestKept ? (marked ?? entry) : entry));
  return { kept, dropped, ...(marked === undefined ? {} : { marked }) };
}

function timeOf({ began, ended = began }: HistoryEntry): number {
  return Date.parse(ended);
}

/** Adds to an entry what is still needed of dropped ones: when the newest of them ended, and the approvals that they ended. */
function withPruned(oldest: HistoryEntry, dropped: readonly HistoryEntry[]): HistoryEntry {
  const endTimes = dropped.flatMap(({ began, ended = began, pruned }) => [
    ended,
    ...(pruned ? [pruned.until] : []),
  ]);
  // If a digest occurs more than once, the newest one counts: it comes first, so the list is reversed.
  const approvals = Object.fromEntries(dropped.flatMap(endedApprovalsOf).toReversed());
  const before = oldest.pruned?.endedApprovals ?? {};
  const endedApprovals = { ...approvals, ...before };
  return {
    ...oldest,
    pruned: {
      until: endTimes.sort().at(-1) ?? oldest.began,
      ...(Object.keys(endedApprovals).length === 0 ? {} : { endedApprovals }),
    },
  };
}
