/** `trueup ledger move --to PLACE [path]`: moves ledger and history of a stack to another place, and closes the old one. */
import type { Command } from 'commander';
import { isSamePlace, ledgerDocument, ledgerText } from '../../manifest/ledger-place.ts';
import type { ShownDiagnostic } from '../../model/diagnostic.ts';
import type { HistoryEntry, Ledger } from '../../model/ledger.ts';
import { counted, quoted } from '../../model/quoted.ts';
import type { LedgerPlace } from '../../model/stack.ts';
import { diagnosticsMember, renderJson } from '../../report/json/render-json.ts';
import { printable } from '../../report/view/printable.ts';
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
import { placeOf, readPlace } from '../../run/find-ledger.ts';
import type { CliHost } from '../../run/host.ts';
import { pathOfStack, type StackRun, withStack } from '../../run/load-manifests.ts';
import { endAfter, type HeldLock, holdLock, lockingFor } from '../../run/lock.ts';
import { checkWritable, type FileChange, writeFiles } from '../../run/manifest-edits/write-files.ts';
import { identifyRun } from '../../run/origin.ts';
import { describePlace } from '../../run/moved-ledger.ts';
import { listenForSignals } from '../../run/stop-signals.ts';
import { type CommandContext, printJson } from '../../run/terminal.ts';
import { askToWrite } from './ask-to-write.ts';
import {
  carryOutMove,
  draftStackFile,
  type MoveEnds,
  findSource,
  findTask,
  openAt,
  type Task,
} from './move-steps.ts';

interface MoveOptions extends CommonOptions {
  readonly to: string;
  readonly from?: string;
  readonly write?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly lockTimeout?: number;
}

export function defineMove(ledger: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  const move = command(
    ledger,
    'move',
    'Moves the ledger of a stack, with its history, to another place, and closes the old one',
  );
  move
    .argument('[path]', stackHelp)
    .requiredOption(
      '--to <place>',
      'the new place, as "spec.ledger" has it: git, postgres, local, or a map such as "{ git: { remote: upstream } }"',
    )
    .option(
      '--from <place>',
      'the old place, if it is not the one in the stack file; written in the same way',
    )
    .option('--write', 'change "spec.ledger" in the stack file as well')
    .option('--dry-run', 'show what would be moved, and write nothing')
    .addOption(formatOption())
    .option('-y, --yes', 'do not ask; required without a terminal')
    .option('--lock-timeout <duration>', 'how long to wait for the locks, such as 5m', parseTimeout)
    .addOption(timeoutOption())
    .action(async (path: string | undefined, options: MoveOptions) => {
      end(await moveLedger(path, options, { host, terminal: terminalOf(options) }));
    });
  addExamples(
    move,
    [
      'trueup ledger move --to git --write',
      'into the ref of the remote "origin"; change the stack file, too',
    ],
    [
      'trueup ledger move --to postgres --dry-run',
      'show what would move into the database of TRUEUP_LEDGER_URL',
    ],
    ['trueup ledger move --from local --to git', 'the stack file has the new place already'],
  );
}

interface MoveRun extends CommandContext, StackRun {
  readonly path: string | undefined;
  readonly options: MoveOptions;
}

function moveLedger(
  path: string | undefined,
  options: MoveOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const { host } = context;
  const about = { host, stops: listenForSignals(host), timeout: options.timeout, ignoresMistakes: true };
  return withStack(path, about, async (opened) => {
    const run: MoveRun = { ...opened, ...context, path, options };
    const to = readPlace(options.to, '--to');
    const from = options.from === undefined ? await findSource(to, run) : readPlace(options.from, '--from');
    if (from !== undefined && isSamePlace(from, to))
      throw new CommandStop('usage', '--from and --to name the same place');
    // Drafted before anything is moved, because the file may not be editable.
    const file = options.write ? await draftStackFile(run.stack, to, host.cwd) : undefined;
    if (willWrite(file, to, run)) await checkWritable([file]);
    return from === undefined ? reportDone(to, file, run) : moveBetween({ from, to }, file, run);
  });
}

