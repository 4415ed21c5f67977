/**
 * Explains the YAML parser's errors, with a fix for the usual mistakes: tabs, colons, quotes, templates that were not rendered,
 * merge conflicts. The place is always in the user's file.
 */
import type { YAMLException } from 'js-yaml';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { quoted } from '../../model/quoted.ts';
import type { SourceText } from './yaml-document.ts';

interface Mistake {
  /** offset in the source; the parser's when absent */
  readonly at?: number;
  readonly message: string;
  readonly fix?: string;
  /** the part of the text that the message or the fix repeats */
  readonly repeats?: string | undefined;
}

/** What is known about an error when its cause is searched. */
interface ErrorContext {
  readonly reason: string;
  readonly text: string;
  /** offset at which the document begins; no quote or bracket before it matters */
  readonly base: number;
  readonly at: number;
  /** offset of the first mark of a merge conflict in the whole text */
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
  const mistake = explain({ ...linesAround(source.text, at), reason, base, conflict: firstConflict(source) });
  const start = mistake.at ?? at;
  const place = source.place(start, start + 1);
  const isShown = linesAround(source.text, start).line === place.text;
  const shown = (text: string) => (isShown ? text : masked(text, mistake));
  return {
    code: 'yaml-syntax',
    severity: 'error',
    class: 'invalid',
    message: shown(mistake.message),
    place,
    ...(mistake.fix === undefined ? {} : { fix: shown(mistake.fix) }),
  };
}

/** The text for a line with hidden parts: without what the message or the fix repeats, because that may be the secret. */
function masked(text: string, { repeats = '' }: Mistake): string {
  return repeats === '' ? text : text.replace(repeats, () => '***');
}

/** Cached by text, because every broken document of a file asks for it. */
const conflicts = new WeakMap<SourceText, { readonly at: number | undefined }>();

function firstConflict(source: SourceText): number | undefined {
  const known = conflicts.get(source) ?? { at: /^(<{7} |={7}$|>{7} )/m.exec(source.text)?.index };
  conflicts.set(source, known);
  return known.at;
}

