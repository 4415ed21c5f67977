/**
 * Drift in Markdown, for the issue or the chat that a nightly job writes to: what changed in the targets, and who last modified it, then
 * names that refer to other objects, then what is pending in the files. Escaped and bounded like the Markdown of a plan.
 */
import { counted } from '../../model/quoted.ts';
import type { ShownDiagnostic } from '../../model/diagnostic.ts';
import type {
  Drift,
  DriftedName,
  DriftedResource,
  DriftField,
  PendingResource,
  Unmanaged,
} from '../../model/drift.ts';
import type { LastModified } from '../../model/audit-trail.ts';
import { type Address, formatAddress } from '../../model/address.ts';
import { formatPath } from '../view/field.ts';
import { block, fieldDiff } from './changes.ts';
import {
  coverageSection,
  diagnosticsSection,
  limitsSection,
  noticesSection,
  reasonsSection,
} from './sections.ts';
import {
  bytesOf,
  code,
  fitted,
  htmlCode,
  maxMarkdownBytes,
  type Section,
  sentence,
  tableRow,
} from './escape.ts';
import { formatPlace } from '../text/change.ts';
import { lastModifiedLines } from '../view/format-last-modified.ts';
import { partCounts, partDetails } from '../view/plan-summary.ts';
import { driftReasons, driftSummary, namesHeading, nextStepOf } from '../text/drift.ts';

interface DriftMarkdownOptions {
  /** diagnostics of the command that are not part of the drift */
  readonly diagnostics?: readonly ShownDiagnostic[];
  /** milliseconds since 1970 */
  readonly now: number;
  /** the stack's argument on the command line; absent for the one in the working directory */
  readonly stack?: string | undefined;
}

/** Maximum bytes of each part; the details get the bytes that the others leave. */
const shares = {
  reasons: 2_000,
  limits: 1_500,
  problems: 6_000,
  table: 10_000,
  notices: 3_000,
  coverage: 4_000,
};

/** A blank line separates two parts. */
const gapBytes = 2;

/** @param drift without secrets */
export function renderDriftMarkdown(
  drift: Drift,
  { diagnostics = [], now, stack }: DriftMarkdownOptions,
): string {
  const reasons = drift.complete ? [] : driftReasons(drift);
  const before = [
    ...headParts(drift),
    fitted(reasonsSection(reasons, 'so more may have drifted than was found'), shares.reasons),
    fitted(limitsSection(drift), shares.limits),
    fitted(diagnosticsSection([...drift.problems, ...diagnostics], '### Problems'), shares.problems),
    fitted(driftedSection(drift.drifted, now), shares.table),
    fitted(unmanagedSection(drift.unmanaged, now), shares.table),
    fitted(namesSection(drift.changedNames), shares.table),
    fitted(pendingSection(drift.pending), shares.table),
  ].filter(Boolean);
  const after = [
    fitted(
      noticesSection('Not in the ledger', drift.unrecorded, 'that are not in the ledger'),
      shares.notices,
    ),
    fitted(
      noticesSection('Not known whether it drifted', drift.undetermined, 'whose drift is not known'),
      shares.notices,
    ),
    fitted(coverageSection(drift), shares.coverage),
    `### Next steps\n\n${sentence(nextStepOf(drift, stack))}`,
  ].filter(Boolean);
  const used = [...before, ...after].reduce((sum, part) => sum + bytesOf(part) + gapBytes, 0);
  const details = fitted(detailsSection(drift, now), maxMarkdownBytes - used - gapBytes);
  return [...before, ...(details === '' ? [] : [details]), ...after].join('\n\n');
}

function headParts(drift: Drift): string[] {
  const { stack, selection, part, unmanaged } = drift;
  const unseen = unmanaged?.unseen ?? 0;
  const lines = [
    `**${sentence(driftSummary(drift))}**`,
    ...partDetails(drift).map((text) => sentence(text)),
    ...(selection === undefined || part !== undefined
      ? []
      : [`a selection of ${counted(selection.length, 'resource')}: the rest of the stack was not read`]),
    ...(unseen === 0
      ? []
      : [
          `for ${counted(unseen, 'resource')}, the ledger has no values of fields outside the manifests: the next apply records them`,
        ]),
  ];
  const heading = part === undefined ? code(stack) : `a part of ${code(stack)}: ${partCounts(drift)}`;
  return [`## Drift of ${heading}`, lines.join('\\\n')];
}

