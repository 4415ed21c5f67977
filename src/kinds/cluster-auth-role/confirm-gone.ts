/**
 * A role that was listed and is not to be read: deleted in between, or a service that contradicts itself. A second list
 * decides, one for the whole read: what it still names was not looked at, and that is not absent (rules 8, 39).
 */
import type { Session } from '../../model/kind/kind.ts';
import { listRoles } from './list-roles.ts';

/** @returns of those that are not certainly gone, why nobody knows how they stand */
export async function notGone(
  session: Session,
  missing: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (missing.length === 0) return new Map();
  const { keys, unread } = await listRoles(session);
  const why = keys === undefined ? `nobody could list the roles once more: ${unread}` : contradicted;
  const left = keys === undefined ? missing : missing.filter((name) => keys.includes(name));
  return new Map(left.map((name) => [name, `role "${name}" was not read: ${why}`]));
}

const contradicted = 'it is listed, also once more, and answers that there is none';
