/** Who made the commits of a repository of GitHub, as the commits say. Source: wire/code-hosts 6 */
import {
  coAuthorsIn,
  type CommitPerson,
  type PullRequest,
  type PullRequestCommit,
  type PullRequestCommits,
} from './pull-requests.ts';
import type { Item, Reading } from './reading.ts';

/** GitHub lists no more commits of a pull request than these. */
const maxCommits = 250;

/** @param repository `owner/name` */
export async function readGithubCommits(
  reading: Reading,
  repository: string,
  { number, head }: PullRequest,
): Promise<PullRequestCommits> {
  const items = await reading.list(`${rootOf(repository)}/pulls/${number}/commits`);
  const commits: PullRequestCommit[] = [];
  for (const item of items) commits.push(await withCoAuthors(item, reading, repository));
  if (commits.length >= maxCommits)
    return {
      commits,
      why: `GitHub lists only ${maxCommits} commits of a pull request, and it has as many or more`,
    };
  return commits.some(({ commit }) => commit === head)
    ? { commits }
    : { commits, why: `its head ${head} is not among its commits` };
}

/** @param repository `owner/name` */
export async function readGithubCommit(
  reading: Reading,
  repository: string,
  id: string,
): Promise<PullRequestCommit> {
  const item = await reading.get(`${rootOf(repository)}/commits/${encodeURIComponent(id)}`);
  return withCoAuthors(item, reading, repository);
}

function rootOf(repository: string): string {
  return `/repos/${repository.split('/').map(encodeURIComponent).join('/')}`;
}

async function withCoAuthors(item: Item, reading: Reading, repository: string): Promise<PullRequestCommit> {
  const commit = commitIn(item);
  const mails = coAuthorsIn(item.item('commit').mayText('message') ?? '');
  if (mails.length === 0) return commit;
  const [owner = '', name = ''] = repository.split('/');
  // REST does not say who they are.
  const data = await reading.query(
    'query($owner: String!, $name: String!, $oid: GitObjectID!) { repository(owner: $owner, name: $name) { object(oid: $oid) { ... on Commit { authors(first: 100) { nodes { user { login } } } } } } }',
    { owner, name, oid: commit.commit },
  );
  const authors = data.item('repository').item('object').item('authors').items('nodes');
  const logins = authors.flatMap((one) => one.mayItem('user')?.text('login') ?? []);
  return {
    ...commit,
    coAuthors: [...mails.map((email) => ({ email })), ...logins.map((login) => ({ login }))],
  };
}

function commitIn(item: Item): PullRequestCommit {
  const commit = item.item('commit');
  const personIn = (name: string): CommitPerson => {
    const email = commit.mayItem(name)?.mayText('email');
    // It is an empty object where GitHub knows nobody with that address.
    const login = item.mayItem(name)?.mayText('login');
    return { ...(email === undefined ? {} : { email }), ...(login === undefined ? {} : { login }) };
  };
  const [author, committer] = [personIn('author'), personIn('committer')];
  return { commit: item.text('sha'), author, committer, coAuthors: [] };
}
