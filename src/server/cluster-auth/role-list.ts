/**
 * The names of a mount's roles (wire/cluster-auth 5.1, 2.8).
 * Invariant: names in lower case, in lexicographic order; a list of nothing is a 404 without a text, as everywhere in
 * this service.
 */
import type { ClusterAuthDialect } from '../dialects.ts';
import { answerData, answerError, NOT_FOUND } from './answer.ts';
import type { MountHandler } from './mount-call.ts';
import { asInteger, asText, readFields } from './values/field-coercion.ts';

const PAGE_FIELDS = { after: asText, limit: asInteger } as const;

/** What a query of a list may say: where pages exist, the name after which to begin, and how many to give. */
export function listFields({ pagesLists }: ClusterAuthDialect): Partial<typeof PAGE_FIELDS> {
  return pagesLists ? PAGE_FIELDS : {};
}

/** `LIST role` and `GET role?list=true`: 200 with `keys`, or 404 when there is none. */
export const listRoles: MountHandler = ({ services, mount, body }) => {
  const sent = readFields(listFields(services.dialects.clusterAuth), body);
  if (!sent.ok) return answerError(400, sent.problem);
  const { after = '', limit = 0 } = sent.value;
  const names = services.database.all<{ name: string }>(
    `SELECT name FROM cluster_auth_roles WHERE mount = :mount AND name > :after ORDER BY name LIMIT :limit`,
    // A negative limit is none.
    { mount, after, limit: limit > 0 ? Number(limit) : -1 },
  );
  return names.length === 0 ? NOT_FOUND : answerData({ keys: names.map(({ name }) => name) });
};
