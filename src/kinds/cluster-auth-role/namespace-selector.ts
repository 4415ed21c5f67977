/**
 * Interprets the text of a namespace selector as the service does: it supports `matchLabels` only, reads only the first
 * document, and ignores unknown members. A selector without labels admits every namespace (wire/cluster-auth 2.5, step 9).
 */
import { isDeepStrictEqual } from 'node:util';
import { quoted } from '../../model/quoted.ts';
import { readSelectorYaml } from './selector-yaml.ts';

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
  // Scalars are texts by now, or null, which the service keeps as an empty text.
  const odd = Object.entries(labels).find(([, value]) => typeof value === 'object' && value !== null);
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

/** Its labels; none where it is no LabelSelector. */
export function selectorLabels(text: string): readonly (readonly [string, string])[] {
  const selector = parse(text);
  const labels = isMap(selector) ? selector['matchLabels'] : undefined;
  return isMap(labels)
    ? Object.entries(labels).map(([name, value]) => [name, labelText(value)] as const)
    : [];
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
  const known = selectorLabels(text);
  return known.flat().every((word) => isCertain(word, text)) ? Object.fromEntries(known) : undefined;
}

/** Whether other services read the word in the same way: the text has it as it is, and not in another notation. */
function isCertain(word: string, text: string): boolean {
  if (isJson(text)) return true;
  const escaped = word.replaceAll(/\W/gu, '\\$&');
  const written = new RegExp(`(?<![\\w.+-])${escaped}(?![\\w.])`);
  return written.test(text) && !/^(?:y|n|yes|no|on|off|true|false|null|~)$/i.test(word);
}

function labelText(value: unknown): string {
  return typeof value === 'string' ? value : '';
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
    return readSelectorYaml(text.slice(0, documentEnd(text)));
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
