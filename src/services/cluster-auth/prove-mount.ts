/**
 * Proves that a mount belongs to this method (rule 38). Other methods answer the same paths, and their roles look similar, so
 * nothing may be created, changed or deleted there. First the mount's type is read, once per session; where the service does
 * not tell it, the form of the mount's answers decides.
 */
import { dialects } from '../../http/dialects.ts';
import { explainRefusal } from '../../http/explain-refusal.ts';
import { isJsonObject, type JsonObject } from '../../model/json/json.ts';
import type { Session } from '../../model/kind/kind.ts';
import type { Dialect } from '../../model/stack/target.ts';
import { type Answer, describeAnswer } from '../../model/wire.ts';
import { quoted } from '../../model/quoted.ts';
import { mountName, mountPath, mountText } from './mount.ts';
import { isUnsupportedPath, type MountAnswer, mountAnswer } from './mount-answer.ts';

export type MountType =
  | { readonly is: 'this' }
  /** the service does not tell the type: the form of the answers decides */
  | { readonly is: 'unknown' }
  /** of another type, or unreachable: no more requests are sent to it */
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

/** What the answer to a read of the config proves about the method of its mount. */
type ConfigVerdict =
  | { readonly is: 'proof' }
  /** another method's config, or a method without one */
  | { readonly is: 'another'; readonly why: string }
  /** it could not be read, which proves nothing about the method */
  | { readonly is: 'silent'; readonly why: string };

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
        : { is: 'silent', why: answer.why };
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
  const why = `the config of ${mountText(session)} is in the words of another dialect: correct the target's "dialect", which may be ${others}`;
  return { is: 'another', why };
}

/** The names of other dialects of this service, quoted, for which something holds; empty when there is none. */
function dialectsWith({ dialect }: Session, holds: (other: Dialect) => boolean): string {
  const others = [...dialects.values()].filter(
    (other) => other.service === dialect.service && other.name !== dialect.name && holds(other),
  );
  return others.map(({ name }) => quoted(name)).join(' or ');
}

/** For a mount that no role proves: why its config does not prove it either; undefined when it does. */
export async function whyConfigIsNoProof(session: Session): Promise<string | undefined> {
  const verdict = checkConfig(session, await readConfig(session));
  if (verdict.is === 'proof') return undefined;
  return verdict.is === 'another'
    ? verdict.why
    : `nobody can tell whether ${mountText(session)} serves cluster authentication: its type is not told, no role shows it, and ${verdict.why}`;
}

/** @param sign the fact that shows it */
export function anotherMethod(session: Session, sign: string): string {
  return `${mountText(session)} serves another method than cluster authentication (${sign}): correct the target's "mount"`;
}

async function askType(session: Session): Promise<MountType> {
  const mount = mountName(session.target, session.dialect);
  // The first path needs an administrator's token, the second any right below the mount (wire/cluster-auth 2.9).
  for (const question of [`/sys/auth/${encoded(mount)}`, `/sys/internal/ui/mounts/auth/${encoded(mount)}`]) {
    const answer = await session.reader.get(question);
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

/** Whether the service is unreachable or not authenticated to. A plain refusal (403, 404) only leaves the type unknown. */
function isUnreachable({ status }: Answer): boolean {
  return (
    status >= 500 || status === 401 || status === 408 || status === 429 || (status >= 300 && status < 400)
  );
}

/** Undefined where the answer holds no type, or the type of a mount with a shorter path. */
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
