/**
 * A plan in Markdown, for the comment of a pull request: risks first, then each change in a table, the fields collapsed, and
 * the next steps. Each part has its share of the bytes; what does not fit is counted.
 */
import { formatAddress } from '../../model/address.ts';
import type { Change } from '../../model/change.ts';
import type { ShownDiagnostic } from '../../model/diagnostic.ts';
import type { Guard, Risk } from '../../model/guard.ts';
import type { Plan } from '../../model/plan.ts';
import { counted } from '../../model/quoted.ts';
import { actionSymbols, formatPlace } from '../text/change.ts';
import { guardSummary } from '../text/guards.ts';
import { formatPath } from '../view/field.ts';
import {
  blockedLine,
  byRisk,
  hiddenConcerns,
  incompleteReasons,
  nextSteps,
  partCounts,
  partDetails,
  selectionText,
  summaryLine,
  usableAcknowledgement,
} from '../view/plan-summary.ts';
import { changeDetails } from './changes.ts';
import {
  bytesOf,
  code,
  fitted,
  maxMarkdownBytes,
  maxSentence,
  type Section,
  sentence,
  tableRow,
} from './escape.ts';
import {
  coverageSection,
  diagnosticsSection,
  limitsSection,
  noticesSection,
  reasonsSection,
} from './sections.ts';

interface PlanMarkdownOptions {
  /** diagnostics of the command that are not part of the plan */
  readonly diagnostics?: readonly ShownDiagnostic[];
  /** adds the exact requests to the details */
  readonly calls?: boolean;
  /** the stack's argument on the command line, for proposed commands */
  readonly stack?: string;
  /** next steps, if the command knows them better than the plan; they include how to acknowledge its guards */
  readonly next?: readonly string[] | undefined;
}

/** Maximum bytes of each part; the details get the bytes that the others leave. */
const shares = {
  reasons: 2_000,
  limits: 1_500,
  risk: 4_000,
  problems: 6_000,
  table: 12_000,
  notices: 3_000,
  coverage: 4_000,
};

/** A blank line between two parts. */
const gapBytes = 2;

/** @param plan without secrets: escapes could hide them from a search for secrets in the result */
export function renderPlanMarkdown(plan: Plan, options: PlanMarkdownOptions = {}): string {
  const { diagnostics = [], calls = false, stack, next } = options;
  const changes = byRisk(plan.changes);
  const acknowledge = next === undefined ? acknowledgeLines(plan, stack) : [];
  const risks = riskSections(plan, acknowledge).map((section) => fitted(section, shares.risk));
  const before = [
    ...headParts(plan, diagnostics),
    fitted(reasonsSection(incompleteReasons(plan), 'so nothing undeclared is removed'), shares.reasons),
    fitted(limitsSection(plan), shares.limits),
    ...(risks.some(Boolean) ? ['### Risks', ...risks] : []),
    fitted(diagnosticsSection([...plan.problems, ...diagnostics], '### Problems'), shares.problems),
    fitted(tableSection(changes), shares.table),
  ].filter(Boolean);
  const after = [
    fitted(noticesSection('Not changed', plan.notices, 'that are not changed'), shares.notices),
    fitted(coverageSection(plan), shares.coverage),
    `### Next steps\n\n${nextText(next ?? [nextSteps(plan)])}`,
  ].filter(Boolean);
  const used = [...before, ...after].reduce((sum, part) => sum + bytesOf(part) + gapBytes, 0);
  const details = fittedDetails(changes, plan, { calls, room: maxMarkdownBytes - used - gapBytes });
  return [...before, ...(details === '' ? [] : [details]), ...after].join('\n\n');
}

function headParts(plan: Plan, diagnostics: readonly ShownDiagnostic[]): string[] {
  const { stack, digest, part } = plan;
  const selection = selectionText(plan);
  const lines = [
    `**${sentence(summaryLine(plan, diagnostics))}**`,
    ...[blockedLine(plan), guardSummary(plan)].flatMap((line) =>
      line === undefined ? [] : [sentence(line)],
    ),
    ...(part === undefined
      ? selection === undefined
        ? []
        : [selection]
      : partDetails(plan).map((text) => sentence(text))),
    `digest ${code(digest)}`,
  ];
  const heading = part === undefined ? code(stack) : `a part of ${code(stack)}: ${partCounts(plan)}`;
  return [`## Plan of ${heading}`, lines.join('\\\n')];
}

function nextText(steps: readonly string[]): string {
  const [only, ...more] = steps.map((step) => sentence(step));
  return more.length === 0 ? (only ?? '') : [only, ...more].map((step) => `- ${step}`).join('\n');
}

