/**
 * Shows text from outside in Markdown without letting it act as markup. A backslash escapes Markdown syntax; code spans or an
 * invisible character prevent mentions, references, links and emoji. Also limits the size.
 */
import { isClearUnquoted, splitQuoted } from '../../model/quoted.ts';
import { clip } from '../view/printable.ts';

/** A zero-width space, which splits a word. `printable` removes them from all text, so each one is ours. */
const gap = '\u200b';

/**
 * What platforms link in rendered text: mentions, issues, labels, milestones, emoji and schemes by their first character;
 * hosts, advisories and commits by their form. Seven digits can be a commit.
 */
const referenceStarts = /[@#!~%^&$:](?=\S)/g;
const references = /www(?=\.)|(?:GH|GL|GHSA|CVE)(?=-)/gi;

const commit = /[0-9a-f]{7,}/gi;

/** A full commit id as a separate word: as code, it can be copied and is not linked. Another code span must not follow it directly. */
const wholeCommit = /(?<=\s)([0-9a-f]{40})(?=[\s,;)]|$)/;
const followedCommit = /(?<=\s)([0-9a-f]{40})(?=[\s,;)])/;

/** Inline syntax of CommonMark and GFM. */
const punctuation = /[\\*_[\]~]/g;

/** Characters with a meaning in HTML, tables, formulas or code spans: written as character references. */
const asReference: Readonly<Record<string, string>> = {
  '`': '&#96;',
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '|': '&#124;',
  $: '&#36;',
};

export const maxSentence = 600;
const maxName = 200;

/** A message: quoted names become code, the rest is plain text. It is safe at any position in a line. */
export function sentence(text: string, max = maxSentence): string {
  const shown = clip(text, max).trim();
  const parts = splitQuoted(shown);
  const isLast = (index: number) => index === 0 || index === parts.length - 1;
  return parts
    .map((part, index) => {
      if (index % 2 === 1 && isClearUnquoted(part)) return code(part.slice(1, -1));
      // Without a character in between, the backticks of two adjacent code spans would join.
      if (part === '' && !isLast(index)) return '&#8203;';
      return part
        .split(index === parts.length - 1 ? wholeCommit : followedCommit)
        .map((piece, at) => (at % 2 === 1 ? code(piece) : plainText(piece)))
        .join('');
    })
    .join('');
}

/** A title is not Markdown, but GitLab notifies users that it mentions, and links references in it. */
export function titleText(text: string, max: number): string {
  return clip(text, max).replace(/[@#!~%^&$](?=\S)/g, `$&${gap}`);
}

function plainText(text: string): string {
  return (
    text
      .replace(referenceStarts, `$&${gap}`)
      .replace(references, `$&${gap}`)
      .replace(commit, (word) => word.match(/.{1,6}/g)?.join(gap) ?? word)
      .replace(punctuation, '\\$&')
      .replace(/[&<>|$`]/g, (character) => asReference[character] ?? character)
      // At the start of a line, these would begin a heading, a list or an underline.
      .replace(/^[#+=-]/, '\\$&')
      .replace(/^(\d+)(?=[.)])/, `$1${gap}`)
      // At the start of a line in a GitLab comment, this would begin a quick action.
      .replace(/^\//, '&#47;')
      .replaceAll(gap, '&#8203;')
  );
}

/** A name or a value as a code span, in which platforms link nothing. Two code spans must not be adjacent. */
export function code(text: string, max = maxName): string {
  const shown = clip(text, max);
  if (shown.trim() === '') return '(empty)';
  const fence = '`'.repeat(longestRun(shown) + 1);
  const pad = /^[` ]|[` ]$/.test(shown) ? ' ' : '';
  return `${fence}${pad}${shown}${pad}${fence}`;
}

/** The cells of a row. A pipe ends a cell even in code, and cannot be escaped after a backslash. */
export function tableRow(cells: readonly string[]): string {
  const safe = cells.map((cell) => cell.replaceAll('\\|', '\\\\u007c').replaceAll('|', '\\|'));
  return `| ${safe.join(' | ')} |`;
}

/** A name as HTML, for a `<summary>`, in which Markdown is not parsed. */
export function htmlCode(text: string): string {
  const shown = clip(text, maxName);
  const safe = shown.replace(/[&<>]/g, (character) => asReference[character] ?? character);
  return `<code>${safe}</code>`;
}

/** Lines in a fenced block that none of them can close. @param language for syntax colours */
export function codeBlock(lines: readonly string[], language: string): string {
  const fence = '`'.repeat(Math.max(3, longestRun(lines.join('\n')) + 1));
  return [`${fence}${language}`, ...lines, fence].join('\n');
}

function longestRun(text: string): number {
  return (text.match(/`+/g) ?? []).reduce((longest, run) => Math.max(longest, run.length), 0);
}

// Limits of size: platforms refuse a comment that is too long, so whole blocks that do not fit are left out and counted.

/** GitHub allows 65,536 characters in a comment; whether it counts bytes is not documented, so this counts bytes. */
export const maxMarkdownBytes = 60_000;

/** Blocks below a heading. */
export interface Section {
  readonly heading?: string;
  readonly blocks: readonly string[];
  /** between blocks: a line end in lists, a blank line between paragraphs */
  readonly between: '\n' | '\n\n';
  /** always printed before the blocks: the head of a table */
  readonly before?: string;
  /** the paragraph about the blocks that are left out: how many, and where they are */
  left(count: number): string;
}

export function bytesOf(text: string): number {
  return Buffer.byteLength(text);
}

/** The section with as many of its first blocks as fit; empty without any block. */
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
