/** A block of text with other words in it: its indicator, its indentation and the lines that stay are kept where that is possible. */
import { load } from 'js-yaml';
import { isPrintable, withoutEnd } from './value-text.ts';

interface TextBlock {
  /** behind the key, without the comment */
  readonly header: string;
  /** below it, without line breaks */
  readonly lines: readonly string[];
  /** of the key */
  readonly column: number;
}

/** The same block with another text; undefined where a block of text cannot say it. */
export function rewriteBlock(old: TextBlock, value: string): TextBlock | undefined {
  if (!isPrintable(value) || /^\n*$/.test(value)) return undefined;
  const lead = leadOf(old);
  const wasKept = old.header.includes('+');
  const [body, empty] = splitEnd(old.lines);
  const [plain, chomp] = withoutEnd(value);
  const written = chomp === '+' ? plain : [...plain, ...(wasKept ? empty.map(() => '') : [])];
  const bodies = old.header.startsWith('>') ? [fold(written, body, lead), written] : [written];
  for (const [index, lines] of bodies.entries()) {
    const sign = bodies.length - index === 2 ? '>' : '|';
    const block = blockOf(lines, { sign, chomp, lead, old: body });
    if (block !== undefined && says({ ...block, column: old.column }, value))
      return { ...block, column: old.column };
  }
  return undefined;
}

/** The spaces before each line. */
function leadOf({ header, lines, column }: TextBlock): { width: number; column: number } {
  const given = /[1-9]/.exec(header)?.[0];
  const first = lines.find((line) => line.trim() !== '') ?? '';
  const width = given === undefined ? /^ */.exec(first)?.[0].length : column + Number(given);
  return { width: Math.max(width ?? 0, column + 1), column };
}

/** The lines up to the last one with words, and the empty ones behind. */
function splitEnd(lines: readonly string[]): [readonly string[], readonly string[]] {
  const last = lines.findLastIndex((line) => line.trim() !== '');
  return [lines.slice(0, last + 1), lines.slice(last + 1)];
}

interface Writing {
  readonly sign: '|' | '>';
  readonly chomp: string;
  readonly lead: { readonly width: number; readonly column: number };
  readonly old: readonly string[];
}

function blockOf(
  lines: readonly string[],
  { sign, chomp, lead, old }: Writing,
): Omit<TextBlock, 'column'> | undefined {
  const needsWidth = /^ /.test(lines.find((line) => line !== '') ?? '');
  const width = lead.width - lead.column;
  if (needsWidth && width > 9) return undefined;
  const made = lines.map((line) => (line === '' ? '' : ' '.repeat(lead.width) + line));
  return { header: `${sign}${needsWidth ? width : ''}${chomp}`, lines: keepSame(made, old) };
}

/** Lines that say the same at the beginning and at the end stay as they are, with the spaces of empty ones. */
function keepSame(made: readonly string[], old: readonly string[]): string[] {
  const isSame = (one: string | undefined, other: string | undefined) =>
    one?.trimEnd() === other?.trimEnd() && one !== undefined;
  let above = 0;
  while (above < made.length && isSame(made[above], old[above])) above++;
  let below = 0;
  const room = Math.min(made.length, old.length) - above;
  while (below < room && isSame(made.at(-1 - below), old.at(-1 - below))) below++;
  return made.map((line, index) => {
    const kept =
      index < above
        ? old[index]
        : index >= made.length - below
          ? old[index - made.length + old.length]
          : line;
    return kept !== undefined && line.trim() === '' && kept.trim() === '' ? kept : line;
  });
}

/** Each line of a text on lines that are no longer than before, broken where they were as long as that holds. */
function fold(lines: readonly string[], old: readonly string[], { width }: { width: number }): string[] {
  const before = old.map((line) => line.slice(width).trimEnd());
  const longest = Math.max(40, ...before.map((line) => line.length));
  return lines.flatMap((line, index) => {
    const gap = index > 0 && line !== '' && lines[index - 1] !== '' ? [''] : [];
    return [...gap, ...foldLine(line, before, longest)];
  });
}

function foldLine(line: string, before: readonly string[], longest: number): string[] {
  const made: string[] = [];
  let rest = line;
  while (rest !== '') {
    const known = before.find((old) => old !== '' && (rest === old || rest.startsWith(`${old} `)));
    const next = known ?? firstWords(rest, longest);
    made.push(next);
    rest = rest.slice(next.length + 1);
  }
  return made.length === 0 ? [''] : made;
}

/** As many words as there is room for; one at least. */
function firstWords(text: string, longest: number): string {
  const ends = [...text.matchAll(/(?<=\S) (?=\S)/g)].map(({ index }) => index);
  if (text.length <= longest) return text;
  return text.slice(0, ends.findLast((end) => end <= longest) ?? ends[0] ?? text.length);
}

function says({ header, lines, column }: TextBlock, value: string): boolean {
  const text = `${' '.repeat(column)}k: ${header}\n${lines.join('\n')}\n`;
  try {
    return (load(text) as { k: unknown }).k === value;
  } catch {
    return false;
  }
}