function tableSection(changes: readonly Change[]): Section {
  return {
    heading: '### Changes',
    before: [tableRow(['action', 'resource', 'what', 'where']), tableRow(['---', '---', '---', '---'])].join(
      '\n',
    ),
    blocks: changes.map(changeRow),
    between: '\n',
    left: (count) => `**and ${count} more changes**, which \`trueup show\` lists from the plan file`,
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

/** The changed fields; for creates and removals, which change all fields, the reason. */
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

/** Counts what is left out in changes, as the table does, because a block may cover many changes. */
/** With whole risks if all details fit; otherwise with the beginnings of long ones, so that there is room for more changes. */
function fittedDetails(
  changes: readonly Change[],
  plan: Plan,
  { calls, room }: { readonly calls: boolean; readonly room: number },
): string {
  const isLong = changes.some(({ risks = [] }) => risks.some(({ message }) => message.length > maxSentence));
  // Most plans have no such risk, and a plan of thousands of changes is not rendered twice.
  if (isLong) {
    const whole = detailsSection(changeDetails(changes, plan, { calls, risk: maxRisk }));
    const text = fitted(whole, Number.POSITIVE_INFINITY);
    if (bytesOf(text) <= room) return text;
  }
  return fitted(detailsSection(changeDetails(changes, plan, { calls })), room);
}

function detailsSection(blocks: ReturnType<typeof changeDetails>): Section {
  const changesIn = (count: number) =>
    blocks.slice(blocks.length - count).reduce((sum, { changes }) => sum + changes, 0);
  return {
    heading: '### Details',
    blocks: blocks.map(({ text }) => text),
    between: '\n\n',
    left: (count) =>
      `**and ${changesIn(count)} more changes**, which \`trueup show\` prints from the plan file`,
  };
}

// What a reviewer must see first: guards and how to acknowledge them, what is deleted or destroyed, and who gains or loses access.

/** In the order of the report; those without blocks are left out by `fitted`. */
function riskSections(plan: Plan, acknowledge: readonly string[]): Section[] {
  const { guards, changes } = plan;
  const withAction = (action: Change['action']) => changes.filter((change) => change.action === action);
  return [
    list('Guards', [...acknowledge, ...guards.map(guardLine)], 'guards'),
    list('Deletes', withAction('delete').map(reasonLine), 'deletes'),
    list('Releases', withAction('release').map(reasonLine), 'releases'),
    list('Scheduled destroys', changes.flatMap(riskLines('destroys')), 'of them'),
    list('Access gained', changes.flatMap(riskLines('widens')), 'of them'),
    list('Access lost', changes.flatMap(riskLines('narrows')), 'of them'),
    list('What else trips a guard', concernLines(plan), 'of them'),
  ];
}

function list(title: string, blocks: readonly string[], what: string): Section {
  return {
    heading: `#### ${title}`,
    blocks,
    between: '\n',
    left: (count) => `**and ${count} more ${what}**, which the plan as text lists`,
  };
}

function guardLine({ id, effect, message }: Guard): string {
  const does = effect === 'warns' ? effect : `**${effect}**`;
  return `- ${does} ${code(id)}: ${sentence(message)}`;
}

const maxMessages = 5;

function concernLines(plan: Plan): string[] {
  return hiddenConcerns(plan).map(({ id, address, messages }) => {
    const left = messages.length - maxMessages;
    const parts = [
      ...messages.slice(0, maxMessages).map((message) => sentence(message, 300)),
      ...(left > 0 ? [`and ${left} more`] : []),
    ];
    return `- ${code(id)} ${code(formatAddress(address))}: ${parts.join('; ')}`;
  });
}

const maxCommand = 1_000;

/** The whole command or none: a command that is cut would acknowledge something else, or nothing. */
function acknowledgeLines(plan: Plan, stack: string | undefined): string[] {
  const command = usableAcknowledgement(plan, stack);
  if (command === undefined) return [];
  const isWhole = command.length <= maxCommand;
  return isWhole
    ? [`- to acknowledge: ${code(command, maxCommand)}`]
    : ['- the command to acknowledge them is too long for this report: the plan as text has it'];
}

const maxNotes = 3;

/** An item with the reason and the first notes, because these name what else is removed. */
function reasonLine({ address, reason, id, notes }: Change): string {
  const which = id === undefined ? '' : ` (${code(id)})`;
  const left = notes.length - maxNotes;
  const parts = [
    ...[reason, ...notes.slice(0, maxNotes)].map((text) => sentence(text, 300)),
    ...(left > 0 ? [`and ${counted(left, 'more note')}`] : []),
  ];
  return `- ${code(formatAddress(address))}${which}: ${parts.join('; ')}`;
}

/** A reviewer must see all of the access that an approval covers. */
const maxRisk = 10_000;

function riskLines(effect: Risk['effect']): (change: Change) => string[] {
  return ({ address, risks = [] }) =>
    risks
      .filter((risk) => risk.effect === effect)
      .map(({ message }) => `- ${code(formatAddress(address))}: ${sentence(message, maxRisk)}`);
}
