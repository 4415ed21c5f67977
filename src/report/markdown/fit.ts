/**
 * Limits of size: a comment that is too long is refused by the platform as a whole, so what does not fit is left out in whole
 * blocks, counted, and pointed to.
 */

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
