/** Reads pull requests of GitHub. Source: wire/code-hosts 6, 8, 9, 10, 11, 13 */
import { quoted } from '../../model/quoted.ts';
import { commentsIn, githubComments } from './comments.ts';
import {
  coAuthorsIn,
  type Comment,
  type CommitPerson,
  isSameName,
  type LabelEvent,
  type Permission,
  type PullRequest,
  type PullRequestCommit,
  type PullRequestCommits,
  type PullRequests,
  type PushedBranch,
  type Pushes,
  type Review,
  type RunApprovals,
  type RunDecision,
  type RunPlace,
} from './pull-requests.ts';
import type { Item, Reading } from './reading.ts';

/** @param repository `owner/name` */
export function githubPullRequests(reading: Reading, repository: string): PullRequests {
  const root = `/repos/${repository.split('/').map(encodeURIComponent).join('/')}`;
  const [owner = '', name = ''] = repository.split('/');
  const bots = new Map<string, boolean>();
  // Also remembers whether the account is a bot.
  const userIn = (item: Item, name: string): string | undefined => {
    const user = item.mayItem(name);
    if (user === undefined) return undefined;
    const login = user.text('login');
    bots.set(login.toLowerCase(), isBotAccount(login, user.mayText('type')));
    return login;
  };
  return {
    async ofCommit(commit, base) {
      const all = await reading.list(`${root}/commits/${commit}/pulls`);
      return all
        .map((item) => pullRequestIn(item, userIn))
        .filter((one) => isSameName(one.to, repository) && one.merged !== undefined && one.base === base)
        .sort((one, other) => one.number - other.number);
    },
    async get(number) {
      const item = await reading.get(`${root}/pulls/${number}`);
      if (item.number('number') !== number) throw item.fail('it is another pull request');
      return pullRequestIn(item, userIn);
    },
    commits: (pullRequest) => readGithubCommits(reading, repository, pullRequest),
    commit: (id) => readGithubCommit(reading, repository, id),
    pushes: (branch, commits) => readGithubPushes(reading, branch, commits),
    async reviews({ number }) {
      const items = await reading.list(`${root}/pulls/${number}/reviews`);
      return items.flatMap((item) => reviewIn(item, userIn) ?? []);
    },
    comments: ({ number }): Promise<readonly Comment[]> =>
      commentsIn(reading, githubComments(repository, number)),
    self: () => reading.self('/user', 'login'),
    async labels({ number }) {
      const now = await reading.list(`${root}/issues/${number}/labels`);
      const events = await reading.list(`${root}/issues/${number}/events`);
      return {
        now: now.map((item) => item.text('name')),
        events: events
          .flatMap((item) => labelEventIn(item, userIn) ?? [])
          .sort((one, other) => Date.parse(one.at) - Date.parse(other.at) || one.id - other.id),
      };
    },
    async labelChangedAt(label) {
      const data = await reading.query(
        'query($owner: String!, $name: String!, $label: String!) { repository(owner: $owner, name: $name) { label(name: $label) { createdAt updatedAt } } }',
        { owner, name, label },
      );
      const found = data.item('repository').mayItem('label');
      return found?.mayTime('updatedAt') ?? found?.mayTime('createdAt');
    },
    async isBot(user) {
      const known = bots.get(user.toLowerCase());
      if (known !== undefined) return known;
      return isBotAccount(user, (await reading.get(`/users/${encodeURIComponent(user)}`)).text('type'));
    },
    async permission(user) {
      const item = await reading.get(`${root}/collaborators/${encodeURIComponent(user)}/permission`);
      const permission = item.text('permission');
      if (!isPermission(permission)) throw item.fail(`the permission ${quoted(permission)} is not known`);
      return permission;
    },
    keys: (user) => readKeys(reading, `/users/${encodeURIComponent(user)}`),
    isProtected: (branch) => readProtection(reading, root, `branches/${encodeURIComponent(branch)}`),
    async isMember(team, user) {
      const [organization = '', slug = ''] = team.split('/');
      const names = [organization, slug, user].map(encodeURIComponent);
      const item = await reading.find(`/orgs/${names[0]}/teams/${names[1]}/memberships/${names[2]}`);
      return item?.text('state') === 'active';
    },
    runApprovals: (run) => readRunApprovals(reading, root, run, userIn),
  };
}

