/** Reads merge requests of GitLab. Source: wire/code-hosts 6, 8, 9, 10, 11, 13 */
import { quoted } from '../../model/quoted.ts';
import { commentsIn, gitlabComments } from './comments.ts';
import {
  coAuthorsIn,
  type CommitPerson,
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
  type RunPlace,
} from './pull-requests.ts';
import type { Item, Reading } from './reading.ts';

/** @param project its id, or its path with slashes */
export function gitlabPullRequests(reading: Reading, project: string): PullRequests {
  const root = `/projects/${encodeURIComponent(project)}`;
  const pathOf = ({ number }: Pick<PullRequest, 'number'>) => `${root}/merge_requests/${number}`;
  const users = openUsers(reading);
  return {
    async ofCommit(commit, base) {
      const all = await reading.list(`${root}/repository/commits/${commit}/merge_requests`);
      return all
        .map((item) => mergeRequestIn(item))
        .filter((one) => one.merged !== undefined && one.base === base)
        .sort((one, other) => one.number - other.number);
    },
    async get(number) {
      const item = await reading.get(pathOf({ number }));
      if (item.number('iid') !== number) throw item.fail('it is another merge request');
      return mergeRequestIn(item);
    },
    async commits(pullRequest) {
      return commitsIn(await reading.list(`${pathOf(pullRequest)}/commits`), pullRequest.head);
    },
    commit: async (id) => commitIn(await reading.get(`${root}/repository/commits/${encodeURIComponent(id)}`)),
    pushes: (branch, commits) => readPushes(reading, branch, commits),
    reviews: (pullRequest) => readApprovals(reading, pathOf(pullRequest), pullRequest.head, users),
    comments: ({ number }) => commentsIn(reading, gitlabComments(project, number)),
    self: () => reading.self('/user', 'username'),
    async labels(pullRequest) {
      const now = (await reading.get(pathOf(pullRequest))).texts('labels');
      const events = await reading.list(`${pathOf(pullRequest)}/resource_label_events`);
      return {
        now,
        events: events
          .flatMap((item) => labelEventIn(item) ?? [])
          .sort((one, other) => Date.parse(one.at) - Date.parse(other.at) || one.id - other.id),
      };
    },
    async labelChangedAt(label) {
      const path = (await reading.get(root)).text('path_with_namespace');
      const data = await reading.query(
        'query($path: ID!, $label: String!) { project(fullPath: $path) { label(title: $label) { updatedAt } } }',
        { path, label },
      );
      return data.item('project').mayItem('label')?.mayTime('updatedAt');
    },
    async isBot(user) {
      const id = await users.idOf(user);
      return id === undefined || (await reading.get(`/users/${id}`)).flag('bot');
    },
    async permission(user) {
      return permissionOf(await memberIn(reading, users, { of: `${root}/members/all`, user }));
    },
    async keys(user) {
      const id = await users.idOf(user);
      const found = id === undefined ? [] : await reading.listIfThere(`/users/${id}/keys`);
      return found.flatMap((item) => item.text('key').split(' ')[1] ?? []);
    },
    isProtected: async (branch) =>
      (await reading.find(`${root}/repository/branches/${encodeURIComponent(branch)}`))?.flag('protected'),
    async isMember(team, user) {
      const of = `/groups/${encodeURIComponent(team)}/members`;
      return permissionOf(await memberIn(reading, users, { of, user })) !== 'none';
    },
    runApprovals: (run) => readDeployment(reading, root, run),
  };
}

function mergeRequestIn(item: Item): PullRequest {
  const head = item.text('sha');
  const url = item.mayText('web_url');
  const from = item.value['source_project_id'];
  // A fast-forward merge has no commit of its own.
  const merge = item.mayText('merge_commit_sha') ?? item.mayText('squash_commit_sha') ?? head;
  return {
    number: item.number('iid'),
    author: item.item('author').text('username'),
    head,
    branch: item.text('source_branch'),
    base: item.text('target_branch'),
    to: String(item.number('project_id')),
    createdAt: item.time('created_at'),
    ...(url === undefined ? {} : { url }),
    ...(typeof from === 'number' ? { from: String(from) } : {}),
    ...(item.text('state') === 'merged' ? { merged: { commit: merge, at: item.time('merged_at') } } : {}),
  };
}

