/**
 * A plan in Markdown, for the comment of a pull request: what it risks first, then each change in a table, the fields folded, and
 * how to go on. Each part has its share of the bytes; what does not fit is counted.
 */
import { counted } from '../../model/counted.ts';
import type { ShownDiagnostic } from '../../model/diagnostic.ts';
import type { Change } from '../../model/plan/change.ts';
import type { Plan } from '../../model/plan/plan.ts';
import { formatAddress } from '../../model/resource/address.ts';
import { formatPath } from '../format/format-field.ts';
import { nextSteps } from '../format/next-steps.ts';
import { blockedLine, incompleteReasons, summaryLine } from '../format/plan-summary.ts';
import { byRisk } from '../format/risk-order.ts';
import { actionSymbols, formatPlace } from '../terminal/change-text.ts';
import { guardSummary } from '../terminal/guard-text.ts';
import { changeDetails } from './change-details.ts';
import { diagnosticsSection } from './diagnostics-markdown.ts';
import { code, sentence, tableRow } from './escape.ts';
import { bytesOf, fitted, maxMarkdownBytes, type Section } from './fit.ts';
import { coverageSection, limitsSection, noticesSection, reasonsSection } from './look-sections.ts';
import { riskSections } from './risk-sections.ts';

interface PlanMarkdownOptions {
  /** problems of the command that are no part of the plan */
  readonly told?: readonly ShownDiagnostic[];
  /** adds the exact requests to the details */
  readonly calls?: boolean;
  /** the stack's argument on the command line, for proposed commands */
  readonly stack?: string;
}

/** The bytes that the parts may take at most; details get what the others leave. */
const shares = {
  reasons: 2_000,
  limits: 1_500,
  risk: 4_000,
  problems: 6_000,
  table: 12_000,
  mentions: 3_000,
  coverage: 4_000,
};

/** Between two parts stands a blank line. */
const gapBytes = 2;

/** @param plan without secrets: escapes could hide them from whoever looks for them in the result */
export function renderPlanMarkdown(plan: Plan, options: PlanMarkdownOptions = {}): string {
  const { told = [], calls = false, stack } = options;
  const changes = byRisk(plan.changes);
  const risks = riskSections(plan, stack).map((section) => fitted(section, shares.risk));
  const before = [
    ...headParts(plan, told),
    fitted(reasonsSection(incompleteReasons(plan), 'so nothing undeclared is removed'), shares.reasons),
    fitted(limitsSection(plan), shares.limits),
    ...(risks.some(Boolean) ? ['### Risks', ...risks] : []),
    fitted(diagnosticsSection([...plan.problems, ...told], '### Problems'), shares.problems),
    fitted(tableSection(changes), shares.table),
  ].filter(Boolean);
  const after = [
    fitted(noticesSection('Left alone', plan.mentions, 'that are left alone'), shares.mentions),
    fitted(coverageSection(plan), shares.coverage),
    `### How to go on\n\n${sentence(nextSteps(plan))}`,
  ].filter(Boolean);
  const used = [...before, ...after].reduce((sum, part) => sum + bytesOf(part) + gapBytes, 0);
  const details = fitted(
    detailsSection(changeDetails(changes, plan, calls)),
    maxMarkdownBytes - used - gapBytes,
  );
  return [...before, ...(details === '' ? [] : [details]), ...after].join('\n\n');
}

function headParts(plan: Plan, told: readonly ShownDiagnostic[]): string[] {
  const { stack, digest, selection } = plan;
  const lines = [
    `**${sentence(summaryLine(plan, told))}**`,
    ...[blockedLine(plan), guardSummary(plan)].flatMap((line) =>
      line === undefined ? [] : [sentence(line)],
    ),
    ...(selection === undefined
      ? []
      : [`a selection of ${counted(selection.length, 'resource')}: the rest of the stack is left as it is`]),
    `digest ${code(digest)}`,
  ];
  return [`## Plan of ${code(stack)}`, lines.join('\\\n')];
}

function tableSection(changes: readonly Change[]): Section {
  return {
    heading: '### Changes',
    before: [tableRow(['action', 'resource', 'what', 'where']), tableRow(['---', '---', '---', '---'])].join(
      '\n',
    ),
    blocks: changes.map(changeRow),
    between: '\n',
    left: (count) =>
      `**and ${count} more changes**, which the text of the plan has: \`trueup show\` prints a plan file`,
  };
}

function changeRow(change: Change): string {
  const { action, address, place } = change;
  return tableRow([
    `${code(actionSymbols[action])} ${action}`,
    code(formatAddress(address)),
    whatChanges(change),
    place === undefined ? '' : code(formatPlace(place)),
  ]);
}

const maxFieldNames = 4;

/** The fields that change. Of what is created or goes as a whole, all do, so that the reason says more. */
function whatChanges({ action, fields, reason, risks = [] }: Change): string {
  const badges = [
    ...(risks.some(({ effect }) => effect === 'destroys') ? ['**schedules a destroy**'] : []),
    ...(risks.some(({ effect }) => effect === 'widens') ? ['**widens access**'] : []),
  ];
  const names = [...new Set(fields.map(({ path }) => formatPath(path)))];
  if (action !== 'update' && action !== 'adopt') return [...badges, sentence(reason, 120)].join('; ');
  const shown = names.slice(0, maxFieldNames).map((name) => code(name, 60));
  const more = names.length - shown.length;
  const list = [...shown, ...(more > 0 ? [`${more} more`] : [])].join(', ');
  return [...badges, list || sentence(reason, 120)].join('; ');
}

/** What has no room is counted in changes, as the table counts it: a block may tell of many. */
function detailsSection(blocks: ReturnType<typeof changeDetails>): Section {
  const changesIn = (count: number) =>
    blocks.slice(blocks.length - count).reduce((sum, { changes }) => sum + changes, 0);
  return {
    heading: '### Details',
    blocks: blocks.map(({ text }) => text),
    between: '\n\n',
    left: (count) =>
      `**and ${changesIn(count)} more changes**, for which there is no room here: \`trueup show\` prints all of a plan file`,
  };
}