function driftedSection(drifted: readonly DriftedResource[], now: number): Section {
  return {
    heading: '### Changed in the targets',
    before: tableHead('drift', 'resource', 'what', 'last modified'),
    blocks: drifted.map(({ is, address, fields, lastModified }) =>
      tableRow([is, code(formatAddress(address)), fieldNames(fields), lastModifiedText(lastModified, now)]),
    ),
    between: '\n',
    left: (count) => `**and ${count} more that drifted**, which \`trueup drift\` lists as text`,
  };
}

function unmanagedSection(unmanaged: Unmanaged | undefined, now: number): Section {
  return {
    heading: '### Changed, and in no manifest',
    before: tableHead('resource', 'what', 'last modified'),
    blocks: (unmanaged?.resources ?? []).map(({ address, fields, lastModified }) =>
      tableRow([code(formatAddress(address)), fieldNames(fields), lastModifiedText(lastModified, now)]),
    ),
    between: '\n',
    left: (count) => `**and ${count} more**, which \`trueup drift --unmanaged\` lists as text`,
  };
}

function namesSection(changedNames: readonly DriftedName[]): Section {
  return noticesSection(namesHeading, changedNames, 'whose names refer to other objects');
}

function pendingSection(pending: readonly PendingResource[]): Section {
  return {
    heading: '### Pending in the files',
    before: tableHead('pending', 'resource', 'what', 'where'),
    blocks: pending.map(({ is, address, fields, place }) =>
      tableRow([
        is,
        code(formatAddress(address)),
        fieldNames(fields),
        place === undefined ? '' : code(formatPlace(place)),
      ]),
    ),
    between: '\n',
    left: (count) => `**and ${count} more that are pending**, which \`trueup plan\` lists`,
  };
}

function tableHead(...titles: readonly string[]): string {
  return [tableRow(titles), tableRow(titles.map(() => '---'))].join('\n');
}

const maxFieldNames = 4;

function fieldNames(fields: readonly DriftField[]): string {
  const names = [...new Set(fields.map(({ path }) => formatPath(path)))];
  const more = names.length - maxFieldNames;
  const shown = names.slice(0, maxFieldNames).map((name) => code(name, 60));
  return [...shown, ...(more > 0 ? [`${more} more`] : [])].join(', ');
}

function lastModifiedText(lastModified: LastModified | undefined, now: number): string {
  if (lastModified === undefined) return '';
  return lastModifiedLines(lastModified, now)
    .map((line) => sentence(line, 200))
    .join('<br>');
}

function detailsSection({ drifted, unmanaged, pending }: Drift, now: number): Section {
  const blocks = [
    ...drifted.map((one) => driftedDetails(one, now)),
    ...(unmanaged?.resources ?? []).map(({ address, fields }) =>
      folded(`unmanaged ${nameOf(address)}`, diffOf(fields, '')),
    ),
    ...pending
      .filter(({ fields }) => fields.length > 0)
      .map(({ is, address, fields }) =>
        folded(`pending ${is} ${nameOf(address)}`, diffOf(fields, 'live changed, too')),
      ),
  ];
  return {
    heading: '### Details',
    blocks,
    between: '\n\n',
    left: (count) => `**and ${count} more**, which \`trueup drift\` lists as text`,
  };
}

function driftedDetails(
  { is, address, id, newId, fields, notes, lastModified }: DriftedResource,
  now: number,
): string {
  const identity = {
    changed: [],
    gone: [`applied by this stack${idText(id)}, and no longer there`],
    recreated: [`another one has its name now: ${idText(id).trim()} was applied,${idText(newId)} is live`],
  }[is];
  const details = [
    ...notes.map((note) => `- note: ${sentence(note)}`),
    ...(lastModified === undefined
      ? []
      : lastModifiedLines(lastModified, now).map((line) => `- ${sentence(line)}`)),
  ];
  return folded(`${is} ${nameOf(address)}`, [
    ...identity,
    ...diffOf(fields, 'the files changed it, too'),
    ...(details.length === 0 ? [] : [details.slice(0, 20).join('\n')]),
  ]);
}

function idText(id: string | undefined): string {
  return id === undefined ? '' : ` ${code(id)}`;
}

/** As HTML, because Markdown is not parsed in a `<summary>`. */
function nameOf(address: Address): string {
  return htmlCode(formatAddress(address));
}

/** @param mark the remark for a field that changed on both sides */
function diffOf(fields: readonly DriftField[], mark: string): string[] {
  const marked = fields.map(({ both, ...field }) => (both ? { ...field, origin: mark } : field));
  return block(fieldDiff({ action: 'update', fields: marked }), 'diff');
}

function folded(summary: string, body: readonly string[]): string {
  return [`<details><summary>${summary}</summary>`, ...body, '</details>'].join('\n\n');
}