type UserIn = (item: Item, name: string) => string | undefined;

/** Only the type `User` is a person: `Organization`, `Mannequin` and all others are not. */
function isBotAccount(login: string, type: string | undefined): boolean {
  return type !== 'User' || login.endsWith('[bot]');
}

function isPermission(text: string): text is Permission {
  return ['none', 'read', 'write', 'admin'].includes(text);
}

/** GitHub shows this account in place of every deleted one. */
const ghost = 'ghost';

function pullRequestIn(item: Item, userIn: UserIn): PullRequest {
  const [head, base] = [item.item('head'), item.item('base')];
  const url = item.mayText('html_url');
  const from = head.mayItem('repo')?.text('full_name');
  const mergedAt = item.mayTime('merged_at');
  return {
    number: item.number('number'),
    author: userIn(item, 'user') ?? ghost,
    head: head.text('sha'),
    branch: head.text('ref'),
    base: base.text('ref'),
    to: base.item('repo').text('full_name'),
    createdAt: item.time('created_at'),
    ...(url === undefined ? {} : { url }),
    ...(from === undefined ? {} : { from }),
    ...(mergedAt === undefined ? {} : { merged: { commit: item.text('merge_commit_sha'), at: mergedAt } }),
  };
}

async function readKeys(reading: Reading, path: string): Promise<string[]> {
  const found = [
    await reading.listIfThere(`${path}/keys`),
    await reading.listIfThere(`${path}/ssh_signing_keys`),
  ];
  return found.flat().flatMap((item) => item.text('key').split(' ')[1] ?? []);
}

/** @returns undefined if there is no such branch */
async function readProtection(reading: Reading, root: string, path: string): Promise<boolean | undefined> {
  const branch = await reading.find(`${root}/${path}`);
  if (branch === undefined || branch.flag('protected')) return branch && true;
  // The flag is about branch protection rules only, not about rulesets. A rule about creation does not protect an existing branch.
  const rules = await reading.list(`${root}/rules/${path}`);
  return rules.some((rule) => rule.text('type') !== 'creation');
}

/** @returns undefined for a review without a decision */
function reviewIn(item: Item, userIn: UserIn): Review | undefined {
  const state = item.text('state');
  if (state === 'COMMENTED' || state === 'PENDING') return undefined;
  const decided = statesWithDecision[state];
  if (decided === undefined) throw item.fail(`the state ${quoted(state)} of a review is not known`);
  const by = userIn(item, 'user');
  const commit = item.mayText('commit_id');
  return {
    state: decided,
    at: item.time('submitted_at'),
    ...(by === undefined ? {} : { by }),
    ...(commit === undefined ? { why: 'GitHub no longer says which commit it reviewed' } : { commit }),
  };
}

const statesWithDecision: Readonly<Record<string, Review['state']>> = {
  APPROVED: 'approved',
  CHANGES_REQUESTED: 'changes-requested',
  DISMISSED: 'dismissed',
};

function labelEventIn(item: Item, userIn: UserIn): (LabelEvent & { readonly id: number }) | undefined {
  const event = item.text('event');
  if (event !== 'labeled' && event !== 'unlabeled') return undefined;
  const by = userIn(item, 'actor');
  return {
    id: item.number('id'),
    label: item.item('label').text('name'),
    action: event === 'labeled' ? 'added' : 'removed',
    at: item.time('created_at'),
    ...(by === undefined ? {} : { by }),
  };
}

