/** Finds keys that a map cannot have: the same key twice, or a key that is itself a list or a map. */
import { EVENT_ID } from 'js-yaml';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { quoted } from '../../model/quoted.ts';
import { unrenderedTemplate } from './explain-syntax.ts';
import { type EventRange, keyText, pairsOf, type Span, spanOf } from './locate.ts';
import type { SourceText } from './source-text.ts';

/** A parsed text and its offset in the source. */
interface ParsedRange extends Omit<EventRange, 'first'> {
  readonly source: SourceText;
  readonly base: number;
}

/**
 * @returns a diagnostic at each repetition of a key, with the place of the first; only one when a whole second document follows,
 * because then just the separator `---` is missing
 */
export function findDuplicateKeys(parsed: ParsedRange): Diagnostic[] {
  return mapsIn(parsed).flatMap((map) => {
    const repetitions = repetitionsIn(parsed, map);
    const document = repetitions.find(({ name }) => name === 'apiVersion');
    const isDocument = document !== undefined && repetitions.some(({ name }) => name === 'kind');
    return isDocument
      ? [unseparated(parsed, document)]
      : repetitions.map((repetition) => duplicate(parsed, repetition));
  });
}

/** A repeated key of a map. */
interface Repetition {
  readonly name: string;
  readonly span: Span;
  readonly first: Span;
}

function repetitionsIn(parsed: ParsedRange, map: number): Repetition[] {
  const range = { ...parsed, first: 0 };
  const seen = new Map<string, Span>();
  return pairsOf(range, map).flatMap(({ key }) => {
    const [name, span] = [keyText(range, key), spanOf(range, key)];
    if (name === undefined || span === undefined || name === '<<') return [];
    const first = seen.get(name);
    if (first === undefined) seen.set(name, span);
    return first === undefined ? [] : [{ name, span, first }];
  });
}

/** @returns a diagnostic at each key that is a list or a map, which is most often a template's `{{` */
export function findComplexKeys(parsed: ParsedRange): Diagnostic[] {
  const range = { ...parsed, first: 0 };
  const keys = mapsIn(parsed).flatMap((map) => pairsOf(range, map).map(({ key }) => key));
  return keys.flatMap((key) => {
    const type = parsed.events[key]?.type;
    const span = spanOf(range, key);
    if (span === undefined || (type !== EVENT_ID.MAPPING && type !== EVENT_ID.SEQUENCE)) return [];
    const opens = parsed.text.lastIndexOf('{{', span.start);
    const isTemplate = opens !== -1 && parsed.text.slice(opens, span.start).trim().length <= 1;
    const texts = isTemplate
      ? unrenderedTemplate
      : {
          message: 'a key must be one word, not a list or a map',
          fix: 'quote a value that begins with "{" or "["',
        };
    const place = placeOf(parsed, isTemplate ? { start: opens, end: opens + 1 } : span);
    return [{ code: 'yaml-syntax', severity: 'error', class: 'invalid', ...texts, place }];
  });
}

function mapsIn({ events }: ParsedRange): number[] {
  return events.flatMap((event, index) => (event.type === EVENT_ID.MAPPING ? [index] : []));
}

function unseparated(parsed: ParsedRange, { span, first }: Repetition): Diagnostic {
  return {
    code: 'missing-separator',
    severity: 'error',
    class: 'invalid',
    message: 'a second document begins here, and nothing separates it from the first',
    place: placeOf(parsed, span),
    fix: 'put a line "---" before it',
    related: [{ message: 'the first one', place: placeOf(parsed, first) }],
  };
}

function duplicate(parsed: ParsedRange, { name, span, first }: Repetition): Diagnostic {
  return {
    code: 'duplicate-field',
    severity: 'error',
    class: 'invalid',
    message: `${quoted(name)} stands twice in one map`,
    place: placeOf(parsed, span),
    fix: 'keep one of them',
    related: [{ message: 'first here', place: placeOf(parsed, first) }],
  };
}

function placeOf({ source, base }: ParsedRange, { start, end }: Span) {
  return source.place(base + start, base + end);
}
