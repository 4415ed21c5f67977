/**
 * `trueup ledger`: shows, moves and prunes the ledger of a stack. This file has `show`, which only reads: it takes no lock and sends
 * nothing to a target.
 */
import type { Command } from 'commander';
import { type AddressText, parseAddress } from '../../model/address.ts';
import type { ShownDiagnostic } from '../../model/diagnostic.ts';
import {
  type AppliedCommit,
  type AppliedRepository,
  type Ledger,
  LedgerError,
  type LedgerLock,
} from '../../model/ledger.ts';
import { counted } from '../../model/quoted.ts';
import { diagnosticsMember, renderJson } from '../../report/json/render-json.ts';
import { flow, indent, labelled, pad, type Paint } from '../../report/text/layout.ts';
import { printable } from '../../report/view/printable.ts';
import {
  addExamples,
  command,
  type CommandEnd,
  type CommonOptions,
  formatOption,
  stackHelp,
  timeoutOption,
} from '../../run/command-options.ts';
import { type ExitCode, exitCodes } from '../../run/exit-codes.ts';
import { refuseElsewhere } from '../../run/find-ledger.ts';
import type { CliHost } from '../../run/host.ts';
import { lockLines } from '../../run/lock.ts';
import { unrecordedCreations } from '../../run/open-entries.ts';
import { type StackLedger, withStackLedger } from '../../run/open-ledger.ts';
import { listenForEnd } from '../../run/stop-signals.ts';
import { type CommandContext, printError, printJson, type Terminal } from '../../run/terminal.ts';
import { defineMove } from './move.ts';
import { definePrune } from './prune.ts';

export function defineCommand(ledger: Command, host: CliHost, ends: CommandEnd): void {
  const { end, terminalOf } = ends;
  const show = command(ledger, 'show', 'Summarizes the ledger of a stack; takes no lock and writes nothing');
  show
    .argument('[path]', stackHelp)
    .addOption(formatOption())
    .addOption(timeoutOption())
    .action(async (path: string | undefined, options: CommonOptions) => {
      end(await showLedger(path, options, { host, terminal: terminalOf(options) }));
    });
  addExamples(ledger, ['trueup ledger show', 'a summary of the ledger of the stack in this directory']);
  addExamples(
    show,
    ['trueup ledger show', 'the stack in this directory'],
    ['trueup ledger show stacks/payments --format json', 'another stack, for a script'],
  );
  defineMove(ledger, host, ends);
  definePrune(ledger, host, ends);
}

async function showLedger(
  path: string | undefined,
  { timeout }: CommonOptions,
  { host, terminal }: CommandContext,
): Promise<ExitCode> {
  const about = { host, timeout, stops: listenForEnd(host) };
  return withStackLedger(path, about, async (opened) => {
    const { stack, store, time } = opened;
    const ledger = await store.read();
    await refuseElsewhere(ledger, { stack, host, time }, exitCodes.error);
    const begun = await readBegun(opened, ledger, terminal);
    const lock = await store.readLock();
    const summary: LedgerSummary = { stack: stack.name, place: store.place, ledger, begun, lock };
    if (terminal.format === 'json') printJson(terminal, (reported) => renderSummaryJson(summary, reported));
    else host.stdout.write(`${renderSummary(summary, terminal)}\n`);
    return begun === undefined ? exitCodes.error : exitCodes.done;
  });
}

/** Creations with unknown outcome. If the history cannot be read, that is reported, and the result is undefined. */
async function readBegun(
  { stack, store }: StackLedger,
  ledger: Ledger,
  terminal: Terminal,
): Promise<LedgerSummary['begun']> {
  try {
    return await unrecordedCreations(store, { stack, ledger });
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error;
    printError(terminal, 'history-damaged', error.message);
    return undefined;
  }
}

interface LedgerSummary {
  readonly stack: string;
  /** for people: `the ledger "…/payments.ledger.json"` */
  readonly place: string;
  readonly ledger: Ledger;
  /** addresses of creations with unknown outcome; undefined if the history cannot be read */
  readonly begun: readonly AddressText[] | undefined;
  readonly lock: LedgerLock | undefined;
}

interface Layout {
  readonly paint: Paint;
  readonly width?: number | undefined;
}

const labelColumn = 13;

function renderSummary({ stack, place, ledger, begun, lock }: LedgerSummary, layout: Layout): string {
  const { paint, width = 80 } = layout;
  const lines = (rows: readonly Row[]) =>
    rows.flatMap(([label, text]) =>
      text === undefined ? [] : row(label, printable(text), { paint, width }),
    );
  const content: readonly Row[] = ledger.known
    ? contentRows(ledger)
    : [['records', 'none: nothing was applied yet']];
  const addresses = flow((begun ?? []).map(printable), ', ', width - labelColumn);
  return [
    paint.bold(`Stack ${printable(stack)}`),
    ...lines([['ledger', place.replace(/^the ledger /, '')], ...content, ['begun', begunText(begun)]]),
    ...indent(addresses, labelColumn),
    ...lines([['lock', lock === undefined ? 'nobody holds it' : 'held:']]),
    ...(lock === undefined ? [] : indent(lockLines(lock), labelColumn - 2)),
  ].join('\n');
}

