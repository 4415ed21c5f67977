/**
 * Interprets the text of a namespace selector as the service does: it supports `matchLabels` only, reads only the first
 * document, and ignores unknown members. A selector without labels admits every namespace (wire/cluster-auth 2.5, step 9).
 */
import { isDeepStrictEqual } from 'node:util';
import { loadAll } from 'js-yaml';
import { quoted } from '../../model/quoted.ts';

interface SelectorProblem {
  /** a clause about the selector */
  readonly message: string;
  readonly fix?: string;
}

/** Why the text is refused, by the service or because it can only be a mistake; undefined when it is a LabelSelector. */
export function selectorProblem(text: string): SelectorProblem | undefined {
  if (documentEnd(text) !== undefined)
    return { message: 'it holds several documents, of which the service reads the first' };
  const selector = parse(text);
  if (selector === null) return undefined;
  if (!isMap(selector)) return { message: 'it is no LabelSelector in JSON or YAML' };
  if (isSet(selector['matchExpressions'])) return { message: 'it has matchExpressions' };
  const unknown = Object.keys(selector).find((name) => !members.has(name));
  if (unknown !== undefined)
    return {
      message: `${quoted(unknown)} is no member of a LabelSelector, so the service ignores it`,
      fix: 'did you mean "matchLabels"?',
    };
  const labels = selector['matchLabels'];
  if (!isSet(labels)) return undefined;
  if (!isMap(labels)) return { message: 'its matchLabels are no map of labels' };
  // The service accepts numbers as texts.
  const odd = Object.entries(labels).find(([, value]) => !['string', 'number'].includes(typeof value));
  return odd === undefined ? undefined : { message: `the value of its label ${quoted(odd[0])} is no text` };
}

/** True for a selector without labels, which every namespace matches. The empty text is no selector. */
export function selectsEverything(text: string): boolean {
  if (text === '') return false;
  const selector = parse(text);
  if (selector === null) return true;
  if (!isMap(selector) || isSet(selector['matchExpressions'])) return false;
  // It is unknown whether the service ignores the case of member names, so any spelling counts as "matchLabels".
  return Object.entries(selector).every(
    ([name, value]) => name.toLowerCase() !== 'matchlabels' || !isSet(value) || isEmptyMap(value),
  );
}

/** Its labels, with numbers as texts; none where it is no LabelSelector. */
export function selectorLabels(text: string): readonly (readonly [string, string])[] {
  const selector = parse(text);
  const labels = isMap(selector) ? selector['matchLabels'] : undefined;
  return isMap(labels) ? Object.entries(labels).map(([name, value]) => [name, String(value)] as const) : [];
}

/**
 * Whether two texts, in JSON or YAML, have the same labels. A text that the service might read otherwise than this file is
 * equal to itself only, so that a difference is shown rather than hidden.
 */
export function isSameSelector(one: string, other: string): boolean {
  if (one === other) return true;
  const [some, others] = [one, other].map((text) => (text === '' ? undefined : labelsIn(text)));
  return some !== undefined && others !== undefined && isDeepStrictEqual(some, others);
}

/** The labels of a selector that has nothing else; undefined where they are not certain. */
function labelsIn(text: string): Readonly<Record<string, string>> | undefined {
  if (documentEnd(text) !== undefined) return undefined;
  const selector = parse(text);
  if (selector === null) return {};
  if (!isMap(selector) || Object.keys(selector).some((name) => name !== 'matchLabels')) return undefined;
  const labels = selector['matchLabels'] ?? {};
  if (!isMap(labels)) return undefined;
  const known = Object.entries(labels).flatMap(([name, value]): [string, string][] =>
    isCertain(name, text) && isCertain(value, text) ? [[name, String(value)]] : [],
  );
  return known.length === Object.keys(labels).length ? Object.fromEntries(known) : undefined;
}

/** Whether the YAML of the service reads the word as this file does: it knows more booleans and other forms of numbers. */
function isCertain(word: unknown, text: string): boolean {
  if (typeof word === 'number')
    return Number.isSafeInteger(word) && new RegExp(`(?<![\\w.+])${word}(?![\\w.])`).test(text);
  if (typeof word !== 'string') return false;
  return isJson(text) || !/^(?:y|n|yes|no|on|off|true|false|null|~|[-+.\d].*\D.*)$/is.test(word);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const members: ReadonlySet<string> = new Set(['matchLabels', 'matchExpressions']);

/** The first document; null when it is empty, undefined when it cannot be parsed. */
function parse(text: string): unknown {
  try {
    const [first = null] = loadAll(text.slice(0, documentEnd(text)));
    return first;
  } catch {
    return undefined;
  }
}

/** The end of the first of several documents, which may consist of comments only; undefined if there is just one. */
function documentEnd(text: string): number | undefined {
  return /(?<=\n)---[^\S\n]*(#.*)?(?=\n|$)/.exec(text)?.index;
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isEmptyMap(value: unknown): boolean {
  return isMap(value) && Object.keys(value).length === 0;
}
