/**
 * Whether a JWT lets an account log in with a role (wire/cluster-auth 3): signature, claims, names, namespace, and last the
 * token review. Each refusal has the text of the real service.
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

/** The account that logs in, and its alias name in the service. */
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

/** Makes all checks of a JWT, in the order of the real service. @returns the account, or the first refusal */
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

/** The prefix of the cluster's own claims. It is the same in all dialects. */
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
  const { reason } = verdict;
  return refusal(403, `namespace not authorized${reason === undefined ? '' : ` err=${reason}`}`);
}

function refusal(status: number, text: string): Refusal {
  return { status, text };
}

// Whether a role admits a name: its entries are names, in which `*` matches any text (wire/cluster-auth 1.8).

/** Whether one of the patterns matches. `*` is the only wildcard, case matters, and an empty list matches nothing. */
export function matchesPattern(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => fits(pattern.split('*'), name));
}

/** Takes the leftmost place of each piece and never goes back to another one, so that many stars do not take exponential time. */
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
// Invariants: the namespace comes from a JWT that is not confirmed yet, so it is escaped as exactly one segment of the path;
// no error shows the bearer token of the call.

interface NamespaceCheck {
  readonly namespace: string;
  readonly selector: string;
  /** The token of the call; empty if neither the config nor the pod has one. The JWT of the login is not used here. */
  readonly bearer: string;
}

/** `reason` is the end of the refusal's text, when the labels could not be read or compared. */
type NamespaceVerdict = { readonly admitted: boolean; readonly reason?: string };

/** Reads the namespace's labels from the cluster, and compares them. */
async function matchNamespace(api: ClusterApi, check: NamespaceCheck): Promise<NamespaceVerdict> {
  const { namespace, selector, bearer } = check;
  if (bearer === '')
    return refused(
      'namespace lookup failed: TokenReviewer JWT needs to be configured to use namespace selectors',
    );
  // No namespace has such a name, and in the path it would lead elsewhere.
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
  const [labels, wanted] = [labelsOf(read.value), Object.entries(matchLabelsIn(selector) ?? UNMATCHABLE)];
  const impossible = wanted.flatMap(([label, value]) => labelProblem(label, value) ?? []);
  if (impossible[0] !== undefined) return refused(impossible[0]);
  return { admitted: wanted.every(([label, value]) => labels[label] === value) };
}

/** Labels that no namespace has. They replace a stored selector that cannot be read. */
const UNMATCHABLE = { '': '' };

const NAME = /^(?=.{1,63}$)[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const DOMAIN = /^(?=.{1,253}$)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;

/** Why no object of a cluster can have this label; undefined for a valid label. */
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

/** The message without the bearer token, its parts, and their base64 forms at any offset. */
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

/** Shorter parts may also occur in ordinary words. */
const SHORTEST_PART = 8;

/** The base64 characters that depend only on `text`, when `offset` bytes (modulo 3) come before it and any bytes after it. */
function inBase64(text: string, offset: number): string {
  const padded = Buffer.concat([Buffer.alloc(offset), Buffer.from(text)]);
  const whole = Math.floor((padded.length * 8) / 6);
  return padded.toString('base64').slice(Math.ceil((offset * 8) / 6), whole);
}

function refused(reason: string): NamespaceVerdict {
  return { admitted: false, reason };
}

type Json = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string };

/** The parsed JSON. The problem has the text of the real service, if that text depends only on the first character. */
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
