/**
 * The rules of a policy for the parameters of a request: required, allowed and denied ones (wire/cluster-auth 2.9).
 * Invariant: names are compared in lower case; an empty list matches any value.
 */
import { isDeepStrictEqual } from 'node:util';

/** Values by the name of a parameter, in lower case; a text may have a `*` at either end. The name `*` means any name. */
export type ParameterValues = Readonly<Record<string, readonly unknown[]>>;

export interface ParameterRules {
  readonly allowed?: ParameterValues;
  readonly denied?: ParameterValues;
  readonly required?: readonly string[];
}

/** Whether a request with these parameters is within the rules. */
export function permitsParameters(
  { allowed = {}, denied = {}, required = [] }: ParameterRules,
  parameters: Readonly<Record<string, unknown>>,
): boolean {
  const sent = Object.entries(parameters).map(([name, value]) => [name.toLowerCase(), value] as const);
  if (!required.every((name) => Object.hasOwn(parameters, name.toLowerCase()))) return false;
  if (sent.length === 0) return true;
  if (Object.hasOwn(denied, '*')) return false;
  const isDenied = sent.some(([name, value]) => Object.hasOwn(denied, name) && isAmong(denied[name], value));
  if (isDenied || Object.keys(allowed).length === 0) return !isDenied;
  const allowsOthers = Object.hasOwn(allowed, '*');
  return sent.every(([name, value]) =>
    Object.hasOwn(allowed, name) ? isAmong(allowed[name], value) : allowsOthers,
  );
}

/** Two rules for the same path, merged. */
export function joinedParameters(one: ParameterRules, other: ParameterRules): ParameterRules {
  return {
    allowed: joinedValues(one.allowed, other.allowed),
    denied: joinedValues(one.denied, other.denied),
    required: [...new Set([...(one.required ?? []), ...(other.required ?? [])])],
  };
}

function joinedValues(one: ParameterValues = {}, other: ParameterValues = {}): ParameterValues {
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return Object.fromEntries(
    names.map((name) => {
      const lists = [one, other].flatMap((values) =>
        Object.hasOwn(values, name) ? [values[name] ?? []] : [],
      );
      return [name, lists.some((list) => list.length === 0) ? [] : lists.flat()];
    }),
  );
}

function isAmong(values: readonly unknown[] = [], value: unknown): boolean {
  return values.length === 0 || values.some((each) => isLike(each, value));
}

/** Whether a value matches one of a policy. Numbers of requests are kept as texts, so they never equal a number of a policy. */
function isLike(pattern: unknown, value: unknown): boolean {
  if (typeof pattern !== 'string' || typeof value !== 'string') return isDeepStrictEqual(pattern, value);
  if (pattern.length < 2) return pattern === value;
  const [opens, ends] = [pattern.startsWith('*'), pattern.endsWith('*')];
  const bare = pattern.slice(opens ? 1 : 0, ends ? -1 : undefined);
  if (opens && ends) return value.includes(bare);
  if (opens) return value.endsWith(bare);
  return ends ? value.startsWith(bare) : value === pattern;
}