function linesAround(text: string, at: number): Omit<ErrorContext, 'reason' | 'base' | 'conflict'> {
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

function explain(context: ErrorContext): Mistake {
  for (const find of [...findersByText, ...findersByReason]) {
    const mistake = find(context);
    if (mistake !== undefined) return mistake;
  }
  return { message: `invalid YAML: ${context.reason}` };
}

type MistakeFinder = (context: ErrorContext) => Mistake | undefined;

/** The text still has the marks of a template language. */
export const unrenderedTemplate = {
  message: 'a template is not rendered: "{{" has no meaning here',
  fix: 'render the manifests first and pipe them in, with "-" as the path',
};

/** The parser's reasons for a line that is not a field. */
const oddLine = /^end of the stream|^expected ':' after|multiline key may not be/;

/** Mistakes that the parser does not recognize, found in the text. */
const findersByText: readonly MistakeFinder[] = [
  ({ conflict: at }) =>
    at === undefined
      ? undefined
      : { at, message: 'a merge conflict is not resolved', fix: 'resolve it, and remove its marks' },
  ({ line, lineStart, before, beforeStart }) => {
    const inLine = line.indexOf('{{');
    const inBefore = before.indexOf('{{');
    if (inLine === -1 && inBefore === -1) return undefined;
    return { ...unrenderedTemplate, at: inLine === -1 ? beforeStart + inBefore : lineStart + inLine };
  },
  negatedExpression,
  ({ reason, line, lineStart, before, beforeStart }) => {
    if (!oddLine.test(reason)) return undefined;
    const [inLine, inBefore] = [line, before].map((text) => /^(-{1,2}|-{4,}|[–—]+)\s*$/.test(text));
    if (!inLine && !inBefore) return undefined;
    return {
      at: inLine ? lineStart : beforeStart,
      message: 'documents are separated by exactly three dashes',
      fix: 'write "---"',
    };
  },
];

/** A rule of a policy that begins with "!", which is the mark of a tag in YAML. The parser stops at many places of it. */
function negatedExpression({ line, lineStart }: ErrorContext): Mistake | undefined {
  const [, start = '', expression = ''] = /^(\s*(?:- +)?[\w-]+: +)(!.*?)(?:\s+#.*|\s*)$/.exec(line) ?? [];
  if (!/^!+\s*(?:\(|[\w.]+[([]|\w+(?:\.\w+)+$|[\w.]+\s+(?:&&|\|\||[=!<>]=|[<>?]|in\s))/.test(expression))
    return undefined;
  const repeats = `'${expression.replaceAll("'", "''")}'`;
  return {
    at: lineStart + start.length,
    message: 'a value that begins with "!" needs quotes: YAML takes the mark for a tag',
    repeats,
    fix: `write ${start.trim()} ${repeats}`,
  };
}

/** The parser's reasons, each with its usual cause. */
const findersByReason: readonly MistakeFinder[] = [
  whenReason(/^tab characters/, () => ({
    message: 'a tab indents this line',
    fix: 'indent with spaces',
  })),
  whenReason(/^bad indentation of a mapping entry/, explainEntry),
  whenReason(/^deficient indentation/, explainDeficit),
  whenReason(/^bad indentation of a sequence entry/, () => misaligned),
  whenReason(/^unexpected end of the stream within a flow collection/, openBracket),
  whenReason(/^missed comma/, () => ({
    message: 'a comma is missing between two members of a "[…]" or "{…}"',
    fix: 'put a comma between them, or close the bracket before',
  })),
  whenReason(/^unexpected end of the (?:stream|document) within a (?:single|double) quoted/, openQuote),
  whenReason(/^unknown escape sequence|^expected hexadecimal/, () => ({
    message: 'a backslash in double quotes starts an escape, and this one is unknown',
    fix: 'use single quotes, or write the backslash twice',
  })),
  whenReason(/^unidentified alias "(.*)"|^name of an alias/, explainAlias),
  whenReason(/^unknown \w+ tag !<(.*)>|^cannot resolve a node with !<(.*)>/, (_, unknown, unresolved) => ({
    message: `the tag ${quoted(unknown ?? unresolved ?? '')} is not supported`,
    repeats: unknown ?? unresolved,
    fix: 'leave the tag out',
  })),
  whenReason(/^null byte|non-printable/, () => ({
    message: 'the text holds a character that YAML does not allow',
    fix: 'save the file as UTF-8 text, and remove control characters',
  })),
  whenReason(oddLine, explainLine),
];

/** A finder for errors whose reason matches the pattern; the groups of the pattern are passed to `mistakeOf`. */
function whenReason(
  pattern: RegExp,
  mistakeOf: (context: ErrorContext, ...groups: readonly (string | undefined)[]) => Mistake,
): MistakeFinder {
  return (context) => {
    const found = pattern.exec(context.reason);
    return found === null ? undefined : mistakeOf(context, ...found.slice(1));
  };
}

const misaligned: Mistake = {
  message: 'this line is not indented like its neighbours',
  fix: 'line it up with them',
};

function explainEntry({ text, at, line, lineStart }: ErrorContext): Mistake {
  const character = text[at] ?? '';
  const ahead = line.slice(0, at - lineStart);
  if (character !== '' && '@`%&*!|>'.includes(character))
    return { message: `a value cannot begin with ${quoted(character)}`, fix: 'put the value in quotes' };
  if (character === ':' && !/:\s/.test(ahead)) return { ...misaligned, at: lineStart + ahead.search(/\S/) };
  if (character === ':')
    return {
      message: 'the line has a second ": "',
      fix: 'put a value that holds ": " in quotes, or start a new line',
    };
  if (/["']\s*$/.test(ahead))
    return { message: 'text follows the closing quote', fix: 'put all of the value inside the quotes' };
  if (/:\s+$/.test(ahead) && character === '-')
    return { message: 'a list cannot begin on the line of its field', fix: 'start it on a new line' };
  return misaligned;
}

/** A star before a word is an alias; before anything else it was meant as a pattern. */
function explainAlias({ at }: ErrorContext, name = ''): Mistake {
  // the parser's offset is after the star
  const star = at - 1;
  if (!/^[\w-]+$/.test(name))
    return { at: star, message: 'a value cannot begin with "*"', fix: 'put the value in quotes' };
  return {
    at: star,
    message: `there is no anchor ${quoted(`&${name}`)} before this alias`,
    repeats: name,
    fix: 'anchors reach no further than their own document: define it there, or write the value out',
  };
}

/** A line that is not `field: value`; most often the space after the colon is missing. */
function explainLine({ line, lineStart, before, beforeStart }: ErrorContext): Mistake {
  const tight = /^(\s*(?:- )?[\w-]+:)[^\s/:]/;
  const [here, above] = [tight.exec(line)?.[1], tight.exec(before)?.[1]];
  if (here !== undefined || above !== undefined) {
    const at = here === undefined ? beforeStart + (above ?? '').length : lineStart + here.length;
    return { at: at - 1, message: 'a colon needs a space behind it', fix: 'write "field: value"' };
  }
  const isLineBefore = /:(\s|$)/.test(line) && /^\s*[^\s#:-][^:]*$/.test(before);
  const start = isLineBefore ? beforeStart + before.search(/\S/) : lineStart + Math.max(0, line.search(/\S/));
  return {
    at: start,
    message: 'this line is not "field: value"',
    fix: 'write a field and a colon, or indent a continued text',
  };
}

/** Only quotes and brackets may continue on lines with any indentation, so the last quote or bracket that was opened is not closed. */
function explainDeficit(context: ErrorContext): Mistake {
  const [quote, bracket] = [openQuote(context), openBracket(context)];
  if (quote.at === undefined && bracket.at === undefined) return misaligned;
  return (quote.at ?? -1) > (bracket.at ?? -1) ? quote : bracket;
}

/** Finds where the quote was opened, which the parser does not report: the last line before the error whose value has an open quote. */
function openQuote({ text, at, base }: ErrorContext): Mistake {
  const mistake: Mistake = { message: 'a quote is opened and never closed', fix: 'close it' };
  for (let end = at; end > base; end = text.lastIndexOf('\n', end - 1)) {
    const start = text.lastIndexOf('\n', end - 1) + 1;
    const opened = /(?:^|[:,[{-])\s+(?:"[^"]*|'[^']*)$/.exec(text.slice(start, end));
    if (opened !== null) return { ...mistake, at: start + opened.index + opened[0].search(/["']/) };
  }
  return mistake;
}

/** The last bracket before the error that is not closed. */
function openBracket({ text, at, base }: ErrorContext): Mistake {
  const mistake: Mistake = { message: 'a "[" or "{" is not closed', fix: 'close it' };
  let closed = 0;
  for (let index = at - 1; index >= base; index--) {
    const character = text[index] ?? '';
    if (']}'.includes(character)) closed++;
    else if ('[{'.includes(character) && closed-- === 0) return { ...mistake, at: index };
  }
  return mistake;
}