/** Commits of GitLab name no users, but the private email address of a user contains the user name. */
function personIn(email: string | undefined): CommitPerson {
  const login = /^\d+-([^@]+)@users\.noreply\./.exec(email ?? '')?.[1];
  return { ...(email === undefined ? {} : { email }), ...(login === undefined ? {} : { login }) };
}

function commitIn(item: Item): PullRequestCommit {
  return {
    commit: item.text('id'),
    author: personIn(item.mayText('author_email')),
    committer: personIn(item.mayText('committer_email')),
    coAuthors: coAuthorsIn(item.mayText('message') ?? '').map(personIn),
  };
}

function commitsIn(items: readonly Item[], head: string): PullRequestCommits {
  const commits = items.toReversed().map(commitIn);
  return commits.some(({ commit }) => commit === head)
    ? { commits }
    : { commits, why: `its head ${head} is not among its commits` };
}

/** Push events are read from this many milliseconds before the merge request was opened. */
const pushedBefore = 30 * 24 * 3600 * 1000;

/** The maximal number of pages, with a hundred events each. */
const maxEventPages = 100;

async function readPushes(
  reading: Reading,
  { from, branch, head, createdAt }: PushedBranch,
  commits: readonly string[],
): Promise<Pushes> {
  if (from === undefined) return { is: 'unknown', why: 'the project of its head branch was deleted' };
  const wanted = new Set([...commits, head]);
  const since = new Date(Date.parse(createdAt) - pushedBefore).toISOString().slice(0, 10);
  const found: Item[] = [];
  let read = 0;
  for await (const items of reading.pages(
    `/projects/${encodeURIComponent(from)}/events?action=pushed&after=${since}`,
  )) {
    found.push(...items.filter((item) => isPushOf(item, wanted)));
    read += 1;
    if (read >= maxEventPages && items.length > 0)
      return { is: 'unknown', why: 'the project has too many pushes to read' };
  }
  const pushes = found.map((item) => item.item('push_data'));
  if (!pushes.some((push) => push.mayText('ref') === branch && push.mayText('commit_to') === head))
    return { is: 'unknown', why: `GitLab does not say who pushed ${head}` };
  return { is: 'known', by: [...new Set(found.map((item) => item.text('author_username')))] };
}

/** Whether one of the commits was pushed to any branch: a user who pushed it to another branch contributed to it as well. */
function isPushOf(item: Item, commits: ReadonlySet<string>): boolean {
  const push = item.item('push_data');
  return push.text('ref_type') === 'branch' && commits.has(push.mayText('commit_to') ?? '');
}

/**
 * The approvals, which name no commit. One counts for the head only if it is newer than the head's version of the merge request:
 * approvals of the previous version may stay for some seconds.
 */
async function readApprovals(
  reading: Reading,
  path: string,
  head: string,
  users: Users,
): Promise<readonly Review[]> {
  const approved = (await reading.get(`${path}/approvals`)).items('approved_by');
  if (approved.length === 0) return [];
  const versions = await reading.list(`${path}/versions`);
  const [newest] = versions.toSorted((one, other) => other.number('id') - one.number('id'));
  const isOfHead = newest?.text('head_commit_sha') === head;
  const since = newest === undefined ? Number.NaN : Date.parse(newest.time('created_at'));
  return approved.map((item): Review => {
    const by = users.keep(item.item('user'));
    const at = item.mayTime('approved_at');
    const why = !isOfHead
      ? 'the newest version of the merge request is of another commit than its head'
      : at === undefined
        ? 'this version of GitLab does not say when it was given'
        : 'it is not newer than the head';
    const counts = isOfHead && at !== undefined && Date.parse(at) > since;
    return {
      by,
      state: 'approved',
      ...(at === undefined ? {} : { at }),
      ...(counts ? { commit: head } : { why }),
    };
  });
}

