/**
 * Sections that several Markdown reports have: problems with their places and lines, what was read and what was not, and what a
 * service lacks.
 */
import { formatAddress } from '../../model/address.ts';
import type { Notice } from '../../model/change.ts';
import type { ShownDiagnostic } from '../../model/diagnostic.ts';
import type { Plan } from '../../model/plan.ts';
import { counted } from '../../model/quoted.ts';
import { countDiagnostics, excerpt, formatSpot } from '../text/diagnostics.ts';
import { coverageRows } from '../view/plan-summary.ts';
import { code, codeBlock, fitted, maxMarkdownBytes, type Section, sentence, tableRow } from './escape.ts';

/** The whole document of a command that found these. @param said what is to be said without any */
export function renderDiagnosticsMarkdown(diagnostics: readonly ShownDiagnostic[], said: string): string {
  const { errors, warnings, files } = countDiagnostics(diagnostics);
  const counts = [
    ...(errors > 0 ? [counted(errors, 'error')] : []),
    ...(warnings > 0 ? [counted(warnings, 'warning')] : []),
  ].join(', ');
  const where = files === 0 ? '' : ` in ${counted(files, 'file')}`;
  const title = diagnostics.length === 0 ? `### ${sentence(said)}` : `### ${counts}${where}`;
  const body = fitted(diagnosticsSection(diagnostics), maxMarkdownBytes - 1_500);
  return [title, body].filter(Boolean).join('\n\n');
}

export function diagnosticsSection(diagnostics: readonly ShownDiagnostic[], heading?: string): Section {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const warnings = diagnostics.filter(({ severity }) => severity !== 'error');
  return {
    ...(heading === undefined ? {} : { heading }),
    blocks: [...errors, ...warnings].map(oneDiagnostic),
    between: '\n\n',
    left: (count) => `**and ${count} more problems**, which \`--format json\` has all`,
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
  const lines = [
    ...member('found', found),
    ...member('allowed', allowed),
    ...member('fix', fix),
    ...(related ?? []).map((other) => {
      const at = other.place === undefined ? '' : `, ${code(formatSpot(other.place))}`;
      return `- see: ${sentence(other.message)}${at}`;
    }),
  ];
  const shown = place === undefined || place.text.trim() === '' ? undefined : excerpt(place);
  return [
    `**${severity}** ${code(id)}${spot}: ${sentence(message)}`,
    ...(lines.length === 0 ? [] : [lines.join('\n')]),
    ...(shown === undefined ? [] : [codeBlock([shown.text, shown.underline], 'text')]),
  ].join('\n\n');
}

function member(label: string, text: string | undefined): string[] {
  return text === undefined || text.trim() === '' ? [] : [`- ${label}: ${sentence(text)}`];
}

// What plan and drift say of their look at the targets: what was looked at, what was not, and what a service lacks.

/** @param so what follows from it */
export function reasonsSection(reasons: readonly string[], so: string): Section {
  return {
    before: `**The look was incomplete**, ${so}:\n`,
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

/** @param left what those are that have no room */
export function noticesSection(title: string, mentions: readonly Notice[], left: string): Section {
  return {
    heading: `### ${title}`,
    blocks: mentions.map(
      ({ address, message, fix }) =>
        `- ${code(formatAddress(address))}: ${sentence(message)}${fix === undefined ? '' : `; fix: ${sentence(fix)}`}`,
    ),
    between: '\n',
    left: (count) => `**and ${count} more ${left}**`,
  };
}

export function coverageSection({ coverage }: Pick<Plan, 'coverage'>): Section {
  const rows = coverageRows(coverage).flatMap(({ label, details, incomplete }) => [
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
