/**
 * The YAML parser's errors in words for people, with what to do about the usual slips: tabs, colons, quotes, templates
 * that were never rendered, merge conflicts. The place is always in the user's file.
 */
import type { YAMLException } from 'js-yaml';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { SourceText } from './source-text.ts';

interface Slip {
  /** offset in the source; the parser's own when absent */
  readonly at?: number;
  readonly message: string;
  readonly fix?: string;
  /** what the message repeats of the text */
  readonly repeats?: string | undefined;
}

/** What is known about an error when a slip is looked for. */
interface Trouble {
  readonly reason: string;
  readonly text: string;
  /** where the document begins: nothing before it was left open */
  readonly base: number;
  readonly at: number;
  /** of the first mark of a merge conflict in the whole text */
  readonly conflict: number | undefined;
  /** the line of the error, where it starts, and the line before it */
  readonly line: string;
  readonly lineStart: number;
  readonly before: string;
  readonly beforeStart: number;
}

/** @param base offset in the source at which the parsed text begins */
export function explainSyntax(source: SourceText, base: number, error: YAMLException): Diagnostic {
  const at = base + (error.mark?.position ?? 0);
  const { reason } = error;
  const slip = explain({ ...lookAround(source.text, at), reason, base, conflict: firstConflict(source) });
  const start = slip.at ?? at;
  const place = source.place(start, start + 1);
  return {
    code: 'yaml-syntax',
    severity: 'error',
    class: 'invalid',
    message: lookAround(source.text, start).line === place.text ? slip.message : withoutWord(slip),
    place,
    ...(slip.fix === undefined ? {} : { fix: slip.fix }),
  };
}

/** Beside a line of which something is hidden: what the message repeats of it may be the secret. */
function withoutWord({ message, repeats = '' }: Slip): string {
  return repeats === '' ? message : message.replace(repeats, () => '***');
}

/** By text: what is asked for every broken document of a file is looked for once. */
const conflicts = new WeakMap<SourceText, { readonly at: number | undefined }>();

function firstConflict(source: SourceText): number | undefined {
  const known = conflicts.get(source) ?? { at: /^(<{7} |={7}$|>{7} )/m.exec(source.text)?.index };
  conflicts.set(source, known);
  return known.at;
}

function lookAround(text: string, at: number): Omit<Trouble, 'reason' | 'base' | 'conflict'> {
  const lineStart = Math.max(text.lastIndexOf('\n', at - 1), -1) + 1;
  const beforeStart = lineStart === 0 ? 0 : text.lastIndexOf('\n', lineStart - 2) + 1;
  return {
    text,
    at,
    line: /[^\r\n]*/y.exec(text.slice(lineStart))?.[0] ?? '',
    lineStart,
    before: text.slice(beforeStart, Math.max(beforeStart, lineStart - 1)).replace(/\r$/, ''),
    beforeStart,
  };
}

function explain(trouble: Trouble): Slip {
  for (const look of [...looks, ...translations]) {
    const slip = look(trouble);
    if (slip !== undefined) return slip;
  }
  return { message: `this is no valid YAML: ${trouble.reason}` };
}

type SlipFinder = (trouble: Trouble) => Slip | undefined;

/** A template language's marks, left in the text. */
export const unrendered = {
  message: 'a template is not rendered: "{{" means nothing here',
  fix: 'render the manifests first and pipe them in, with "-" as the path',
};

/** The parser's reasons about a line that it can make no field of. */
const oddLine = /^end of the stream|^expected ':' after|multiline key may not be/;

/** Slips that the parser cannot know of, by how the text looks. */
const looks: readonly SlipFinder[] = [
  ({ conflict: at }) =>
    at === undefined
      ? undefined
      : { at, message: 'a merge conflict is not resolved', fix: 'resolve it, and remove its marks' },
  ({ line, lineStart, before, beforeStart }) => {
    const inLine = line.indexOf('{{');
    const inBefore = before.indexOf('{{');
    if (inLine === -1 && inBefore === -1) return undefined;
    return { ...unrendered, at: inLine === -1 ? beforeStart + inBefore : lineStart + inLine };
  },
  ({ reason, line, lineStart, before, beforeStart }) => {
    if (!oddLine.test(reason)) return undefined;
    const [inLine, inBefore] = [line, before].map((text) => /^(-{1,2}|-{4,}|[–—]+)\s*$/.test(text));
    if (!inLine && !inBefore) return undefined;
    return {
      at: inLine ? lineStart : beforeStart,
      message: 'documents are separated by three dashes, and this line has others',
      fix: 'write "---"',
    };
  },
];