function labelEventIn(item: Item): (LabelEvent & { readonly id: number }) | undefined {
  const action = item.text('action');
  if (action !== 'add' && action !== 'remove') throw item.fail(`the action ${quoted(action)} is not known`);
  // A label that was deleted has no name.
  const label = item.mayItem('label')?.text('name');
  if (label === undefined) return undefined;
  const by = item.mayItem('user')?.text('username');
  return {
    id: item.number('id'),
    label,
    action: action === 'add' ? 'added' : 'removed',
    at: item.time('created_at'),
    ...(by === undefined ? {} : { by }),
  };
}

/** Reads deployments of this environment, newest first, until it finds the deployment of the job. */
async function readDeployment(
  reading: Reading,
  root: string,
  { id, environment }: RunPlace,
): Promise<RunApprovals | undefined> {
  const only = environment === undefined ? '' : `environment=${encodeURIComponent(environment)}&`;
  const list = `${root}/deployments?${only}order_by=id&sort=desc`;
  for await (const items of reading.pages(list)) {
    const all = items.map((item) => ({
      id: item.number('id'),
      job: item.mayItem('deployable')?.number('id'),
    }));
    const found = all.find(({ job }) => job === id);
    if (found === undefined) continue;
    const deployment = await reading.get(`${root}/deployments/${found.id}`);
    const environmentName = environment ?? deployment.item('environment').text('name');
    return deploymentIn(reading, root, deployment, { id, environment: environmentName });
  }
  return undefined;
}

async function deploymentIn(
  reading: Reading,
  root: string,
  deployment: Item,
  { id, environment }: Required<RunPlace>,
): Promise<RunApprovals> {
  const job = deployment.item('deployable');
  if (job.number('id') !== id || deployment.item('environment').text('name') !== environment)
    throw deployment.fail('it is another deployment');
  const pipeline = await reading.get(`${root}/pipelines/${job.item('pipeline').number('id')}`);
  const approvals = deployment.value['approvals'] === undefined ? [] : deployment.items('approvals');
  return {
    commit: deployment.text('sha'),
    startedBy: [deployment, job, pipeline].map((item) => item.item('user').text('username')),
    attempt: 1,
    decisions: approvals.map((item) => {
      const state = item.text('status');
      if (state !== 'approved' && state !== 'rejected')
        throw item.fail(`the status ${quoted(state)} of an approval is not known`);
      return { by: item.item('user').text('username'), state, at: item.time('created_at') };
    }),
  };
}

// Users. The API finds members by user id, but callers have user names.

interface Users {
  /** Remembers the id of a user in an answer. @returns the user name */
  keep(user: Item): string;
  idOf(user: string): Promise<number | undefined>;
}

function openUsers(reading: Reading): Users {
  const ids = new Map<string, number>();
  const keep = (user: Item): string => {
    const name = user.text('username');
    ids.set(name.toLowerCase(), user.number('id'));
    return name;
  };
  return {
    keep,
    async idOf(user) {
      if (!ids.has(user.toLowerCase()))
        for (const item of await reading.list(`/users?username=${encodeURIComponent(user)}`)) keep(item);
      return ids.get(user.toLowerCase());
    },
  };
}

async function memberIn(
  reading: Reading,
  users: Users,
  { of, user }: { readonly of: string; readonly user: string },
): Promise<Item | undefined> {
  const id = await users.idOf(user);
  return id === undefined ? undefined : reading.find(`${of}/${id}`);
}

/** The least access level for each permission: 40 is Maintainer, 30 is Developer, 10 is Guest. */
const levels: readonly (readonly [number, Permission])[] = [
  [40, 'admin'],
  [30, 'write'],
  [10, 'read'],
];

function permissionOf(member: Item | undefined): Permission {
  if (member === undefined || member.text('state') !== 'active') return 'none';
  const level = member.number('access_level');
  return levels.find(([least]) => level >= least)?.[1] ?? 'none';
}
