/**
 * The namespace selector of a role: a label selector of the cluster, written as JSON or YAML.
 * Invariant: what is read here selects by labels alone (wire/cluster-auth 2.5, step 9), and what the service does not
 * know in it counts for nothing: a selector without labels selects every namespace.
 */
import { foldedName } from './folded-name.ts';
import { firstJsonText } from './json-values.ts';
import { Pairs, readYaml } from './selector-yaml.ts';

type Labels = Readonly<Record<string, string>>;

/** The labels that a namespace must have, or undefined for a text that the service refuses. */
export function matchLabelsIn(text: string): Labels | undefined {
  const json = /^\s*\{/.test(text) ? attempt(() => firstJsonText(text)) : BROKEN;
  // Between the values of JSON, tabs are blanks; within a text they are written as escapes.
  if (typeof json === 'string') return selectedBy(attempt(() => readYaml(json.replaceAll('\t', ' '))));
  const [first = ''] = text.split(/\n---[^\n]*(?:\n|$)/);
  return selectedBy(withoutRepetitions(attempt(() => readYaml(first))));
}

const BROKEN = Symbol('broken');

function attempt<T>(read: () => T): T | typeof BROKEN {
  try {
    return read();
  } catch {
    return BROKEN;
  }
}

/** In YAML the last of several members of one name counts, and the members are read in the order of their names. */
function withoutRepetitions(selector: unknown): unknown {
  if (!(selector instanceof Pairs)) return selector;
  const sorted = [...new Map(selector.entries)].toSorted(([one], [other]) =>
    String(one) < String(other) ? -1 : 1,
  );
  return Pairs.of(sorted);
}

/** Nothing at all, or null, selects by nothing. Members whose names differ in case alone add up; a null takes all back. */
function selectedBy(selector: unknown): Labels | undefined {
  if (selector === null || selector === undefined) return {};
  if (!(selector instanceof Pairs)) return undefined;
  const members = selector.entries.map(([name, value]) => [foldedText(name), value] as const);
  const hasExpressions = members.some(([name, value]) => name === 'matchexpressions' && value !== null);
  if (hasExpressions || members.some(([name]) => name === undefined)) return undefined;
  const given = members.flatMap(([name, value]) => (name === 'matchlabels' ? [value] : []));
  const parts = given.slice(given.lastIndexOf(null) + 1).map(labelsOf);
  return parts.every((part) => part !== undefined) ? Object.assign({}, ...parts) : undefined;
}

function foldedText(name: unknown): string | undefined {
  return typeof name === 'string' ? foldedName(name) : undefined;
}

/** Null becomes an empty text; lists and objects have no place in a label. */
function labelsOf(value: unknown): Labels | undefined {
  if (!(value instanceof Pairs)) return undefined;
  const labels = value.entries.map(([name, label]) => [name, label ?? ''] as const);
  return labels.every((pair): pair is [string, string] => pair.every((each) => typeof each === 'string'))
    ? Object.fromEntries(labels)
    : undefined;
}
