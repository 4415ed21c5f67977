/** The summary of a ledger for a terminal and as JSON. */
import { type AddressText, parseAddress } from '../../model/address.ts';
import type { ShownDiagnostic } from '../../model/diagnostic.ts';
import type { AppliedCommit, AppliedRepository, Ledger, LedgerLock } from '../../model/ledger.ts';
import { counted } from '../../model/quoted.ts';
import { diagnosticsMember, renderJson } from '../../report/json/render-json.ts';
import { flow, indent, labelled, pad, type Paint } from '../../report/text/layout.ts';
import { printable } from '../../report/view/printable.ts';
import { lockLines } from '../../run/lock.ts';

export interface LedgerSummary {
  readonly stack: string;
  /** for people: `the ledger "…/payments.ledger.json"` */
  readonly place: string;
  readonly ledger: Ledger;
  /** creations of unknown outcome; undefined when the history cannot be read */
  readonly begun: readonly AddressText[] | undefined;
  readonly lock: LedgerLock | undefined;
}

interface Layout {
  readonly paint: Paint;
  readonly width?: number | undefined;
}

const labelColumn = 13;

export function renderSummary({ stack, place, ledger, begun, lock }: LedgerSummary, layout: Layout): string {
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

/** In the order of the records. */
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
  return `${counted(begun.length, 'creation')} of unknown outcome; the next apply finds out:`;
}

export function renderSummaryJson(
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