type Row = readonly [label: string, text: string | undefined];

function row(label: string, text: string, { paint, width }: { paint: Paint; width: number }): string[] {
  return labelled(pad(label, labelColumn), text, width).map((line, index) =>
    index === 0 ? paint.dim(line.slice(0, labelColumn)) + line.slice(labelColumn) : line,
  );
}

function contentRows(ledger: Ledger): readonly Row[] {
  const { stackId, repository, commit, otherCommits = [], targets, closedFor, serial } = ledger;
  return [
    ['serial', String(serial)],
    ['stack id', stackId ?? 'none: the next apply makes one'],
    ['repository', repository === undefined ? 'unknown' : repositoryText(repository)],
    ['commit', commit === undefined ? 'unknown' : commitText(commit)],
    ...otherCommits.map((other) => ['also applied', commitText(other)] as const),
    ...[...(targets ?? [])].map(([name, identity]) => ['target', `${name}: ${identity}`] as const),
    ['records', recordText(ledger)],
    ['approvals', approvalText(ledger)],
    ['closed', closedFor && `the stack was renamed to ${closedFor}`],
  ];
}

/** `git.example.com/acme/infra, stacks/pay/trueup.yaml` */
function repositoryText({ remote = 'no remote', path }: AppliedRepository): string {
  return `${remote}, ${path}`;
}

function commitText({ id, dirty }: AppliedCommit): string {
  return dirty ? `${id}, with uncommitted changes` : id;
}

interface KindCount {
  readonly total: number;
  readonly created: number;
  readonly adopted: number;
}

/** The number of records by kind, sorted by kind. */
function countByKind({ records }: Ledger): ReadonlyMap<string, KindCount> {
  const counts = new Map<string, KindCount>();
  for (const [address, { origin }] of records) {
    const { kind } = parseAddress(address);
    const { total, created, adopted } = counts.get(kind) ?? { total: 0, created: 0, adopted: 0 };
    counts.set(kind, {
      total: total + 1,
      created: created + Number(origin === 'created'),
      adopted: adopted + Number(origin === 'adopted'),
    });
  }
  return new Map([...counts].sort(([one], [other]) => (one < other ? -1 : 1)));
}

function recordText(ledger: Ledger): string {
  if (ledger.records.size === 0) return 'none';
  const kinds = [...countByKind(ledger)].map(
    ([kind, { total, adopted }]) => `${total} ${kind}${adopted === 0 ? '' : ` (${adopted} adopted)`}`,
  );
  return `${ledger.records.size}: ${kinds.join(', ')}`;
}

function approvalText({ approved, endedApprovals }: Ledger): string {
  const ended = `${endedApprovals?.size ?? 0} ended`;
  if (approved === undefined) return `none open, ${ended}`;
  const { digest, createdAt, passed = [] } = approved;
  const since = createdAt === undefined ? '' : ` since ${createdAt}`;
  const guards = passed.length === 0 ? '' : `, acknowledged: ${passed.join(', ')}`;
  return `open: ${digest}${since}${guards}; ${ended}`;
}

function begunText(begun: LedgerSummary['begun']): string {
  if (begun === undefined) return 'unknown: the history cannot be read';
  if (begun.length === 0) return 'no creation of unknown outcome';
  return `${counted(begun.length, 'creation')} of unknown outcome; the next plan finds out:`;
}

function renderSummaryJson(
  { stack, place, ledger, begun, lock }: LedgerSummary,
  diagnostics: readonly ShownDiagnostic[] = [],
): string {
  const { known, serial, stackId, repository, commit, otherCommits = [], targets, closedFor } = ledger;
  const { approved, endedApprovals } = ledger;
  return renderJson({
    version: 1,
    stack,
    place,
    known,
    serial,
    ...(stackId === undefined ? {} : { stackId }),
    ...(repository === undefined ? {} : { repository }),
    ...(commit === undefined ? {} : { commit }),
    otherCommits,
    targets: Object.fromEntries(targets ?? []),
    records: { total: ledger.records.size, kinds: Object.fromEntries(countByKind(ledger)) },
    ...(begun === undefined ? {} : { begunCreations: begun }),
    approvals: {
      ...(approved === undefined
        ? {}
        : { open: { digest: approved.digest, guards: approved.passed ?? [], since: approved.createdAt } }),
      ended: endedApprovals?.size ?? 0,
    },
    ...(lock === undefined ? {} : { lock }),
    ...(closedFor === undefined ? {} : { closedFor }),
    ...diagnosticsMember(diagnostics),
  });
}
