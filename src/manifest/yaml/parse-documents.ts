/**
 * Parses a text into YAML documents; one mistake does not hide others. Refuses duplicate and complex keys, endless aliases, and
 * texts that are not Unicode.
 */
import {
  type AliasEvent,
  constructFromEvents,
  CORE_SCHEMA,
  type Event,
  EVENT_ID,
  floatJsonTag,
  mergeTag,
  parseEvents,
  YAMLException,
} from 'js-yaml';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { Json, Path } from '../../model/json.ts';
import { quoted } from '../../model/quoted.ts';
import { explainSyntax, unrenderedTemplate } from './explain-syntax.ts';
import { keyText, pairsOf, type Span, spanOf } from './locate.ts';
import {
  type EntrySide,
  ParsedDocument,
  placeIn,
  type SourceText,
  toPlace,
  type YamlDocument,
} from './yaml-document.ts';

/** Dates stay text, `~` is null, merge keys work, and all numbers are valid in JSON. */
export const jsonLikeSchema = CORE_SCHEMA.withTags(floatJsonTag, mergeTag);

interface ParsedText {
  /** without empty documents, such as after a last `---` */
  readonly documents: readonly YamlDocument[];
  /** when not empty, documents may be missing */
  readonly diagnostics: readonly Diagnostic[];
}

interface Chunk {
  readonly text: string;
  readonly base: number;
  readonly keepsEvents?: boolean;
}

/** @param keepsEvents for a text whose places are certainly needed, so that it is not parsed again */
export function parseDocuments(source: SourceText, keepsEvents = false): ParsedText {
  const whole = { text: source.text, base: 0, keepsEvents };
  const parsed = parseChunk(source, whole);
  if (parsed.diagnostics.length === 0) return parsed;
  const chunks = splitDocuments(source.text);
  if (chunks.length < 2) return parsed;
  const parts = chunks.map((chunk) => parseChunk(source, chunk));
  const diagnostics = parts.flatMap((part) => part.diagnostics);
  return {
    documents: parts.flatMap((part) => part.documents),
    // a mistake between documents, such as a directive without a document, is found only in the whole text
    diagnostics: diagnostics.length === 0 ? parsed.diagnostics : diagnostics,
  };
}

/** A `---` in the first column always ends a document, even within quotes or a block of text (YAML 1.2, 9.1.2). */
function splitDocuments(text: string): Chunk[] {
  // directives come before the `---` of their document, so such a text cannot be split there
  if (/^%/m.test(text)) return [];
  const starts = [...text.matchAll(/^---(?=\s|$)/gm)].map(({ index }) => index);
  const bounds = [0, ...starts.filter((start) => start > 0), text.length];
  return bounds.slice(0, -1).map((base, index) => ({ text: text.slice(base, bounds[index + 1]), base }));
}

function parseChunk(source: SourceText, chunk: Chunk): ParsedText {
  const { text, base } = chunk;
  let events: Event[];
  try {
    events = parseEvents(text, {});
  } catch (error) {
    return { documents: [], diagnostics: [explainSyntax(source, base, asYamlError(error))] };
  }
  const parsed = { ...chunk, source, events };
  try {
    return toDocuments(parsed, construct(parsed, false));
  } catch (error) {
    return parseDespiteKeys(parsed, asYamlError(error));
  }
}

interface ParsedChunk extends Chunk {
  readonly source: SourceText;
  readonly events: Event[];
}

function construct({ text, events }: ParsedChunk, json: boolean): unknown[] {
  return constructFromEvents(events, { source: text, schema: jsonLikeSchema, maxTotalMergeKeys: -1, json });
}

