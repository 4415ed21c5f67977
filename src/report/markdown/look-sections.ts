/** What plan and drift say of their look at the targets: what was looked at, what was not, and what a service lacks. */
import type { Notice } from '../../model/plan/change.ts';
import type { Plan } from '../../model/plan/plan.ts';
import { formatAddress } from '../../model/resource/address.ts';
import { coverageRows } from '../format/format-coverage.ts';
import { code, sentence, tableRow } from './escape.ts';
import type { Section } from './fit.ts';

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