function willWrite(
  file: FileChange | undefined,
  to: LedgerPlace,
  { stack, options }: MoveRun,
): file is FileChange {
  return file !== undefined && !options.dryRun && !isSamePlace(placeOf(stack), to);
}

/** Removes the locks that an earlier attempt of this run left when it had moved the ledger. */
async function freeLocks(ends: readonly MoveEnds['to'][], run: MoveRun): Promise<void> {
  const { stack, path, options, stop, host, terminal } = run;
  if (options.dryRun) return;
  const locking = lockingFor({ run: identifyRun(host), timeout: 0, path, stop, terminal });
  for (const { store } of ends) await locking.free(stack, store);
}

async function reportDone(place: LedgerPlace, file: FileChange | undefined, run: MoveRun): Promise<ExitCode> {
  const store = await openAt(place, run);
  try {
    await freeLocks([{ place, store }], run);
    const moved = { ledger: await store.read(), entries: undefined, is: 'there' as const };
    return await finish(moved, { to: { place, store } }, file, run);
  } finally {
    await store.close();
  }
}

async function moveBetween(
  places: { readonly from: LedgerPlace; readonly to: LedgerPlace },
  file: FileChange | undefined,
  run: MoveRun,
): Promise<ExitCode> {
  const from = { place: places.from, store: await openAt(places.from, run) };
  try {
    const to = { place: places.to, store: await openAt(places.to, run) };
    try {
      const ends = { from, to };
      const task = await findTask(ends, run);
      if (task.is === 'done') {
        await freeLocks([from, to], run);
        return await finish({ ...task, is: 'there' }, ends, file, run);
      }
      if (run.options.dryRun)
        return await finish({ ...summaryOf(task), is: 'planned' }, ends, undefined, run);
      await askToWrite(`Move the ledger to ${ledgerText(to.place)}?`, run);
      return await moveUnderLocks(ends, file, run);
    } finally {
      await to.store.close();
    }
  } finally {
    await from.store.close();
  }
}

/** Finds the task again under the locks, because it may have changed since it was found without them. */
async function moveUnderLocks(ends: MoveEnds, file: FileChange | undefined, run: MoveRun): Promise<ExitCode> {
  const { from, to } = ends;
  const first = await acquireLock(from, run);
  return endAfter(async () => {
    if ((await to.store.readLock())?.id === first.lock.id)
      throw new CommandStop(
        'nothing-to-move',
        `${ledgerText(from.place)} and ${ledgerText(to.place)} lead to the same ledger: only the stack file has to change`,
      );
    const second = await acquireLock(to, run);
    return endAfter(async () => {
      const task = await findTask(ends, run);
      if (task.is === 'done') return finish({ ...task, is: 'there' }, ends, file, run);
      const ledger = await carryOutMove(task, { ...run, ends, locks: [first, second] });
      return finish({ ...summaryOf(task), ledger, is: 'moved' }, ends, file, run);
    }, second.release);
  }, first.release);
}

function acquireLock({ store, place }: MoveEnds['from'], run: MoveRun): Promise<HeldLock> {
  const { stack, path, options, stop, host, terminal, time } = run;
  const isNamed = isSamePlace(place, placeOf(stack));
  return holdLock(
    {
      store,
      stack: stack.name,
      run: identifyRun(host),
      timeout: options.lockTimeout ?? 0,
      path: pathOfStack(path, stack),
      at: isNamed ? undefined : ledgerText(place),
      stop,
      deadline: time.deadline,
    },
    terminal,
  );
}

function summaryOf(task: Exclude<Task, { is: 'done' }>): Pick<Moved, 'ledger' | 'entries'> {
  return task.is === 'copy' ? task : { ledger: task.copy, entries: undefined };
}

// Reports what was moved, or would be, and what has to change in the stack file.