/** Parses in spite of duplicate keys (the last one wins), to find the other problems of the same document. */
function parseDespiteKeys(parsed: ParsedChunk, cause: YAMLException): ParsedText {
  const keys = [...findComplexKeys(parsed), ...findDuplicateKeys(parsed)];
  const explain = (error: YAMLException) => explainSyntax(parsed.source, parsed.base, error);
  if (keys.length === 0) return { documents: [], diagnostics: [explain(cause)] };
  if (keys.some(({ code }) => code === 'yaml-syntax')) return { documents: [], diagnostics: keys };
  try {
    const { documents, diagnostics } = toDocuments(parsed, construct(parsed, true));
    return { documents, diagnostics: [...keys, ...diagnostics] };
  } catch (error) {
    return { documents: [], diagnostics: [...keys, explain(asYamlError(error))] };
  }
}

function toDocuments(parsed: ParsedChunk, values: readonly unknown[]): ParsedText {
  const documents: YamlDocument[] = [];
  const diagnostics: Diagnostic[] = [];
  const { source, text, base, events } = parsed;
  const starts = contentStarts(events);
  const chunk = { source, text, base, events: parsed.keepsEvents ? () => events : parseAgain(text) };
  for (const [number, first] of starts.entries()) {
    // the schema's tags construct only JSON values
    const value = values[number] as Json;
    if (value === null) continue;
    const document = new ParsedDocument(chunk, first, value);
    const end = starts[number + 1] ?? events.length;
    const problem = hasAlias(events, first, end) ? checkAliases(document) : undefined;
    if (problem === undefined) {
      documents.push(document);
      diagnostics.push(...checkCharacters(document));
    } else diagnostics.push(problem);
  }
  return { documents, diagnostics };
}

/** The events of a valid text, parsed when a place in it is wanted, and dropped again: they take more memory than all values. */
function parseAgain(text: string): () => readonly Event[] {
  let parsed: WeakRef<readonly Event[]> | undefined;
  return () => {
    const events = parsed?.deref() ?? parseEvents(text, {});
    if (parsed?.deref() === undefined) parsed = new WeakRef(events);
    return events;
  };
}

/** For each document, the index of the event at which its content begins. */
function contentStarts(events: readonly Event[]): number[] {
  return events.flatMap((event, index) => (event.type === EVENT_ID.DOCUMENT ? [index + 1] : []));
}

function asYamlError(error: unknown): YAMLException {
  if (error instanceof YAMLException) return error;
  throw error;
}

// Finds keys that a map cannot have: the same key twice, or a key that is itself a list or a map.

/**
 * @returns a diagnostic at each repetition of a key, with the place of the first; only one when a whole second document follows,
 * because then just the separator `---` is missing
 */
