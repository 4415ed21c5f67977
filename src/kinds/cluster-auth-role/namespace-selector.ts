/**
 * What the service makes of the text of a namespace selector. It knows `matchLabels` only, reads the first document, and
 * takes whatever it does not know for nothing said: a selector that says nothing admits every namespace
 * (wire/cluster-auth 2.5, step 9).
 */
import { loadAll } from 'js-yaml';

export interface SelectorProblem {
  /** a clause about the selector */
  readonly says: string;
  readonly fix?: string;
}

/** Why the text is refused, by the service or because nobody can mean it; undefined when it is a LabelSelector. */
export function selectorProblem(text: string): SelectorProblem | undefined {
  if (documentEnd(text) !== undefined)
    return { says: 'it holds several documents, of which the service reads the first' };
  const selector = parse(text);
  if (selector === null) return undefined;
  if (!isMap(selector)) return { says: 'it is no LabelSelector in JSON or YAML' };
  if (isSet(selector['matchExpressions'])) return { says: 'it has matchExpressions' };
  const unknown = Object.keys(selector).find((name) => !members.has(name));
  if (unknown !== undefined)
    return {
      says: `"${unknown}" is no member of a LabelSelector, so the service ignores it`,
      fix: 'did you mean "matchLabels"?',
    };
  const labels = selector['matchLabels'];
  if (!isSet(labels)) return undefined;
  if (!isMap(labels)) return { says: 'its matchLabels are no map of labels' };
  // Numbers are taken for the text that they are written as.
  const odd = Object.entries(labels).find(([, value]) => !['string', 'number'].includes(typeof value));
  return odd === undefined ? undefined : { says: `the value of its label "${odd[0]}" is no text` };
}

/** True for a text that selects by no label at all: every namespace matches it. The empty text is no selector. */
export function selectsEverything(text: string): boolean {
  if (text === '') return false;
  const selector = parse(text);
  if (selector === null) return true;
  if (!isMap(selector) || isSet(selector['matchExpressions'])) return false;
  // Whether the service minds the case of a member is not known: another spelling is not taken for nothing.
  return Object.entries(selector).every(
    ([name, value]) => name.toLowerCase() !== 'matchlabels' || !isSet(value) || isEmptyMap(value),
  );
}

const members: ReadonlySet<string> = new Set(['matchLabels', 'matchExpressions']);

/** The first document; null when it says nothing, undefined when it cannot be read. */
function parse(text: string): unknown {
  try {
    const [first = null] = loadAll(text.slice(0, documentEnd(text)));
    return first;
  } catch {
    return undefined;
  }
}

/** Where the first of several documents ends: comments alone are one, too. */
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
