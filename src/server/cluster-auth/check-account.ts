/**
 * Whether a JWT lets an account log in with a role (wire/cluster-auth 3): signature, claims, names, namespace, and last the
 * token review. Each refusal is the original's; the cluster is asked only about JWTs that passed every other check.
 */
import { callCluster, type ClusterAccess, type ClusterApi, isRefusal, type Refusal } from './cluster-api.ts';
import { quote } from './field-coercion.ts';
import { isObject } from './json-values.ts';
import { claimsProblem, parseJwt } from './jwt.ts';
import { matchLabelsIn } from './label-selector.ts';
import { type SignatureVerdict, verifySignature } from './public-keys.ts';
import type { Role } from './role-fields.ts';
import {
  aliasName,
  annotatedMetadata,
  isConfirmedByTokenReview,
  readServiceAccount,
  type ServiceAccount,
} from './service-account.ts';

/** What a JWT is checked against. */
interface AccountCheck {
  readonly role: Role;
  readonly access: ClusterAccess;
  readonly now: Date;
}

/** Who logs in, and under which name the service knows them. */
export interface CheckedAccount {
  readonly account: ServiceAccount;
  readonly alias: string;
  /** Metadata from the account's annotations. */
  readonly annotated: Readonly<Record<string, string>>;
}

const DENIED: Refusal = { status: 403, text: 'permission denied' };

const SIGNATURE_REFUSALS: Readonly<Record<Exclude<SignatureVerdict, 'good'>, Refusal>> = {
  forged: DENIED,
  unexpected: refusal(
    403,
    'invalid algorithm (alg) header parameter: token signed with unexpected algorithm',
  ),
  unsigned: refusal(403, 'invalid algorithm (alg) header parameter: token must be signed'),
};

/** All checks of a JWT, in order. */
export async function checkAccount(jwt: string, check: AccountCheck): Promise<CheckedAccount | Refusal> {
  const { role, access, now } = check;
  const parsed = parseJwt(jwt, access.pemKeys.length > 0);
  if (parsed === undefined) return DENIED;
  const verdict = verifySignature(parsed, access.pemKeys, access.keyRules);
  if (verdict !== 'good') return SIGNATURE_REFUSALS[verdict];
  const expected = { issuer: access.issuer, audience: role.audience };
  const problem = claimsProblem(parsed.claims, expected, now.getTime());
  if (problem !== undefined) return refusal(403, problem);
  const read = readServiceAccount(parsed.claims, CLAIMS_ROOT);
  if (!read.ok) return refusal(500, read.problem);
  const account = read.value;
  if (!matchesPattern(role.bound_service_account_names, account.name))
    return refusal(403, 'service account name not authorized');
  const outside = await namespaceRefusal(account.namespace, check);
  if (outside !== undefined) return outside;
  const alias = aliasName(account, role.alias_name_source);
  if (!alias.ok) return refusal(500, alias.problem);
  const bearer = access.reviewer || jwt;
  const review = { jwt, account, audience: role.audience, bearer, path: REVIEW_PATH };
  if (!(await isConfirmedByTokenReview(access.api, review))) return DENIED;
  const prefix = access.annotationPrefix;
  if (prefix === undefined) return { account, alias: alias.value, annotated: {} };
  const annotated = await annotatedMetadata(access.api, { account, bearer, prefix });
  return isRefusal(annotated) ? annotated : { account, alias: alias.value, annotated: annotated.metadata };
}

/** What the cluster's own claims begin with; the cluster is the same, whatever the service is called. */
const CLAIMS_ROOT = 'kubernetes.io';

const REVIEW_PATH = '/apis/authentication.k8s.io/v1/tokenreviews';

async function namespaceRefusal(
  namespace: string,
  { role, access }: AccountCheck,
): Promise<Refusal | undefined> {
  if (matchesPattern(role.bound_service_account_namespaces ?? [], namespace)) return undefined;
  const selector = role.bound_service_account_namespace_selector;
  const verdict =
    selector === ''
      ? { admitted: false }
      : await matchNamespace(access.api, { namespace, selector, bearer: access.reviewer });
  if (verdict.admitted) return undefined;
  const { because } = verdict;
  return refusal(403, `namespace not authorized${because === undefined ? '' : ` err=${because}`}`);
}

function refusal(status: number, text: string): Refusal {
  return { status, text };
}

// Whether a name is among those that a role admits: entries are names, with `*` for any text (wire/cluster-auth 1.8).

/** Whether one of the patterns matches. `*` is the only wildcard, case matters, and an empty list matches nothing. */
export function matchesPattern(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => fits(pattern.split('*'), name));
}

/** Piece by piece, leftmost first: each piece reads each letter at most once, for any number of stars. */
function fits(pieces: readonly string[], name: string): boolean {
  const [first = '', ...rest] = pieces;
  const last = rest.pop();
  if (last === undefined) return name === first;
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const piece of rest) {
    const found = name.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}

// Whether a role's selector admits a namespace of the cluster, by its labels (wire/cluster-auth 2.5).
// Invariants: the namespace comes from a JWT that is not confirmed yet, so it is never more than one segment of the
// path; the bearer of the call is in no text that a caller sees.

interface NamespaceQuestion {
  readonly namespace: string;
  readonly selector: string;
  /** Who asks; empty where neither the config nor the pod has a token, and a login's own JWT does not do. */
  readonly bearer: string;
}

/** `because` is the end of the refusal, where the question could not be asked or answered. */
type NamespaceVerdict = { readonly admitted: boolean; readonly because?: string };

/** Asks the cluster for the namespace's labels, and compares. */
async function matchNamespace(api: ClusterApi, question: NamespaceQuestion): Promise<NamespaceVerdict> {
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

/** The message without the bearer token, its parts, and their base64, at any offset of a text. */
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

/** The base64 characters that only `text` determines, with `offset` bytes (modulo 3) before it and any after it. */
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