function findDuplicateKeys(parsed: ParsedChunk): Diagnostic[] {
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

function repetitionsIn(parsed: ParsedChunk, map: number): Repetition[] {
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
function findComplexKeys(parsed: ParsedChunk): Diagnostic[] {
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

function mapsIn({ events }: ParsedChunk): number[] {
  return events.flatMap((event, index) => (event.type === EVENT_ID.MAPPING ? [index] : []));
}

function unseparated(parsed: ParsedChunk, { span, first }: Repetition): Diagnostic {
  return {
    code: 'missing-separator',
    severity: 'error',
    class: 'invalid',
    message: 'a second document begins here without a separator',
    place: placeOf(parsed, span),
    fix: 'put a line "---" before it',
    related: [{ message: 'the first one', place: placeOf(parsed, first) }],
  };
}

function duplicate(parsed: ParsedChunk, { name, span, first }: Repetition): Diagnostic {
  return {
    code: 'duplicate-field',
    severity: 'error',
    class: 'invalid',
    message: `${quoted(name)} appears twice in one map`,
    place: placeOf(parsed, span),
    fix: 'keep one of them',
    related: [{ message: 'first here', place: placeOf(parsed, first) }],
  };
}

function placeOf({ source, base }: ParsedChunk, { start, end }: Span) {
  return source.place(base + start, base + end);
}

// Refuses documents whose aliases never end or expand to too many values: an alias inside its own anchor, and a few lines that
// expand to billions of values. Documents without an alias are not walked.

/** The largest manifests have a few hundred values. */
const maxValues = 100_000;

interface AliasWalk {
  readonly document: YamlDocument;
  /** number of values under each anchor, once it is closed; 0 while it is open */
  readonly sizes: Map<string, number>;
  index: number;
  problem?: Diagnostic;
}

/** @returns the problem, when the document must not be used */
function checkAliases(document: YamlDocument): Diagnostic | undefined {
  const walk: AliasWalk = { document, sizes: new Map(), index: document.first };
  measure(walk);
  return walk.problem;
}

function hasAlias(events: readonly Event[], first: number, end: number): boolean {
  for (let index = first; index < end; index++) if (events[index]?.type === EVENT_ID.ALIAS) return true;
  return false;
}

/** Walks one node and returns the number of values that it expands to. */
function measure(walk: AliasWalk): number {
  const event = walk.document.events[walk.index++];
  if (event === undefined || walk.problem !== undefined) return 0;
  if (event.type === EVENT_ID.ALIAS) return unfold(walk, event);
  if (!('anchorStart' in event)) return 0;
  const anchor = event.anchorStart === -1 ? undefined : nameOf(walk, event);
  if (anchor !== undefined) walk.sizes.set(anchor, 0);
  const size = event.type === EVENT_ID.SCALAR ? 1 : measureMembers(walk);
  if (anchor !== undefined) walk.sizes.set(anchor, size);
  return size;
}

function measureMembers(walk: AliasWalk): number {
  let size = 1;
  while (walk.problem === undefined && walk.document.events[walk.index]?.type !== EVENT_ID.POP)
    size += measure(walk);
  walk.index++;
  return size;
}

function unfold(walk: AliasWalk, event: AliasEvent): number {
  const name = nameOf(walk, event);
  const size = walk.sizes.get(name) ?? 1;
  if (size === 0)
    walk.problem = refuseAlias(walk, event, {
      code: 'endless-alias',
      message: `the alias ${quoted(`*${name}`)} is inside its own anchor ${quoted(`&${name}`)}`,
      fix: 'write the value out',
    });
  else if (size > maxValues)
    walk.problem = refuseAlias(walk, event, {
      code: 'too-many-aliases',
      message: `the alias ${quoted(`*${name}`)} expands to more than ${maxValues} values`,
      fix: 'use fewer aliases of aliases, or split the document',
    });
  return size;
}

function nameOf(
  { document }: AliasWalk,
  event: { readonly anchorStart: number; readonly anchorEnd: number },
): string {
  return document.text.slice(event.anchorStart, event.anchorEnd);
}

function refuseAlias(
  { document }: AliasWalk,
  event: AliasEvent,
  texts: Pick<Diagnostic, 'code' | 'message' | 'fix'>,
): Diagnostic {
  const place = toPlace(document, { start: event.anchorStart - 1, end: event.anchorEnd });
  return { ...texts, severity: 'error', class: 'invalid', place };
}

// Refuses texts and keys with half of a surrogate pair, from an escape such as "\uD800": no service can store it, so a plan with it
// would never be empty.

/** A diagnostic at each text and key with half of a surrogate pair. */
function checkCharacters(document: YamlDocument): Diagnostic[] {
  // The text itself is UTF-8, so half of a pair can only come from an escape.
  return document.text.includes('\\') ? findLoneSurrogates(document, document.value, []) : [];
}

function findLoneSurrogates(document: YamlDocument, value: Json, path: Path): Diagnostic[] {
  if (typeof value === 'string')
    return value.isWellFormed() ? [] : [refuseCharacter(document, path, 'value')];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [
    ...(name.isWellFormed() ? [] : [refuseCharacter(document, [...path, name], 'key')]),
    ...findLoneSurrogates(document, member, [...path, name]),
  ]);
}

function refuseCharacter(document: YamlDocument, path: Path, side: EntrySide): Diagnostic {
  return {
    code: 'lone-surrogate',
    severity: 'error',
    class: 'invalid',
    message: `this ${side === 'key' ? 'key' : 'text'} has half of a surrogate pair, which is not a character`,
    place: placeIn(document, path, side),
    fix: 'write the character itself, or its whole code, such as "\\U0001F600"',
  };
}