interface Moved {
  readonly is: 'moved' | 'planned' | 'there';
  readonly ledger: Ledger;
  /** undefined if they were not read, because an earlier attempt has copied and verified them */
  readonly entries?: readonly HistoryEntry[] | undefined;
}

async function finish(
  moved: Moved,
  ends: Pick<MoveEnds, 'to'> & Partial<MoveEnds>,
  file: FileChange | undefined,
  run: MoveRun,
): Promise<ExitCode> {
  const { stack, terminal, host } = run;
  const isNamed = isSamePlace(placeOf(stack), ends.to.place);
  const isWritten = willWrite(file, ends.to.place, run);
  if (isWritten) await writeFiles([file]);
  const report: MoveReport = {
    moved,
    ends,
    run,
    stackFile: isNamed ? 'named' : isWritten ? 'written' : 'open',
  };
  if (terminal.format === 'json') printJson(terminal, (reported) => renderJsonReport(report, reported));
  else host.stdout.write(`${renderReport(report)}\n`);
  return exitCodes.done;
}

interface MoveReport {
  readonly moved: Moved;
  readonly ends: Pick<MoveEnds, 'to'> & Partial<MoveEnds>;
  readonly run: MoveRun;
  /** whether it named the new place before, was changed by this run, or has to be edited by the user */
  readonly stackFile: 'named' | 'written' | 'open';
}

function renderReport({ moved, ends, run, stackFile }: MoveReport): string {
  const { stack } = run;
  const { ledger, entries } = moved;
  const name = quoted(stack.name);
  const begin = {
    moved: `Moved the ledger of stack ${name}`,
    planned: `The ledger of stack ${name} would be moved`,
    there: `The ledger of stack ${name} is there already`,
  }[moved.is];
  const what = [
    counted(ledger.records.size, 'record'),
    ...(entries === undefined ? [] : [counted(entries.length, 'apply', 'applies')]),
    ...(ledger.approved === undefined ? [] : ['1 approval whose apply has begun']),
    `${counted(ledger.endedApprovals?.size ?? 0, 'ended approval')}`,
  ].join(', ');
  const verified = moved.is === 'moved' ? '; read back, and equal' : '';
  const place = (end: MoveEnds['to']) => printable(describePlace(end.place, stack.name));
  const file = printable(stack.file);
  const line = `  ledger: ${ledgerText(ends.to.place)}`;
  const ending = {
    named: [`${file} names this place already.`],
    written: [`${file} has now, in its spec: ${line.trim()}`, 'Commit it.'],
    open: [
      moved.is === 'planned'
        ? `${file} would need this, which --write writes:`
        : `Write this into ${file}, and commit it; --write does so, too:`,
      '',
      'spec:',
      line,
    ],
  }[stackFile];
  return [
    begin,
    ...(ends.from === undefined ? [] : [`  from  ${place(ends.from)}`]),
    `  to    ${place(ends.to)}`,
    `  ${what}${verified}`,
    '',
    ...ending,
  ].join('\n');
}

function renderJsonReport(
  { moved, ends, run, stackFile }: MoveReport,
  diagnostics: readonly ShownDiagnostic[] = [],
): string {
  const { ledger, entries, is } = moved;
  const end = ({ place, store }: MoveEnds['to']) => ({ ledger: ledgerDocument(place), place: store.place });
  return renderJson({
    version: 1,
    stack: run.stack.name,
    ...(ends.from === undefined ? {} : { from: end(ends.from) }),
    to: end(ends.to),
    moved: is === 'moved',
    dryRun: is === 'planned',
    records: ledger.records.size,
    ...(entries === undefined ? {} : { applies: entries.length }),
    approvals: { open: ledger.approved === undefined ? 0 : 1, ended: ledger.endedApprovals?.size ?? 0 },
    stackFile: {
      file: run.stack.file,
      namesNewPlace: stackFile === 'named',
      written: stackFile === 'written',
      ledger: ledgerDocument(ends.to.place),
    },
    ...diagnosticsMember(diagnostics),
  });
}
