/**
 * Whether a role's selector admits a namespace of the cluster, by its labels (wire/cluster-auth 2.5).
 * Invariants: the namespace comes from a JWT that nobody vouched for yet, so it is never more than one segment of the
 * path; the bearer of the call is in no text that a caller sees.
 */
import { quote } from '../values/go-quote.ts';
import { matchLabelsIn } from '../values/label-selector.ts';
import { isObject } from '../values/is-object.ts';
import { callCluster, type ClusterApi } from './call-cluster.ts';

interface NamespaceQuestion {
  readonly namespace: string;
  readonly selector: string;
  /** Who asks; empty where neither the config nor the pod has a token, and a login's own JWT does not do. */
  readonly bearer: string;
}

/** `because` is the end of the refusal, where the question could not be asked or answered. */
type NamespaceVerdict = { readonly admitted: boolean; readonly because?: string };

/** Asks the cluster for the namespace's labels, and compares. */
export async function matchNamespace(
  api: ClusterApi,
  question: NamespaceQuestion,
): Promise<NamespaceVerdict> {
  const { namespace, selector, bearer } = question;
  if (bearer === '')
    return refused(
      'namespace lookup failed: TokenReviewer JWT needs to be configured to use namespace selectors',
    );
  // As a segment these would lead elsewhere: no namespace is called so.
  if (['.', '..'].includes(namespace) || !namespace.isWellFormed()) return { admitted: false };
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}`;
  const answer = await callCluster(api, { method: 'GET', path, bearer });
  if (answer === undefined) return refused('failed to get namespace');
  const read = readJson(answer.text);
  if (answer.status !== 200) {
    if (!read.ok)
      return refused(`failed to parse error status on namespace retrieval failure err=${read.problem}`);
    const message = withoutSecret(textAt(read.value, 'message'), bearer);
    return refused(`failed to get namespace (code ${answer.status} status ${message})`);
  }
  if (!read.ok) return refused(read.problem);
  const [labels, wanted] = [labelsOf(read.value), Object.entries(matchLabelsIn(selector) ?? NO_LABELS)];
  const impossible = wanted.flatMap(([label, value]) => labelProblem(label, value) ?? []);
  if (impossible[0] !== undefined) return refused(impossible[0]);
  return { admitted: wanted.every(([label, value]) => labels[label] === value) };
}

/** Of a stored selector that cannot be read: no namespace has such a label. */
const NO_LABELS = { '': '' };

const NAME = /^(?=.{1,63}$)[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const DOMAIN = /^(?=.{1,253}$)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;

/** Why nothing in a cluster can have this label; undefined where something can. */
function labelProblem(label: string, value: string): string | undefined {
  const [name = '', domain, ...more] = label.split('/').toReversed();
  const isLabel = NAME.test(name) && (domain === undefined || DOMAIN.test(domain)) && more.length === 0;
  if (!isLabel) return `key: Invalid value: ${quote(label)}: a valid label is a qualified name`;
  if (value === '' || NAME.test(value)) return undefined;
  return (
    `values[0][${label}]: Invalid value: ${quote(value)}: a valid label must be an empty string or consist of ` +
    'at most 63 alphanumeric characters, "-", "_" or ".", and must start and end with an alphanumeric character'
  );
}

/** The message without the bearer, its parts, and what base64 makes of them, wherever in a text they stood. */
function withoutSecret(message: string, bearer: string): string {
  const parts = [bearer, ...bearer.split('.').filter((part) => part.length >= SHORTEST_PART)];
  const encoded = parts.flatMap((part) => [0, 1, 2].map((offset) => inBase64(part, offset)));
  const forms = [
    ...parts,
    ...encoded,
    ...encoded.map((form) => form.replaceAll('+', '-').replaceAll('/', '_')),
  ];
  return forms.reduce((text, form) => text.replaceAll(form, ''), message);
}

/** Shorter ones are parts of ordinary words, too. */
const SHORTEST_PART = 8;

/** The signs that only `text` decides where `offset` bytes (modulo 3) stand before it, and any behind it. */
function inBase64(text: string, offset: number): string {
  const padded = Buffer.concat([Buffer.alloc(offset), Buffer.from(text)]);
  const whole = Math.floor((padded.length * 8) / 6);
  return padded.toString('base64').slice(Math.ceil((offset * 8) / 6), whole);
}

function refused(because: string): NamespaceVerdict {
  return { admitted: false, because };
}

type Json = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string };

/** The problem is worded as the original's, where it depends on the first letter alone. */
function readJson(text: string): Json {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    const [first] = text.trim();
    if (first === undefined) return { ok: false, problem: 'unexpected end of JSON input' };
    const isStart = /[[{"\-\dtfn]/.test(first);
    const problem = isStart ? 'invalid JSON' : `invalid character '${first}' looking for beginning of value`;
    return { ok: false, problem };
  }
}

function textAt(value: unknown, member: string): string {
  const text = isObject(value) ? value[member] : undefined;
  return typeof text === 'string' ? text : '';
}

function labelsOf(namespace: unknown): Readonly<Record<string, unknown>> {
  const metadata = isObject(namespace) ? namespace['metadata'] : undefined;
  const labels = isObject(metadata) ? metadata['labels'] : undefined;
  return isObject(labels) ? labels : {};
}
