/**
 * The namespace selector of a role: a Kubernetes LabelSelector written as JSON or YAML.
 * Invariant: what passes here selects by `matchLabels` only (wire/cluster-auth 2.5, step 9).
 */
import { load } from 'js-yaml';

/** Whether `text` is a selector that the service accepts; `key=value` and `matchExpressions` are not. */
export function isLabelSelector(text: string): boolean {
  const selector = parse(text);
  if (!isObject(selector)) return false;
  if (selector['matchExpressions'] !== undefined && selector['matchExpressions'] !== null) return false;
  const labels = selector['matchLabels'] ?? {};
  return isObject(labels) && Object.values(labels).every((value) => typeof value === 'string');
}

function parse(text: string): unknown {
  try {
    return load(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
