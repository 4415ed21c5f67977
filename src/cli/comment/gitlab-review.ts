/**
 * A merge request of GitLab, and its notes.
 * Source: wire/code-hosts 1, 2
 */
import { memberOf } from '../../model/json/json.ts';
import type { ReviewApi } from './review.ts';

export const gitlabHeaders = { accept: 'application/json' };

/** @param project its id, or its path with slashes */
export function gitlabReview(project: string, number: number): ReviewApi {
  const root = `/projects/${encodeURIComponent(project)}/merge_requests/${number}`;
  return {
    named: 'GitLab',
    listPath: (page) => `${root}/notes?sort=asc&order_by=created_at&per_page=100&page=${page}`,
    createPath: `${root}/notes`,
    commentPath: (id) => `${root}/notes/${id}`,
    updateMethod: 'PUT',
    reviewPath: root,
    headOf: ({ sha }) => sha,
    authorOf: ({ author, system }) => (system === true ? undefined : memberOf(author, 'username')),
    isApp: () => false,
    selfPath: '/user',
    selfOf: ({ username }) => username,
    lacksRights: (status) => status === 401 || status === 403 || status === 404,
  };
}
