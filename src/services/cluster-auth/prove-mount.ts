/**
 * Whether a mount is of this method at all (rule 38). Other methods answer the same paths, and their roles look like ours
 * from afar: nothing may be created, changed or deleted there. The type is asked first, once a session; where nobody tells
 * it, the form of what the mount answers decides.
 */
import { isJsonObject } from '../../model/json/json.ts';
import type { Session } from '../../model/kind/kind.ts';
import { type Answer, describeAnswer } from '../../model/wire.ts';
import { mountName, mountPath, mountWords } from './mount.ts';
import { isUnsupportedPath, type MountAnswer, mountAnswer } from './mount-answer.ts';

export type MountType =
  | { readonly is: 'this' }
  /** neither question was answered with a type: the form of the answers decides */
  | { readonly is: 'untold' }
  /** of another type, or out of reach: nothing more is to be asked of it */
  | { readonly is: 'unread'; readonly why: string };

/** The path of the config below every mount of this method. */
export const CONFIG_PATH = 'config';

/** The spec's own name for the type; a dialect may have another. */
const SPECIFIED_TYPE = 'cluster';

/** @throws WireError when the service cannot be reached */
export function askMountType(session: Session): Promise<MountType> {
  return session.once('cluster-auth/mount-type', () => askType(session));
}

/** Read once a session, whoever wants to know what is in it. @throws WireError when the service cannot be reached */
export function readConfig(session: Session): Promise<MountAnswer> {
  return session.once('cluster-auth/config', async () =>
    mountAnswer(session, await session.reader.get(mountPath(session, CONFIG_PATH))),
  );
}

/** What the answer to a read of the config says about the method of its mount. */
export type ConfigVerdict =
  | { readonly is: 'proof' }
  /** another method's config, or a method without one */
  | { readonly is: 'another'; readonly why: string }
  /** it could not be read, which says nothing about the method */
  | { readonly is: 'silent'; readonly why: string };

/** A mount that was never configured is one of this method: its 404 has no words (wire/cluster-auth 2.3). */
export function judgeConfig(session: Session, answer: MountAnswer): ConfigVerdict {
  switch (answer.is) {
    case 'none':
      return { is: 'proof' };
    case 'data':
      return typeof answer.data['cluster_host'] === 'string'
        ? { is: 'proof' }
        : { is: 'another', why: anotherMethod(session, 'its config has no host of a cluster') };
    case 'unread':
      return isUnsupportedPath(answer)
        ? { is: 'another', why: anotherMethod(session, describeAnswer(answer.answer)) }
        : { is: 'silent', why: answer.why };
  }
}

/** For a mount that no role has proved: why nothing may be built on it; undefined when its config proves it. */
export async function whyConfigProvesNothing(session: Session): Promise<string | undefined> {
  const verdict = judgeConfig(session, await readConfig(session));
  if (verdict.is === 'proof') return undefined;
  return verdict.is === 'another'
    ? verdict.why
    : `nobody can tell whether ${mountWords(session)} serves cluster authentication: its type is not told, no role shows it, and ${verdict.why}`;
}

/** @param sign what gives it away */
export function anotherMethod(session: Session, sign: string): string {
  return `${mountWords(session)} serves another method than cluster authentication (${sign}): correct the target's "mount"`;
}

async function askType(session: Session): Promise<MountType> {
  const mount = mountName(session.target, session.dialect);
  // The first tells an administrator, the second whoever has any right below the mount (wire/cluster-auth 2.9).
  for (const question of [`/sys/auth/${encoded(mount)}`, `/sys/internal/ui/mounts/auth/${encoded(mount)}`]) {
    const answer = await session.reader.get(question);
    if (isOutOfReach(answer))
      return { is: 'unread', why: `${mountWords(session)} could not be read: ${describeAnswer(answer)}` };
    const type = typeIn(answer, mount);
    if (type !== undefined) return judgeType(session, type);
  }
  return { is: 'untold' };
}

function judgeType(session: Session, type: string): MountType {
  const wanted = session.dialect.mountType ?? SPECIFIED_TYPE;
  if (type === wanted) return { is: 'this' };
  const why = `${mountWords(session)} is of type "${type}", and cluster authentication is of type "${wanted}": correct the target's "mount"`;
  return { is: 'unread', why };
}

/** A refusal of the question says nothing about the mount; a service that is down, or is not the service, ends the look. */
function isOutOfReach({ status }: Answer): boolean {
  return (
    status >= 500 || status === 401 || status === 408 || status === 429 || (status >= 300 && status < 400)
  );
}

/** Undefined where the answer tells no type, or that of a mount above, which holds whatever has no mount of its own. */
function typeIn({ status, body }: Answer, mount: string): string | undefined {
  const data = status === 200 && isJsonObject(body) ? body['data'] : undefined;
  if (!isJsonObject(data)) return undefined;
  const { type, path } = data;
  const isOther = typeof path === 'string' && withoutEnds(path) !== mount;
  return typeof type === 'string' && !isOther ? type : undefined;
}

/** `auth/team/cluster/` and `team/cluster/` are `team/cluster`. */
function withoutEnds(path: string): string {
  return path.replace(/\/+$/, '').replace(/^auth\//, '');
}

function encoded(mount: string): string {
  return mount.split('/').map(encodeURIComponent).join('/');
}
