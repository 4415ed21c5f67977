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

/** The path of GraphQL, complete: beside that of the REST API on a server of one's own, and below it at github.com. */
export function graphqlPath(url: string): string {
  const path = new URL(url).pathname.replace(/\/+$/, '');
  return path.endsWith('/v3') ? `${path.slice(0, -'/v3'.length)}/graphql` : `${path}/graphql`;
}

/** @param repository `owner/name` */
export function githubReview(url: string, repository: string, number: number): ReviewApi {
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
    // The token of a job is no user's: "Resource not accessible by integration" is the answer to the first question.
    whoAmI: [
      { request: { method: 'GET', path: '/user', repeatable: true }, nameIn: ({ login }) => login },
      {
        request: {
          method: 'POST',
          path: graphqlPath(url),
          body: { query: 'query { viewer { login } }' },
          repeatable: true,
        },
        nameIn: ({ data }) => memberOf(memberOf(data, 'viewer'), 'login'),
      },
    ],
    lacksRights: (status) => status === 403 || status === 404,
  };
}
