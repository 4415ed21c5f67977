/**
 * Text from outside in Markdown: it is shown as it is and does nothing. A backslash stops what CommonMark makes of a character;
 * mentions, references, links and emoji are stopped by code, or by an invisible character. Also the limits of size.
 */
import { isClearUnquoted, splitQuoted } from '../../model/quoted.ts';
import { clip } from '../view/printable.ts';

/** An empty space: words on both sides of it are no longer one word. `printable` lets none through, so each one is ours. */
const gap = '\u200b';

/**
 * Where a platform would find something in rendered text: mentions, issues, labels, milestones, emoji and schemes after one
 * character; hosts, advisories and commits by their form. Seven digits can be a commit.
 */
const referenceStarts = /[@#!~%^&$:](?=\S)/g;
const references = /www(?=\.)|(?:GH|GL|GHSA|CVE)(?=-)/gi;

const commit = /[0-9a-f]{7,}/gi;

/** What CommonMark and GFM make something of, inside a line. */
const punctuation = /[\\*_[\]~]/g;

/** What is also HTML, a cell's end, a formula, or would join with the code beside it; a reference to the character is none of these. */
const asReference: Readonly<Record<string, string>> = {
  '`': '&#96;',
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '|': '&#124;',
  $: '&#36;',
};

const maxSentence = 600;
const maxName = 200;

/** A sentence of ours: names that it quotes become code, the rest is plain text. For the inside of a line, or its beginning. */
export function sentence(text: string, max = maxSentence): string {
  const shown = clip(text, max).trim();
  const parts = splitQuoted(shown);
  const isLast = (index: number) => index === 0 || index === parts.length - 1;
  return parts
    .map((part, index) => {
      if (index % 2 === 1 && isClearUnquoted(part)) return code(part.slice(1, -1));
      // The fences of two codes without anything in between would be one fence.
      return part === '' && !isLast(index) ? '&#8203;' : plainText(part);
    })
    .join('');
}

function plainText(text: string): string {
  return (
    text
      .replace(referenceStarts, `$&${gap}`)
      .replace(references, `$&${gap}`)
      .replace(commit, (word) => word.match(/.{1,6}/g)?.join(gap) ?? word)
      .replace(punctuation, '\\$&')
      .replace(/[&<>|$`]/g, (character) => asReference[character] ?? character)
      // What would begin a heading, a list or an underline, were it the first of a line.
      .replace(/^[#+=-]/, '\\$&')
      .replace(/^(\d+)(?=[.)])/, `$1${gap}`)
      // A line that begins so is a command in a comment of GitLab.
      .replace(/^\//, '&#47;')
      .replaceAll(gap, '&#8203;')
  );
}

/** A name or a value as code: platforms look for nothing in it. Between two codes must be something else. */
export function code(text: string, max = maxName): string {
  const shown = clip(text, max);
  if (shown.trim() === '') return '(empty)';
  const fence = '`'.repeat(longestRun(shown) + 1);
  const pad = /^[` ]|[` ]$/.test(shown) ? ' ' : '';
  return `${fence}${pad}${shown}${pad}${fence}`;
}

/** The cells of a row. A cell ends at a pipe even in code, and after a backslash no escape is left for it. */
export function tableRow(cells: readonly string[]): string {
  const safe = cells.map((cell) => cell.replaceAll('\\|', '\\\\u007c').replaceAll('|', '\\|'));
  return `| ${safe.join(' | ')} |`;
}

/** A name in HTML, where Markdown is not read: in the summary of what is folded. */
export function htmlCode(text: string): string {
  const shown = clip(text, maxName);
  const safe = shown.replace(/[&<>]/g, (character) => asReference[character] ?? character);
  return `<code>${safe}</code>`;
}

/** Lines between fences that none of them can close. @param language for the colours of a platform */
export function codeBlock(lines: readonly string[], language: string): string {
  const fence = '`'.repeat(Math.max(3, longestRun(lines.join('\n')) + 1));
  return [`${fence}${language}`, ...lines, fence].join('\n');
}

function longestRun(text: string): number {
  return (text.match(/`+/g) ?? []).reduce((longest, run) => Math.max(longest, run.length), 0);
}

// Limits of size: a comment that is too long is refused by the platform as a whole, so what does not fit is left out in whole
// blocks, counted, and pointed to.

/** A comment of GitHub may have 65,536 characters; whether it counts bytes is not documented, so bytes are counted here. */
export const maxMarkdownBytes = 60_000;

/** Blocks below a heading; `left` says where the others are. */
export interface Section {
  readonly heading?: string;
  readonly blocks: readonly string[];
  /** between blocks: a list's lines follow each other, paragraphs have a blank line in between */
  readonly between: '\n' | '\n\n';
  /** before the blocks, and always there: the head of a table */
  readonly before?: string;
  /** the sentence about the blocks that are left out; a paragraph of its own */
  left(count: number): string;
}

export function bytesOf(text: string): number {
  return Buffer.byteLength(text);
}

/** The section with as many of its first blocks as there is room for; empty without any block. */
export function fitted(section: Section, room: number): string {
  const { heading, blocks, between, before } = section;
  if (blocks.length === 0) return '';
  const lead = heading === undefined ? '' : `${heading}\n\n`;
  const start = before === undefined ? '' : `${before}\n`;
  const closing = `\n\n${section.left(blocks.length)}`;
  let used = bytesOf(lead + start);
  let count = 0;
  for (const block of blocks) {
    const more = bytesOf(block) + between.length;
    const after = count + 1 === blocks.length ? 0 : bytesOf(closing);
    if (used + more + after > room) break;
    used += more;
    count += 1;
  }
  const shown = count === 0 ? '' : start + blocks.slice(0, count).join(between);
  const rest = count === blocks.length ? '' : section.left(blocks.length - count);
  return lead + [shown, rest].filter(Boolean).join('\n\n');
}