/** The parser's reasons, each with what it usually means. */
const translations: readonly SlipFinder[] = [
  says(/^tab characters/, () => ({
    message: 'a tab indents this line',
    fix: 'indent with spaces',
  })),
  says(/^bad indentation of a mapping entry/, explainEntry),
  says(/^deficient indentation/, explainDeficit),
  says(/^bad indentation of a sequence entry/, () => misaligned),
  says(/^unexpected end of the stream within a flow collection/, openBracket),
  says(/^missed comma/, () => ({
    message: 'a comma is missing between two members of a "[…]" or "{…}"',
    fix: 'put a comma between them, or close the bracket before',
  })),
  says(/^unexpected end of the (?:stream|document) within a (?:single|double) quoted/, openQuote),
  says(/^unknown escape sequence|^expected hexadecimal/, () => ({
    message: 'a backslash in double quotes starts an escape, and this is none',
    fix: 'use single quotes, or write the backslash twice',
  })),
  says(/^unidentified alias "(.*)"|^name of an alias/, explainAlias),
  says(/^unknown \w+ tag !<(.*)>|^cannot resolve a node with !<(.*)>/, (_, unknown, unresolved) => ({
    message: `the tag "${unknown ?? unresolved}" is not supported`,
    repeats: unknown ?? unresolved,
    fix: 'leave the tag out',
  })),
  says(/^null byte|non-printable/, () => ({
    message: 'the text holds a character that YAML does not allow',
    fix: 'save the file as UTF-8 text, and remove control characters',
  })),
  says(oddLine, explainLine),
];

/** A translation that applies when the parser's reason looks so; groups of the pattern are handed on. */
function says(
  pattern: RegExp,
  slip: (trouble: Trouble, ...groups: readonly (string | undefined)[]) => Slip,
): SlipFinder {
  return (trouble) => {
    const found = pattern.exec(trouble.reason);
    return found === null ? undefined : slip(trouble, ...found.slice(1));
  };
}

const misaligned: Slip = {
  message: 'this line is not indented like its neighbours',
  fix: 'line it up with them',
};

function explainEntry({ text, at, line, lineStart }: Trouble): Slip {
  const character = text[at] ?? '';
  const ahead = line.slice(0, at - lineStart);
  if (character !== '' && '@`%&*!|>'.includes(character))
    return { message: `a value cannot begin with "${character}"`, fix: 'put the value in quotes' };
  if (character === ':' && !/:\s/.test(ahead)) return { ...misaligned, at: lineStart + ahead.search(/\S/) };
  if (character === ':')
    return {
      message: 'a second ": " stands in one line',
      fix: 'put a value that holds ": " in quotes, or start a new line',
    };
  if (/["']\s*$/.test(ahead))
    return { message: 'text follows the closing quote', fix: 'put all of the value inside the quotes' };
  if (/:\s+$/.test(ahead) && character === '-')
    return { message: 'a list cannot begin on the line of its field', fix: 'start it on a line of its own' };
  return misaligned;
}

/** A star before a word asks for an anchor; before anything else it was meant as a pattern. */
function explainAlias({ at }: Trouble, name = ''): Slip {
  // the parser stands behind the star
  const star = at - 1;
  if (!/^[\w-]+$/.test(name))
    return { at: star, message: 'a value cannot begin with "*"', fix: 'put the value in quotes' };
  return {
    at: star,
    message: `no anchor "&${name}" stands before this alias`,
    repeats: name,
    fix: 'anchors reach no further than their own document: define it there, or write the value out',
  };
}

/** A line that is no `field: value`; most often the colon lacks its space. */
function explainLine({ line, lineStart, before, beforeStart }: Trouble): Slip {
  const tight = /^(\s*(?:- )?[\w-]+:)[^\s/:]/;
  const [here, above] = [tight.exec(line)?.[1], tight.exec(before)?.[1]];
  if (here !== undefined || above !== undefined) {
    const at = here === undefined ? beforeStart + (above ?? '').length : lineStart + here.length;
    return { at: at - 1, message: 'a colon needs a space behind it', fix: 'write "field: value"' };
  }
  const blamed = /:(\s|$)/.test(line) && /^\s*[^\s#:-][^:]*$/.test(before);
  const start = blamed ? beforeStart + before.search(/\S/) : lineStart + Math.max(0, line.search(/\S/));
  return {
    at: start,
    message: 'this line is no "field: value"',
    fix: 'write a field and a colon, or indent a continued text',
  };
}

/** Only quotes and brackets go on over lines whatever their indentation: the one opened last was to be closed. */
function explainDeficit(trouble: Trouble): Slip {
  const [quote, bracket] = [openQuote(trouble), openBracket(trouble)];
  if (quote.at === undefined && bracket.at === undefined) return misaligned;
  return (quote.at ?? -1) > (bracket.at ?? -1) ? quote : bracket;
}

/** The parser notices at the end; the reader wants the beginning: the last line with an odd number of that quote. */
function openQuote({ text, at, base }: Trouble): Slip {
  const slip: Slip = { message: 'a quote is opened and never closed', fix: 'close it' };
  for (let end = at; end > base; end = text.lastIndexOf('\n', end - 1)) {
    const start = text.lastIndexOf('\n', end - 1) + 1;
    const opened = /(?:^|[:,[{-])\s+(?:"[^"]*|'[^']*)$/.exec(text.slice(start, end));
    if (opened !== null) return { ...slip, at: start + opened.index + opened[0].search(/["']/) };
  }
  return slip;
}

/** The last bracket before the end that nothing closes. */
function openBracket({ text, at, base }: Trouble): Slip {
  const slip: Slip = { message: 'a "[" or "{" is not closed', fix: 'close it' };
  let closed = 0;
  for (let index = at - 1; index >= base; index--) {
    const character = text[index] ?? '';
    if (']}'.includes(character)) closed++;
    else if ('[{'.includes(character) && closed-- === 0) return { ...slip, at: index };
  }
  return slip;
}
