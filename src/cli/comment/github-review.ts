/**
 * A pull request of GitHub. Its comments are those of the issue with the same number.
 * Source: wire/code-hosts 1, 2
 */
import { memberOf } from '../../model/json/json.ts';
import type { ReviewApi } from './review.ts';

export const githubHeaders = {
  accept: 'application/vnd.github+json',
  'x-github-api-version': '2022-11-28',
};

/** @param repository `owner/name` */
export function githubReview(repository: string, number: number): ReviewApi {
  const root = `/repos/${repository.split('/').map(encodeURIComponent).join('/')}`;
  const comments = `${root}/issues/${number}/comments`;
  return {
    named: 'GitHub',
    listPath: (page) => `${comments}?per_page=100&page=${page}`,
    createPath: comments,
    commentPath: (id) => `${root}/issues/comments/${id}`,
    updateMethod: 'PATCH',
    reviewPath: `${root}/pulls/${number}`,
    headOf: ({ head }) => memberOf(head, 'sha'),
    authorOf: ({ user }) => memberOf(user, 'login'),
    isApp: ({ user }) => memberOf(user, 'type') === 'Bot',
    // The token of an app, and of a job, is no user's: "Resource not accessible by integration" is the answer.
    selfPath: '/user',
    selfOf: ({ login }) => login,
    lacksRights: (status) => status === 403 || status === 404,
  };
}
