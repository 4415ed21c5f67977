/**
 * The namespace selector of a role: a label selector of the cluster, written as JSON or YAML.
 * Invariant: what is read here selects by labels alone (wire/cluster-auth 2.5, step 9), and what the service does not
 * know in it counts for nothing: a selector without labels selects every namespace.
 */
import { loadAll, YAML11_SCHEMA } from 'js-yaml';

import { firstJsonValue } from './json-values.ts';
import { NumberLiteral } from './number-literal.ts';
import { isObject } from './is-object.ts';

/** The labels that a namespace must have, or undefined for a text that the service refuses. */
export function matchLabelsIn(text: string): Readonly<Record<string, string>> | undefined {
  const selector = parse(text);
  // Nothing at all, or null, leaves the selector empty.
  if (selector === null || selector === undefined) return {};
  if (!isObject(selector)) return undefined;
  const { matchlabels: labels, matchexpressions: expressions } = inLowerCase(selector);
  if (expressions !== undefined && expressions !== null) return undefined;
  if (labels === undefined || labels === null) return {};
  return isObject(labels) ? asTexts(labels) : undefined;
}

const BROKEN = Symbol('broken');

/** Of several documents the first counts. JSON is tried first, for it may have what YAML forbids, such as tabs. */
function parse(text: string): unknown {
  if (/^\s*\{/.test(text)) {
    const value = attempt(() => firstJsonValue(text));
    if (value !== BROKEN) return value;
  }
  const [first = ''] = text.split(/\n---[^\n]*(?:\n|$)/);
  // The older YAML, in which "yes" and "on" are booleans.
  return attempt(() => loadAll(first, { schema: YAML11_SCHEMA })[0]);
}

function attempt(read: () => unknown): unknown {
  try {
    return read();
  } catch {
    return BROKEN;
  }
}

/** Member names are taken in any case; of two that differ in case alone the later one counts. */
function inLowerCase(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name.toLowerCase(), value]));
}

/** Numbers, booleans and null become texts; anything else has no place in a label. */
function asTexts(labels: Readonly<Record<string, unknown>>): Record<string, string> | undefined {
  const texts = Object.entries(labels).map(([name, value]) => [name, labelText(value)] as const);
  return texts.some(([, text]) => text === undefined)
    ? undefined
    : (Object.fromEntries(texts) as Record<string, string>);
}

function labelText(value: unknown): string | undefined {
  if (value === null || value === undefined) return '';
  if (value instanceof NumberLiteral) return value.text;
  return typeof value === 'object' ? undefined : String(value);
}
