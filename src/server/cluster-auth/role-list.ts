/**
 * The names of a mount's roles (wire/cluster-auth 5.1, 2.8).
 * Invariant: names in lower case, in lexicographic order; a list of nothing is a 404 without a text, as everywhere in
 * this service.
 */
import { answerData, NOT_FOUND } from './answer.ts';
import type { MountHandler } from './mount-call.ts';

/** `LIST role` and `GET role?list=true`: 200 with `keys`, or 404 when there is no role. */
export const listRoles: MountHandler = (call) => {
  const rows = call.services.database.all<{ name: string }>(
    'SELECT name FROM cluster_auth_roles WHERE mount = :mount ORDER BY name',
    { mount: call.mount },
  );
  return rows.length === 0 ? NOT_FOUND : answerData({ keys: rows.map((row) => row.name) });
};