async function readRunApprovals(
  reading: Reading,
  root: string,
  { id, environment }: RunPlace,
  userIn: UserIn,
): Promise<RunApprovals> {
  const run = await reading.get(`${root}/actions/runs/${id}`);
  if (run.number('id') !== id) throw run.fail('it is another run');
  const { items } = await reading.page(`${root}/actions/runs/${id}/approvals`);
  const concerned = items.filter((item) =>
    item
      .items('environments')
      .some((one) => environment === undefined || isSameName(one.text('name'), environment)),
  );
  return {
    commit: run.text('head_sha'),
    startedBy: [run.item('actor').text('login'), run.item('triggering_actor').text('login')],
    attempt: run.number('run_attempt'),
    decisions: concerned.flatMap((item): RunDecision[] => {
      const state = item.text('state');
      if (state === 'pending') return [];
      if (state !== 'approved' && state !== 'rejected')
        throw item.fail(`the state ${quoted(state)} of an approval is not known`);
      return [{ by: userIn(item, 'user') ?? ghost, state }];
    }),
  };
}

// The people of a commit of GitHub, as the commit names them. Source: wire/code-hosts 6

/** GitHub lists at most this number of commits of a pull request. */
const maxCommits = 250;

/** @param repository `owner/name` */
async function readGithubCommits(
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
async function readGithubCommit(
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
  // The REST API does not say which accounts the addresses of co-authors belong to.
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
    // An empty object when no account of GitHub has that address.
    const login = item.mayItem(name)?.mayText('login');
    return { ...(email === undefined ? {} : { email }), ...(login === undefined ? {} : { login }) };
  };
  const [author, committer] = [personIn('author'), personIn('committer')];
  return { commit: item.text('sha'), author, committer, coAuthors: [] };
}

// Who pushed the commits of a pull request of GitHub, from the activity log of its repository. Source: wire/code-hosts 7

/** The maximal number of pages of the log, with a hundred pushes each. */
const maxPages = 50;

/** The statuses for a ref that does not exist, or no longer does. */
const noSuchRef = [404, 422];

/** Reads the log of the branch. If it lacks the head, as after the branch was deleted, reads the log of the repository. */
async function readGithubPushes(
  reading: Reading,
  { from, branch, head }: PushedBranch,
  commits: readonly string[],
): Promise<Pushes> {
  if (from === undefined) return { is: 'unknown', why: 'the repository of its head branch was deleted' };
  const root = `/repos/${from.split('/').map(encodeURIComponent).join('/')}`;
  const ref = `refs/heads/${branch}`;
  const wanted = new Set([...commits, head]);
  for (const filter of [`&ref=${encodeURIComponent(ref)}`, '']) {
    const path = `${root}/activity?direction=desc&per_page=100${filter}`;
    const found = await readLog(
      reading,
      path,
      (item) => item.text('ref') === ref && wanted.has(item.text('after')),
    );
    if (found === undefined)
      return {
        is: 'unknown',
        why: `GitHub lists more than ${maxPages * 100} pushes, which are too many to read`,
      };
    if (!found.some((item) => item.text('after') === head)) continue;
    const by = found.map((item) => item.mayItem('actor')?.text('login'));
    if (by.includes(undefined)) return { is: 'unknown', why: 'an account that pushed to it was deleted' };
    return { is: 'known', by: [...new Set(by.flatMap((login) => login ?? []))] };
  }
  return { is: 'unknown', why: `GitHub does not say who pushed ${head}` };
}

/** @returns undefined when there are too many pages */
async function readLog(
  reading: Reading,
  path: string,
  concerns: (item: Item) => boolean,
): Promise<readonly Item[] | undefined> {
  const found: Item[] = [];
  let cursor = '';
  for (let read = 0; read < maxPages; read += 1) {
    const { items, next } = await reading.page(
      cursor === '' ? path : `${path}&after=${encodeURIComponent(cursor)}`,
      noSuchRef,
    );
    found.push(...items.filter(concerns));
    if (next === undefined) return found;
    cursor = next;
  }
  return undefined;
}
