/**
 * The mount of a target's cluster-auth method: its path, the meaning of its answers, and the check that it belongs to this method.
 * A mount that does not exist, or is of another method, is never treated as empty.
 */
import { type Answer, describeAnswer, WireError } from '../model/http.ts';
import { isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import type { Session } from '../model/kind.ts';
import { quoted } from '../model/quoted.ts';
import type { Dialect, Target } from '../model/stack.ts';
import { dialects } from './dialects.ts';
import { explainRefusal } from './transport/service-conventions.ts';

/** The specified default mount; a dialect may have another one. */
const SPECIFIED_MOUNT = 'cluster';

/** The mount without slashes at its ends; it may have slashes inside: `team/cluster`. */
export function mountName(target: Target, dialect: Dialect): string {
  return target.mount ?? dialect.defaultMount ?? SPECIFIED_MOUNT;
}

/** The mount in messages. */
export function mountText({ target, dialect }: Pick<Session, 'target' | 'dialect'>): string {
  return `the mount ${quoted(mountName(target, dialect))} of target ${quoted(target.name)}`;
}

/** Segments below the API root, not encoded: `['auth', 'cluster', 'role', 'payments-api']`. */
export function mountSegments(target: Target, dialect: Dialect, ...below: readonly string[]): string[] {
  return ['auth', ...mountName(target, dialect).split('/'), ...below];
}

/** The encoded path of a read: `/auth/cluster/role/payments-api`. */
export function mountPath({ target, dialect }: Session, ...below: readonly string[]): string {
  return `/${mountSegments(target, dialect, ...below)
    .map(encodeURIComponent)
    .join('/')}`;
}

// Interprets the answers of a mount. A 404 means "no such resource" only if its `errors` are empty; otherwise the mount does not
// exist. Treating such a mount as empty would prune everything.

export type MountAnswer =
  | { readonly is: 'data'; readonly data: JsonObject; readonly answer: Answer }
  /** no such resource: a config that was never written, an unknown role, or an empty list */
  | { readonly is: 'none' }
  | Unread;

/** An answer that is neither data nor "no such resource". */
interface Unread {
  readonly is: 'unread';
  /** a sentence for the coverage of the plan */
  readonly why: string;
  readonly answer: Answer;
}

/** Source: wire/cluster-auth 2.1 (envelope and statuses). */
export function mountAnswer(session: Session, answer: Answer): MountAnswer {
  const data = isJsonObject(answer.body) ? answer.body['data'] : undefined;
  if (answer.status === 200 && isJsonObject(data)) return { is: 'data', data, answer };
  if (answer.status === 404 && hasNoErrors(answer.body)) return { is: 'none' };
  return { is: 'unread', why: whyUnread(session, answer), answer };
}

/** The error of a failed read before a write: nothing is written without knowing the live state. */
export function unreadError({ why, answer: { method, url } }: Pick<Unread, 'why' | 'answer'>): WireError {
  return new WireError(why, { method, url, sent: false });
}

/** Whether the mount does not know the path: another method is mounted there (wire/cluster-auth 2.1). */
export function isUnsupportedPath({ answer: { status, body } }: Unread): boolean {
  return status === 404 && errorsOf(body).some((error) => String(error).includes('unsupported path'));
}

function hasNoErrors(body: Json): boolean {
  return isJsonObject(body) && Array.isArray(body['errors']) && errorsOf(body).length === 0;
}

function errorsOf(body: Json): readonly Json[] {
  const errors = isJsonObject(body) ? body['errors'] : undefined;
  return Array.isArray(errors) ? errors : [];
}

function whyUnread(session: Session, answer: Answer): string {
  const mount = mountText(session);
  const description = describeAnswer(answer);
  const refusal = explainRefusal(session.target, answer);
  if (refusal !== undefined) return `${mount} could not be read: ${refusal}`;
  if (answer.status === 403)
    return `${mount} cannot be read with this token: ${description}; ${whatToCheck(session)}`;
  if (answer.status === 404)
    return `${mount} does not exist or serves no cluster authentication: ${description}`;
  if (answer.status === 200) return `${mount} gave an answer without data: ${description}`;
  return `${mount} could not be read: ${description}`;
}

/** Names all causes of a 403: an unknown token, a token in the wrong header and a missing permission look alike (wire/cluster-auth 2.1). */
function whatToCheck({ target, dialect }: Session): string {
  const path = mountSegments(target, dialect).join('/');
  return `check that it is valid, has uses left, and may "list" and "read" below ${quoted(`${path}/`)}, and that the target's "dialect" is right (${quoted(dialect.name)} sends it as ${quoted(dialect.tokenHeader)})`;
}

// Checks that a mount belongs to this method. Mounts of other methods have the same paths and similar roles: nothing may be written
// there. First the mount's type is read, once per session. If the service does not show it, the form of the mount's answers decides.

export type MountType =
  | { readonly is: 'this' }
  /** the service does not show the type: the form of the answers decides */
  | { readonly is: 'unknown' }
  /** of another type, or unreachable: no further requests are sent to it */
  | { readonly is: 'unread'; readonly why: string };

/** The path of the config below every mount of this method. */
export const CONFIG_PATH = 'config';

/** The specified name of the type; a dialect may have another one. */
const SPECIFIED_TYPE = 'cluster';

/** @throws WireError when the service cannot be reached */
export function askMountType(session: Session): Promise<MountType> {
  return session.once('cluster-auth/mount-type', () => askType(session));
}

/** Reads the config, once per session. @throws WireError when the service cannot be reached */
export function readConfig(session: Session): Promise<MountAnswer> {
  return session.once('cluster-auth/config', async () =>
    mountAnswer(session, await session.reader.get(mountPath(session, CONFIG_PATH))),
  );
}

/** What a read of the config shows about the method of its mount. */
type ConfigVerdict =
  | { readonly is: 'proof' }
  /** another method's config, or a method without one */
  | { readonly is: 'another'; readonly why: string }
  /** it could not be read, so it shows nothing about the method */
  | { readonly is: 'unknown'; readonly why: string };

/** A mount of this method that was never configured answers 404 with empty `errors` (wire/cluster-auth 2.3). */
export function checkConfig(session: Session, answer: MountAnswer): ConfigVerdict {
  switch (answer.is) {
    case 'none':
      return { is: 'proof' };
    case 'data':
      return checkConfigData(session, answer.data);
    case 'unread':
      return isUnsupportedPath(answer)
        ? { is: 'another', why: anotherMethod(session, describeAnswer(answer.answer)) }
        : { is: 'unknown', why: answer.why };
  }
}

function checkConfigData(session: Session, data: JsonObject): ConfigVerdict {
  if (typeof data['cluster_host'] === 'string') return { is: 'proof' };
  const others = dialectsWith(
    session,
    ({ rename }) => typeof data[rename['cluster_host'] ?? ''] === 'string',
  );
  if (others === '')
    return { is: 'another', why: anotherMethod(session, 'its config has no host of a cluster') };
  const why = `the config of ${mountText(session)} uses the names of another dialect: correct the target's "dialect", which may be ${others}`;
  return { is: 'another', why };
}

/** The quoted names of the other dialects of this service that fulfil a condition; empty when none does. */
function dialectsWith({ dialect }: Session, holds: (other: Dialect) => boolean): string {
  const others = [...dialects.values()].filter(
    (other) => other.service === dialect.service && other.name !== dialect.name && holds(other),
  );
  return others.map(({ name }) => quoted(name)).join(' or ');
}

/** Why the config of a mount without roles does not prove that the mount is of this method; undefined if it does. */
export async function whyConfigIsNoProof(session: Session): Promise<string | undefined> {
  const verdict = checkConfig(session, await readConfig(session));
  if (verdict.is === 'proof') return undefined;
  return verdict.is === 'another'
    ? verdict.why
    : `could not determine whether ${mountText(session)} serves cluster authentication: the service does not show its type, it has no role, and ${verdict.why}`;
}

/** The message about a mount of another method. @param evidence what shows it, as a clause */
export function anotherMethod(session: Session, evidence: string): string {
  return `${mountText(session)} serves another method than cluster authentication (${evidence}): correct the target's "mount"`;
}

async function askType(session: Session): Promise<MountType> {
  const mount = mountName(session.target, session.dialect);
  // The first path needs an administrator's token, the second any permission below the mount (wire/cluster-auth 2.9).
  for (const path of [`/sys/auth/${encoded(mount)}`, `/sys/internal/ui/mounts/auth/${encoded(mount)}`]) {
    const answer = await session.reader.get(path);
    const refusal = explainRefusal(session.target, answer);
    if (refusal !== undefined) return { is: 'unread', why: refusal };
    if (isUnreachable(answer))
      return { is: 'unread', why: `${mountText(session)} could not be read: ${describeAnswer(answer)}` };
    const type = typeIn(answer, mount);
    if (type !== undefined) return checkType(session, type);
  }
  return { is: 'unknown' };
}

function checkType(session: Session, type: string): MountType {
  const wanted = session.dialect.mountType ?? SPECIFIED_TYPE;
  if (type === wanted) return { is: 'this' };
  const others = dialectsWith(session, ({ mountType = SPECIFIED_TYPE }) => mountType === type);
  const member = others === '' ? '"mount"' : `"dialect", which may be ${others}, or its "mount"`;
  const why = `${mountText(session)} is of type ${quoted(type)}, and cluster authentication is of type ${quoted(wanted)}: correct the target's ${member}`;
  return { is: 'unread', why };
}

/** Whether the service is unreachable or did not authenticate the request. A plain refusal (403, 404) only leaves the type unknown. */
function isUnreachable({ status }: Answer): boolean {
  return (
    status >= 500 || status === 401 || status === 408 || status === 429 || (status >= 300 && status < 400)
  );
}

/** The type of the mount in an answer; undefined if there is none, or if it is that of a mount with a shorter path. */
function typeIn({ status, body }: Answer, mount: string): string | undefined {
  const data = status === 200 && isJsonObject(body) ? body['data'] : undefined;
  if (!isJsonObject(data)) return undefined;
  const { type, path } = data;
  const isOther = typeof path === 'string' && bareMountName(path) !== mount;
  return typeof type === 'string' && !isOther ? type : undefined;
}

/** `auth/team/cluster/` and `team/cluster/` are `team/cluster`. */
function bareMountName(path: string): string {
  return path.replace(/\/+$/, '').replace(/^auth\//, '');
}

function encoded(mount: string): string {
  return mount.split('/').map(encodeURIComponent).join('/');
}
