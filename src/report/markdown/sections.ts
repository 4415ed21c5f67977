/**
 * Sections that several Markdown reports have: problems with their places and lines, what was read and what was not, and what a
 * service lacks.
 */
import { formatAddress } from '../../model/address.ts';
import type { Notice } from '../../model/change.ts';
import type { ShownDiagnostic } from '../../model/diagnostic.ts';
import type { Plan } from '../../model/plan.ts';
import { countLine, errorsFirst, excerptOf, formatSpot } from '../text/diagnostics.ts';
import { coverageRows } from '../view/plan-summary.ts';
import { code, codeBlock, fitted, maxMarkdownBytes, type Section, sentence, tableRow } from './escape.ts';

/** The whole document of a command that found these problems. @param emptyText the title when there are none */
export function renderDiagnosticsMarkdown(
  diagnostics: readonly ShownDiagnostic[],
  emptyText: string,
): string {
  const title = `### ${diagnostics.length === 0 ? sentence(emptyText) : countLine(diagnostics)}`;
  const body = fitted(diagnosticsSection(diagnostics), maxMarkdownBytes - 1_500);
  return [title, body].filter(Boolean).join('\n\n');
}

export function diagnosticsSection(diagnostics: readonly ShownDiagnostic[], heading?: string): Section {
  return {
    ...(heading === undefined ? {} : { heading }),
    blocks: errorsFirst(diagnostics).map(oneDiagnostic),
    between: '\n\n',
    left: (count) => `**and ${count} more problems**, all listed by \`--format json\``,
  };
}

function oneDiagnostic({
  severity,
  code: id,
  message,
  place,
  found,
  allowed,
  fix,
  related,
}: ShownDiagnostic) {
  const spot = place === undefined ? '' : ` ${code(formatSpot(place))}`;
  const [first = '', ...more] = message.split('\n');
  const lines = [
    ...more.map((line) => `- ${sentence(line)}`),
    ...member('found', found),
    ...member('allowed', allowed),
    ...member('fix', fix),
    ...(related ?? []).map((other) => {
      const at = other.place === undefined ? '' : `, ${code(formatSpot(other.place))}`;
      return `- see: ${sentence(other.message)}${at}`;
    }),
  ];
  const shown = excerptOf(place);
  return [
    `**${severity}** ${code(id)}${spot}: ${sentence(first)}`,
    ...(lines.length === 0 ? [] : [lines.join('\n')]),
    ...(shown === undefined ? [] : [codeBlock([shown.text, shown.underline], 'text')]),
  ].join('\n\n');
}

function member(label: string, text: string | undefined): string[] {
  return text === undefined || text.trim() === '' ? [] : [`- ${label}: ${sentence(text)}`];
}

// What plan and drift have read, what they could not read, and what a service lacks.

/** @param consequence of the incomplete read, as a clause */
export function reasonsSection(reasons: readonly string[], consequence: string): Section {
  return {
    before: `**The read was incomplete**, ${consequence}:\n`,
    blocks: reasons.map((reason) => `- ${sentence(reason)}`),
    between: '\n',
    left: (count) => `**and for ${count} more reasons**`,
  };
}

export function limitsSection({ coverage }: Pick<Plan, 'coverage'>): Section {
  const blocks = coverage.targets.flatMap(({ target, limits }) =>
    limits.map((limit) => `- ${code(target)} lacks: ${sentence(limit)}`),
  );
  return { blocks, between: '\n', left: (count) => `**and ${count} more of what a service lacks**` };
}

/** @param left names the notices that do not fit */
export function noticesSection(title: string, notices: readonly Notice[], left: string): Section {
  return {
    heading: `### ${title}`,
    blocks: notices.map(
      ({ address, message, fix }) =>
        `- ${code(formatAddress(address))}: ${sentence(message)}${fix === undefined ? '' : `; fix: ${sentence(fix)}`}`,
    ),
    between: '\n',
    left: (count) => `**and ${count} more ${left}**`,
  };
}

export function coverageSection(plan: Pick<Plan, 'coverage' | 'policies'>): Section {
  const rows = coverageRows(plan).flatMap(({ label, details, incomplete }) => [
    tableRow([sentence(label), details.map((text) => sentence(text, 300)).join('<br>')]),
    ...incomplete.map((text) => tableRow(['', `**incomplete**: ${sentence(text, 300)}`])),
  ]);
  return {
    heading: '### Checked',
    before: [tableRow(['', '']), tableRow(['---', '---'])].join('\n'),
    blocks: rows,
    between: '\n',
    left: (count) => `**and ${count} more rows**`,
  };
}
