/**
 * Parses a text into YAML documents. A valid text is parsed once, as a whole; one with a mistake is parsed again document by
 * document, so that one mistake does not hide others. Duplicate keys, unknown tags and endless aliases are errors.
 */
import {
  CORE_SCHEMA,
  constructFromEvents,
  EVENT_ID,
  type Event,
  floatJsonTag,
  mergeTag,
  parseEvents,
  YAMLException,
} from 'js-yaml';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { Json } from '../../model/json/json.ts';
import { checkAliases } from './check-aliases.ts';
import { checkCharacters } from './check-characters.ts';
import { findComplexKeys, findDuplicateKeys } from './explain-keys.ts';
import { explainSyntax } from './explain-syntax.ts';
import type { SourceText } from './source-text.ts';
import type { YamlDocument } from './yaml-document.ts';

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
}

export function parseDocuments(source: SourceText): ParsedText {
  const whole = { text: source.text, base: 0 };
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

function parseChunk(source: SourceText, { text, base }: Chunk): ParsedText {
  let events: Event[];
  try {
    events = parseEvents(text, {});
  } catch (error) {
    return { documents: [], diagnostics: [explainSyntax(source, base, asYamlError(error))] };
  }
  const parsed = { source, text, base, events };
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
  const starts = contentStarts(parsed.events);
  for (const [number, first] of starts.entries()) {
    // the schema's tags construct only JSON values
    const document = { ...parsed, first, value: values[number] as Json };
    if (document.value === null) continue;
    const problem = checkAliases(document, starts[number + 1] ?? parsed.events.length);
    if (problem === undefined) {
      documents.push(document);
      diagnostics.push(...checkCharacters(document));
    } else diagnostics.push(problem);
  }
  return { documents, diagnostics };
}

/** For each document, the index of the event at which its content begins. */
function contentStarts(events: readonly Event[]): number[] {
  return events.flatMap((event, index) => (event.type === EVENT_ID.DOCUMENT ? [index + 1] : []));
}

function asYamlError(error: unknown): YAMLException {
  if (error instanceof YAMLException) return error;
  throw error;
}
