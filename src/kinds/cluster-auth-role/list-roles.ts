/** Lists the names of all roles of a mount, by the verb LIST or by its equivalent GET. */
import type { Session } from '../../model/kind/kind.ts';
import type { Answer } from '../../model/wire.ts';
import { mountPath } from '../../services/cluster-auth/mount.ts';
import { mountAnswer } from '../../services/cluster-auth/mount-answer.ts';

interface RoleList {
  /** in lower case, as the service stores them; undefined when they could not be listed */
  readonly keys?: readonly string[];
  /** why they could not be listed */
  readonly unread?: string;
  readonly notes: readonly string[];
}

/** The statuses with which a service or a proxy refuses an unknown verb. */
const verbRefused: ReadonlySet<number> = new Set([400, 405, 501]);

export async function listRoles(session: Session): Promise<RoleList> {
  const path = mountPath(session, 'role');
  const listed = await session.reader.list(path);
  if (!verbRefused.has(listed.status)) return rolesOf(session, listed, []);
  const note = `the verb LIST was refused (${listed.status}): roles were listed with GET`;
  return rolesOf(session, await session.reader.get(`${path}?list=true`), [note]);
}

function rolesOf(session: Session, answer: Answer, notes: readonly string[]): RoleList {
  const mounted = mountAnswer(session, answer);
  if (mounted.is === 'none') return { keys: [], notes };
  if (mounted.is === 'unread') return { unread: mounted.why, notes };
  const { keys } = mounted.data;
  return isTexts(keys) ? { keys, notes } : { unread: 'the list of roles holds no names', notes };
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
