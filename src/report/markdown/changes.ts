/**
 * The collapsed details below the table of changes, once for each group of equal changes: the reason, the fields as a `diff`
 * block, risks and notes.
 */
import { formatAddress } from '../../model/address.ts';
import type { Action, Change } from '../../model/change.ts';
import type { Plan } from '../../model/plan.ts';
import { actionSymbols, callLines, formatPlace, groupEqual } from '../text/change.ts';
import { plain } from '../text/layout.ts';
import { apiRootIn } from '../view/call.ts';
import { differenceLines, type FieldView, fieldViews, valueLines } from '../view/field.ts';
import { clip } from '../view/printable.ts';
import { bytesOf, code, codeBlock, htmlCode, sentence } from './escape.ts';

interface DetailsBlock {
  readonly text: string;
  /** number of changes that it covers */
  readonly changes: number;
}

interface DetailsOptions {
  /** with the exact requests, which are never equal */
  readonly calls: boolean;
  /** maximum characters of a risk; those of a sentence when absent */
  readonly risk?: number;
}

/** A block for each group of equal changes. */
export function changeDetails(
  changes: readonly Change[],
  plan: Plan,
  options: DetailsOptions,
): DetailsBlock[] {
  const groups = options.calls ? changes.map((change) => [change]) : groupEqual(changes);
  return groups.map((group) => ({ text: detailsOf(group, plan, options), changes: group.length }));
}

/** Maximum bytes for the fields of one resource, and again for its calls, so that there is room for other resources. */
const maxBlock = 6_000;
const maxNames = 40;
const maxRemarks = 20;

function detailsOf(group: readonly Change[], plan: Plan, { calls, risk }: DetailsOptions): string {
  const [first] = group;
  if (first === undefined) return '';
  const body = [
    ...(group.length === 1 ? [] : [namesOf(group)]),
    `${sentence(first.reason)}${first.place === undefined ? '' : `, ${code(formatPlace(first.place))}`}`,
    ...block(fieldDiff(first), 'diff'),
    ...remarks(first, risk),
    ...(calls ? block(requestLines(first, plan), 'text') : []),
  ];
  return [`<details><summary>${summaryOf(group, first)}</summary>`, ...body, '</details>'].join('\n\n');
}

function summaryOf(group: readonly Change[], first: Change): string {
  const name = htmlCode(formatAddress(first.address));
  const more = group.length === 1 ? '' : ` and ${group.length - 1} more with the same change`;
  return `<code>${actionSymbols[first.action].replace('<', '&lt;').replace('>', '&gt;')}</code> ${first.action} ${name}${more}`;
}

function namesOf(group: readonly Change[]): string {
  const shown = group.slice(0, maxNames).map(({ address }) => code(formatAddress(address), 80));
  const left = group.length - shown.length;
  return `${shown.join(', ')}${left === 0 ? '' : `, and ${left} more, listed in the table`}`;
}

/** Risks and notes as a list. */
function remarks({ risks = [], notes }: Change, maxRisk: number | undefined): string[] {
  const all = [
    ...risks.map(({ effect, message }) => `- **${effect}**: ${sentence(message, maxRisk)}`),
    ...notes.map((note) => `- note: ${sentence(note)}`),
  ];
  if (all.length === 0) return [];
  const left = all.length - maxRemarks;
  return [[...all.slice(0, maxRemarks), ...(left > 0 ? [`- and ${left} more remarks`] : [])].join('\n')];
}

function requestLines(change: Change, { targets }: Plan): string[] {
  const layout = { paint: plain, width: 100, rootOf: apiRootIn(targets) };
  return callLines(change, layout).map((line) => clip(line, 400));
}

/** The first lines that fit, as a code block, and the number of the others. */
export function block(lines: readonly string[], language: string): string[] {
  if (lines.length === 0) return [];
  let used = 0;
  const firstLeftOut = lines.findIndex((line) => {
    used += bytesOf(line) + 1;
    return used > maxBlock;
  });
  const shown = firstLeftOut === -1 ? lines : lines.slice(0, firstLeftOut);
  const left = lines.length - shown.length;
  return [codeBlock(shown, language), ...(left === 0 ? [] : [`and ${left} more lines`])];
}

// The fields of a change as lines of a `diff` block, in which platforms colour `-` red and `+` green.

const maxLine = 400;

export function fieldDiff({ action, fields }: Pick<Change, 'action' | 'fields'>): string[] {
  const views = fields.flatMap(fieldViews);
  const isWhole = action === 'create' || action === 'delete';
  return (isWhole ? fullLines(views, action) : views.flatMap(viewLines)).map((line) => clip(line, maxLine));
}

/** The fields of a created or deleted resource: one line each, if the value is short. */
function fullLines(views: readonly FieldView[], action: Action): string[] {
  const mark = action === 'create' ? '+' : '-';
  return views.flatMap((view) => {
    const { name, difference } = view;
    const isWord =
      (difference.as === 'added' || difference.as === 'removed') && difference.value.as !== 'lines';
    if (!isWord) return viewLines(view);
    return [`${mark} ${name}: ${valueLines(difference.value).join(', ')}${remarkText(view)}`];
  });
}

function viewLines(view: FieldView): string[] {
  return [`@@ ${view.name} @@${remarkText(view)}`, ...differenceLines(view.difference)];
}

function remarkText({ remarks }: FieldView): string {
  return remarks.length === 0 ? '' : ` (${remarks.join('; ')})`;
}
