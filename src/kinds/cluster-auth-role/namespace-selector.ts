/** Whether a text is a namespace selector that the service takes; it knows `matchLabels` only (facts 2.5, step 9). */
import { load } from 'js-yaml';

/** Why the text is refused; undefined when it is a LabelSelector in JSON or YAML. */
export function selectorProblem(text: string): string | undefined {
  const selector = parse(text);
  if (!isMap(selector)) return 'it is no LabelSelector in JSON or YAML';
  if (isSet(selector['matchExpressions'])) return 'it has matchExpressions';
  const labels = selector['matchLabels'];
  if (!isSet(labels)) return undefined;
  if (!isMap(labels)) return 'its matchLabels are no map of labels';
  const odd = Object.entries(labels).find(([, value]) => typeof value !== 'string');
  return odd === undefined ? undefined : `the value of its label "${odd[0]}" is no text`;
}

/** True for a selector without labels: it matches every namespace there is. */
export function selectsEverything(text: string): boolean {
  const selector = parse(text);
  if (!isMap(selector)) return false;
  const labels = selector['matchLabels'];
  return !isSet(labels) || (isMap(labels) && Object.keys(labels).length === 0);
}

function parse(text: string): unknown {
  try {
    return load(text);
  } catch {
    return undefined;
  }
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
